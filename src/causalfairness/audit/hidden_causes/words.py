"""How is it said how strong a hidden common cause would have to be? In one plain sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from causalfairness.sensitivity import EffectSensitivity
from causalfairness.sensitivity.words import percent

BOTH = "both of what is left unexplained and of the weights that make the groups alike"
NOTHING_ASSUMED = "it compares what was observed: nothing about causes is assumed here"
SINGLE = (
    "it is about single people, or rests on mechanisms that were fitted: bounds on what a hidden "
    "cause does are known for averages over groups only"
)
NO_BOUND: Mapping[str, str] = {
    "group_metrics": NOTHING_ASSUMED,
    "screens": NOTHING_ASSUMED,
    "predictive_parity": (
        "outcomes are compared at equal scores, as they were observed; what is counterfactual "
        "about it rests on mechanisms that were fitted, for which no bound is known"
    ),
    "counterfactual_fairness": SINGLE,
    "situations": SINGLE,
    "invariance": (
        "the test asks whether the group moves predictions at equal features; how far a hidden "
        "cause of both could mislead it has no bound here"
    ),
}


def goal_of(margin: float) -> str:
    """What are effects held against?

    >>> goal_of(0.0), goal_of(0.02)
    ('zero', 'the margin of 0.02')
    """
    return "zero" if margin == 0 else f"the margin of {margin:g}"


def about_verdict(verdict: str, share: float, nearest: tuple[str, float] | None, story: str) -> str:
    """How strong must a hidden common cause be to change this verdict?

    >>> print(about_verdict("violated", 0.12, ("age", 3.04), "group and outcome"))
    A hidden common cause of group and outcome would have to account for 12% both of what is left
    unexplained and of the weights that make the groups alike (3 times as strong as age) to change
    the verdict 'violated'.
    """
    cause = f"A hidden common cause of {story}"
    if verdict == "undecided":
        return (
            "The verdict is undecided as it is: it takes no hidden common cause to leave it open."
        )
    if share >= 1:
        return f"{cause} could not change the verdict {verdict!r}, however strong."
    measure = "" if nearest is None else f" ({times(nearest[1])} as strong as {nearest[0]})"
    return (
        f"{cause} would have to account for {percent(share)} {BOTH}{measure} to change the "
        f"verdict {verdict!r}."
    )


def times(factor: float) -> str:
    """How many times is it?

    >>> times(0.357), times(3.04), times(950.2)
    ('0.36 times', '3 times', '950 times')
    """
    return f"{factor:,.0f} times" if factor >= 10 else f"{factor:.2g} times"


def about_effects(shown: Sequence[EffectSensitivity]) -> str:
    """How strong must it be for intervals to reach zero? For effects that nobody judged."""
    parts = []
    for each in shown:
        name, share = each.name.replace("_", " "), each.robustness_of_interval()
        if not each.is_exposed:
            parts.append(f"{name}: none could")
        elif share == 0:
            parts.append(f"{name}: it does so already")
        else:
            parts.append(f"{name}: {percent(share)}")
    listed = "; ".join(parts)
    return (
        f"For its interval to reach zero, a hidden common cause would have to account for so much, "
        f"{BOTH}: {listed}."
    )
