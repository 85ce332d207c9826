"""What do bounds on hidden confounding say, in plain words? And what do they not say?"""

from __future__ import annotations

from causalfairness.effects.table import decimals
from causalfairness.inference import Interval
from causalfairness.sensitivity.effect_sensitivity import EffectSensitivity
from causalfairness.sensitivity.stages import STORIES

LIMITS = (
    "this is a bound and no test: it says how far a hidden cause of the stated strength could move "
    "an effect at most, on average over everyone, and not whether there is one",
    "the outcome share is how much of what is left unexplained the hidden cause would explain; the "
    "group share is how much of the weights, with which one group stands in for the other, would "
    "come from it alone",
    "a hidden common cause of mediators and outcome enters the stage of the mediators alone, one "
    "of group and mediators that of the group alone: two stories, shown apart; one of group and "
    "outcome enters both",
    "the hidden cause is itself not caused by the group or the mediators, and with it in sight all "
    "other assumptions would hold",
    "intervals take the bound as it was estimated: that it is an estimate itself is not in them",
)


def sentence_about(found: EffectSensitivity) -> str:
    """What could a hidden cause do to one effect?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=0), world.model)
    >>> shown = cf.sensitivity_to_confounding(found, outcome_share=0.1, group_share=0.1)
    >>> print(sentence_about(shown["direct"]))
    Direct: ... A hidden cause of the stated strength could move it by ... at most, to between ...
    """
    places = decimals([found.effect.standard_error], least=3)
    opening = f"{found.name.replace('_', ' ').capitalize()}: {found.effect.value:+.{places}f}"
    if not found.is_exposed:
        return f"{opening}, which no hidden cause can move: nothing unexplained enters it."
    apart = ", ".join(
        f"{stage.bound(outcome_share=own.outcome, group_share=own.group):.{places}f} as "
        f"{STORIES[name]}"
        for name, stage in found.stages.items()
        if stage.scale > 0 and (own := found.strengths[name])
    )
    return (
        f"{opening} {_between(found.effect.interval(found.level), places)}. A hidden cause of the "
        f"stated strength could move it by {found.bound():.{places}f} at most, to between "
        f"{_spoken(found.band(), places)} ({apart}); with chance, "
        f"{_spoken(found.interval(), places)}. {_robustness(found, places)}"
    )


def percent(share: float) -> str:
    """How is a share written?

    >>> percent(0.0312), percent(1.0)
    ('3.1%', '100%')
    """
    return f"{100 * share:.3g}%" if share >= 0.1 else f"{100 * share:.1f}%"


def _robustness(found: EffectSensitivity, places: int) -> str:
    margin = "zero" if found.margin == 0 else f"the margin of {found.margin:.{places}f}"
    estimate, interval = found.robustness(), found.robustness_of_interval()
    whole = (
        f"for the interval to do so, {percent(interval)}"
        if interval > 0
        else "the interval does so already"
    )
    return f"To reach {margin} it would have to account for {percent(estimate)} of both; {whole}."


def _between(interval: Interval, places: int) -> str:
    return f"({interval.low:+.{places}f} to {interval.high:+.{places}f})"


def _spoken(interval: Interval, places: int) -> str:
    return f"{interval.low:+.{places}f} and {interval.high:+.{places}f}"
