"""What did the published experiments of counterfactual situation testing count? A replication.

This does what the authors' experiments did, to reproduce their tables (methods §8); it is not how
people should be compared:

* every table is standardized by its own mean and standard deviation, the counterfactual one too,
  so that the two worlds are measured in different units;
* distances are (categories that differ + sum |z - z'|) / features, compared as floating-point
  numbers; ties go to the larger row number;
* the control group are the k + 1 nearest protected rows without the person, who may have
  been pushed out by exact copies, in which case k + 1 rows stay;
* evidence is round(delta, 3) > tau, significant round(delta - 1.645 se, 3) > tau; a standard error
  of zero counts as significant.

Counts of the loan data, and counterfactual ones by race, do not depend on how ties are decided.
Those by gender and the plain ones of the law school do: among a thousand distinct points there are
thousands of true ties, which the last bits of the scores decide, and no rule explains which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from causalfairness.individuals.distances import StandardizedDistance, standardized
from causalfairness.individuals.situation_evidence import PublishedRule
from causalfairness.individuals.situation_features import read_points
from causalfairness.individuals.situation_groups import NOBODY, Neighborhood, PeerGroups
from causalfairness.individuals.situation_result import SituationTest
from causalfairness.individuals.situation_rows import read_situations
from causalfairness.individuals.situation_selves import selves_from_table
from causalfairness.individuals.situations import ALIKE, DRAWN, check_centers, checked_ks

REPLICATION = (
    "replication setting: each table is standardized by its own mean and standard deviation, ties "
    "go to the larger row number, and differences are rounded to three digits"
)


def published_situation_test(
    data: Any,
    counterfactuals: Any = None,
    *,
    protected: str | Sequence[str],
    comparison: Any,
    reference: Any = None,
    features: Sequence[str],
    decision: str,
    favorable: Any = None,
    k: int | Sequence[int] = 15,
    tau: float = 0.0,
    include_centers: bool = False,
    declared: int | None = None,
    ids: str | None = None,
    workers: int = 1,
) -> SituationTest:
    """What would the published experiments have counted? For replication only.

    Without `counterfactuals` this is plain situation testing. `declared` is the number of features
    that distances are divided by, all by default; it never changes a rank. The rest is as in
    `counterfactual_situation_test`.

    >>> import causalfairness as cf
    >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
    >>> found = cf.individuals.published_situation_test(
    ...     loans, protected="gender", comparison="Female", decision="approved",
    ...     favorable=1, features=["annual_salary", "account_balance"])
    >>> found.notes[0][:19]
    'replication setting'
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
    ks = checked_ks(k, situations)
    selves = None
    if counterfactuals is not None:
        selves = selves_from_table(situations, counterfactuals, predict=None)
        check_centers(situations, selves, include_centers)
    tables = [situations.rows] if selves is None else [situations.rows, selves.rows]
    _, points = read_points(tables, situations.features)
    facts, centers = standardized(points[0]), standardized(points[-1])
    place = Neighborhood(
        points=facts,
        complainants=situations.complainants,
        others=situations.others,
        distance=StandardizedDistance(declared),
        workers=workers,
    )
    return SituationTest(
        situations=situations,
        neighborhood=place,
        control=_control(place, max(ks)),
        test=place.test(centers.take(situations.complainants), max(ks)),
        ks=ks,
        rule=PublishedRule(tau),
        assumptions=(*(selves.assumptions if selves else ()), ALIKE, DRAWN),
        reported=(REPLICATION, *situations.notes, *situations.looked_at()),
        selves=selves,
        include_centers=include_centers and selves is not None,
    )


def _control(place: Neighborhood, k: int) -> PeerGroups:
    """The k + 1 nearest protected rows, of which the person is then no member."""
    people = place.points.take(place.complainants)
    near = place.peers(people, people, place.complainants, k + 1, None)
    own = near.rows == place.complainants[:, None]
    return PeerGroups(np.where(own, NOBODY, near.rows), near.distances, beyond=1)
