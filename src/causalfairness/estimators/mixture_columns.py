"""Which columns make strata, and which are numbers that a normal distribution may describe?

Labels, and numbers with at most 20 values, are discrete: each combination of them is a stratum
with mixtures of its own. Whole numbers with more values are dequantized: a uniform number between
-1/2 and 1/2, drawn once from the seed, is added, so that no component can settle on one value. All
other numbers stay as they are. An outcome with few values is discrete too; one of whole numbers is
never jittered, but its variances are kept as wide as rounding. What became of which column is
written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import ColumnTypeError, MissingValuesError
from causalfairness.tables import Column, RowPair
from causalfairness.tables.groups import shown

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
Discrete = Literal["strata", "dequantize"]
FEW_VALUES = 20
RIDGE = 1e-6  # added to variances, as a share of each column's variance
ROUNDING = 1 / 12  # the variance of rounding to whole numbers


class Outcome(NamedTuple):
    """How does the outcome enter: as one of few values, or as a number?

    >>> _outcome_of(np.array([0.0, 1.0, 1.0]), np.ones(3), 20, "y").values.tolist()
    [0.0, 1.0]
    """

    each: Array  # what each row has
    level: Positions  # which of `values` that is; 0 throughout for numbers
    values: Array  # what a discrete outcome may be; for numbers, their mean alone
    scale: float  # the standard deviation of numbers; 0 for a discrete outcome
    ridge: float  # added to the variance of numbers
    treatment: str

    @property
    def is_discrete(self) -> bool:
        """Is the outcome one of few values?"""
        return self.scale == 0


@dataclass(frozen=True, eq=False)
class Arranged:
    """What does a mixture see of the rows of two groups?

    A *stratum* is a combination of discrete confounders, a *profile* one of discrete confounders
    and mediators, both numbered from 0. `numbers` holds the other confounders, then the other
    mediators, then the outcome unless that is discrete, each with mean 0 and variance 1.
    """

    rows: Positions  # the rows of the pair that count: those with a positive weight
    group: NDArray[np.int8]
    profile: Positions
    stratum: Positions  # of each profile
    numbers: Array
    ridge: Array  # added to the variance of each of `numbers`
    confounders: int  # how many of `numbers`
    mediators: int
    outcome: Outcome
    described: tuple[str, ...]  # each profile, in words
    notes: tuple[str, ...]

    @property
    def has_numbers(self) -> bool:
        """Is any mediator or confounder continuous?"""
        return self.confounders + self.mediators > 0


def arrange(pair: RowPair, discrete: Discrete, rng: np.random.Generator) -> Arranged:
    """Which strata and which numbers do the role columns make?"""
    assert pair.outcome is not None
    assert pair.rows.target is not None
    rows = np.flatnonzero(pair.weights > 0)
    weights, values = pair.weights[rows], pair.outcome[rows]
    names = (*pair.model.confounders, *pair.model.mediators)
    columns = [pair.rows.columns[name].take(pair.index[rows]) for name in names]
    sort = _stratify if discrete == "strata" else _dequantize
    parts = [sort(column, rng) for column in columns]
    first = len(pair.model.confounders)
    few = FEW_VALUES if discrete == "strata" else 2
    outcome = _outcome_of(values, weights, few, pair.rows.target.column)
    profile, stratum, described = _profiles(columns, parts, first, len(rows))
    numbers = [part.numbers for part in parts if part.numbers is not None]
    ridge = np.full(len(numbers), RIDGE)
    if not outcome.is_discrete:
        numbers, ridge = [*numbers, values], np.append(ridge, outcome.ridge)
    return Arranged(
        rows=rows,
        group=pair.group[rows],
        profile=profile,
        stratum=stratum,
        numbers=_standardize(numbers, weights),
        ridge=ridge,
        confounders=sum(part.numbers is not None for part in parts[:first]),
        mediators=sum(part.numbers is not None for part in parts[first:]),
        outcome=outcome,
        described=described,
        notes=_notes(columns, parts, outcome),
    )


class _Sorted(NamedTuple):
    """A column as codes, if it is discrete, or as numbers; and how that is said."""

    codes: Positions | None
    numbers: Array | None
    treatment: str


STRATA = "strata by {} (labels, or at most 20 values)"
DEQUANTIZED = "{} dequantized: a seeded uniform number of width 1 is added to each value"
REPEATING = "{} taken as continuous although values repeat: components may settle on some"
CONTINUOUS = "{} taken as continuous"


def _stratify(column: Column, rng: np.random.Generator) -> _Sorted:
    """Few values make strata; whole numbers with many are dequantized."""
    if column.values is None or len(np.unique(column.values)) <= FEW_VALUES:
        return _Sorted(column.levels().codes, None, STRATA)
    return _number(column, rng)


def _dequantize(column: Column, rng: np.random.Generator) -> _Sorted:
    """Everything with an order is a number. A column that never varies is no number."""
    levels = column.levels()
    if len(np.unique(levels.codes)) == 1:
        return _Sorted(levels.codes, None, STRATA)
    _refuse_missing(column)
    distinct = len(np.unique(levels.codes))
    if distinct == 2:
        return _Sorted(None, _jitter((levels.codes > 0).astype(float), rng), DEQUANTIZED)
    if column.values is None:
        raise ColumnTypeError(
            f"column {column.name!r} has {distinct} labels, which have no order and cannot be "
            "dequantized; use Mixture(discrete='strata'), or code the column as numbers if there "
            "is one"
        )
    if distinct <= FEW_VALUES and not _is_whole(column.values):
        raise ColumnTypeError(
            f"column {column.name!r} has {distinct} values that are not whole numbers, and how far "
            "to spread each is unclear; rescale it to whole numbers, or use "
            "Mixture(discrete='strata')"
        )
    return _number(column, rng)


def _number(column: Column, rng: np.random.Generator) -> _Sorted:
    assert column.values is not None
    _refuse_missing(column)
    if _is_whole(column.values):
        return _Sorted(None, _jitter(column.values, rng), DEQUANTIZED)
    repeats = len(np.unique(column.values)) < len(column) / 2
    return _Sorted(None, column.values, REPEATING if repeats else CONTINUOUS)


def _refuse_missing(column: Column) -> None:
    if missing := int(column.is_missing.sum()):
        raise MissingValuesError(
            f"column {column.name!r} has {missing:,} missing values, and a missing number has no "
            "place in a normal distribution; choose missing='drop', or another estimator"
        )


def _jitter(values: Array, rng: np.random.Generator) -> Array:
    return np.asarray(values + rng.uniform(-0.5, 0.5, len(values)))


def _is_whole(values: Array) -> bool:
    return bool((values == np.round(values)).all())


def _outcome_of(values: Array, weights: Array, few: int, name: str) -> Outcome:
    distinct, level = np.unique(values, return_inverse=True)
    if len(distinct) <= few:
        words = f"outcome {name!r} discrete: {len(distinct)} values, with mixtures of their own"
        return Outcome(values, level.reshape(-1), distinct, 0.0, 0.0, words)
    mean = np.average(values, weights=weights)
    scale = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    rounded = ROUNDING / scale**2 if _is_whole(values) else 0.0
    words = f"outcome {name!r} taken as continuous"
    if rounded:
        words += "; it is whole, so its variances are kept at least as wide as rounding"
    level = np.zeros(len(values), dtype=np.int64)
    return Outcome(values, level, np.array([mean]), scale, RIDGE + rounded, words)


def _profiles(
    columns: Sequence[Column], parts: Sequence[_Sorted], first: int, rows: int
) -> tuple[Positions, Positions, tuple[str, ...]]:
    """The profile of each row, the stratum of each profile, and each profile in words."""
    found = [(c, p.codes) for c, p in zip(columns, parts, strict=True) if p.codes is not None]
    confounders = sum(part.codes is not None for part in parts[:first])
    stratum = _combine([codes for _, codes in found[:confounders]], rows)
    profile = _combine([stratum, *(codes for _, codes in found[confounders:])], rows)
    _, examples = np.unique(profile, return_index=True)
    names = [(column.name, column.levels().values, codes) for column, codes in found]
    described = tuple(
        ", ".join(f"{name}={shown((values[codes[row]],))}" for name, values, codes in names)
        for row in examples
    )
    return profile, stratum[examples], described


def _combine(codes: Sequence[Positions], rows: int) -> Positions:
    """Which combination of codes does each row have? Numbered from 0 among those that occur."""
    combined = np.zeros(rows, dtype=np.int64)
    for code in codes:
        combined = combined * (int(code.max()) + 1) + code
        combined = np.unique(combined, return_inverse=True)[1].reshape(-1)
    return combined


def _standardize(numbers: Sequence[Array], weights: Array) -> Array:
    if not numbers:
        return np.empty((len(weights), 0))
    columns = np.column_stack(numbers)
    columns = columns - np.average(columns, axis=0, weights=weights)
    return np.asarray(columns / np.sqrt(np.average(columns**2, axis=0, weights=weights)))


def _notes(
    columns: Sequence[Column], parts: Sequence[_Sorted], outcome: Outcome
) -> tuple[str, ...]:
    """Which columns were treated how, in words?"""
    treated: dict[str, list[str]] = {}
    for column, part in zip(columns, parts, strict=True):
        treated.setdefault(part.treatment, []).append(repr(column.name))
    order = (STRATA, DEQUANTIZED, REPEATING, CONTINUOUS)
    said = [words.format(", ".join(treated[words])) for words in order if words in treated]
    return (*said, outcome.treatment)
