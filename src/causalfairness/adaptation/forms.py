"""The forms in which a column may follow from its causes and the group.

With z the standardized causes, d_j = 1 in group j and 0 elsewhere (none for the reference group):

    line        1, d, z
    own lines   1, d, z, z d_j
    trees       1, d, z, t
    own trees   1, d, z, t, z d_j

t is the opinion of boosted trees on what a line leaves open; own trees see the group as well. A
fitted row has the opinion of trees that have not seen it, a new row the mean of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.learner import Array, Codes
from causalfairness.estimators.default_learners import BOOSTING
from causalfairness.inference import on_one_thread

FOLDS = 3


class Form(NamedTuple):
    """Whether trees have a say, and whether groups have slopes of their own."""

    name: str
    trees: bool = False
    own: bool = False


FORMS = (
    Form("line"),
    Form("own lines", own=True),
    Form("trees", trees=True),
    Form("own trees", trees=True, own=True),
)


class Opinion(NamedTuple):
    """What boosted trees, one model per fold, say of what a line leaves open."""

    models: tuple[Any, ...]
    scale: float

    def __call__(self, seen: Array) -> Array:
        """The mean over models, in standard deviations of what was said of rows left out."""
        told = on_one_thread(lambda rows: [model.predict(rows) for model in self.models], seen)
        return np.asarray(np.mean(told, axis=0) / self.scale)


@dataclass(frozen=True, eq=False)
class ReferenceBasis:
    """The columns that forms are made of."""

    center: Array
    scale: Array
    groups: int
    opinions: dict[Form, Opinion]

    @property
    def line(self) -> NDArray[np.intp]:
        """Which columns of a design are 1 and z."""
        return np.asarray(np.r_[0, self.groups : self.groups + len(self.center)])

    def own(self, form: Form) -> slice:
        """Which columns of a form's design are slopes of single groups: the last ones."""
        return slice(self.groups + len(self.center) + form.trees, None)

    def seen(self, form: Form, causes: Array, group: Codes) -> Array:
        """What a form's trees see."""
        return np.hstack([causes, self._members(group)]) if form.own else causes

    def design(self, form: Form, causes: Array, group: Codes, told: Array | None = None) -> Array:
        """The columns of a form, row by row; `told` is the trees' opinion where it is known."""
        inside, z = self._members(group), (causes - self.center) / self.scale
        columns = [np.ones((len(z), 1)), inside, z]
        if form.trees:
            if told is None:
                told = self.opinions[form](self.seen(form, causes, group))
            columns.append(told[:, None])
        if form.own:
            columns += [z * member[:, None] for member in inside.T]
        return np.hstack(columns)

    def _members(self, group: Codes) -> Array:
        """The columns d_j."""
        return np.asarray(group[:, None] == np.arange(1, self.groups), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to learn from, with the design of every form."""

    basis: ReferenceBasis
    designs: Mapping[Form, Array]
    values: Array
    group: Codes
    fold: Codes


def sample_of(causes: Array, values: Array, group: Codes, seed: int) -> Sample:
    """The rows as every form sees them; folds are dealt within groups."""
    groups, scale = int(group.max()) + 1, causes.std(axis=0)
    basis = ReferenceBasis(causes.mean(axis=0), np.where(scale > 0, scale, 1.0), groups, {})
    fold = _folds(group, np.random.default_rng(seed).random(len(group)))
    forms = [form for form in FORMS if groups > 1 or not form.own]
    designs, told = dict[Form, Array](), None
    for form in forms if causes.shape[1] else FORMS[:1]:
        if form.trees:
            seen, line = basis.seen(form, causes, group), designs[FORMS[0]]
            basis.opinions[form], told = _opinion(seen, line, values, fold, seed)
        designs[form] = basis.design(form, causes, group, told)
    return Sample(basis, designs, values, group, fold)


def ridge(design: Array, values: Array, penalties: Array) -> Array:
    """The slopes that minimize squared errors and penalties times squared slopes.

    >>> ridge(np.ones((4, 1)), np.arange(4.0), np.zeros(1)).tolist()
    [1.5]
    """
    return np.asarray(np.linalg.solve(design.T @ design + np.diag(penalties), design.T @ values))


def pulled(columns: int) -> Array:
    """Penalties of 1, but for the first column.

    >>> pulled(3).tolist()
    [0.0, 1.0, 1.0]
    """
    return np.asarray(np.r_[0.0, np.ones(columns - 1)])


def _folds(group: Codes, luck: Array) -> Codes:
    order = np.lexsort([luck, group])
    first = np.searchsorted(group[order], group[order])  # where the row's group begins
    fold = np.empty_like(group)
    fold[order] = (np.arange(len(group)) - first) % FOLDS
    return fold


def _opinion(
    seen: Array, line: Array, values: Array, fold: Codes, seed: int
) -> tuple[Opinion, Array]:
    """The trees, and what those that have not seen a row say of it."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    models, told, penalties = [], np.empty(len(values)), pulled(line.shape[1])
    for left_out in range(FOLDS):
        train, test = fold != left_out, fold == left_out
        open_ = values[train] - line[train] @ ridge(line[train], values[train], penalties)
        model = HistGradientBoostingRegressor(**BOOSTING, random_state=seed)
        models.append(model.fit(seen[train], open_))
        told[test] = model.predict(seen[test])
    scale = float(told.std()) or 1.0
    return Opinion(tuple(models), scale), told / scale
