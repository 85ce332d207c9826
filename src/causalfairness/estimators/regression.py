"""What do models of the outcome say alone? Plug-in estimates (methods §2.1 item 3).

    Q_i(m, c)   = E[y | A = i, m, c]               a model in group i
    nu_ij(c)    = E[Q_i(M, c) | A = j, c]          a second model, of Q_i, in group j
    mu[i, j, k] = mean of nu_ij over group k

Nothing corrects the models: they must be right. Standard errors come from fitting everything again
under random row weights. What the models miss of a group's plain mean is reported as `misfit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Diagnostics, Estimate, LearnerLoss, Overlap
from causalfairness.errors import OverlapError
from causalfairness.estimators.bootstrap import (
    Bootstrapped,
    bootstrap,
    check_replicates,
    check_sizes,
    row_weights,
)
from causalfairness.estimators.default_learners import REACH, capped
from causalfairness.estimators.learners import (
    check_learner,
    check_means,
    check_takes_weights,
    is_classifier,
)
from causalfairness.estimators.protocol import ASSUMPTIONS, described
from causalfairness.estimators.refitting import (
    LearnerRefit,
    LinearRefit,
    Refit,
    caveats,
    design_of,
    logistic_refit,
    loss_in_sample,
)
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Of, RowPair, Rows, Table
from causalfairness.tables.groups import ROLES
from causalfairness.tables.rows import encode

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
RIGHT_MODELS = "the models of the outcome have the right form: nothing corrects them"
MOST_OUTSIDE = 0.9  # of a group beyond the other's range; with more there is nothing to compare
ROUNDING = 1e-9  # share of the outcome's range below which a misfit is a rounding error


@dataclass(frozen=True)
class Regression:
    """What do models of the outcome say alone, if they are right?

    `outcome` is an unfitted scikit-learn model, a regressor or for a binary outcome a classifier,
    and `nested` the regressor for nu_ij, by default `outcome` where that is a regressor. None takes
    a linear model, for a binary outcome a logistic one, lightly penalised, on all columns with
    their squares, products and splines as long as there are ten rows for each. Learners must take
    `sample_weight`: standard errors come from `replicates` fits with random row weights.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data, plug_in = world.draw(500, seed=0), cf.estimators.Regression(replicates=20)
    >>> found = cf.decompose_disparity(data, world.model, estimator=plug_in)
    >>> error = found.direct.value - world.true_effects()["direct"]
    >>> bool(abs(error) < 4 * found.direct.standard_error)
    True
    """

    outcome: Any = None
    nested: Any = None
    replicates: int = 200

    def __post_init__(self) -> None:
        check_replicates(self.replicates)
        for learner in (self.outcome, self.nested):
            check_learner(learner)
            check_takes_weights(learner)
        check_means(self.nested, binary=False, what="a mean over mediators")

    __str__ = described

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Rows:
        """What does each person's row hold?"""
        return table.rows(model, of)

    def estimate(
        self, reading: Rows, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means, by models of the outcome?"""
        pair = reading.pair(model)
        check_means(self.outcome, binary=pair.is_binary, what="the outcome")
        check_sizes(pair)
        ranges = ranges_of(pair)
        ranges.check()
        models = self._models(pair)
        found = bootstrap(
            pair,
            models.means,
            replicates=self.replicates,
            workers=workers,
            seed=seed,
            assumptions=(*ASSUMPTIONS, RIGHT_MODELS),
        )
        diagnostics = Diagnostics(
            estimator=str(self),
            rows=pair.account,
            overlap=Overlap(),
            learners=models.losses(row_weights(pair)),
            assumptions=(*ASSUMPTIONS, RIGHT_MODELS),
            notes=(
                _misfit(pair, found),
                *found.notes,
                *ranges.notes(),
                *(capped(pair) if self.outcome is None and pair.is_binary else ()),
                *caveats([*models.given_all, *models.given_c]),
            ),
        )
        return Estimate(found.world_means, found.raw_gap, diagnostics, remainder="misfit")

    def _models(self, pair: RowPair) -> _Models:
        own = [np.flatnonzero((pair.group == g) & (pair.weights > 0)) for g in (0, 1)]
        both = np.column_stack([pair.mediators, pair.confounders])
        return _Models(
            group=pair.group,
            outcome=pair.measured,
            given_all=self._given_all(pair, both, own),
            given_c=self._given_c(pair, own) if pair.mediators.shape[1] else (),
            has_confounders=pair.confounders.shape[1] > 0,
        )

    def _given_all(self, pair: RowPair, both: Array, own: list[Positions]) -> tuple[Refit, ...]:
        """The models of Q_0 and Q_1."""
        if self.outcome is not None and both.shape[1]:
            return tuple(LearnerRefit(self.outcome, both, rows) for rows in own)
        if not (pair.is_binary and both.shape[1]):
            design = design_of(both, min(map(len, own)))
            return tuple(LinearRefit(design, rows) for rows in own)
        y, weights = pair.measured, row_weights(pair)
        rarer = min(min(int(y[rows].sum()), int((1 - y[rows]).sum())) for rows in own)
        design = design_of(both, rarer, reach=REACH)
        return tuple(logistic_refit(design, rows, y, weights) for rows in own)

    def _given_c(self, pair: RowPair, own: list[Positions]) -> tuple[Refit, ...]:
        """The models of nu_i0, i = 0 and 1, and of nu_i1."""
        nested, c = self.nested, pair.confounders
        if nested is None and self.outcome is not None and not is_classifier(self.outcome):
            nested = self.outcome
        if nested is not None and c.shape[1]:
            return tuple(LearnerRefit(nested, c, rows) for rows in own)
        design = design_of(c, min(map(len, own)))
        return tuple(LinearRefit(design, rows) for rows in own)


@dataclass(frozen=True, eq=False)
class _Models:
    """Which models are fitted, in which group, and what follows for the world means?"""

    group: NDArray[np.int8]
    outcome: Array
    given_all: tuple[Refit, ...]  # by i
    given_c: tuple[Refit, ...]  # by j; none without mediators
    has_confounders: bool

    def means(self, weights: Array) -> Array:
        """The means within each group, [i, j, k]; what nobody is told, or differs in, is left out
        so that nothing runs along a path that does not exist."""
        inside = self._inside(weights)
        average = (inside / inside.sum(axis=1, keepdims=True)).T
        q = self._outcomes(inside)
        if self.has_confounders and self.given_c:
            means = self._nested(q, inside) @ average
        elif self.has_confounders:
            means = (q @ average)[:, None, :]
        elif self.given_c:
            means = (q @ average)[:, :, None]
        else:
            means = q[:, :1, None]
        return np.broadcast_to(means, (2, 2, 2)).copy()

    def losses(self, weights: Array) -> tuple[LearnerLoss, ...]:
        """How well do the models describe the rows they were fitted to?"""
        inside = self._inside(weights)
        q = self._outcomes(inside)
        there = {"M": self.given_c, "C": self.has_confounders}
        given = ", ".join(name for name in there if there[name])
        losses = [
            loss_in_sample(f"E[y | A={i}, {given}]", model, self.outcome, q[i], inside[i])
            for i, model in enumerate(self.given_all)
            if given
        ]
        if self.has_confounders and self.given_c:
            nested = self._nested(q, inside)
            for i, j in product((0, 1), repeat=2):
                name, model = f"E[Q_{i} | A={j}, C]", self.given_c[j]
                losses.append(loss_in_sample(name, model, q[i], nested[i, j], inside[j]))
        return tuple(losses)

    def _inside(self, weights: Array) -> Array:
        return np.stack([weights * (self.group == g) for g in (0, 1)])

    def _outcomes(self, inside: Array) -> Array:
        """Q_i of every row, [i, row]."""
        return np.concatenate(
            [m.predict(self.outcome[None], w) for m, w in zip(self.given_all, inside, strict=True)]
        )

    def _nested(self, q: Array, inside: Array) -> Array:
        """nu_ij of every row, [i, j, row]."""
        return np.stack(
            [m.predict(q, w) for m, w in zip(self.given_c, inside, strict=True)], axis=1
        )


def _misfit(pair: RowPair, found: Bootstrapped) -> str:
    """What do the models miss of each group's plain mean?"""
    missed = []
    for g in (0, 1):
        plain = float(np.average(pair.measured, weights=pair.weights * (pair.group == g)))
        miss = plain - float(found.world_means.values[g, g, g])
        missed.append(0.0 if abs(miss) < ROUNDING * float(np.ptp(pair.measured)) else miss)
    if not any(missed):
        return "the fitted models meet each group's plain mean: there is no misfit"
    return (
        f"misfit, a group's plain mean minus its fitted one: {missed[0]:+.4g} in the reference "
        f"group, {missed[1]:+.4g} in the comparison group"
    )


class Ranges(NamedTuple):
    """What share of each group has a value beyond the other's range, and in which column mostly?

    A model fitted to one group is on its own wherever the other has values beyond those it was
    fitted on. Columns are compared one by one, labels by whether they occur: a coarse look, since
    every value may be common while their combination is not.
    """

    outside: tuple[float, float]
    column: str

    def notes(self) -> tuple[str, ...]:
        """What should a reader know?"""
        if not self.column:
            return ()
        if not any(self.outside):
            return (
                "overlap was looked at column by column only: every value lies within the other "
                "group's range",
            )
        return (
            f"{self.outside[0]:.2%} of the reference group and {self.outside[1]:.2%} of the "
            f"comparison group have values beyond the other group's range (most often "
            f"{self.column!r}): there models are extended past the people they were fitted on",
        )

    def check(self) -> None:
        """Is there anyone to compare with?"""
        for own, other, share in zip(ROLES, ROLES[::-1], self.outside, strict=True):
            if share > MOST_OUTSIDE:
                raise OverlapError(
                    f"{share:.0%} of the {own} group have values beyond the range of the {other} "
                    f"group, most often in {self.column!r}: the groups hardly overlap. Leave out "
                    "columns that all but reveal the group, or restrict the question to where "
                    "both groups are seen (Strata(empty_cells='restrict'))"
                )


def ranges_of(pair: RowPair) -> Ranges:
    """Who has values that nobody in the other group reaches?

    >>> import pyarrow as pa
    >>> from causalfairness.fairness_model import StandardFairnessModel
    >>> from causalfairness.tables import open_table
    >>> data = pa.table({"a": [0, 0, 1, 1], "c": [1.0, 2.0, 2.0, 3.0], "y": [0, 1, 0, 1]})
    >>> model = StandardFairnessModel(
    ...     protected="a", reference=0, comparison=1, confounders=["c"], outcome="y")
    >>> ranges_of(open_table(data).rows(model, "outcome").pair(model)).outside
    (0.5, 0.5)
    """
    names = (*pair.model.confounders, *pair.model.mediators)
    if not names:
        return Ranges((0.0, 0.0), "")
    weights = pair.weights
    outside = np.stack([_outside(pair, name) for name in names])
    worst = int(np.argmax(outside @ weights))
    shares = [
        float(np.average(outside.any(axis=0), weights=weights * (pair.group == g))) for g in (0, 1)
    ]
    return Ranges((shares[0], shares[1]), names[worst])


def _outside(pair: RowPair, name: str) -> NDArray[np.bool_]:
    """Whose value in this column is beyond the range of the other group?"""
    values = encode([pair.rows.columns[name]], pair.index)
    beyond = np.zeros(len(pair), dtype=bool)
    for g in (0, 1):
        others = values[(pair.group != g) & (pair.weights > 0)]
        past = (values < others.min(axis=0)) | (values > others.max(axis=0))
        beyond |= (pair.group == g) & past.any(axis=1)
    return beyond
