"""When does a predictor use a path as it may? Three answers, of which only one is ever given.

With D the estimate of what must vanish on a path (methods §6):

    violated     the minimum-effect test rejects |truth| <= margin    (Holm over the paths)
    satisfied    two one-sided tests reject |truth| >= margin         (Holm over the paths)
    undecided    neither

Without a margin nothing is said: how much would matter is not for the data to tell. Nor is
anything said where one of the effects is of rows alone, or has models behind it that have not
settled: a verdict needs the whole uncertainty.

Where even an effect of zero could not be shown to be within the margin, its standard error above

    margin / z_level,

it is said how many people would do, with a chance of .8 for an effect of zero: n times
((z_level + z_.9) standard errors / margin)^2.

Overall violated if any path is. Overall satisfied if every path's equivalence test rejects at the
level itself: claiming all of them is wrong only if one of them is, so no adjustment is needed,
and all of them may hold together where none alone stands out among three. Else undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from causalfairness.effects import Effect
from causalfairness.effects.effect import worst
from causalfairness.inference import equivalence_p_value, holm, minimum_effect_p_value
from causalfairness.inference.intervals import check_margin, normal_reach, rows_to_rule_out

Verdict = Literal["violated", "satisfied", "undecided"]
UNJUDGED = (
    "Not judged: intervals are over rows alone, and a verdict needs the uncertainty of the fitted "
    "model as well. Fit the model to these rows, of mechanisms that can be fitted again, or ask "
    "for replicates."
)
NOT_SETTLED = (
    "No verdict is given: the models have not caught how the confounders act, and intervals are "
    "too narrow (learners not settled)."
)


class Evidence(NamedTuple):
    """What is said about one path, and how surely? Without tests there are no p-values."""

    verdict: Verdict | None  # None where no margin was set, or nothing can be judged
    violation: float | None = None  # p-value against |truth| <= margin
    violation_adjusted: float | None = None  # the same, with Holm's adjustment
    equivalence: float | None = None  # p-value against |truth| >= margin
    equivalence_adjusted: float | None = None
    people: int | None = None  # who were asked about
    people_needed: int | None = None  # where an effect of zero could not be shown with these

    def out_of_reach(self, margin: str) -> str:
        """What is said where the margin is out of reach: a part of a sentence, or nothing.

        >>> Evidence("undecided", people=512, people_needed=85_639).out_of_reach("1 point")
        'with 512 people a margin of 1 point is out of reach; about 86,000 would do'
        """
        if self.verdict != "undecided" or self.people_needed is None:
            return ""
        size = 10 ** max(0, len(str(self.people_needed)) - 2)
        return (
            f"with {self.people:,} people a margin of {margin} is out of reach; about "
            f"{-(-self.people_needed // size) * size:,} would do"
        )


class Judgment(NamedTuple):
    """What is said about all paths together, and about each?"""

    verdict: Verdict | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class EquivalenceRule:
    """Which verdicts are right all but one time in twenty?

    >>> import numpy as np
    >>> from causalfairness.effects import Basis
    >>> far = Effect("direct", 0.06, np.array([0.01]), Basis("", "rows"))
    >>> near = Effect("indirect", 0.0, np.array([0.001]), Basis("", "rows"))
    >>> found = EquivalenceRule(margin=0.01, level=0.95).judge([far, near])
    >>> found.verdict, [each.verdict for each in found.evidence]
    ('violated', ['violated', 'satisfied'])
    """

    margin: float | None
    level: float

    is_tested = True

    def __post_init__(self) -> None:
        check_margin(0.0 if self.margin is None else self.margin)
        if not 0.5 < self.level < 1:
            raise ValueError(
                "level must lie between 0.5 and 1, for instance 0.95: below, a path could be "
                f"violated and satisfied at once; found {self.level!r}"
            )

    def judge(self, differences: Sequence[Effect], people: Sequence[int] | None = None) -> Judgment:
        """What do the tests say about each path, and about all of them?

        `people` says how many each effect was estimated from, for what is said of margins that are
        out of reach.
        """
        if self.margin is None or unjudged(differences):
            return Judgment(None, (Evidence(None),) * len(differences))
        error = 1 - self.level
        margin = self.margin
        estimates = [(e.center, e.standard_error, margin, e.freedom) for e in differences]
        beyond = [minimum_effect_p_value(*each) for each in estimates]
        within = [equivalence_p_value(*each) for each in estimates]
        evidence = []
        counts: Sequence[int | None] = people or [None] * len(differences)
        adjusted = zip(beyond, holm(beyond), within, holm(within), strict=True)
        for effect, count, p_values in zip(differences, counts, adjusted, strict=True):
            p_beyond, adjusted_beyond, p_within, adjusted_within = map(float, p_values)
            verdict: Verdict = "undecided"
            if adjusted_beyond <= error:
                verdict = "violated"
            elif adjusted_within <= error:
                verdict = "satisfied"
            tests = p_beyond, adjusted_beyond, p_within, adjusted_within
            needed = self._needed(effect, count)
            evidence.append(Evidence(verdict, *tests, people=count, people_needed=needed))
        return Judgment(self._overall(evidence), tuple(evidence))

    def _needed(self, effect: Effect, people: int | None) -> int | None:
        """How many people would do, where these are too few to show even an effect of zero."""
        error = effect.standard_error
        reach = normal_reach(2 * self.level - 1, effect.freedom) * error
        if not self.margin or people is None or reach <= self.margin:
            return None
        return rows_to_rule_out(self.margin, [people * error**2], [1.0], level=self.level)

    def _overall(self, evidence: Sequence[Evidence]) -> Verdict:
        if any(each.verdict == "violated" for each in evidence):
            return "violated"
        largest = max(each.equivalence for each in evidence if each.equivalence is not None)
        return "satisfied" if largest <= 1 - self.level else "undecided"


@dataclass(frozen=True)
class PointRule:
    """What do the estimates alone say, as in the published algorithm? Chance is not allowed for.

    >>> import numpy as np
    >>> from causalfairness.effects import Basis
    >>> noisy = Effect("direct", 0.02, np.array([0.5]), Basis("", "rows"))
    >>> PointRule(margin=0.01).judge([noisy]).verdict
    'violated'
    """

    margin: float
    level: float = 0.95  # of the intervals that are shown

    is_tested = False

    def __post_init__(self) -> None:
        check_margin(self.margin)

    def judge(self, differences: Sequence[Effect], people: Sequence[int] | None = None) -> Judgment:
        """Is each estimate within the margin?"""
        if worst(each.settled for each in differences) is False:
            return Judgment(None, (Evidence(None),) * len(differences))
        verdicts: list[Verdict] = [
            "satisfied" if abs(each.value) <= self.margin else "violated" for each in differences
        ]
        overall: Verdict = "violated" if "violated" in verdicts else "satisfied"
        return Judgment(overall, tuple(map(Evidence, verdicts)))


Rule = EquivalenceRule | PointRule  # how is judged what must vanish


def unjudged(effects: Sequence[Effect]) -> str:
    """Return why these effects cannot be judged; nothing where they can."""
    if worst(each.settled for each in effects) is False:
        return NOT_SETTLED
    return UNJUDGED if any(each.rows_alone for each in effects) else ""
