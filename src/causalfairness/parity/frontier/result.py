"""What was found for each set of allowed paths? Means over repetitions, and their spread.

    spm   E[score | a1] - E[score | a0]           statistical parity: 0
    ippm  mean over bins of E[y | a1, bin] - E[y | a0, bin]      predictive parity: 0

a1 is the comparison group; both are measured on rows that the predictor has not seen. No verdict is
given, and no set is recommended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects.table import as_html, as_section, as_text, decimals
from causalfairness.parity.frontier.sets import AllowedPaths
from causalfairness.parity.metrics import MetricTable
from causalfairness.tables import RowAccount

HEADINGS = {
    "spm": "SPM",
    "ippm": "iPPM",
    "absolute_ippm": "|iPPM|",
    "accuracy": "accuracy",
    "auc": "AUC",
    "r2": "R^2",
    "mse": "squared error",
}


@dataclass(frozen=True)
class FrontierPoint:
    """How far from parity is the predictor that may use these paths, and how good is it?

    `values` holds one number per measure and repetition.

    >>> allowed = AllowedPaths(("spurious",), ("age",), ("priors",), ())
    >>> point = FrontierPoint(allowed, {"spm": (0.02, 0.04)})
    >>> point.name, round(point.mean("spm"), 3), round(point.sd("spm"), 3)
    ('spurious', 0.03, 0.014)
    """

    allowed: AllowedPaths
    values: Mapping[str, tuple[float, ...]]

    @property
    def name(self) -> str:
        """What is the set of allowed paths called?"""
        return self.allowed.name

    def mean(self, measure: str) -> float:
        """What is the mean of a measure over repetitions?"""
        return float(np.mean(self._of(measure)))

    def sd(self, measure: str) -> float:
        """How far do repetitions differ? The standard deviation; not a standard error."""
        return float(np.std(self._of(measure), ddof=1))

    def _of(self, measure: str) -> tuple[float, ...]:
        if measure not in self.values:
            raise KeyError(f"no measure is named {measure!r}; there are {', '.join(self.values)}")
        return self.values[measure]


@dataclass(frozen=True, eq=False)
class Frontier:
    """What does it cost, and what does it gain, to forbid a predictor some paths?

    One point per set of allowed paths, found by its name or by the set.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian(direct=1.0)
    >>> found = cf.frontier(
    ...     world.draw(600, seed=0), world.model, allowed=[{"spurious"}, {"spurious", "indirect"}],
    ...     learner=cf.adaptation.LinearQuantiles(), repetitions=2)
    >>> found[{"spurious"}].mean("spm") < found["spurious + indirect"].mean("spm")
    True
    """

    what: str
    reference: str
    comparison: str
    points: tuple[FrontierPoint, ...]
    repetitions: int
    bins: int
    rows: RowAccount
    held_out: int
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]

    def __getitem__(self, allowed: str | Iterable[str]) -> FrontierPoint:
        wanted = None if isinstance(allowed, str) else set(allowed)
        for point in self.points:
            if point.name == allowed or set(point.allowed.paths) == wanted:
                return point
        names = ", ".join(repr(point.name) for point in self.points)
        raise KeyError(f"no set of allowed paths is {allowed!r}; there are {names}")

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[FrontierPoint]:
        return iter(self.points)

    @property
    def measures(self) -> tuple[str, ...]:
        """What was measured?"""
        return tuple(self.points[0].values)

    def table(self) -> MetricTable:
        """What was found for each set? Means and standard deviations over repetitions."""
        return MetricTable(tuple(self.to_records()))

    def to_records(self) -> list[dict[str, Any]]:
        """What was found for each set, as plain data? A mean and an sd per measure."""
        return [
            {"allowed": point.name}
            | {
                f"{measure}{end}": value
                for measure in self.measures
                for end, value in (("", point.mean(measure)), ("_sd", point.sd(measure)))
            }
            | {"meaning": point.allowed.meaning}
            for point in self.points
        ]

    def to_pandas(self) -> Any:
        """What was found for each set, as a pandas data frame?"""
        return self.table().to_pandas()

    def to_polars(self) -> Any:
        """What was found for each set, as a polars data frame?"""
        return self.table().to_polars()

    def sentences(self) -> tuple[str, ...]:
        """What do the numbers say, in plain words?"""
        return _sentences(self)

    def __str__(self) -> str:
        lines = [self._title, as_text(self._cells()), *self.sentences(), f"rows: {self.rows}"]
        lines += [f"{point.name}: {point.allowed.meaning}" for point in self.points]
        lines += [f"assumes: {assumption}" for assumption in self.assumptions]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        said = (*self.sentences(), *self.notes)
        return as_section(self._title, as_html(self._cells()), said)

    @property
    def _title(self) -> str:
        return (
            f"predictors of {self.what}, {self.comparison} against {self.reference}: mean (sd) "
            f"over {self.repetitions} splits, {self.held_out:,} rows held out"
        )

    def _cells(self) -> list[list[str]]:
        places = {measure: _places(self, measure) for measure in self.measures}
        head = ["allowed", *(HEADINGS[measure] for measure in self.measures)]
        return [head] + [
            [
                point.name,
                *(
                    f"{point.mean(measure):.{at}f} ({point.sd(measure):.{at}f})"
                    for measure, at in places.items()
                ),
            ]
            for point in self.points
        ]


def _sentences(found: Frontier) -> tuple[str, ...]:
    """Where do the ends of the frontier lie, and what lies between?"""
    said = [_closest(found, "spm"), _closest(found, "ippm")]
    if len(found) > 1:
        said += [_trade(found), _price(found)]
    return tuple(said)


KINDS = {"spm": "statistical parity (SPM 0)", "ippm": "predictive parity (iPPM 0)"}


def _size(point: FrontierPoint, measure: str) -> float:
    return abs(point.mean(measure))


def _places(found: Frontier, measure: str) -> int:
    return decimals([max(point.sd(measure) for point in found)], least=3)


def _closest(found: Frontier, measure: str) -> str:
    near = min(found, key=lambda point: _size(point, measure))
    far = max(found, key=lambda point: _size(point, measure))
    places = _places(found, measure)
    text = (
        f"Closest to {KINDS[measure]} with {near.name} allowed: {near.mean(measure):+.{places}f} "
        f"(sd {near.sd(measure):.{places}f})"
    )
    if far is not near:
        text += (
            f"; farthest with {far.name} allowed: {far.mean(measure):+.{places}f} "
            f"(sd {far.sd(measure):.{places}f})"
        )
    return f"{text}."


def _trade(found: Frontier) -> str:
    """Which sets are farther than another in both respects, by more than splits differ?"""
    behind = {
        point.name: other.name
        for point in found
        for other in found
        if all(_is_farther(point, other, measure) for measure in KINDS)
    }
    if not behind:
        return (
            "A trade-off: no set is farther than another from both kinds of parity by more than "
            "splits differ (one sd); what brings predictions closer to one takes them from the "
            "other."
        )
    told = "; ".join(f"{name} lies behind {other}" for name, other in behind.items())
    return f"Some sets are farther from both kinds of parity than another: {told}."


def _is_farther(point: FrontierPoint, other: FrontierPoint, measure: str) -> bool:
    """On the same splits, so that they are compared split by split."""
    apart = _sizes(point, measure) - _sizes(other, measure)
    return bool(apart.mean() > apart.std(ddof=1))


def _sizes(point: FrontierPoint, measure: str) -> NDArray[np.float64]:
    """Values with the sign of their mean taken off."""
    values = np.array(point.values[measure])
    return np.asarray(values * np.sign(values.mean()))


def _price(found: Frontier) -> str:
    measure = "accuracy" if "accuracy" in found.measures else "r2"
    word = {"accuracy": "Accuracy", "r2": "R^2"}[measure]
    low = min(found, key=lambda point: point.mean(measure))
    high = max(found, key=lambda point: point.mean(measure))
    places = _places(found, measure)
    return (
        f"{word}, by the outcome as it was, goes from {low.mean(measure):.{places}f} with "
        f"{low.name} allowed to {high.mean(measure):.{places}f} with {high.name} allowed."
    )
