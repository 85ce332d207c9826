"""Whose mean is asked for, and among whom? Outcome or prediction, as one number per row."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import OutcomeError, PredictorError, RoleError
from causalfairness.fairness_model import HIGHER, LOWER, StandardFairnessModel
from causalfairness.tables.columns import (
    GAPS,
    LARGEST,
    SMALLEST,
    Column,
    column_of,
    number_there,
)
from causalfairness.tables.groups import canonical, quoted, shown_value
from causalfairness.tables.source import collect, column_there, select

Of = Literal["outcome", "prediction"]
Array = NDArray[np.float64]


def check_threshold(threshold: Any) -> None:
    """Refuse a threshold that is neither None nor a finite number.

    >>> check_threshold(float("nan"))
    Traceback (most recent call last):
    ...
    causalfairness.errors.RoleError: threshold=nan; expected a finite number, which parts scores \
    into those that decide one way and the other, or None
    """
    if threshold is None or (isinstance(threshold, Real) and math.isfinite(threshold)):
        return
    raise RoleError(
        f"threshold={threshold!r}; expected a finite number, which parts scores into those that "
        "decide one way and the other, or None"
    )


class Target(NamedTuple):
    """Which column is averaged, and which of its values counts as 1? `option` says which it is.

    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="income", outcome_value=">50K")
    >>> target_of(model, "outcome").value
    '>50K'
    """

    column: str
    value: Any
    role: Of
    option: str = "outcome_value"

    def read(self, column: Column) -> Array:
        """What is each row's number? Missing values come as NaN."""
        if self.value is None or self.role == "prediction":
            column.check_amounts()
            if column.values is not None:
                if len(known := column.values[~column.is_missing]):
                    self.check_range(float(known.min()), float(known.max()))
                return column.values
        hit = column.is_value(canonical(self.value))
        if self.value is None or not hit.any():
            raise OutcomeError(self._cannot_read(column))
        return np.where(column.is_missing, np.nan, hit)

    def expression(self, frame: nw.LazyFrame[Any]) -> nw.Expr:
        """What is each row's number, where the data lives? Missing values come as null."""
        kind = frame.collect_schema()[self.column]
        numeric = kind.is_numeric() or kind == nw.Boolean
        if numeric and (self.role == "prediction" or self.value is None):
            return number_there(frame, self.column)
        wanted = canonical(self.value)
        if self.value is None or isinstance(wanted, str) == numeric:
            raise OutcomeError(self._cannot_read(self._distinct(frame)))
        column = column_there(frame, self.column)
        if isinstance(wanted, float | int) and abs(wanted) >= GAPS:
            self.read(self._distinct(frame))  # refuses it where it is not told from others
            if not kind.is_float():  # whole numbers are compared as they are written
                column, numeric, wanted = column.cast(nw.Int128), False, str(int(wanted))
        column = number_there(frame, self.column) if numeric else column.cast(nw.String)
        return (column == wanted).cast(nw.Float64)

    def check_found(self, frame: nw.LazyFrame[Any]) -> None:
        """Does the value that counts as 1 occur, where the data lives?"""
        if self._compares(frame.collect_schema()[self.column]):
            self.read(self._distinct(frame))

    def needs_look(self, kind: Any) -> bool:
        """Must the range of the values be seen before they are added up?"""
        scored = self.role == "prediction" and self.value is not None and kind.is_numeric()
        whole = kind.is_integer() or kind == nw.Boolean
        return bool(scored or not (whole or self._compares(kind)))

    def check_range(self, low: float, high: float) -> None:
        """Do numbers in this range make sense here?"""
        if math.isinf(low) or math.isinf(high):
            raise OutcomeError(f"column {self.column!r} holds infinite values; remove or cap them")
        if (size := max(-low, high)) > LARGEST or 0 < size < SMALLEST:
            raise OutcomeError(
                f"column {self.column!r} has values of size {size:g}, beyond what squares can be "
                "computed of; rescale it"
            )
        if self.role == "prediction" and self.value is not None and not 0 <= low <= high <= 1:
            raise OutcomeError(
                f"the prediction column {self.column!r} is numeric with values from {low:g} to "
                f"{high:g}, but outcome_value={self.value!r} asks for one class; give a column of "
                "scores between 0 and 1, or one that is 1 where that class is predicted"
            )

    def _compares(self, kind: Any) -> bool:
        return self.value is not None and (self.role == "outcome" or not kind.is_numeric())

    def _distinct(self, frame: nw.LazyFrame[Any]) -> Column:
        return column_of(collect(select(frame, [self.column]).unique())[self.column])

    def _cannot_read(self, column: Column) -> str:
        known = [value for value in column.levels().values if value is not None]
        present = quoted(known[:20])
        if not known:
            return f"column {self.column!r} holds no value at all"
        if self.value is None:
            return (
                f"column {self.column!r} is neither binary nor numeric; say which value counts "
                f"with {self.option}=..., one of {present}"
            )
        return (
            f"{self.option}={self.value!r} does not occur in column {self.column!r}; its values "
            f"are {present} (numbers without quotes, words with)"
        )


def target_of(model: StandardFairnessModel, of: Of) -> Target:
    """Which column answers a question about the outcome, or about the prediction?"""
    if of == "outcome":
        if model.outcome is None:
            raise RoleError("the model names no outcome column; ask with of='prediction'")
        if model.outcome_value is None:
            check_classes(classes_of(model.predict), "the classifier decides between")
        return Target(model.outcome, model.outcome_value, of)
    if of != "prediction":
        raise RoleError(f"of must be 'outcome' or 'prediction'; found {of!r}")
    if model.prediction_column is None:
        if model.predict is not None:
            raise PredictorError(
                "the prediction is a model, not a column: use KnownModel (the default), or add its "
                "predictions to the data as a column and name that column"
            )
        raise RoleError("the model names no prediction; give prediction=... a column or a model")
    return Target(model.prediction_column, model.outcome_value, of)


def classes_of(predict: Any) -> tuple[Any, ...]:
    """Which classes does this classifier decide between? None where they are 0 and 1 already.

    >>> classes_of(lambda people: people["score"])
    ()
    """
    own = getattr(predict, "__name__", "") == "predict"
    classes = getattr(getattr(predict, "__self__", None), "classes_", ()) if own else ()
    known = tuple(getattr(each, "item", lambda each=each: each)() for each in classes)
    return () if {*known} <= {0, 1} else known


def check_classes(values: Iterable[Any], what: str) -> None:
    """Can these classes be averaged? Two numbers that are one apart can, codes of others cannot.

    >>> check_classes([0.0, 1.0, None], "the outcome has the values")
    >>> check_classes([0, 1, 2], "the outcome has the values")
    Traceback (most recent call last):
    ...
    causalfairness.errors.OutcomeError: the outcome has the values 0, 1, 2: codes of classes are ...
    """
    known = [value for value in values if isinstance(value, int | float) and value == value]
    if not known or max(known) - min(known) <= 1 or any(value % 1 for value in known):
        return
    some = ", ".join(f"{value:g}" for value in known[:8]) + ", ..." * (len(known) > 8)
    raise OutcomeError(
        f"{what} {some}: codes of classes are no amounts, and their average depends on how they "
        "are numbered. Say which class counts as 1 with outcome_value=..., one class at a time; "
        "or, if they are amounts, say task='regression', or give them by a function"
    )


def check_decides(classes: Iterable[Any], value: Any) -> None:
    """Is the class that counts as 1 one that a classifier decides between?

    >>> check_decides(["no", "yes"], "yes")
    """
    known = [canonical(getattr(each, "item", lambda each=each: each)()) for each in classes]
    if known and canonical(value) not in known:
        raise PredictorError(
            f"the classifier decides between {quoted(known[:8])}, and the outcome asks for "
            f"{value!r}; give a function that answers with 0 and 1"
        )


def favors_one(model: StandardFairnessModel, column: Column | None = None) -> bool | None:
    """Whether 1 is what people want: the outcome value, or of numbers the higher ones.

    None where nobody said. `column` holds the outcome, to look for another value in.

    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="rejected", favorable=0)
    >>> favors_one(model)
    False
    """
    if model.favorable is None:
        return None
    wanted, one = canonical(model.favorable), canonical(model.outcome_value)
    labelled = model.outcome_value is not None
    if labelled and wanted == one:
        return True
    known = {*column.levels().values} - {None} if labelled and column is not None else set()
    if known and known <= {wanted, one}:
        return False
    sides: dict[Any, bool] = {HIGHER: True, LOWER: False}
    if not isinstance(one, float):
        sides |= {1.0: True, 0.0: False}
    if wanted in sides or (labelled and one not in known):
        return sides.get(wanted, False)
    raise RoleError(
        f"favorable={model.favorable!r} leaves open whether {model.outcome_value or 1!r} is what "
        f"people want; say that, or the only other value; of a number {HIGHER!r} or {LOWER!r}"
    )


def favorable_in(column: Column, model: StandardFairnessModel) -> Any:
    """The value of this column of decisions that people want, among two. None where nobody said.

    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="grade", favorable="lower")
    >>> favorable_in(Column.numbers("grade", np.array([1.0, 2.0, 1.0])), model)
    1.0
    """
    known = [value for value in column.levels().values if value is not None]
    one = None if model.outcome_value is None else canonical(model.outcome_value)
    coded = known and (column.is_number or one in known)
    if model.favorable is None or canonical(model.favorable) in known or not coded:
        return model.favorable
    one = one if one in known else max(known)
    others = [value for value in known if value != one]
    return one if favors_one(model, column) or not others else others[0]


def check_varies(lowest: float, highest: float, target: Target) -> None:
    """Is there anything to explain? A constant outcome has no gap."""
    if lowest == highest:
        raise OutcomeError(
            f"column {target.column!r} has the same value ({lowest:g}) in every row of both "
            "groups: there is no gap to explain"
        )


@dataclass(frozen=True)
class Within:
    """Which rows is a question about? Those whose `column` equals a value.

    Error rates ask among people whose outcome is 0, or is 1. The other rows stay in the table, so
    that answers about different rows can be combined; they are counted as left aside, which is
    neither dropped for missing values nor of another group.

    >>> within = Within("reoffended", 0)
    >>> within.holds(Column.numbers("reoffended", np.array([0.0, 1.0, np.nan]))).tolist()
    [True, False, False]
    >>> print(within)
    reoffended = 0
    """

    column: str
    equals: Any

    def holds(self, column: Column) -> NDArray[np.bool_]:
        """Which rows are asked about? Those without a value are not."""
        return column.is_value(canonical(self.equals))

    @property
    def others(self) -> str:
        """What do the rows have that are not asked about, in words?"""
        return f"{self.column} other than {shown_value(canonical(self.equals))}"

    def __str__(self) -> str:
        return f"{self.column} = {shown_value(canonical(self.equals))}"
