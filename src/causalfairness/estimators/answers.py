"""What is an audited model given, what does it answer, and are its answers numbers?

A model sees its columns in one order, whatever order roles or data have: a model that knows their
names those, any other the `predictor_columns` it was said to take. Where nothing was said, a model
that goes by place is refused, and so is a function whose answers change with the order of columns.
Whoever is asked gets a copy, and may do with it what it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import OutcomeError, PredictorError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.groups import canonical
from causalfairness.tables.joining import check_indexes
from causalfairness.tables.source import collect, open_frame, select
from causalfairness.tables.target import check_classes, check_decides, classes_of

Array = NDArray[np.float64]
LOOKED_AT = 1_000  # rows on which a function is asked again, with its columns in another order
SAY = (
    "Say once which columns it takes, in order: predictor_columns=[...] (predictor.columns in an "
    "audit file). Or give a model that was fitted to a data frame, or a function that picks its "
    "columns by name, such as lambda people: model.predict(people[['age', 'sex']].to_numpy())"
)
ONLY_ROLES = ". It is given the columns with a role, in the library of the data, and nothing else"


def answers(
    ask: Callable[[Any], Any], features: Any, what: str, hint: str = ""
) -> NDArray[np.object_]:
    """What does the model answer about these rows, in its own words? One answer per row.

    A pandas series must have the index of the rows: answers meet rows by position.

    Of a model that fails, `what` says on what it failed and `hint` what it is given.

    >>> answers(lambda rows: ["low"] * len(rows), [1, 2], "a frame like the data").tolist()
    ['low', 'low']
    """
    try:
        predicted = ask(features)
    except PredictorError:
        raise
    except Exception as cause:
        raise PredictorError(
            f"the model failed on {what}: {type(cause).__name__}: {cause}{hint}"
        ) from cause
    found = np.asarray(predicted, dtype=object).reshape(-1)
    if len(found) != len(features):
        raise PredictorError(
            f"the model returned {len(found):,} values for {len(features):,} rows; expected one "
            "per row"
        )
    check_indexes(PredictorError, **{"the rows": features, "what the model returned": predicted})
    return found


def as_numbers(found: NDArray[np.object_]) -> Array:
    """Which number is each answer? A model that gives words, or no number, is refused.

    >>> as_numbers(np.array([True, 0.25], dtype=object)).tolist()
    [1.0, 0.25]
    """
    try:
        numbers = found.astype(float)
    except (TypeError, ValueError) as cause:
        raise PredictorError(
            f"the model returned {found[0]!r}; expected one number per row, such as a score or a "
            "0/1 decision"
        ) from cause
    if not np.isfinite(numbers).all():
        raise PredictorError(
            f"the model returned {len(numbers):,} values, {int(np.sum(~np.isfinite(numbers))):,} "
            "of them not finite; expected one finite number per row"
        )
    return numbers


def check_varies(predicted: Array) -> None:
    """Is there a gap to explain? Not where a model says the same of everyone.

    >>> check_varies(np.array([0.2, 0.4]))
    """
    if np.ptp(predicted) == 0:
        raise OutcomeError(
            f"the model predicts {predicted[0]:g} for everyone: there is no gap to explain"
        )


def owner_of(predict: Any) -> Any:
    """Whose method is it? A function, and a model itself, are their own."""
    while isinstance(predict, partial):
        predict = predict.func
    return getattr(predict, "__self__", predict)


def columns_of(predict: Any, said: Sequence[str] = ()) -> tuple[str, ...]:
    """Which columns does a model use, in which order? None where neither it nor anybody says so.

    >>> columns_of(lambda people: people["age"], ["age", "sex"])
    ('age', 'sex')
    """
    names = getattr(owner_of(predict), "feature_names_in_", None)
    known = () if names is None else tuple(str(name) for name in names)
    if known and said and known != tuple(said):
        raise PredictorError(
            f"the model was fitted to the columns {_listed(known)}, and predictor_columns says "
            f"{_listed(said)}; leave predictor_columns out"
        )
    return known or tuple(said)


def own_order(predict: Any, columns: Sequence[Any]) -> tuple[str, ...]:
    """Which columns does a model without names take of this table? All, if there are as many.

    >>> own_order(lambda people: people["age"], ["age", "sex"])
    ()
    """
    return tuple(columns) if _width(predict) == len(columns) else ()


def features_of(predict: Any, people: Any, said: Sequence[str] = ()) -> Any:
    """What does the model see of these people? Its own columns, as a frame or an array of its own.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F"], "age": [31]})
    >>> features_of(lambda people: people["age"], people, ["age", "sex"]).column_names
    ['age', 'sex']
    """
    columns, width = columns_of(predict, said), _width(predict)
    if width is not None and len(columns) != width:
        found = f"predictor_columns names {len(columns)}" if columns else "has no names for them"
        name = type(owner_of(predict)).__name__
        raise PredictorError(f"the model {name} takes {width} columns and {found}. {SAY}")
    frame = collect(open_frame(people))
    if absent := [name for name in columns if name not in frame.columns]:
        there = _listed(frame.columns)
        raise PredictorError(f"the model uses {_listed(absent)}, not given here; there are {there}")
    seen = select(frame, columns) if columns else frame
    if width is not None:
        return np.array(seen.to_numpy())
    return seen.to_native() if seen.implementation.is_pyarrow() else seen.clone().to_native()


def check_order(predict: Callable[[Any], Any], people: Any, said: Sequence[str] = ()) -> None:
    """Is it sure which column is which? A function may not go by the place of columns unsaid.

    >>> import pyarrow as pa
    >>> check_order(lambda people: people["age"], pa.table({"sex": [0, 1], "age": [31, 45]}))
    """
    frame = collect(open_frame(people))
    names = frame.columns
    if columns_of(predict, said) or _width(predict) is not None or len(names) < 2 or not len(frame):
        return
    some = frame[np.unique(np.linspace(0, len(frame) - 1, LOOKED_AT).astype(np.int64))]

    def told(columns: Sequence[str]) -> NDArray[np.object_] | None:
        try:
            return answers(predict, features_of(predict, select(some, columns)), "")
        except PredictorError:
            return None

    one, other = told(names), told([*names[1:], names[0]])
    if not _same(one, other) and _same(one, told(names)):  # and it is not chance
        raise PredictorError(
            "the answers of the function change with the order of the columns it is given, so it "
            f"goes by their place and not by their names. {SAY}"
        )


def _width(predict: Any) -> int | None:
    """How many columns does a model take that does not know their names?"""
    owner = owner_of(predict)
    named = getattr(owner, "feature_names_in_", None) is not None
    return None if named else getattr(owner, "n_features_in_", None)


def _same(one: NDArray[np.object_] | None, other: NDArray[np.object_] | None) -> bool:
    if one is None or other is None:
        return one is other
    try:
        first, second = one.astype(float), other.astype(float)
        return bool(np.allclose(first, second, rtol=1e-6, equal_nan=True))
    except (TypeError, ValueError):
        return bool(one.tolist() == other.tolist())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def evaluate(predict: Callable[[Any], Any], features: Any, model: StandardFairnessModel) -> Array:
    """What does the audited model say about these people?

    The model sees the columns with a role and nothing else; one that needs more is refused.

    >>> import pyarrow as pa
    >>> model = StandardFairnessModel(protected="sex", reference="M", comparison="F", outcome="y")
    >>> evaluate(lambda frame: [0.2] * len(frame), pa.table({"sex": ["M", "F"]}), model).tolist()
    [0.2, 0.2]
    """
    found, classes = consult(predict, features, model), classes_of(predict)
    if classes and model.outcome_value is not None:
        check_decides(classes, model.outcome_value)
        wanted = canonical(model.outcome_value)
        found = np.array([canonical(each) == wanted for each in found.tolist()], dtype=object)
    elif classes:
        check_classes(classes, "the classifier decides between")
    return as_numbers(found)


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
    extra = [name for name in columns_of(predict, model.predictor_columns) if name not in roles]
    if extra:
        raise PredictorError(
            f"the model uses {_listed(extra)}, which have no role; make them confounders or "
            "mediators (they may carry the group's influence), or audit the prediction as a column"
        )
    given = f"a frame with the columns {_listed(roles)}"
    seen = features_of(predict, features, model.predictor_columns)
    found = answers(predict, seen, given, ONLY_ROLES)
    check_order(predict, features, model.predictor_columns)
    return found
