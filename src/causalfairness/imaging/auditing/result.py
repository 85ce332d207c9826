"""What did an audit find, for each classifier and finding? Tables, sentences, and the scores.

Rows are classifiers times findings. The statistic t is in standard deviations under invariance,
positive where scores of real images follow the group the way the generator says; p-values are
adjusted over all rows (Benjamini-Hochberg). `moved by` is the root of E[(g - h)^2], in units of the
score. ECA is how often a decision under a group is the one at hand, on average over all groups, the
own one included, according to the generator: with G groups it is 1 / G or more where the generator
leaves an image under its own group as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects.column_table import ColumnTable
from causalfairness.effects.table import format_p_value
from causalfairness.imaging.auditing.generating import Generated
from causalfairness.invariance import InvarianceTest

Array = NDArray[np.float64]
SHOWN, TOLD = 30, 10  # rows that are printed, classifiers that are spoken of
HEADINGS = (
    *("classifier", "finding", "t", "log p", "p", "p (adjusted)", "moved by", "at most", "ECA"),
    *("parity p", "opportunity p"),
)


@dataclass(frozen=True, eq=False)
class Agreement:
    """How often is a decision, or a score, under a group the one at hand? By the generator.

    On average over all groups, the own one included.

    >>> Agreement(np.array([[0.93]]), np.array([[0.01]]), np.array([[0.4]]), None).basis
    'decisions at a threshold'
    """

    value: Array  # (models, findings)
    error: Array  # standard errors
    threshold: Array | None  # (models, findings), above which a score is a decision
    tolerance: float | None  # within which scores agree, instead

    @property
    def basis(self) -> str:
        """What is compared?"""
        if self.tolerance is not None:
            return f"scores within {self.tolerance:g}"
        return "decisions at a threshold"


@dataclass(frozen=True, eq=False, repr=False)
class ImagingAudit:
    """Does a classifier use the group to read images? What was found, per classifier and finding.

    >>> from causalfairness.imaging import Simulator, audit
    >>> from causalfairness.imaging.counterfactuals import DoNothing
    >>> films = Simulator(size=16).draw(90, seed=0)
    >>> found = audit({"bright": lambda x: x.mean((1, 2, 3))}, films, generator=DoNothing())
    >>> found.p_value.shape, float(found.agreement.value[0, 0])
    ((1, 1), 1.0)
    >>> print(found.matrix())
    classifier  score
    bright      +0.00 (1.000)
    """

    test: InvarianceTest
    parity: InvarianceTest
    opportunity: Mapping[str, InvarianceTest]  # by finding, where it could be asked
    agreement: Agreement
    generated: Generated
    notes: tuple[str, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Which classifiers were audited?"""
        return self.generated.models

    @property
    def findings(self) -> tuple[str, ...]:
        """Which findings do they read?"""
        return self.generated.findings

    @property
    def statistic(self) -> Array:
        """What is t? (models, findings)."""
        return self._shaped(self.test.statistic)

    @property
    def log_p_value(self) -> Array:
        """What is the logarithm of p? (models, findings); it does not underflow."""
        return self._shaped(self.test.log_p_value)

    @property
    def p_value(self) -> Array:
        """What is p? (models, findings)."""
        return self._shaped(self.test.p_value)

    @property
    def p_adjusted(self) -> Array:
        """What is p, allowing for the number of classifiers and findings? (models, findings)."""
        return self._shaped(self.test.p_adjusted)

    @property
    def rejected(self) -> NDArray[np.bool_]:
        """Where does the finding stand, allowing for their number? (models, findings)."""
        return np.asarray(self.test.rejected.reshape(self.statistic.shape))

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Where does the generator move no score between groups? (models, findings); p is 1 there,
        and says nothing.
        """
        return self.generated.silent

    def sentences(self) -> tuple[str, ...]:
        """What may be said about each classifier? Of many, those with the smallest p-values."""
        order = np.argsort(self.log_p_value.min(axis=1), kind="stable")[:TOLD]
        said = tuple(self._sentence(int(row)) for row in sorted(order))
        if len(self.models) <= TOLD:
            return said
        many = int(self.rejected.any(axis=1).sum())
        return (
            f"The scores of {many} of {len(self.models)} classifiers {self.test.claim.depends}, "
            f"for one finding or more. Those with the smallest p-values:",
            *said,
        )

    def table(self) -> AuditTable:
        """What was found, in rows of a classifier and a finding?"""
        plain, wide = len(self.findings), len(self.models)
        opportunity = np.ones((wide, plain))
        asked = np.zeros((wide, plain), dtype=np.int64)
        for at, finding in enumerate(self.findings):
            if finding in self.opportunity:
                opportunity[:, at] = self.opportunity[finding].p_value
                asked[:, at] = self.opportunity[finding].n
        test, unsaid = self.test.table(), self.silent.reshape(-1)
        sizes = {name: np.where(unsaid, np.nan, test[name]) for name in ("effect", "upper")}
        kept = ("statistic", "log_p_value", "p_value", "p_adjusted", "rejected")
        return AuditTable(
            {
                "model": np.repeat(np.array(self.models, dtype=object), plain),
                "finding": np.tile(np.array(self.findings, dtype=object), wide),
                **{name: test[name] for name in kept},
                **sizes,
                "agreement": self.agreement.value.reshape(-1),
                "agreement_error": self.agreement.error.reshape(-1),
                "parity_p_value": self.parity.p_value,
                "opportunity_p_value": opportunity.reshape(-1),
                "opportunity_n": asked.reshape(-1),
                "n": test["n"],
            }
        )

    def matrix(self) -> str:
        """What are t and p, a line per classifier and a column per finding? As papers print it."""
        lines = [("classifier", *self.findings)]
        for name, t, p in zip(self.models, self.statistic, self.p_value, strict=True):
            cells = (f"{at:+.2f} ({format_p_value(by)})" for at, by in zip(t, p, strict=True))
            lines.append((name, *cells))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        return "\n".join(padded)

    def to_dict(self) -> dict[str, Any]:
        """What was found, as plain data that JSON can hold? Without the scores of people."""
        bar = self.agreement.threshold
        return {
            "method": self.test.method,
            "level": self.test.level,
            "images": len(self.generated),
            "groups": list(self.generated.groups),
            "classifiers": list(self.models),
            "findings": list(self.findings),
            "rows": self.table().to_records(),
            "agreement_of": self.agreement.basis,
            "thresholds": None if bar is None else bar.tolist(),
            "quality": self.quality,
            "sentences": list(self.sentences()),
            "assumptions": list(self.test.assumptions),
            "notes": list(self.notes),
        }

    @property
    def quality(self) -> dict[str, float]:
        """How far does the generator move images that it should not move? Per pixel, on average."""
        measured = {
            "composition": self.generated.composition,
            "reversibility": self.generated.reversibility,
        }
        return {name: float(values.mean()) for name, values in measured.items() if len(values)}

    def __str__(self) -> str:
        groups = ", ".join(self.generated.groups)
        moved = ", ".join(f"{name} {value:.4f}" for name, value in self.quality.items())
        return "\n".join(
            [
                f"{self.test.method}: {len(self.generated):,} images of the groups {groups}",
                str(self.table()),
                *self.sentences(),
                f"generator: {moved}; ECA of {self.agreement.basis}",
                *(f"assumes: {line}" for line in self.test.assumptions),
                *(f"note: {line}" for line in self.notes),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def _sentence(self, row: int) -> str:
        """Where the scores of a classifier depend on the group, and what bounds them elsewhere."""
        test, cut, unsaid = self.test, self.rejected[row], self.silent[row]
        bounded = ~cut & ~unsaid
        effect, upper = (
            np.sqrt(np.maximum(self._shaped(each)[row], 0.0)) for each in (test.effect, test.upper)
        )
        parts = []
        if cut.any():
            most = int(np.argmax(np.where(cut, effect, -1.0)))
            parts.append(
                f"{test.claim.depends}{self._listed(cut)}; the group moves them by about "
                f"{effect[most]:.3g}, at most {upper[most]:.3g}, root mean square"
                + (f", where it does most ({self.findings[most]})" if len(cut) > 1 else "")
            )
        if bounded.any():
            parts.append(
                f"are {test.claim.silent} that would move them by more than "
                f"{upper[bounded].max():.3g}{self._listed(bounded)}"
            )
        if unsaid.any():
            parts.append(
                f"are not moved by the generator between groups, so that nothing can be said"
                f"{self._listed(unsaid)}"
            )
        if unsaid.all():
            return f"The scores of {self.models[row]} {parts[0]}."
        bounds = f"{100 * test.level:g}% bounds, adjusted p-values{test.claim.reach}"
        return f"The scores of {self.models[row]} {', and '.join(parts)} ({bounds})."

    def _listed(self, chosen: NDArray[np.bool_]) -> str:
        if len(self.findings) == 1:
            return ""
        if chosen.all():
            return " for all findings"
        return " for " + ", ".join(np.array(self.findings, dtype=object)[chosen])

    def _shaped(self, values: Array) -> Array:
        return values.reshape(len(self.models), len(self.findings))


class AuditTable(ColumnTable):
    """What was found for each classifier and finding? One row each; columns by name.

    >>> table = AuditTable({"model": np.array(["a"]), "p_value": np.array([0.5])})
    >>> table.to_records()
    [{'model': 'a', 'p_value': 0.5}]
    """

    headings = HEADINGS
    shown = SHOWN
    others = "with larger p-values"

    def order(self) -> NDArray[np.int64]:
        """Which rows are printed first? All as they are, if they fit; else by their p-values."""
        if len(self) <= self.shown:
            return np.arange(len(self))
        return np.argsort(self["log_p_value"], kind="stable")

    def line(self, at: int) -> tuple[str, ...]:
        """What is printed of this classifier and finding?"""
        chances = [format_p_value(self[name][at]) for name in ("p_value", "p_adjusted")]
        sizes = [self[name][at] for name in ("effect", "upper")]
        roots = ["unknown" if it != it else f"{np.sqrt(max(it, 0.0)):.3g}" for it in sizes]
        asked = self["opportunity_n"][at] > 0
        return (
            *(str(self["model"][at]), str(self["finding"][at]), f"{self['statistic'][at]:+.2f}"),
            *(f"{self['log_p_value'][at]:.2f}", *chances, *roots, f"{self['agreement'][at]:.3f}"),
            format_p_value(self["parity_p_value"][at]),
            format_p_value(self["opportunity_p_value"][at]) if asked else "not asked",
        )
