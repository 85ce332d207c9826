"""What is a world with known answers? Structural equations and the 12 means they imply.

A row is made from independent uniform numbers: confounders C first, then the group A, mediators
M and outcome Y. Nothing else is random, so a counterfactual is the same row of noise told another
group. The truth is the formula of methods §2, summed or integrated without simulation:

    mu[i, j, k] = E[Y_{A=i, M_{A=j}} | A = k] = sum_c nu_ij(c) P(c | k),
    nu_ij(c) = E[Q_i(M, c) | A = j, c],      Q_i(m, c) = E[Y | A = i, m, c]

with 0 the reference group, 1 the comparison group and k = 2 both groups pooled. Effects are signed
as a change from reference to comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from causalfairness.datasets.bundled import FrameName, as_frame
from causalfairness.errors import DatasetError
from causalfairness.fairness_model import StandardFairnessModel

Array = NDArray[np.float64]

GROUP = "group"
REFERENCE, COMPARISON = "blue", "green"
ARROWS = ("direct", "indirect", "spurious")
EVERYONE = 2


class Noise(NamedTuple):
    """What makes one row differ from the next? Independent uniform numbers, one row each.

    A mediator may use two of them: mixtures need one to choose and one to spread.

    >>> from causalfairness.datasets.worlds import med
    >>> noise = med().noise(5, seed=0)
    >>> noise.confounders.shape, noise.group.shape, noise.mediators.shape, noise.outcome.shape
    ((5, 3), (5,), (5, 2, 3), (5,))
    """

    confounders: Array  # (n, confounders)
    group: Array  # (n,)
    mediators: Array  # (n, 2, mediators)
    outcome: Array  # (n,)


class Equations(Protocol):
    """Which functions make a world? Confounders and mediators are (n, columns) arrays.

    `a`, `i` and `j` are 0 for the reference group and 1 for the comparison group.

    >>> from causalfairness.datasets.worlds import binary
    >>> confounders, weights = binary().equations.confounder_grid()
    >>> confounders.shape, float(weights.sum())
    ((4, 2), 1.0)
    """

    def confounders(self, noise: Array) -> Array:
        """Which C comes from this noise?"""

    def group_probability(self, c: Array) -> Array:
        """How likely is the comparison group, given C?"""

    def mediators(self, a: Array, c: Array, noise: Array) -> Array:
        """Which M comes from A, C and this noise?"""

    def mediator_density(self, a: int, c: Array, m: Array) -> Array:
        """How likely (discrete) or how dense (continuous) is M given A and C?"""

    def outcome(self, a: Array, c: Array, m: Array, noise: Array) -> Array:
        """Which Y comes from A, C, M and this noise?"""

    def outcome_mean(self, a: int, c: Array, m: Array) -> Array:
        """Which Y is expected given A, C and M?  This is Q_a(m, c)."""

    def nested_mean(self, i: int, j: int, c: Array) -> Array:
        """Which Y is expected given C if Y is told i and M is told j?  This is nu_ij(c)."""

    def confounder_grid(self) -> tuple[Array, Array]:
        """Over which values of C, with which weights, do averages over C run?"""


def roles_of(
    confounders: Sequence[str], mediators: Sequence[str], outcome: str = "y"
) -> StandardFairnessModel:
    """Which column plays which part in a world? Green is compared with blue.

    >>> roles_of(["c1"], ["m1"]).outcome
    'y'
    """
    return StandardFairnessModel(
        protected=GROUP,
        reference=REFERENCE,
        comparison=COMPARISON,
        confounders=confounders,
        mediators=mediators,
        outcome=outcome,
    )


@dataclass(frozen=True, eq=False)
class World:
    """Which rows would people bring, and which answers would be right?

    >>> from causalfairness.datasets.worlds import linear_gaussian
    >>> world = linear_gaussian(direct=0.5)
    >>> world.draw(3, seed=1).column_names
    ['group', 'c1', 'c2', 'm1', 'y']
    >>> round(world.true_effects()["direct"], 12)
    0.5
    """

    name: str
    description: str
    model: StandardFairnessModel
    equations: Equations
    whole_numbers: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()

    def draw(self, n: int, *, seed: int, frame: FrameName = "pyarrow") -> Any:
        """Which n rows are observed? A longer draw with the same seed starts with the same rows.

        >>> from causalfairness.datasets.worlds import binary
        >>> binary().draw(3, seed=6, frame="pandas")
           group  c1  c2  m1  y
        0  green   1   0   1  1
        1  green   1   0   0  0
        2   blue   0   1   1  1
        """
        noise = self.noise(n, seed=seed)
        return as_frame(self._rows(self._group(noise), noise), frame)

    def counterfactual(self, n: int, *, seed: int, do: str, frame: FrameName = "pyarrow") -> Any:
        """What would the rows of `draw` be if everyone belonged to the group `do`?

        >>> from causalfairness.datasets.worlds import binary
        >>> binary().counterfactual(3, seed=6, do="blue", frame="pandas")
          group  c1  c2  m1  y
        0  blue   1   0   0  0
        1  blue   1   0   0  0
        2  blue   0   1   1  1
        """
        labels = (self.model.reference, self.model.comparison)
        if do not in labels:
            raise DatasetError(
                f"the world {self.name!r} has no group {do!r}; say do={labels[0]!r} or "
                f"do={labels[1]!r}"
            )
        told = np.full(n, float(labels.index(do)))
        return as_frame(self._rows(told, self.noise(n, seed=seed)), frame)

    def draw_with_counterfactuals(
        self, n: int, *, seed: int, frame: FrameName = "pyarrow"
    ) -> tuple[Any, Any]:
        """What is observed, and what would each person's row be in the other group?

        >>> from causalfairness.datasets.worlds import binary
        >>> observed, otherwise = binary().draw_with_counterfactuals(3, seed=0)
        >>> observed["group"].to_pylist(), otherwise["group"].to_pylist()
        (['green', 'green', 'blue'], ['blue', 'blue', 'green'])
        """
        noise = self.noise(n, seed=seed)
        group = self._group(noise)
        observed, otherwise = self._rows(group, noise), self._rows(1 - group, noise)
        return as_frame(observed, frame), as_frame(otherwise, frame)

    def noise(self, n: int, *, seed: int) -> Noise:
        """Which uniform numbers make the n rows of this seed?

        >>> from causalfairness.datasets.worlds import binary
        >>> bool((binary().noise(2, seed=0).group == binary().noise(9, seed=0).group[:2]).all())
        True
        """
        confounders, mediators = len(self.model.confounders), len(self.model.mediators)
        width = confounders + 1 + 2 * mediators + 1
        uniform = np.random.default_rng(seed).random((n, width))
        np.maximum(uniform, 2.0**-53, out=uniform)  # a quantile at 0 would be minus infinity
        return Noise(
            confounders=uniform[:, :confounders],
            group=uniform[:, confounders],
            mediators=uniform[:, confounders + 1 : -1].reshape(n, 2, mediators),
            outcome=uniform[:, -1],
        )

    def without(self, arrow: str) -> World:
        """Which world is left when an arrow is cut, so that its effect is exactly 0?

        "direct" cuts A -> Y and "indirect" cuts A -> M: everyone's outcome, or mediators, follow
        the reference group's equations. "spurious" cuts A <-> C: the group is drawn by its share.

        >>> from causalfairness.datasets.worlds import binary
        >>> binary().without("direct").true_effects()["direct"]
        0.0
        """
        if arrow not in ARROWS:
            raise DatasetError(
                f"no arrow is called {arrow!r}; cut 'direct' (A -> Y), 'indirect' (A -> M) or "
                "'spurious' (A <-> C)"
            )
        return replace(self, name=f"{self.name} without {arrow}", cut=self.cut | {arrow})

    @cached_property
    def share(self) -> float:
        """Which share of the people belongs to the comparison group?

        >>> from causalfairness.datasets.worlds import nomed
        >>> round(nomed().share, 6)
        0.5
        """
        c, weights = self.equations.confounder_grid()
        return float(weights @ self.equations.group_probability(c))

    def true_means(self) -> Array:
        """Which 12 means mu[i, j, k] are true? Last index: reference, comparison, everyone.

        >>> from causalfairness.datasets.worlds import nomed
        >>> means = nomed().true_means()
        >>> means.shape, round(float(means[1, 0, 0] - means[0, 0, 0]), 6)
        ((2, 2, 3), 0.666667)
        """
        return self._means.copy()

    @cached_property
    def _means(self) -> Array:
        c, weights = self.equations.confounder_grid()
        p = self.equations.group_probability(c)
        shares = np.stack([weights * (1 - p), weights * p, weights])
        shares /= shares.sum(axis=1, keepdims=True)
        nested = self.equations.nested_mean
        means = np.array([[shares @ nested(i, j, c) for j in (0, 1)] for i in (0, 1)])
        if "direct" in self.cut:
            means = means[[0, 0]]
        if "indirect" in self.cut:
            means = means[:, [0, 0]]
        if "spurious" in self.cut:
            means = means[:, :, [EVERYONE] * 3]
        return means

    def true_effects(
        self, convention: Literal["sequential", "symmetric"] = "sequential"
    ) -> dict[str, float]:
        """Into which direct, indirect and spurious parts does the disparity truly fall?

        >>> from causalfairness.datasets.worlds import binary
        >>> parts = binary().true_effects("symmetric")
        >>> total = parts.pop("total")
        >>> abs(total - sum(parts.values())) < 1e-12
        True
        """
        mu = self._means
        if convention == "sequential":
            direct = mu[1, 0, 0] - mu[0, 0, 0]
            indirect = mu[1, 1, 0] - mu[1, 0, 0]
            spurious = mu[1, 1, 1] - mu[1, 1, 0]
        elif convention == "symmetric":
            direct = ((mu[1, 0, 1] - mu[0, 0, 1]) + (mu[1, 1, 1] - mu[0, 1, 1])) / 2
            indirect = ((mu[0, 1, 1] - mu[0, 0, 1]) + (mu[1, 1, 1] - mu[1, 0, 1])) / 2
            spurious = mu[0, 0, 1] - mu[0, 0, 0]
        else:
            raise DatasetError(
                f"unknown convention {convention!r}; ask for 'sequential' or 'symmetric'"
            )
        total = mu[1, 1, 1] - mu[0, 0, 0]
        names = ("total", *ARROWS)
        return dict(zip(names, map(float, (total, direct, indirect, spurious)), strict=True))

    def group_given_confounders(self, data: Any) -> Array:
        """How likely was the comparison group for each row, knowing C? P(a1 | c).

        >>> from causalfairness.datasets.worlds import binary
        >>> world = binary()
        >>> world.group_given_confounders(world.draw(2, seed=0)).round(3).tolist()
        [0.711, 0.622]
        """
        return self._propensity(self._matrix(data, self.model.confounders))

    def group_given_all(self, data: Any) -> Array:
        """How likely was the comparison group for each row, knowing M and C? P(a1 | m, c).

        >>> from causalfairness.datasets.worlds import binary
        >>> world = binary()
        >>> world.group_given_all(world.draw(2, seed=0)).round(3).tolist()
        [0.548, 0.712]
        """
        c, m = (self._matrix(data, names) for names in (self.model.confounders, self._mediators))
        p, told = self._propensity(c), 0 if "indirect" in self.cut else 1
        comparison = p * self.equations.mediator_density(told, c, m)
        reference = (1 - p) * self.equations.mediator_density(0, c, m)
        return np.asarray(comparison / (comparison + reference))

    def outcome_given_all(self, data: Any, *, told: int) -> Array:
        """Which outcome is expected for each row's M and C in group `told`? Q_told(m, c).

        >>> from causalfairness.datasets.worlds import binary
        >>> world = binary()
        >>> world.outcome_given_all(world.draw(2, seed=0), told=1).round(3).tolist()
        [0.55, 0.786]
        """
        c, m = (self._matrix(data, names) for names in (self.model.confounders, self._mediators))
        return self.equations.outcome_mean(0 if "direct" in self.cut else told, c, m)

    def nested_given_confounders(self, data: Any, *, direct: int, indirect: int) -> Array:
        """Which outcome is expected for each row's C if Y and M are told these groups? nu_ij(c).

        >>> from causalfairness.datasets.worlds import binary
        >>> world = binary()
        >>> world.nested_given_confounders(world.draw(1, seed=0), direct=1, indirect=0).round(3)
        array([0.727])
        """
        i = 0 if "direct" in self.cut else direct
        j = 0 if "indirect" in self.cut else indirect
        return self.equations.nested_mean(i, j, self._matrix(data, self.model.confounders))

    @property
    def _mediators(self) -> tuple[str, ...]:
        return tuple(self.model.mediators)

    def _matrix(self, data: Any, names: Any) -> Array:
        columns = [np.asarray(data[name], dtype=float) for name in names]
        return np.stack(columns, axis=1) if columns else np.empty((len(data), 0))

    def _propensity(self, c: Array) -> Array:
        if "spurious" in self.cut:
            return np.full(len(c), self.share)
        return self.equations.group_probability(c)

    def _group(self, noise: Noise) -> Array:
        c = self.equations.confounders(noise.confounders)
        return (noise.group < self._propensity(c)).astype(float)

    def _rows(self, group: Array, noise: Noise) -> dict[str, NDArray[Any]]:
        """Every column, had each person belonged to the given group."""
        nobody = np.zeros_like(group)
        c = self.equations.confounders(noise.confounders)
        m = self.equations.mediators(
            nobody if "indirect" in self.cut else group, c, noise.mediators
        )
        y = self.equations.outcome(nobody if "direct" in self.cut else group, c, m, noise.outcome)
        labels = np.array([self.model.reference, self.model.comparison])
        columns: dict[str, NDArray[Any]] = {GROUP: labels[group.astype(int)]}
        columns |= dict(zip(self.model.confounders, c.T, strict=True))
        columns |= dict(zip(self.model.mediators, m.T, strict=True))
        columns[str(self.model.outcome)] = y
        return {
            name: values.astype(np.int64) if name in self.whole_numbers else values
            for name, values in columns.items()
        }
