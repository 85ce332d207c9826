"""Are outcome and prediction yes or no, and which of their values counts as yes?

    numbers 0 and 1, booleans            1 is yes
    labels, with outcome_value           that label is yes, every other one is no
    0 and 1 beside a label of words      1 is yes: this label is predicted

Error rates exist for decisions only: a score must be cut into a decision first, and a numeric
outcome has no errors to count. What cannot be told is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import ConstantPredictionError, OutcomeError, PredictorError, RoleError
from causalfairness.estimators.answers import consult
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import RowPair, Rows, Table, only_columns
from causalfairness.tables.columns import Value
from causalfairness.tables.frames import made_alike
from causalfairness.tables.groups import NEITHER, canonical, members, quoted, shown_value

Array = NDArray[np.float64]
Decide = Callable[[Any], Array]  # a frame of people -> 0 or 1 for each
BINARY = {0.0, 1.0}
SHOWN = 4  # values named in a message
NOTHING = 1e-9  # share of a weight that rounding may leave over


class Answer(NamedTuple):
    """Which column of 0 and 1 holds an answer, and what is it called?

    >>> Answer("reoffended", "reoffended").said(False)
    'reoffended = 0'
    >>> Answer("income = >50K", "income", ">50K").said(False)
    'income other than >50K'
    """

    column: str
    name: str  # of the column it was made of
    value: str | None = None  # the label that counts as yes; None where it is 1

    def said(self, yes: bool) -> str:
        """What has someone with this answer, in words?"""
        if self.value is None:
            return f"{self.name} = {int(yes)}"
        return f"{self.name} {'=' if yes else 'other than'} {self.value}"


@dataclass(frozen=True, eq=False)
class Decided:
    """Where are outcome and prediction held as 0 and 1, and who made the decisions?

    `model` has the roles of the user's, with these columns as outcome and prediction. `decide` is
    the audited model, if it is at hand, and gives 0 or 1 for every person of a frame.
    """

    table: Table
    model: StandardFairnessModel
    outcome: Answer
    prediction: Answer
    decide: Decide | None

    def people(self) -> RowPair:
        """Who are the people of the two groups?"""
        return self.table.rows(self.model, None).pair(self.model)

    def without_mediators(self) -> Decided:
        """What is left to tell the model, given that it does not listen to the mediators?"""
        alone = replace(self.model, mediators=())
        if self.decide is None or not self.model.mediators:
            return replace(self, model=alone)
        decide, example = self.decide, only_columns(self.people().features(), self.model.mediators)

        def told(people: Any) -> Array:
            return decide(made_alike(people, example))

        told.__qualname__ = decide.__qualname__
        return replace(self, model=alone, decide=told)

    def decided_by(self, decide: Decide, name: str) -> Decided:
        """What if another model, which does without the mediators, made the decisions?"""
        model = replace(self.model, mediators=())
        rows = self.table.rows(model, None)
        column = _free("prediction of another model", model)
        table = self.table.with_numbers(rows, column, _judge(rows, model, decide, 0.0))
        return replace(
            self,
            table=table,
            model=replace(model, prediction=column),
            prediction=Answer(column, name),
            decide=decide,
        )

    def confusion(self) -> Array:
        """What do people weigh, by group, outcome and prediction? (2, 2, 2)"""
        asked = replace(self.model, confounders=(self.outcome.column,), mediators=(), outcome=None)
        cells = self.table.cells(asked, "prediction")
        role = members(cells.groups, asked, cells.account.dropped)[cells.group]
        outcome = cells.keys[-1].values
        assert outcome is not None
        inside = role != NEITHER
        at, of = role[inside].astype(np.int64), outcome[inside].astype(np.int64)
        weight, yes = cells.sums.w[inside], cells.sums.wy[inside]
        found = np.zeros((2, 2, 2))
        np.add.at(found, (at, of, 0), np.where(weight - yes > NOTHING * weight, weight - yes, 0.0))
        np.add.at(found, (at, of, 1), yes)
        return found


def read_decided(
    table: Table,
    model: StandardFairnessModel,
    known: Callable[[Any], Any] | None,
    *,
    elsewhere: float,
) -> Decided:
    """Where are outcome and prediction held as 0 and 1?

    `known` is the audited model where it comes with an estimator. `elsewhere` stands for the
    decision about people of other groups, of whom a model is not asked.
    """
    _check_roles(model)
    table = replace(table, known_by=model.role_columns)
    levels = table.values(str(model.outcome))
    yes = _yes_of_outcome(levels, model)
    table, outcome = _indicate(table, model, str(model.outcome), levels, yes)
    asked = replace(model, outcome=outcome.column, outcome_value=None)
    if model.prediction_column is not None:
        predicted = table.values(model.prediction_column)
        yes = _yes_of_prediction(predicted, levels, model, model.prediction_column)
        table, prediction = _indicate(table, model, model.prediction_column, predicted, yes)
    else:
        rows = table.rows(asked, None)
        decide = _decider(model.predict, rows.pair(asked), model, levels)
        prediction = Answer(_free("prediction", model), "prediction")
        numbers = _judge(rows, asked, decide, elsewhere)
        table = table.with_numbers(rows, prediction.column, numbers)
    asked = replace(asked, prediction=prediction.column)
    found = Decided(table, asked, outcome, prediction, None)
    if (predict := known or model.predict) is None:
        return found
    return replace(found, decide=_decider(predict, found.people(), model, levels))


def _check_roles(model: StandardFairnessModel) -> None:
    for role in ("outcome", "prediction"):
        if getattr(model, role) is None:
            raise RoleError(
                "error rates compare a prediction with the outcome, and the model names no "
                f"{role}; give {role}=..."
            )


def _indicate(
    table: Table, model: StandardFairnessModel, column: str, levels: Sequence[Value], yes: Value
) -> tuple[Table, Answer]:
    """The table with 1 where the column counts as yes; as it is where it already does that."""
    if yes == 1.0 and {*levels} <= BINARY | {None}:
        return table, Answer(column, column)
    name = _free(f"{column} = {shown_value(yes)}", model)
    return table.with_indicator(name, column, yes), Answer(name, column, shown_value(yes))


def _free(name: str, model: StandardFairnessModel) -> str:
    """A name that no column with a role has."""
    while name in model.role_columns:
        name += "'"
    return name


def _judge(rows: Rows, model: StandardFairnessModel, decide: Decide, elsewhere: float) -> Array:
    """What does a model decide about each row? People with missing values stay undecided."""
    role = members(rows.groups, model)[rows.group_of_row]
    pair = rows.pair(model)
    decisions = np.where(role == NEITHER, elsewhere, np.nan)
    decisions[pair.index] = decide(pair.features())
    return decisions


def _decider(
    predict: Any, pair: RowPair, model: StandardFairnessModel, outcome_levels: Sequence[Value]
) -> Decide:
    """The audited model, made to say 0 or 1 whatever it calls them."""
    levels = _levels(consult(predict, pair.features(), model))
    yes = _yes_of_prediction(levels, outcome_levels, model, None)
    binary = {*levels} <= BINARY

    def decide(people: Any) -> Array:
        answers = consult(predict, people, model)
        found = _levels(answers)
        if binary and not {*found} <= BINARY:
            raise PredictorError(_no_decision(found, None))
        hit = {value: canonical(value) == yes for value in {*answers.tolist()}}
        return np.array([hit[value] for value in answers.tolist()], dtype=float)

    decide.__qualname__ = getattr(predict, "__qualname__", type(predict).__name__)
    return decide


def _levels(answers: NDArray[np.object_]) -> tuple[Value, ...]:
    """The distinct answers of a model, sorted."""
    found = {None if value is None else canonical(value) for value in {*answers.tolist()}}
    if any(value is None or value != value for value in found):
        raise PredictorError(
            f"the model returned {len(answers):,} answers, missing ones included; expected one "
            "decision per person"
        )
    return tuple(sorted(found, key=lambda value: (isinstance(value, str), value)))


def _yes_of_outcome(levels: Sequence[Value], model: StandardFairnessModel) -> Value:
    known = [value for value in levels if value is not None]
    column, wanted = repr(model.outcome), model.outcome_value
    if not known:
        raise OutcomeError(f"the outcome column {column} holds no value at all")
    if wanted is not None:
        if canonical(wanted) not in known:
            raise OutcomeError(
                f"outcome_value={wanted!r} does not occur in column {column}; its values are "
                f"{_some(known)} (numbers without quotes, words with)"
            )
        return canonical(wanted)
    if {*known} <= BINARY:
        return 1.0
    if isinstance(known[0], str):
        raise OutcomeError(
            f"column {column} holds words; say which counts as yes with outcome_value=..., one of "
            f"{_some(known)}"
        )
    raise OutcomeError(
        f"error rates need an outcome of yes or no, and column {column} holds numbers such as "
        f"{_some(known)}: with numbers a prediction is off by some amount, not a false positive. "
        "Use decompose_disparity, which explains gaps of numbers; or, if the numbers stand for "
        "classes, say which one counts as yes with outcome_value=..."
    )


def _yes_of_prediction(
    levels: Sequence[Value],
    outcome_levels: Sequence[Value],
    model: StandardFairnessModel,
    column: str | None,
) -> Value:
    """Which value of the prediction counts as yes? `column` is None where a model predicts."""
    known = [value for value in levels if value is not None]
    called = _called(column)
    if not known:
        raise OutcomeError(f"{called} holds no value at all")
    wanted = None if model.outcome_value is None else canonical(model.outcome_value)
    if wanted is None and isinstance(known[0], str):
        raise OutcomeError(
            f"{called} holds words; say which counts as yes with outcome_value=..., one of "
            f"{_some(known)}"
        )
    if {*known} <= BINARY:
        if isinstance(wanted, float) and wanted != 1.0:
            raise OutcomeError(
                f"{called} holds 0 and 1 while outcome_value={wanted:g}: 1 could mean that "
                f"{wanted:g} is predicted, or that 1 is. Leave outcome_value out and ask for the "
                "rate of the other class (its fpr is this one's fnr, its ppv this one's npv), or "
                "give both columns as words"
            )
        return 1.0
    labels = isinstance(known[0], str) or {*known} <= {*outcome_levels}
    if wanted is None or not labels:
        raise PredictorError(_no_decision(known, column))
    if wanted not in known:
        raise ConstantPredictionError(
            f"{called} is never {model.outcome_value!r}, only {_some(known)}: nobody is predicted "
            "to be what counts as yes, so there are no error rates to compare. Check the spelling, "
            "or the threshold of the classifier"
        )
    return wanted


def _no_decision(known: Sequence[Value], column: str | None) -> str:
    how = (
        "prediction=lambda people: classifier.predict_proba(people)[:, 1] >= 0.5"
        if column is None
        else f"decision = data[{column!r}] >= 0.5 as a column of its own, and name that one"
    )
    return (
        f"{_called(column)} has values such as {_some(known)}: a score is not a decision, and only "
        f"decisions have error rates. Choose a threshold first, for instance {how}"
    )


def _called(column: str | None) -> str:
    return "the model's prediction" if column is None else f"the prediction column {column!r}"


def _some(known: Sequence[Value]) -> str:
    return quoted(known[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
