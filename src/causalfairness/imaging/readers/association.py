"""Does a finding occur equally often in every group? Shares, and Pearson's chi-square test.

    chi² = sum over groups and presence of (count - expected)² / expected,   df = groups - 1

(paper 004, Figs. 6 and 7). Images whose finding is unknown are left out, finding by finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalfairness.imaging.parents import FINDINGS, Parents

NOTE = (
    "Images are counted as if each came from another person; where there are several of one "
    "person, p is too small (`one_each()` keeps one)."
)


@dataclass(frozen=True)
class FindingByGroup:
    """How often does one finding occur in each group, and could that be chance?

    >>> FindingByGroup("edema", (0.2, 0.3), (100, 100), 2.67, 1, 0.102, -2.28).shares
    (0.2, 0.3)
    """

    finding: str
    shares: tuple[float, ...]  # NaN for a group without anyone
    counts: tuple[int, ...]
    chi_square: float
    degrees_of_freedom: int
    p_value: float
    log_p: float


@dataclass(frozen=True)
class Association:
    """How is the group associated with findings in these data?

    >>> import torch
    >>> people = Parents(group=torch.tensor([0, 0, 1, 1] * 50), age=torch.zeros(200),
    ...     sex=torch.zeros(200), scanner=torch.zeros(200),
    ...     findings=torch.tensor([[1] * 5, [0] * 5, [0] * 5, [0] * 5] * 50))
    >>> print(association(people, ("White", "Black")))
    finding        White  Black  chi-square  df       p
    cardiomegaly   0.500  0.000       66.67   1  <0.001
    edema          0.500  0.000       66.67   1  <0.001
    consolidation  0.500  0.000       66.67   1  <0.001
    atelectasis    0.500  0.000       66.67   1  <0.001
    effusion       0.500  0.000       66.67   1  <0.001
    Images are counted as if each came from another person; ...
    """

    rows: tuple[FindingByGroup, ...]
    groups: tuple[str, ...]

    def __getitem__(self, finding: str) -> FindingByGroup:
        for row in self.rows:
            if row.finding == finding:
                return row
        raise KeyError(f"no finding is named {finding!r}; there are {', '.join(FINDINGS)}")

    def to_records(self) -> list[dict[str, Any]]:
        """What is in the table, as plain data? One record for each finding and group."""
        return [
            {
                "finding": row.finding,
                "group": group,
                "share": share,
                "n": count,
                "chi_square": row.chi_square,
                "degrees_of_freedom": row.degrees_of_freedom,
                "p_value": row.p_value,
            }
            for row in self.rows
            for group, share, count in zip(self.groups, row.shares, row.counts, strict=True)
        ]

    def __str__(self) -> str:
        from causalfairness.effects.table import as_text, format_p_value

        lines = [("finding", *self.groups, "chi-square", "df", "p")]
        for row in self.rows:
            shares = (f"{share:.3f}" for share in row.shares)
            test = (f"{row.chi_square:.2f}", str(row.degrees_of_freedom))
            lines.append((row.finding, *shares, *test, format_p_value(row.p_value)))
        return f"{as_text(lines)}\n{NOTE}"

    __repr__ = __str__


def association(parents: Parents, groups: Sequence[str]) -> Association:
    """How often does each finding occur in each group, and could the difference be chance?"""
    group = parents.group.cpu().numpy()
    found = parents.findings.cpu().numpy()
    rows = [
        _by_group(name, group, found[:, column], len(groups))
        for column, name in enumerate(FINDINGS)
    ]
    return Association(tuple(rows), tuple(groups))


def _by_group(
    name: str, group: np.ndarray[Any, Any], found: np.ndarray[Any, Any], groups: int
) -> FindingByGroup:
    from scipy.stats import chi2

    present = np.array([np.sum(found[group == place] == 1) for place in range(groups)])
    counts = present + np.array([np.sum(found[group == place] == 0) for place in range(groups)])
    table = np.stack([present, counts - present])[:, counts > 0].astype(float)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / max(table.sum(), 1)
    away = np.divide((table - expected) ** 2, expected, np.zeros_like(table), where=expected > 0)
    statistic, freedom = float(away.sum()), max(table.shape[1] - 1, 0)
    share = np.divide(present, counts, np.full(groups, np.nan), where=counts > 0)
    return FindingByGroup(
        finding=name,
        shares=tuple(share.tolist()),
        counts=tuple(counts.tolist()),
        chi_square=statistic,
        degrees_of_freedom=freedom,
        p_value=float(chi2.sf(statistic, freedom)) if freedom else 1.0,
        log_p=float(chi2.logsf(statistic, freedom)) if freedom else 0.0,
    )
