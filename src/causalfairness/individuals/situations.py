"""Are people like this one declined more often than people of the other group who are like them?

For a person c of the comparison group with features x (methods §8):

    control group   the k rows nearest to x among the protected rows, c left out
    test group      the k rows nearest to x among the other rows (situation testing), or nearest
                    to c's counterfactual (counterfactual situation testing)
    delta           share of negative decisions in the control group minus that in the test group

A positive delta says that people like c fare worse than those they are compared with. Distances
are means over features of |x - x'| / range, or of mismatches of words; ties are decided by lot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from causalfairness.errors import SituationError, WeightError
from causalfairness.individuals.distances import Distance, Points, mixed_distance
from causalfairness.individuals.situation_evidence import (
    IntervalMethod,
    IntervalName,
    IntervalRule,
    Sided,
    interval_rule,
)
from causalfairness.individuals.situation_features import FeatureOrder, read_points
from causalfairness.individuals.situation_groups import Neighborhood
from causalfairness.individuals.situation_result import SituationTest
from causalfairness.individuals.situation_rows import Situations, read_situations
from causalfairness.individuals.situation_selves import (
    Selves,
    check_order,
    note_on_decisions,
    selves_from_model,
    selves_from_table,
)
from causalfairness.scm import StructuralCausalModel

MakeDistance = Callable[[Points], Distance]
ALIKE = "people who are alike in the features are alike in all that the decision may rest on"
DRAWN = (
    "decisions in a group are like independent draws; people share neighbors, so their tests "
    "are not independent of each other"
)


def situation_test(
    data: Any,
    *,
    protected: str | Sequence[str],
    comparison: Any,
    reference: Any = None,
    features: Sequence[str],
    decision: str,
    favorable: Any = None,
    k: int | Sequence[int] = 15,
    tau: float = 0.0,
    level: float = 0.95,
    sided: Sided = "one",
    interval: IntervalName | IntervalMethod = "newcombe",
    distance: MakeDistance | None = None,
    weights: Mapping[str, float] | None = None,
    within: float | None = None,
    ids: str | None = None,
    workers: int = 1,
) -> SituationTest:
    """Are people like each one declined more often than like people of the other group?

    Tested are the rows of `comparison`; they are compared with those of `reference`, or with
    everyone else. For an intersection, `protected` lists several columns and groups are tuples.
    `favorable` is the decision that people want (of numbers also "higher" or "lower"), and has no
    default. Evidence is a difference above `tau` (0, as published: any difference); it is
    significant if the `interval` lies above `tau` too. `k` may be a list. `distance` makes a
    distance of the points in the data; `weights` weigh features in the usual one. Nobody farther
    away than `within` is compared, so that groups may be smaller than k, or empty. `ids` is a
    column that names people.

    >>> import causalfairness as cf
    >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
    >>> found = cf.situation_test(
    ...     loans, protected="gender", comparison="Female", decision="approved",
    ...     favorable=1, features=["annual_salary", "account_balance"], k=[15, 30])
    >>> found.summary()[15].complainants
    422
    """
    situations = read_situations(
        data,
        protected=protected,
        comparison=comparison,
        reference=reference,
        features=features,
        decision=decision,
        favorable=favorable,
        ids=ids,
    )
    settings = Settings(
        k, interval_rule(tau, level, sided, interval), distance, weights, within, workers
    )
    return _tested(situations, None, settings)


def counterfactual_situation_test(
    data: Any,
    counterfactuals: Any,
    *,
    protected: str | Sequence[str],
    comparison: Any,
    reference: Any = None,
    features: Sequence[str],
    decision: str,
    favorable: Any = None,
    k: int | Sequence[int] = 15,
    tau: float = 0.0,
    level: float = 0.95,
    sided: Sided = "one",
    interval: IntervalName | IntervalMethod = "newcombe",
    include_centers: bool = False,
    do: Any = None,
    predict: Any = None,
    distance: MakeDistance | None = None,
    weights: Mapping[str, float] | None = None,
    within: float | None = None,
    ids: str | None = None,
    workers: int = 1,
    seed: int = 0,
) -> SituationTest:
    """Are people like each one declined more often than people like their counterfactual?

    `counterfactuals` is a table whose row i is row i of the data in the other world, or a
    structural causal model, which then makes that table under `do` (left out: everyone of the
    reference group). `include_centers` adds the person to the control group and the
    counterfactual to the test group, with the decision of the counterfactual table, or of
    `predict`, a model or a function of a frame that answers with decisions. `ids` is then in both
    tables. The rest is as in `situation_test`.

    >>> import causalfairness as cf
    >>> from causalfairness.datasets.loan import make_loan_application_counterfactual
    >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
    >>> as_men = make_loan_application_counterfactual(1_000, seed=0, do="Male")
    >>> found = cf.counterfactual_situation_test(
    ...     loans, as_men, protected="gender", comparison="Female", decision="approved",
    ...     favorable=1, features=["annual_salary", "account_balance"], k=15)
    >>> found.summary()[15].evidence > 0
    True
    """
    situations = read_situations(
        data,
        protected=protected,
        comparison=comparison,
        reference=reference,
        features=features,
        decision=decision,
        favorable=favorable,
        ids=ids,
    )
    settings = Settings(
        k, interval_rule(tau, level, sided, interval), distance, weights, within, workers
    )
    selves = read_selves(situations, counterfactuals, do=do, predict=predict, seed=seed)
    check_centers(situations, selves, include_centers)
    return replace(_tested(situations, selves, settings), include_centers=include_centers)


@dataclass(frozen=True, eq=False)
class Settings:
    """How are groups found, and when is a difference evidence?"""

    k: int | Sequence[int]
    rule: IntervalRule
    distance: MakeDistance | None
    weights: Mapping[str, float] | None
    within: float | None
    workers: int


def _tested(situations: Situations, selves: Selves | None, settings: Settings) -> SituationTest:
    ks = checked_ks(settings.k, situations)
    tables = [situations.rows] if selves is None else [situations.rows, selves.rows]
    order, points = read_points(tables, situations.features)
    facts, centers = points[0], points[-1]  # the same, unless there are counterfactuals
    if selves is not None and not selves.aligned:
        check_order(situations, facts, centers)
    place = Neighborhood(
        points=facts,
        complainants=situations.complainants,
        others=situations.others,
        distance=_distance(facts, order, settings),
        within=settings.within,
        workers=settings.workers,
        lots=situations.lots(),
    )
    looked = situations.looked_at()
    notes = (*situations.notes, *_notes(points, order))
    if selves is not None:
        notes += (*selves.notes, *note_on_decisions(situations, selves, facts, centers))
    return SituationTest(
        situations=situations,
        neighborhood=place,
        control=place.control(max(ks)),
        test=place.test(centers.take(situations.complainants), max(ks)),
        ks=ks,
        rule=settings.rule,
        assumptions=(*(selves.assumptions if selves else ()), ALIKE, DRAWN),
        reported=(*notes, *looked),
        selves=selves,
    )


def checked_ks(k: int | Sequence[int], situations: Situations) -> tuple[int, ...]:
    """Which sizes of groups are asked for? Each once, none larger than there are people."""
    ks = tuple(k) if isinstance(k, Iterable) else (k,)
    if not ks or any(isinstance(n, bool) or not isinstance(n, int | np.integer) for n in ks):
        raise SituationError(
            f"k is a whole number, or a list of them, such as [15, 30]; found {k!r}"
        )
    if min(ks) < 1 or len(set(ks)) < len(ks):
        raise SituationError(
            f"k has each size of a group once, none below 1; found {k!r}. Counterfactual fairness, "
            "the case k = 0, is in the flipped column of a counterfactual situation test"
        )
    for people, name, role in (
        (len(situations.complainants) - 1, situations.complaining, "control"),
        (len(situations.others), situations.compared, "test"),
    ):
        if max(ks) > people:
            raise SituationError(
                f"k = {max(ks)} is larger than the {role} group can be: there are {people:,} "
                f"{name}{' besides the person' if role == 'control' else ''}; ask for a "
                "smaller k"
            )
    return tuple(int(n) for n in ks)


def read_selves(
    situations: Situations, counterfactuals: Any, *, do: Any, predict: Any, seed: int
) -> Selves:
    """Who would everyone be in the other world?"""
    if isinstance(counterfactuals, StructuralCausalModel):
        return selves_from_model(situations, counterfactuals, do=do, predict=predict, seed=seed)
    if do is not None:
        raise SituationError(
            "do says which world a structural causal model makes; a table of counterfactuals holds "
            "one already: leave do out"
        )
    return selves_from_table(situations, counterfactuals, predict=predict)


def check_centers(situations: Situations, selves: Selves, include_centers: bool) -> None:
    """Is it known what would have been decided about counterfactuals, where they count?"""
    if include_centers and selves.negative is None:
        raise SituationError(
            "include_centers needs the decision about each counterfactual; add column "
            f"{situations.decision!r} to the counterfactual table, or to the graph, or give "
            "predict=, the model that decides"
        )


def _distance(points: Points, order: FeatureOrder, settings: Settings) -> Distance:
    weights = settings.weights
    if settings.distance is not None:
        if weights is not None:
            raise SituationError("distance says how features count; leave weights out")
        return settings.distance(points)
    usual = mixed_distance(points, None if weights is None else _weights(weights, order))
    if not (usual.ranges > 0).any() and (points.codes == points.codes[:1]).all():
        raise SituationError(
            f"everyone is alike in {', '.join(order.names)}: no feature varies, so nobody is "
            "nearer than others; name features that tell people apart"
        )
    return usual


def _weights(weights: Mapping[str, float], order: FeatureOrder) -> list[float]:
    """One weight per feature, in the order of points."""
    if not isinstance(weights, Mapping):
        raise WeightError("weights map features to numbers, such as {'age': 2.0}; others count 1")
    unknown = [name for name in weights if name not in order.names]
    if unknown:
        raise WeightError(
            f"weights name {unknown[0]!r}, which is no feature; features are "
            f"{', '.join(order.names)}"
        )
    return [float(weights.get(name, 1.0)) for name in order.names]


def _notes(points: Sequence[Points], order: FeatureOrder) -> tuple[str, ...]:
    """What should be known about the features, in the data and in the other world?"""
    notes = []
    for where, table in zip(("", " in the counterfactual table"), points, strict=False):
        missing = [*np.isnan(table.numbers).sum(axis=0), *(table.codes < 0).sum(axis=0)]
        notes += [
            f"{name}: {count:,} values are missing{where}, at distance 1 from any other"
            for name, count in zip(order.names, missing, strict=True)
            if count
        ]
    for name, column in zip(order.names, [*points[0].numbers.T, *points[0].codes.T], strict=True):
        known = column[~np.isnan(column)]
        if len(known) and np.ptp(known) == 0:
            notes.append(f"{name} is the same for everyone, and tells nobody apart")
    return tuple(notes)
