"""What would a group's mean be where it has no rows? The fills that `Strata` offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import PredictorError
from causalfairness.estimators.answers import answers, as_numbers
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import CellPair, only_columns
from causalfairness.tables.rows import encode

Array = NDArray[np.float64]
ONLY_ROLES = ". It is given the columns with a role, in the library of the data, and nothing else"


def evaluate(predict: Callable[[Any], Any], features: Any, model: StandardFairnessModel) -> Array:
    """What does the audited model say about these people?

    The model sees the columns with a role and nothing else; one that needs more is refused.

    >>> import pyarrow as pa
    >>> model = StandardFairnessModel(protected="sex", reference="M", comparison="F", outcome="y")
    >>> evaluate(lambda frame: [0.2] * len(frame), pa.table({"sex": ["M", "F"]}), model).tolist()
    [0.2, 0.2]
    """
    return as_numbers(consult(predict, features, model))


def consult(
    predict: Callable[[Any], Any], features: Any, model: StandardFairnessModel
) -> NDArray[np.object_]:
    """What does the audited model answer about these people, in its own words?

    >>> import pyarrow as pa
    >>> model = StandardFairnessModel(protected="sex", reference="M", comparison="F", outcome="y")
    >>> consult(lambda frame: ["low"] * len(frame), pa.table({"sex": ["M"]}), model).tolist()
    ['low']
    """
    roles = (*model.protected_columns, *model.confounders, *model.mediators)
    owner = getattr(predict, "__self__", None)
    wanted = getattr(owner, "feature_names_in_", None)
    names = [] if wanted is None else [str(name) for name in wanted]
    extra = [name for name in names if name not in roles]
    if extra:
        raise PredictorError(
            f"the model uses {', '.join(map(repr, extra))}, which have no role; make them "
            "confounders or mediators (they may carry the group's influence), or audit the "
            "prediction as a column"
        )
    if names:  # a fitted scikit-learn model: its own columns, in its own order
        features = only_columns(features, names)
    given = f"a frame with the columns {', '.join(map(repr, roles))}"
    return answers(predict, features, given, ONLY_ROLES)


def fit_additive(pair: CellPair, weight: Array, outcome: Array) -> Array:
    """What does an additive fit to the observed cells say about every group and profile?

    Ridge regression of the cell means on group, confounders and mediators, labels as indicators;
    rows count by their weight. (2, profiles)
    """
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    first = pair.index[np.unique(pair.profile, return_index=True)[1]]
    keys = pair.cells.keys[len(pair.model.protected_columns) :]
    known = encode(keys, first)
    design = np.vstack([np.column_stack([np.full(len(known), g), known]) for g in (0.0, 1.0)])
    seen = weight.ravel() > 0
    fit = make_pipeline(StandardScaler(), Ridge(alpha=1.0))
    per_row = weight.ravel()[seen] * (pair.sums.rows.sum() / weight.sum())  # whatever their scale
    fit.fit(design[seen], outcome.ravel()[seen], ridge__sample_weight=per_row)
    return np.asarray(fit.predict(design), dtype=float).reshape(2, -1)
