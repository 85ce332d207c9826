"""How are the answers about many people shown? One row each, and one line for them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects.column_table import ColumnTable, plain
from causalfairness.effects.table import as_html, as_pandas, as_polars, as_text, format_p_value

HEADINGS = ("person", "k", "control", "test", "delta", "low", "high", "p", "p (adjusted)")


class SituationTable(ColumnTable):
    """What was found for each person? One row per person and k; columns by name.

    Printed, it shows those with the largest difference; in plain data, None stands where a group is
    empty.

    >>> table = SituationTable({"row": np.array([7]), "delta": np.array([0.2])})
    >>> table["delta"].tolist(), len(table), table.to_records()
    ([0.2], 1, [{'row': 7, 'delta': 0.2}])
    """

    headings = HEADINGS
    others = "with smaller differences"

    def order(self) -> NDArray[np.int64]:
        """Which people are printed first?"""
        return np.argsort(-np.nan_to_num(self["delta"], nan=-np.inf), kind="stable")

    def line(self, at: int) -> tuple[str, ...]:
        """What is printed of this person?"""
        who = self["id"] if "id" in self.columns else self["row"]
        rates = (f"{self[name][at]:.3f}" for name in ("control_rate", "test_rate"))
        signed = (f"{self[name][at]:+.3f}" for name in ("delta", "low", "high"))
        chances = (_chance(self[name][at]) for name in ("p_value", "p_adjusted"))
        return (str(plain(who)[at]), str(self["k"][at]), *rates, *signed, *chances)


@dataclass(frozen=True)
class SituationCounts:
    """How many people were found, for one k?

    `discoveries` counts differences above tau that stand after Benjamini-Hochberg adjustment, and
    `positive_discoveries` the mirror image, differences below -tau. `evidence` counts all above
    tau, `evidence_by_chance` how many there are where groups are exchanged among neighbors (None in
    the replication setting), `significant` those whose interval lies above tau; `positive` and the
    two with it are the mirror image. `no_verdict` counts people with an empty group, `tied` those
    whose groups end between people who are equally near, `flipped` those declined in fact and not
    in the other world (None where that is not known).

    >>> SituationCounts(15, 1712, 40, 1, 54, 0.0315, 9.7, 44, 3, 8.1, 1, 0, 12, None).discoveries
    40
    """

    k: int
    complainants: int
    discoveries: int
    positive_discoveries: int
    evidence: int
    share: float  # of all who were tested
    evidence_by_chance: float | None
    significant: int
    positive: int
    positive_by_chance: float | None
    positive_significant: int
    no_verdict: int
    tied: int
    flipped: int | None


@dataclass(frozen=True)
class SituationSummary:
    """How many people were found? One line for each k; `summary[15]` is that of k = 15.

    >>> line = SituationCounts(15, 1712, 40, 1, 54, 0.0315, 9.7, 44, 3, 8.1, 1, 0, 12, None)
    >>> print(SituationSummary((line,)))
      k  people  discoveries  mirror image  evidence  share  by chance  significant  no verdict
     15   1,712           40             1        54   3.1%         10           44           0
    """

    lines: tuple[SituationCounts, ...]

    def __getitem__(self, k: int) -> SituationCounts:
        for line in self.lines:
            if line.k == k:
                return line
        raise KeyError(f"k = {k!r} was not asked for; there are {', '.join(map(str, self.ks))}")

    def __iter__(self) -> Iterator[SituationCounts]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def ks(self) -> tuple[int, ...]:
        """Which sizes of groups were asked for?"""
        return tuple(line.k for line in self.lines)

    def to_records(self) -> list[dict[str, Any]]:
        """What is in the summary, as plain data?"""
        return [asdict(line) for line in self.lines]

    def to_pandas(self) -> Any:
        """What is in the summary, as a pandas data frame?"""
        return as_pandas(self.to_records())

    def to_polars(self) -> Any:
        """What is in the summary, as a polars data frame?"""
        return as_polars(self.to_records())

    def __str__(self) -> str:
        return as_text(self.cells(), words=())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.cells())

    def cells(self) -> list[tuple[str, ...]]:
        """What is printed? Lines of text, the first of which holds the headings."""
        names = ("discoveries", "mirror image", "evidence", "share", "by chance", "significant")
        return [("  k", "people", *names, "no verdict"), *map(_cells, self.lines)]


def _cells(line: SituationCounts) -> tuple[str, ...]:
    chance = line.evidence_by_chance
    found = (line.discoveries, line.positive_discoveries, line.evidence)
    return (
        str(line.k),
        *(f"{count:,}" for count in (line.complainants, *found)),
        f"{line.share:.1%}",
        "-" if chance is None else f"{chance:,.0f}",
        *(f"{count:,}" for count in (line.significant, line.no_verdict)),
    )


def _chance(p_value: float) -> str:
    return "nan" if p_value != p_value else format_p_value(p_value)
