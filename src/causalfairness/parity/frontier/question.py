"""What does it cost, and what does it gain, to forbid a predictor some paths? (methods §6)

For every set of allowed paths a predictor is built that uses them and no others, on training rows
as they would be without the rest, and measured on rows it has not seen, against the outcome as it
was:

    SPM  = E[score | a1] - E[score | a0]
    iPPM = mean over bins of the score of  E[y | a1, bin] - E[y | a0, bin]

with a1 the comparison group. The fewer paths are allowed, the closer is SPM to 0; the more, iPPM.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalfairness.adaptation import QuantileLearner, SharedQuantiles
from causalfairness.adaptation.held_out import said_of_warnings
from causalfairness.adaptation.report import GRAPH, RANK, TRANSPORT
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.inference import run_all
from causalfairness.inference.resampling import check_count
from causalfairness.parity.frontier.measures import Judged, judge
from causalfairness.parity.frontier.people import read_people
from causalfairness.parity.frontier.predictors import Study
from causalfairness.parity.frontier.result import Frontier, FrontierPoint
from causalfairness.parity.frontier.sets import Allowed, AllowedPaths, Named, read_sets
from causalfairness.parity.frontier.splits import Split, random_splits

Single = QuantileLearner | SharedQuantiles
Learner = Single | Mapping[str, Single]
SPREAD = (
    "sd is the standard deviation over splits: how much an answer depends on which rows are held "
    "out and on ties that are broken by chance. It is no standard error: splits share most of "
    "their rows, and other people would vary more"
)
NOISE = "|iPPM| is never 0: noise alone makes gaps in bins, the more so the fewer rows are held out"
NO_ARROWS = "no graph was given: the model's own was taken, without arrows between mediators"
DIRECT_PATH = (
    "everything: the predictor sees the group as one column, 1 for {} and 0 for {}; all others "
    "never see it"
)


def frontier(
    data: Any,
    model: StandardFairnessModel,
    graph: CausalGraph | None = None,
    *,
    allowed: Allowed | None = None,
    named: Named | None = None,
    estimator: Any = None,
    learner: Learner | None = None,
    repetitions: int = 5,
    holdout: float = 0.3,
    bins: int = 10,
    workers: int = 1,
    seed: int = 0,
) -> Frontier:
    """What does it cost, and what does it gain, to forbid a predictor some paths?

    `allowed` is a list of sets of paths: "spurious", "indirect", a mediator, or a name from `named`
    for several (`named={"juvenile": ["juv_fel", "juv_misd"]}`); the direct path only together with
    all others. None asks about nothing, each, both, and everything. `graph` says what causes what,
    None takes that of the model. `estimator` is the scikit-learn model that learns from adapted
    rows (None: boosted trees) and `learner` how rows are adapted (None: `SharedQuantiles`). Where
    a model takes a random state and has none, it gets that of the split.

    Every repetition holds out the share `holdout` of both groups, the same rows for every set.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian(direct=1.0, indirect=1.0)
    >>> people = world.draw(400, seed=0)
    >>> found = cf.frontier(
    ...     people, world.model, learner=cf.adaptation.LinearQuantiles(), repetitions=2)
    >>> [point.name for point in found]
    ['nothing', 'spurious', 'indirect', 'spurious + indirect', 'everything']
    >>> print(found.sentences()[2])
    A trade-off: no set is farther than another from both kinds of parity by more than splits ...
    """
    check_count("bins", bins, least=1)
    people = read_people(data, model, graph)
    groups = {name: tuple(columns) for name, columns in (named or {}).items()}
    sets = read_sets(allowed, groups, people.model, people.graph)
    study = Study(people, groups, estimator, learner)
    splits = random_splits(
        people.group, people.model, repetitions=repetitions, holdout=holdout, seed=seed
    )
    tasks = [(study, each, split, bins) for split in splits for each in sets]
    judged = run_all(_judged, tasks, workers=workers, what="building predictors")
    return _Found(study, sets, splits, judged, bins, graph is None).result()


def _judged(task: tuple[Study, AllowedPaths, Split, int]) -> Judged:
    study, allowed, split, bins = task
    people, (scores, warnings) = study.people, study.scores(allowed, split)
    outcome, group = people.outcome[split.test], people.group[split.test]
    found = judge(scores, outcome, group, bins=bins, binary=people.is_binary)
    return found._replace(warnings=warnings)


@dataclass(frozen=True, eq=False)
class _Found:
    """What the answer is made of, and what must be said about it."""

    study: Study
    sets: tuple[AllowedPaths, ...]
    splits: list[Split]
    judged: list[Judged]  # set after set, split after split
    bins: int
    drawn_from_model: bool

    def result(self) -> Frontier:
        model, people = self.study.people.model, self.study.people
        return Frontier(
            what=model.target_label(),
            reference=model.reference_label,
            comparison=model.comparison_label,
            points=tuple(self._point(at, each) for at, each in enumerate(self.sets)),
            repetitions=len(self.splits),
            bins=self.bins,
            rows=people.account,
            held_out=len(self.splits[0].test),
            assumptions=(GRAPH, RANK) if any(not e.is_unconstrained for e in self.sets) else (),
            notes=tuple(self._notes()),
        )

    def _point(self, at: int, allowed: AllowedPaths) -> FrontierPoint:
        own = [judged.values for judged in self.judged[at :: len(self.sets)]]
        return FrontierPoint(
            allowed, {measure: tuple(each[measure] for each in own) for measure in own[0]}
        )

    def _notes(self) -> Iterator[str]:
        yield SPREAD
        yield NOISE
        model = self.study.people.model
        if any(each.is_unconstrained for each in self.sets):
            yield DIRECT_PATH.format(model.comparison_label, model.reference_label)
        moved = [each.transported for each in self.sets if each.transported]
        if moved:
            yield TRANSPORT.format(columns=", ".join(moved[0]))
        if self.drawn_from_model and model.mediators[1:]:
            yield NO_ARROWS
        one_sided = np.array([judged.one_sided for judged in self.judged])
        if one_sided.any():
            yield (
                f"bins with people of one group only, which are not compared: {one_sided.sum()} in "
                f"{np.count_nonzero(one_sided)} of {len(one_sided)} predictors"
            )
        warned = [judged.warnings for judged in self.judged if judged.warnings is not None]
        yield from said_of_warnings(warned)
