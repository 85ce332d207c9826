"""What would each outcome have been in the reference group? y_{a0} of the comparison group's rows.

It comes from a structural causal model (methods §7), from an adapter that moves a frame to the
reference group (methods §9), or from a column. People of the reference group are there already:
their y_{a0} is their outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import OutcomeError, RoleError, SourceError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity.predictive.rows import Scored
from causalfairness.scm import StructuralCausalModel
from causalfairness.tables import Column, only_rows
from causalfairness.tables.frames import frame_rows
from causalfairness.tables.groups import canonical, group_label
from causalfairness.tables.target import Target

Array = NDArray[np.float64]
ADAPTED = "y in the reference group's world is where the adapter moved it, person by person"
GIVEN = "y in the reference group's world is what column {!r} says, person by person"
UNMOVED = (
    "nobody's outcome would have been another in the reference group, by what was given: the "
    "causal term is 0 for that reason. Does the counterfactual include the outcome?"
)


class Adapter(Protocol):
    """Who can move a frame to the reference group? `FairAdapter`, or anything with `transform`.

    `transform` returns a frame with as many rows, in the same order, in which descendants of the
    protected attribute, the outcome included, have the values of the reference group's world.

    >>> class Unmoved:
    ...     def transform(self, data):
    ...         return data
    >>> adapter: Adapter = Unmoved()
    >>> adapter.transform([1, 2])
    [1, 2]
    """

    def transform(self, data: Any, /) -> Any:
        """What would these rows be in the reference group?"""


Counterfactual = StructuralCausalModel | Adapter | str | None


@dataclass(frozen=True, eq=False)
class Otherwise:
    """What would each row's outcome have been, and on whose word?"""

    outcome: Array  # per row of the pair; the outcome itself in the reference group
    source: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()


def check_counterfactual(counterfactual: Any, model: StandardFairnessModel, *, draws: int) -> None:
    """Can this say what outcomes would have been in the reference group?"""
    if isinstance(counterfactual, StructuralCausalModel):
        _check_model(counterfactual, model)
        return
    adapts, names = hasattr(counterfactual, "transform"), isinstance(counterfactual, str)
    if not (counterfactual is None or names or adapts):
        raise RoleError(
            "counterfactual is a StructuralCausalModel, a FairAdapter (anything with transform), "
            "the name of a column with the outcomes in the reference group, or None; found "
            f"{type(counterfactual).__name__}"
        )
    if draws != 1:
        raise RoleError(
            "draws asks a StructuralCausalModel to repeat itself; found "
            f"counterfactual={type(counterfactual).__name__}, draws={draws}. Leave it out"
        )
    if adapts:
        _check_adapter(counterfactual, model)
    elif counterfactual != model.outcome and counterfactual in model.role_columns:
        raise RoleError(
            f"counterfactual names the column {counterfactual!r}, which has another role in the "
            "model; name one that holds the outcomes in the reference group"
        )


def outcomes_otherwise(
    counterfactual: Counterfactual, people: Scored, native: Any, *, draws: int, seed: int
) -> Otherwise | None:
    """What would each outcome have been in the reference group? None where nobody says so.

    `native` is the whole frame, for models and adapters.
    """
    if counterfactual is None:
        return None
    if isinstance(counterfactual, str):
        column = people.pair.rows.columns[counterfactual]
        said = as_outcome(column, people.target, people)[people.pair.index]
        return _found(people, said, f"column {counterfactual}", (GIVEN.format(counterfactual),))
    if isinstance(counterfactual, StructuralCausalModel):
        moved = people.outcome.copy()
        told = by_model(counterfactual, people, native, draws=draws, seed=seed)
        moved[people.is_comparison] = told
        return _found(people, moved, "structural causal model", counterfactual.assumptions)
    frame = counterfactual.transform(only_rows(native, people.pair.index))
    rows = frame_rows(frame, [people.target.column])
    if len(rows) != len(people.pair):
        raise SourceError(
            f"the adapter returned {len(rows):,} rows for {len(people.pair):,}; expected each row, "
            "in the same order"
        )
    said = as_outcome(rows.read(people.target.column), people.target, people)
    found = _found(people, said, type(counterfactual).__name__, (ADAPTED,))
    return replace(found, notes=(*found.notes, *_choices_of(counterfactual)))


def by_model(
    scm: StructuralCausalModel, people: Scored, native: Any, *, draws: int, seed: int
) -> Array:
    """What would outcomes of the comparison group be by this model, on average over draws?"""
    inside = people.pair.index[people.is_comparison]
    told = intervention(people.model)
    frame = scm.counterfactual(only_rows(native, inside), do=told, draws=draws, seed=seed)
    column = frame_rows(frame, [people.target.column]).read(people.target.column)
    said = as_outcome(column, people.target, people)
    return np.asarray(said.reshape(draws, -1).mean(axis=0))


def intervention(model: StandardFairnessModel) -> dict[str, Any]:
    """Which values put everyone into the reference group?"""
    if model.reference is None:
        raise RoleError(
            "the reference group is everyone else, so there is no single value to tell people; "
            "name the reference group"
        )
    values = (model.reference,) if isinstance(model.protected, str) else model.reference
    return dict(zip(model.protected_columns, values, strict=True))


def as_outcome(column: Column, target: Target, people: Scored) -> Array:
    """What is each counterfactual outcome as a number? Coded like the outcome; NaN if missing.

    Numbers for an outcome of words are taken as chances.
    """
    coded = people.pair.rows.columns[target.column]
    column.check_amounts()
    if column.values is not None:
        if target.value is not None and coded.is_number:
            return np.where(column.is_missing, np.nan, column.is_value(canonical(target.value)))
        low, high = np.nanmin(column.values, initial=0), np.nanmax(column.values, initial=0)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise OutcomeError(f"column {column.name!r} holds infinite values; remove or cap them")
        if target.value is not None and not 0 <= low <= high <= 1:
            raise OutcomeError(
                f"column {column.name!r} goes from {low:g} to {high:g}, while the outcome is "
                f"{target.column} = {target.value!r}; expected its words, or chances between 0 "
                "and 1"
            )
        return column.values
    if coded.is_number:
        raise OutcomeError(
            f"column {column.name!r} holds words such as {column.labels[0]!r}, while the outcome "
            f"{target.column!r} holds numbers; expected numbers"
        )
    strange = [label for label in column.labels if label not in coded.labels]
    if strange:
        raise OutcomeError(
            f"column {column.name!r} holds {strange[0]!r}, which is no value of the outcome "
            f"{target.column!r}: {', '.join(map(repr, coded.labels[:20]))}"
        )
    wanted = str(canonical(target.value))
    hit = np.array([label == wanted for label in (*column.labels, "")], dtype=float)[column.codes]
    return np.where(column.is_missing, np.nan, hit)


def _found(people: Scored, said: Array, source: str, assumptions: Sequence[str]) -> Otherwise:
    reference = ~people.is_comparison
    notes = []
    told = reference & ~np.isnan(said)
    if other := int(np.sum(said[told] != people.outcome[told])):
        notes.append(
            f"the counterfactual outcome differs from the outcome in {other:,} rows of the "
            "reference group, whose people are where they are; their outcome is used"
        )
    moved = np.where(reference, people.outcome, said)
    if np.array_equal(moved, people.outcome):
        notes.append(UNMOVED)
    return Otherwise(moved, source, tuple(assumptions), tuple(notes))


def _choices_of(adapter: Any) -> Iterator[str]:
    """What an adapter was told, or is warned of: its rows may be other than counterfactuals."""
    if resolving := tuple(getattr(adapter, "resolving", ())):
        yield (
            f"the adapter leaves {', '.join(resolving)} as observed: the causal term does not "
            "contain what runs through them"
        )
    if getattr(adapter, "transport_confounders", False):
        yield "the adapter moves confounders too: its outcomes are no counterfactuals"
    for warned in getattr(getattr(adapter, "report_", None), "warnings", ()):
        yield f"the adapter is warned of: {warned}"


def _check_model(scm: StructuralCausalModel, model: StandardFairnessModel) -> None:
    intervention(model)
    for column in (*model.protected_columns, model.outcome):
        if column is not None and column not in scm.graph.nodes:
            raise RoleError(
                f"the structural causal model knows nothing of {column!r}, so it cannot say what "
                f"outcomes would have been; it has {', '.join(map(repr, scm.graph.nodes))}"
            )


def _check_adapter(adapter: Any, model: StandardFairnessModel) -> None:
    """An adapter that says where it moves people must mean the model's reference group."""
    towards = getattr(adapter, "reference", None)
    if towards is not None and group_label(towards) != group_label(model.reference):
        raise RoleError(
            f"the adapter moves people to {towards!r}, while the reference group of the model is "
            f"{model.reference_label!r}; use the same reference in both"
        )
