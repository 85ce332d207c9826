"""How far would predictions have been from what they are, person by person and group by group?

A shift is the prediction in fact minus the prediction in the other world: positive where it is
higher than it would have been. Flips are counted in both directions. Where rows have weights w, a
group's mean is sum w x / sum w, and each row adds w (x - mean) / sum w to its error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from causalfairness.effects import Basis, Effect, EffectTable
from causalfairness.effects.effect import ROWS_ALONE
from causalfairness.effects.table import as_html, as_pandas, as_polars, as_section, as_text
from causalfairness.individuals.distances import Array, Positions, Truths
from causalfairness.inference import Interval, normal_interval, wilson_interval
from causalfairness.inference.proportions import effective_size, quantiles
from causalfairness.scm.refits import RefitPlan, Uncertainty
from causalfairness.tables import RowAccount, add_column, only_rows
from causalfairness.tables.fingerprint import Identity
from causalfairness.tables.groups import GroupLabel, group_label, shown

FEW = 30  # people; fewer are pointed out
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)  # quantiles of shifts
GRID = 256  # points at which densities are given


class Densities(NamedTuple):
    """How are predictions spread in fact and in the other world?

    >>> Densities(np.zeros(1), np.ones(1), np.ones(1)).at.tolist()
    [0.0]
    """

    at: Array
    fact: Array
    otherwise: Array


@dataclass(frozen=True, eq=False)
class GroupShift:
    """How far is a group's prediction from what it would have been?

    `lowered` is the share of people whose decision would have been 0 and is 1, `raised` the share
    whose decision would have been 1 and is 0; None where predictions are no decisions. `effective`
    is how many people of equal weight the group is worth; 0 where that was not worked out.

    >>> GroupShift.__dataclass_fields__["lowered"].default is None
    True
    """

    name: str
    people: int
    changed: int
    fact: float
    otherwise: float
    shift: Effect
    quantiles: tuple[float, ...]  # of the shifts: 5, 25, 50, 75 and 95 %
    lowered: float | None = None
    raised: float | None = None
    flip_errors: tuple[float, float] = (0.0, 0.0)  # of people and of the fit, where it is known
    effective: float = 0.0

    def flips(self, level: float = 0.95) -> tuple[Interval, Interval] | None:
        """Which shares of flipped decisions fit the data? Lowered, then raised.

        Wilson intervals over people, widened to what the fit of the mechanisms leaves open.
        """
        if not self._flipped():
            return None
        found, size = [], self.effective or self.people
        for share, error in zip(self._flipped(), self.flip_errors, strict=True):
            low, high = map(float, wilson_interval(share * size, size, level))
            wide = normal_interval(share, error, level, self.shift.freedom)
            found.append(Interval(max(min(low, wide.low), 0.0), min(max(high, wide.high), 1.0)))
        return found[0], found[1]

    def record(self, level: float = 0.95) -> dict[str, Any]:
        """What was found, as plain data?"""
        low, high = self.shift.interval(level)
        found: dict[str, Any] = {
            "group": self.name,
            "people": self.people,
            "changed": self.changed,
            "in_fact": self.fact,
            "otherwise": self.otherwise,
            "shift": self.shift.value,
            "standard_error": self.shift.standard_error,
            "low": low,
            "high": high,
            **{f"q{100 * q:g}": value for q, value in zip(SHARES, self.quantiles, strict=True)},
        }
        if (flips := self.flips(level)) is not None:
            for name, share, ends in zip(
                ("lowered", "raised"), self._flipped(), flips, strict=True
            ):
                found |= {name: share, f"{name}_low": ends.low, f"{name}_high": ends.high}
        return found

    def _flipped(self) -> tuple[float, ...]:
        return tuple(share for share in (self.lowered, self.raised) if share is not None)


@dataclass(frozen=True, eq=False)
class CounterfactualFairness:
    """Who is treated differently than they would have been, and by how much?

    `shift` has one number per person; `found[group]` sums up a group, `table()` all groups. `scale`
    says what shifts are differences of. `uncertainty` holds spreads of a group's mean shift and
    both shares of flips, the fit of mechanisms included; of a group that is set to another value
    and has none, they are of rows alone. Where a `Table` left rows out, `account` counts them, and
    `kept` says which rows of what was brought the others are.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data = world.draw(500, seed=0)
    >>> scm = cf.StructuralCausalModel.fit(cf.CausalGraph.parse(
    ...     "group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y"), data)
    >>> found = cf.counterfactual_fairness(
    ...     lambda people: people["m1"].to_numpy(), data, scm, do={"group": {"green": "blue"}})
    >>> len(found.shift), [group.name for group in found]
    (500, ['blue', 'green'])
    """

    data: Any
    told: tuple[str, ...]
    groups: tuple[GroupLabel, ...]
    group: Positions  # which of `groups`, per row
    changed: Truths
    fact: Array  # (n,)
    otherwise: Array  # (draws, n)
    decided: Array | None  # (n,)
    decided_otherwise: Array | None  # (draws, n)
    identity: Identity
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    uncertainty: Mapping[int, Uncertainty] = field(default_factory=dict)
    scale: str = ""
    weights: Array | None = None  # how much each row counts; None: all alike
    kept: Positions | None = None
    account: RowAccount | None = None

    @cached_property
    def shift(self) -> Array:
        """How much higher is each person's prediction than it would have been?"""
        return np.asarray(self.fact - self.otherwise.mean(axis=0))

    @property
    def uncertain(self) -> Array:
        """How much does each person's shift vary over the draws? 0 for a single draw."""
        return np.asarray(self.otherwise.std(axis=0))

    def __iter__(self) -> Iterator[GroupShift]:
        return (self._of(at) for at in range(len(self.groups)))

    def __getitem__(self, group: Any) -> GroupShift:
        wanted = group_label(group)
        if wanted not in self.groups:
            known = "; ".join(map(shown, self.groups))
            raise KeyError(f"there is no group {group!r}; there are {known}")
        return self._of(self.groups.index(wanted))

    def table(self, level: float = 0.95) -> EffectTable:
        """What is the mean shift of each group whose people are set to another value?"""
        return EffectTable(tuple(found.shift for found in self._told()), level=level)

    def to_records(self, level: float = 0.95) -> list[dict[str, Any]]:
        """What was found for each group, as plain data: means, quantiles, flips, intervals?"""
        return [found.record(level) for found in self]

    def to_pandas(self, level: float = 0.95) -> Any:
        """What was found for each group, as a pandas data frame?"""
        return as_pandas(self.to_records(level))

    def to_polars(self, level: float = 0.95) -> Any:
        """What was found for each group, as a polars data frame?"""
        return as_polars(self.to_records(level))

    def most_affected(self, people: int = 10) -> Any:
        """Whose prediction is furthest from what it would have been? Rows of the data, in order.

        They carry the row's position, both predictions and the shift, in the library of the data.
        """
        order = np.argsort(-np.abs(self.shift), kind="stable")[:people]
        frame = only_rows(self.data, order)
        for name, values in (
            ("row", order if self.kept is None else self.kept[order]),
            ("prediction in fact", self.fact[order]),
            ("prediction otherwise", self.otherwise.mean(axis=0)[order]),
            ("shift", self.shift[order]),
        ):
            frame, _ = add_column(frame, values, name=name)
        return frame

    def densities(self, group: Any, points: int = GRID) -> Densities:
        """How are a group's predictions spread in fact and in the other world?"""
        self[group]  # an unknown group is refused
        inside = self.group == self.groups.index(group_label(group) or ())
        fact, otherwise = self.fact[inside], self.otherwise[:, inside].reshape(-1)
        counts = self._counted[inside]
        again = np.tile(counts, len(self.otherwise))
        both = np.concatenate([fact, otherwise])
        width = _bandwidth(fact)
        at = np.linspace(both.min() - 3 * width, both.max() + 3 * width, points)
        ends = _density(fact, at, width, counts), _density(otherwise, at, width, again)
        return Densities(at, *ends)

    def sentences(self, level: float = 0.95) -> tuple[str, ...]:
        """What do the numbers say, in plain words?"""
        said = [_sentence(found, self.told, level) for found in self._told()]
        said += [_flip_sentence(f, level) for f in self._told() if f.lowered is not None]
        said += [
            f"Only {found.people} people are {found.name}: little can be said of them."
            for found in self._told()
            if found.people < FEW
        ]
        return tuple(said)

    def __str__(self) -> str:
        return "\n".join(
            [
                as_text(self._lines(0.95)),
                *self.sentences(),
                *(f"assumes: {line}" for line in self.assumptions),
                *(f"note: {line}" for line in self.notes),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_section("", as_html(self._lines(0.95)), self.sentences())

    def _lines(self, level: float) -> list[tuple[str, ...]]:
        lines: list[tuple[str, ...]] = [
            ("group", "people", "in fact", "otherwise", "shift", "low", "high")
        ]
        for found in self._told():
            low, high = found.shift.interval(level)
            numbers = (found.fact, found.otherwise, found.shift.value, low, high)
            lines.append((found.name, f"{found.people:,}", *(f"{x:.4f}" for x in numbers)))
        return lines

    def _told(self) -> list[GroupShift]:
        """The groups of which somebody is set to another value; all, if nobody is."""
        every = list(self)
        return [found for found in every if found.changed] or every

    def means(self, counts: Array) -> Array:
        """What are each group's mean shift and shares of flips, if rows count this often?

        (groups, 3); the shares are 0 where predictions are no decisions.
        """
        counts = counts * self._counted
        size = np.bincount(self.group, counts, minlength=len(self.groups))
        totals = [
            np.bincount(self.group, counts * values, minlength=len(self.groups))
            for values in (self.shift, *self._flips)
        ]
        return np.stack(totals, axis=1) / np.where(size > 0, size, 1.0)[:, None]

    def by_row(self, group: int) -> Array:
        """What each row adds to the error of a group's means, mechanisms as given. (3, rows)"""
        counted = np.where(self.group == group, self._counted, 0.0)
        apart = np.stack([self.shift, *self._flips]) - self._means[group][:, None]
        return np.asarray(apart * counted / counted.sum())

    @cached_property
    def _flips(self) -> Array:
        """Whose decision is lowered, and whose is raised, as a share of the draws? (2, rows)"""
        flips = np.zeros((2, len(self.fact)))
        if self.decided is not None and self.decided_otherwise is not None:
            for at, was in enumerate((1, 0)):
                flipped = (self.decided == was) & (self.decided_otherwise == 1 - was)
                flips[at] = flipped.mean(axis=0)
        return flips

    @cached_property
    def _counted(self) -> Array:
        return np.ones(len(self.fact)) if self.weights is None else self.weights

    @cached_property
    def _means(self) -> Array:
        return self.means(np.ones(len(self.fact)))

    def _of(self, at: int) -> GroupShift:
        inside = self.group == at
        shift, lowered, raised = (float(mean) for mean in self._means[at])
        own, name = self._counted[inside], shown(self.groups[at])
        basis = Basis(self.identity.fingerprint, "rows", self.identity.order)
        alone = RefitPlan("", rows_alone=bool(self.changed[inside].any()))
        sure = self.uncertainty.get(at, Uncertainty(self.by_row(at), basis, alone))
        errors = np.linalg.norm(sure.spreads[1:], axis=1) * (sure.plan.refits is not None)
        decides = self.decided is not None
        return GroupShift(
            name=name,
            people=int(inside.sum()),
            changed=int(self.changed[inside].sum()),
            fact=float(np.average(self.fact[inside], weights=own)),
            otherwise=float(np.average(self.otherwise[:, inside].mean(axis=0), weights=own)),
            shift=Effect(
                *(name, shift, sure.spreads[0], sure.basis, frozenset(self.assumptions)),
                freedom=sure.plan.freedom,
                rows_alone=sure.plan.rows_alone,
            ),
            quantiles=tuple(self._quantiles(inside).tolist()),
            lowered=lowered if decides else None,
            raised=raised if decides else None,
            flip_errors=(float(errors[0]), float(errors[1])),
            effective=float(effective_size(own.sum(), own @ own)),
        )

    def _quantiles(self, inside: Truths) -> Array:
        if self.weights is None:
            return np.asarray(np.quantile(self.shift[inside], SHARES))
        return quantiles(self.shift[inside], self.weights[inside], SHARES)


def _sentence(found: GroupShift, told: tuple[str, ...], level: float) -> str:
    low, high = found.shift.interval(level)
    percent = f"{100 * level:.6g}% level"
    if found.shift.rows_alone:
        percent += f", {ROWS_ALONE}, with the mechanisms taken as given"
    who = f"{found.name} ({found.changed:,} of {found.people:,} people, had they been of "
    who += f"another {' and '.join(told)})"
    if found.shift.value == 0 and found.shift.standard_error == 0:
        return f"{who}: nobody's prediction would have been another: nothing that it uses changes."
    if low <= 0 <= high:
        return (
            f"{who}: predictions are {found.shift.value:+.3f} from what they would have been "
            f"({low:+.3f} to {high:+.3f}), consistent with no shift above {max(-low, high):.3f} on "
            f"average ({percent}), under these assumptions."
        )
    side = "higher" if found.shift.value > 0 else "lower"
    return (
        f"{who}: predictions are {abs(found.shift.value):.3f} {side} on average than they would "
        f"have been ({low:+.3f} to {high:+.3f} at the {percent})."
    )


def _flip_sentence(found: GroupShift, level: float) -> str:
    shares = [
        f"{share:.1%} ({end.low:.1%} to {end.high:.1%})"
        for share, end in zip(found._flipped(), found.flips(level) or (), strict=True)
    ]
    return (
        f"{found.name}: {shares[0]} are decided 1 and would have been decided 0; {shares[1]} are "
        "decided 0 and would have been decided 1."
    )


def _bandwidth(values: Array) -> float:
    """Silverman's rule of thumb, robust to heaps; a point mass gets a narrow bump."""
    low, high = np.quantile(values, [0.25, 0.75])
    rounding = 1e-9 * float(np.abs(values).max())
    scales = (min(values.std(), (high - low) / 1.34), values.std(), max(1e-3, rounding))
    scale = next(each for each in scales if each > 0 and each >= rounding)
    return float(0.9 * scale * len(values) ** -0.2)


def _density(values: Array, at: Array, width: float, weights: Array) -> Array:
    """A Gaussian kernel estimate; counts on a fine grid first, so that many rows cost little."""
    fine = np.linspace(at[0], at[-1], 2048)
    counts = np.histogram(values, bins=len(fine), range=(at[0], at[-1]), weights=weights)[0]
    step = (at[-1] - at[0]) / len(fine)
    centers = at[0] + (np.arange(len(fine)) + 0.5) * step
    kernel = np.exp(-0.5 * ((at[:, None] - centers) / width) ** 2)
    return np.asarray(kernel @ counts / (weights.sum() * width * np.sqrt(2 * np.pi)))
