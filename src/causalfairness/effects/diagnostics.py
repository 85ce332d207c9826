"""How much should a result be trusted? What travels with every estimate (methods §2.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from causalfairness.tables import RowAccount

LEFT_OUT = (
    "rows were dropped for missing values as if chance had chosen them among people like them"
)


@dataclass(frozen=True)
class Overlap:
    """Do the groups have counterparts in each other?

    Judged by weights, not by propensities: in a rare group those are small by nature.
    `effective_rows` is what the rows of the most strained group are worth once they are weighted
    to resemble the other group, out of `of_rows`; `largest_share` is the largest part of such a
    weighted mean that hangs on one row.

    >>> print(Overlap(share_outside_support=0.187, effective_rows=40.2, of_rows=90))
    18.7% of rows outside common support; 90 rows weighted to resemble the other group count for 40
    """

    share_outside_support: float | None = None
    effective_rows: float | None = None
    of_rows: int | None = None
    largest_share: float | None = None
    clip_level: float | None = None
    share_clipped: float | None = None

    def __str__(self) -> str:
        parts = []
        if self.share_outside_support is not None:
            parts.append(f"{self.share_outside_support:.1%} of rows outside common support")
        if self.effective_rows is not None:
            parts.append(
                f"{self.of_rows:,} rows weighted to resemble the other group "
                f"count for {self.effective_rows:,.0f}"
            )
        if self.largest_share is not None:
            parts.append(f"largest share of one row {self.largest_share:.1%}")
        if self.clip_level is not None and self.share_clipped is not None:
            parts.append(
                f"weights clipped at {self.clip_level:.3g} times the average "
                f"({self.share_clipped:.2%} of rows)"
            )
        return "; ".join(parts)


@dataclass(frozen=True)
class LearnerLoss:
    """How well did one nuisance model predict people it had not seen?

    Or, where `measure` says so, the rows it was fitted to. `baseline` is the loss of predicting
    the mean; a model that does not beat it knows nothing. `candidates` are all models that were
    tried, each with its loss on the rows on which they were compared.

    >>> print(LearnerLoss("P(A | C)", "boosting", "log loss", 0.61, 0.69))
    P(A | C): boosting, log loss 0.61 (0.69 without a model)
    """

    target: str
    learner: str
    measure: str
    loss: float
    baseline: float
    candidates: tuple[tuple[str, float], ...] = ()

    @property
    def compared(self) -> str:
        """Return which models were tried, and the loss of each."""
        tried = ", ".join(f"{name} {loss:.4g}" for name, loss in self.candidates)
        return f"{self.target}: {tried}"

    def __str__(self) -> str:
        return (
            f"{self.target}: {self.learner}, {self.measure} {self.loss:.4g} "
            f"({self.baseline:.4g} without a model)"
        )


@dataclass(frozen=True)
class Remainder:
    """What models of weights and of the outcome miss together, in one weighted mean.

    It enters the means of `worlds`. As far as it is linear in the columns it makes them too high by
    `value`, with the standard error `error`; so much was subtracted. `smooth` is the same by smooth
    functions of the columns, which is compared with the parts and never subtracted: None where the
    smaller group has too few `rows` for so many `columns`.

    >>> print(Remainder(((1, 0, 0),), "mediators", 0.01, 0.004, 0.02, 0.01, 900, 6))
    mu[1, 0, 0], mediators weighted: corrected by -0.01 (0.004), smooth remainder +0.02 (0.01)
    """

    worlds: tuple[tuple[int, int, int], ...]
    weighted: str  # "mediators", then with the confounders, or "confounders"
    value: float
    error: float
    smooth: float | None
    smooth_error: float | None
    rows: int
    columns: int

    def turned(self) -> Remainder:
        """Return the same of one minus the mean."""
        smooth = None if self.smooth is None else -self.smooth
        return replace(self, value=-self.value, smooth=smooth)

    def __str__(self) -> str:
        names = ", ".join(f"mu[{i}, {j}, {k}]" for i, j, k in self.worlds)
        text = (
            f"{names}, {self.weighted} weighted: corrected by {-self.value:+.2g} ({self.error:.2g})"
        )
        if self.smooth is None:
            return f"{text}, too few rows for a smooth remainder"
        return f"{text}, smooth remainder {self.smooth:+.2g} ({self.smooth_error:.2g})"


@dataclass(frozen=True)
class Diagnostics:
    """What must a reader know before believing the numbers?

    >>> from causalfairness.tables import RowAccount
    >>> rows = RowAccount(read=10, used=10)
    >>> print(Diagnostics("Strata()", rows, Overlap(0.0), assumptions=("no hidden confounding",)))
    estimator: Strata()
    rows: 10 rows read, 10 used
    overlap: 0.0% of rows outside common support
    assumes: no hidden confounding
    """

    estimator: str
    rows: RowAccount
    overlap: Overlap
    chosen_because: str = ""
    learners: tuple[LearnerLoss, ...] = ()
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    remainders: tuple[Remainder, ...] = ()
    settled: bool | None = True  # False where models were found wanting, None where too few rows

    def __post_init__(self) -> None:
        if sum(self.rows.dropped.values()) and LEFT_OUT not in self.assumptions:
            object.__setattr__(self, "assumptions", (*self.assumptions, LEFT_OUT))

    def __str__(self) -> str:
        reason = f" (chosen because {self.chosen_because})" if self.chosen_because else ""
        lines = [f"estimator: {self.estimator}{reason}", f"rows: {self.rows}"]
        if str(self.overlap):
            lines.append(f"overlap: {self.overlap}")
        lines += [f"model: {learner}" for learner in self.learners]
        if self.remainders:
            largest = max(self.remainders, key=lambda each: abs(each.value))
            lines.append(f"remainder: the largest of {len(self.remainders)}: {largest}")
        lines += [f"assumes: {assumption}" for assumption in self.assumptions]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    __repr__ = __str__
