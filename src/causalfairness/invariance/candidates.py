"""Learners of jumps, waves and rules: splines, decision trees and boosting, one fit each.

* Splines: every feature as a line, and as a cubic spline with knots at ten of its quantiles that is
  constant beyond the outermost; means by ridge regression, chances by logistic regression.
* Trees and boosting cut along columns: the features, and straight indices of them, so that they can
  cut along oblique lines as well. One index follows the prediction, the others the groups,

      u = X b,    b = (X'X + .01 m I)^-1 X'(target - mean),

  with X the standardized features of the m people learned from. All are rounded to single
  precision, so that people who are alike stay alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from scipy.special import expit

from causalfairness.invariance.kernel_ridge import ridge
from causalfairness.invariance.propensity import Chosen, logistic_path, of_levels
from causalfairness.invariance.reading import Array, Codes

KNOTS = 10
DEGREE = 3
REACH = 4.0  # standard deviations beyond which splines of chances are not followed
PENALTIES = np.logspace(3, -1, 5)  # of splines of chances, largest first
SHRUNK = 0.01  # penalty of an index, per person
LEAVES = (2, 4, 8, 16)
FEWEST = 5  # people in a leaf
TREE = {"min_samples_leaf": FEWEST, "max_leaf_nodes": LEAVES[-1], "random_state": 0}
BOOSTING = {"max_iter": 30, "learning_rate": 0.2, "max_leaf_nodes": 8, "min_samples_leaf": FEWEST}
BOOSTING |= {"l2_regularization": 1.0, "early_stopping": False, "random_state": 0}


def with_indices(z: Array, target: Array, unseen: Array) -> tuple[Array, Array]:
    """Return the features and straight indices of targets, of those learned from and those unseen.

    >>> z = np.array([[1.0], [-1.0]])
    >>> with_indices(z, z, z)[1].round(2).tolist()
    [[1.0, 0.99], [-1.0, -0.99]]
    """
    penalty = SHRUNK * len(z) * np.eye(z.shape[1])
    slopes = np.linalg.solve(z.T @ z + penalty, z.T @ (target - target.mean(axis=0)))
    return np.hstack([z, z @ slopes]), np.hstack([unseen, unseen @ slopes])


def spline_means(z: Array, predictions: Array, unseen: Array) -> Array:
    """Return the expected predictions of unseen people, (people, models), from standardized rows.

    >>> z = np.linspace(-3, 3, 400)[:, None]
    >>> spline_means(z, np.sin(3 * z), np.array([[0.5]])).round(1).tolist()
    [[1.0]]
    """
    rows, others = _splines(z, unseen)
    start, slopes = ridge(lambda block: rows[block], predictions, [np.ones(rows.shape[1])])
    return np.asarray(start + others @ slopes)


def spline_chances(z: Array, group: Codes, unseen: Array, levels: int) -> Array:
    """Return the chances of the groups for unseen people, (levels, people).

    >>> z = np.linspace(-3, 3, 600)[:, None]
    >>> a = (np.sin(3 * z[:, 0]) > 0).astype(np.int64)
    >>> spline_chances(z, a, np.array([[0.5]]), 2).round(1).tolist()
    [[0.0], [1.0]]
    """
    near = _splines(np.clip(z, -REACH, REACH), np.clip(unseen, -REACH, REACH))
    rows, others = (np.insert(each, 0, 1.0, axis=1) for each in near)

    def chance(chosen: Chosen) -> Array:
        found = logistic_path(rows, chosen.astype(float), PENALTIES)
        return np.asarray(expit(others @ found.slopes))

    return of_levels(chance, group, levels)


def _splines(*tables: Array) -> list[Array]:
    """Lines and splines of rows, with knots at quantiles of the first table's."""
    found = [[table] for table in tables]
    for at, quantiles in enumerate(np.quantile(tables[0], np.linspace(0, 1, KNOTS), axis=0).T):
        if len(knots := np.unique(quantiles)) > 2:
            ends = np.r_[[knots[0]] * DEGREE, knots, [knots[-1]] * DEGREE]
            for table, columns in zip(tables, found, strict=True):
                inside = np.clip(table[:, at], knots[0], knots[-1])
                columns.append(BSpline.design_matrix(inside, ends, DEGREE).toarray())
    return [np.hstack(columns) for columns in found]


def cut_means(columns: Array, predictions: Array, unseen: Array) -> Array:
    """Return the expected predictions of unseen people by boosting, and by a tree of each size.

    The shape is (1 + sizes, people).

    >>> z = np.linspace(-1, 1, 40)[:, None]
    >>> cut_means(z, (z[:, 0] > 0) * 1.0, np.array([[0.5]])).round(1).tolist()
    [[1.0], [1.0], [1.0], [1.0], [1.0]]
    """
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.tree import DecisionTreeRegressor

    boosting, tree = HistGradientBoostingRegressor(**BOOSTING), DecisionTreeRegressor(**TREE)
    for model in (boosting, tree):
        model.fit(np.float32(columns), predictions)
    by_tree = tree.tree_.value[_places(tree, unseen), 0, 0]
    return np.vstack([boosting.predict(np.float32(unseen)), by_tree])


def tree_chances(columns: Array, group: Codes, unseen: Array, levels: int) -> Array:
    """Return the chances of the groups by a tree of each size, (sizes, levels, people).

    In a leaf of k people with the share p of a group, its chance is (k p + 1/2) / (k + levels/2).

    >>> z = np.linspace(-1, 1, 40)[:, None]
    >>> tree_chances(z, (z[:, 0] > 0) * 1, np.array([[0.5]]), 2)[0].round(3).tolist()
    [[0.024], [0.976]]
    """
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(**TREE).fit(np.float32(columns), group)
    places = _places(tree, unseen)
    people = tree.tree_.n_node_samples[places][..., None]
    found = (people * tree.tree_.value[places, 0] + 0.5) / (people + 0.5 * levels)
    return np.asarray(np.moveaxis(found, 2, 1))


def _places(tree: Any, unseen: Array) -> Codes:
    """In which node people are if the tree had so many leaves only, (sizes, people).

    A tree that grows where it helps most has 2 k - 1 nodes when it has k leaves, the first ones.
    """
    passed = tree.decision_path(np.float32(unseen)).toarray() * np.arange(tree.tree_.node_count)
    return np.stack([passed[:, : 2 * leaves - 1].max(axis=1) for leaves in LEAVES])
