"""How are people divided, and against whom is each group held?

One protected attribute divides people once. Several divide them by each attribute alone and by all
of them together: the same people, side by side. Groups are held against the reference of the model;
where the model has none, its comparison group is held against everyone else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalfairness.fairness_model import EVERYONE_ELSE, StandardFairnessModel
from causalfairness.inference import effective_size
from causalfairness.parity.metrics.calibration import Calibration
from causalfairness.parity.metrics.decisions import Decision
from causalfairness.parity.metrics.rows import Array, Mask, Positions
from causalfairness.parity.metrics.sums import Measure, Sums, measures_of
from causalfairness.tables.groups import GroupLabel, group_label, shown, typed


@dataclass(frozen=True, eq=False)
class Partition:
    """Which groups are there by one attribute, or by several together, and how do they fare?

    `measures` holds each metric for all groups at once, in their order; `against` holds the same
    of whom they are held against, and `compared` says which of the groups are.
    """

    by: tuple[str, ...]
    groups: tuple[Any, ...]  # spelled as a user would
    people: Array
    effective: Array
    measures: Mapping[str, Measure]
    reference: str
    against: Mapping[str, Measure]
    compared: tuple[int, ...]
    calibration: Calibration | None
    cells: Array | None  # (groups, outcome, decided): people
    held: Positions  # groups that the others are held against

    @property
    def attribute(self) -> str:
        """By what are people divided, in words?"""
        return ", ".join(self.by)

    @property
    def names(self) -> tuple[str, ...]:
        """What are the groups called?"""
        return tuple(
            ", ".join(map(_named, group)) if isinstance(group, tuple) else _named(group)
            for group in self.groups
        )


def partitions_of(
    groups: Sequence[GroupLabel],
    sums: Sums,
    decision: Decision,
    model: StandardFairnessModel,
    *,
    single: bool,
) -> tuple[Partition, ...]:
    """How are people divided? By each attribute alone (if `single`), and by all together."""
    columns = model.protected_columns
    alone = range(len(columns)) if single and len(columns) > 1 else ()
    chosen = [*((at,) for at in alone), tuple(range(len(columns)))]
    return tuple(_partition(groups, sums, decision, model, at) for at in chosen)


def _partition(
    groups: Sequence[GroupLabel],
    sums: Sums,
    decision: Decision,
    model: StandardFairnessModel,
    attributes: Sequence[int],
) -> Partition:
    labels = [tuple(group[at] for at in attributes) for group in groups]
    present = sorted(set(labels), key=labels.index)
    member = np.array([[label == each for label in labels] for each in present], dtype=float)
    merged = sums.merge(member)
    compared, against = _sides(present, model, attributes)
    whole = merged.merge(against[None, :].astype(float))
    reference = None if model.reference is None else _part(model.reference, attributes)
    bare = isinstance(model.protected, str) or len(attributes) == 1
    return Partition(
        by=tuple(model.protected_columns[at] for at in attributes),
        groups=tuple(typed(label[0]) if bare else tuple(map(typed, label)) for label in present),
        people=merged.people[:, 0],
        effective=effective_size(merged.people[:, 1], merged.people[:, 2]),
        measures=measures_of(merged, decision),
        reference=EVERYONE_ELSE if reference is None else shown(reference),
        against=measures_of(whole, decision),
        compared=compared,
        calibration=merged.calibration,
        cells=None if merged.cells is None else merged.cells[:, 0],
        held=np.flatnonzero(against),
    )


def _sides(
    present: Sequence[GroupLabel], model: StandardFairnessModel, attributes: Sequence[int]
) -> tuple[tuple[int, ...], Mask]:
    """Which groups are held against whom?"""
    if model.reference is not None:
        reference = _part(model.reference, attributes)
        against = np.array([label == reference for label in present])
        return tuple(np.flatnonzero(~against).tolist()), against
    comparison = _part(model.comparison, attributes)
    against = np.array([label != comparison and None not in label for label in present])
    compared = [at for at, label in enumerate(present) if label == comparison and against.any()]
    return tuple(compared), against


def _part(group: Any, attributes: Sequence[int]) -> GroupLabel:
    label = group_label(group)
    assert label is not None
    return tuple(label[at] for at in attributes)


def _named(value: Any) -> str:
    return shown((value,)) if value is None or isinstance(value, float | str) else str(value)
