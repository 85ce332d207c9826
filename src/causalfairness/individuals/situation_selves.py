"""What would each person be like, had they been of the other group? Their counterfactual.

Row i of the counterfactual table belongs to row i of the data. Where `ids` names people in both
tables this is checked; without, a table whose features have nothing to do with those of the same
rows is refused. A structural causal model makes the table itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from causalfairness.errors import ColumnNotFoundError, InterventionError, SituationError
from causalfairness.estimators.answers import answers, own_order
from causalfairness.individuals.auditee import LIKE_THE_DATA, auditee_of
from causalfairness.individuals.distances import Array, Codes, Points, Truths
from causalfairness.individuals.situation_rows import Situations, is_negative, spelled, value_of
from causalfairness.scm import StructuralCausalModel
from causalfairness.tables import only_rows
from causalfairness.tables.columns import Column
from causalfairness.tables.frames import FrameRows, column_from, frame_rows
from causalfairness.tables.groups import group_label, label_groups
from causalfairness.tables.joining import check_indexes

LOOSE = 0.5  # correlation below which, and standard errors within which, rows go together by chance
CHANCE = 4.0
TABLE = "the counterfactual table holds what each person would have been in the other group"
ASKED = "counterfactual decisions are those of the model that was given"
STAYS = "features that are not in the graph do not change: {}"
SAME = (
    "nobody's decision differs in the counterfactual table, though features do: if "
    "decisions were copied from the data, give predict="
)


@dataclass(frozen=True, eq=False)
class Selves:
    """Who would everyone be in the other world, and what would have been decided?

    `negative` is None where counterfactual decisions are not known.
    """

    rows: FrameRows
    negative: Truths | None
    aligned: bool  # it is sure whose row is whose
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()


def selves_from_table(found: Situations, counterfactuals: Any, *, predict: Any) -> Selves:
    """Who would everyone be, according to this table?"""
    names = [*found.features, *([] if found.ids is None else [found.ids.name])]
    try:
        rows = frame_rows(counterfactuals, names, unweighted="a situation test", aligned=True)
    except ColumnNotFoundError as cause:
        raise ColumnNotFoundError(f"counterfactuals: {cause}") from cause
    account = found.rows.account
    native = rows.native
    if account is not None and len(rows) == account.read:
        native = only_rows(native, found.rows.kept)
    rows = FrameRows(native, found.rows.categorical)
    if len(rows) != len(found.rows):
        raise SituationError(
            f"the counterfactual table has {len(rows):,} rows and the data {len(found.rows):,}; "
            "row i of one must belong to row i of the other"
        )
    told = {"the data": found.rows.native, "the counterfactual table": rows.native}
    check_indexes(SituationError, **told)
    if found.ids is not None:
        _check_ids(found.ids, rows.read(found.ids.name))
    known = Selves(rows, None, found.ids is not None, (TABLE,))
    return _with_decisions(known, found, predict, told=found.decision in rows.types)


def selves_from_model(
    found: Situations, scm: StructuralCausalModel, *, do: Any, predict: Any, seed: int
) -> Selves:
    """Who would everyone be, according to this model, had `do` been the case?"""
    settled = _reference(found) if do is None else do
    native = found.rows.frame.to_native()
    otherwise = scm.counterfactual(native, do=settled, seed=seed)
    rows = FrameRows(otherwise, found.rows.categorical)
    stays = [name for name in found.features if name not in scm.graph.nodes]
    assumptions = (*scm.assumptions, *([STAYS.format(", ".join(stays))] if stays else []))
    follows = found.decision in scm.graph.descendants(tuple(settled))
    return _with_decisions(Selves(rows, None, True, assumptions), found, predict, told=follows)


def check_order(found: Situations, facts: Points, otherwise: Points) -> None:
    """Do rows of both tables belong together? Refused if no feature goes along with itself.

    Noise that is kept makes features go along closely; in another order they do so by chance only.
    """
    here, there = facts.take(found.complainants), otherwise.take(found.complainants)
    along = [_correlation(x, y) for x, y in zip(here.numbers.T, there.numbers.T, strict=True)]
    along += [_agreement(x, y) for x, y in zip(here.codes.T, there.codes.T, strict=True)]
    known = [value for value in along if value is not None]
    if not known:
        return
    largest = max(known)
    if largest < LOOSE and largest * np.sqrt(len(here)) < CHANCE:
        raise SituationError(
            f"no feature of the {len(here):,} people who are tested goes along with itself in the "
            f"counterfactual table (largest correlation {largest:.2f}), so its rows seem to be in "
            "another order; put them in the order of the data, or name people with ids="
        )


def note_on_decisions(
    found: Situations, selves: Selves, facts: Points, otherwise: Points
) -> tuple[str, ...]:
    """Were counterfactual decisions forgotten? A table may carry those of the data along."""
    moved = np.nan_to_num(facts.numbers) != np.nan_to_num(otherwise.numbers)
    if selves.negative is None or not (moved.any() or (facts.codes != otherwise.codes).any()):
        return ()
    same = selves.negative[found.complainants] == found.negative[found.complainants]
    return (SAME,) if same.all() else ()


def _reference(found: Situations) -> dict[str, Any]:
    """Which values make everyone a member of the reference group, if that is one group?"""
    columns = found.roles.protected_columns
    wanted = group_label(found.roles.reference)
    if wanted is None:
        labels, group = label_groups([found.rows.read(name) for name in columns])
        present = [labels[at] for at in np.unique(group[found.others])]
        if len(present) != 1:
            raise InterventionError(
                f"everyone else is {len(present)} groups, so it is not clear to which of them the "
                "comparison group would have belonged; say with do= what is set, such as "
                f"{{{columns[0]!r}: {present[0][0]!r}}}, or name the reference group"
            )
        wanted = present[0]
    return dict(zip(columns, wanted, strict=True))


def _check_ids(here: Column, there: Column) -> None:
    words = [np.array(c.levels().values, dtype=object)[c.levels().codes] for c in (here, there)]
    same = words[0] == words[1]
    if not same.all():
        row = int(np.argmin(same))
        raise SituationError(
            f"from row {row} on, {here.name} is another in the data than in the counterfactual "
            "table; put both in the same order"
        ).about(f"{spelled(value_of(here, row))} and {spelled(value_of(there, row))}")


def _with_decisions(selves: Selves, found: Situations, predict: Any, *, told: bool) -> Selves:
    """What is decided in the other world: by the model that was given, or as its table told."""
    if predict is None:
        if not told:
            return selves
        column = selves.rows.read(found.decision)
        decided = is_negative(column, found.decisions, "the counterfactual table")
        return replace(selves, negative=decided)
    facts = _answers(predict, found, found.rows)
    apart = int(np.sum(facts != found.negative))
    said = (
        f"the model that was given decides {apart:,} of {len(facts):,} rows of the data otherwise "
        f"than column {found.decision!r} does"
    )
    return replace(
        selves,
        negative=_answers(predict, found, selves.rows),
        assumptions=(*selves.assumptions, ASKED),
        notes=(said,) if apart else (),
    )


def _answers(predict: Any, found: Situations, rows: FrameRows) -> Truths:
    model = auditee_of(predict, None, own_order(predict, found.rows.frame.columns))
    model.check_order(rows.frame.to_native())
    ask: Callable[[Any], Any] = predict.predict if hasattr(predict, "predict") else predict
    plain = answers(ask, model.features(rows.frame.to_native()), LIKE_THE_DATA).tolist()
    return is_negative(column_from(found.decision, plain), found.decisions, "the model's answers")


def _correlation(x: Array, y: Array) -> float | None:
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _agreement(x: Codes, y: Codes) -> float | None:
    """How closely do labels go along? The largest correlation of having, or not having, a label."""
    having = [((x == label).astype(float), (y == label).astype(float)) for label in np.unique(x)]
    along = [_correlation(here, there) for here, there in having]
    return max((value for value in along if value is not None), default=None)
