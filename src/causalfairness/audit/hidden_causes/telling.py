"""What is written down about hidden common causes? The same keys for every answer.

Robustness is a share R = R_y² = R_a²: of what is left unexplained, and of the weights with which
one group stands in for the other. `to_change_verdict` is the share from which on the tests could
say something else; where nothing was judged, effects are held against zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from causalfairness.audit.hidden_causes.verdicts import (
    STORIES,
    Exposed,
    share_to_change,
    times_to_change,
)
from causalfairness.audit.hidden_causes.words import about_effects, about_verdict, goal_of
from causalfairness.audit.schema import Audit
from causalfairness.parity.necessity.rules import EquivalenceRule
from causalfairness.sensitivity import EffectSensitivity
from causalfairness.sensitivity.benchmarks import Benchmark
from causalfairness.sensitivity.stages import STAGES, StageName
from causalfairness.sensitivity.stages import STORIES as IN_WORDS
from causalfairness.sensitivity.words import LIMITS, sentence_about

Told = dict[str, Any]


def told(
    exposed: Sequence[Exposed],
    audit: Audit,
    what: str,
    *,
    margin: float | None,
    notes: Sequence[str],
) -> Told:
    """What could a hidden common cause do to these effects, and to the verdict about them?"""
    judged = [each for each in exposed if each.judged]
    verdict, stories = None, []
    if margin is not None and judged:
        rule = EquivalenceRule(margin, audit.settings.level)
        verdict = rule.judge([each.shown.effect for each in judged]).verdict
        stories = [*_stories(judged, rule, verdict)] if verdict is not None else []
    shown = [each.shown for each in exposed]
    first = about_effects(shown) if verdict is None else stories[-1]["sentence"]
    return {
        "applies": True,
        "reason": "",
        "what": what,
        "outcome_share": audit.sensitivity.outcome_share,
        "group_share": audit.sensitivity.group_share,
        "margin": margin or 0.0,
        "goal": goal_of(margin or 0.0),
        "verdict": verdict,
        "to_change_verdict": stories[-1]["to_change_verdict"] if stories else None,
        "by_story": stories,
        "effects": [_effect(each) for each in exposed],
        "benchmarks": [*_benchmarks(exposed)],
        "sentences": [first, *map(sentence_about, shown)],
        "notes": [*dict.fromkeys((*LIMITS, *notes))],
    }


def _stories(
    judged: Sequence[Exposed], rule: EquivalenceRule, verdict: str
) -> Iterator[dict[str, Any]]:
    """Of what could it be a cause? One of group and outcome enters both stages, and comes last."""
    confounders = dict.fromkeys(name for each in judged for name in each.benchmarks)
    for story, stages in STORIES.items():
        share = share_to_change(judged, rule, stages)
        times = {name: times_to_change(judged, rule, name, stages) for name in confounders}
        able = {name: each for name, each in times.items() if math.isfinite(each)}
        strongest = min(able, key=lambda name: able[name]) if able else None
        nearest = None if strongest is None else (strongest, able[strongest])
        yield {
            "name": story,
            "to_change_verdict": share,
            "strongest": nearest and {"confounder": nearest[0], "times": nearest[1]},
            "sentence": about_verdict(verdict, share, nearest, story),
        }


def _effect(each: Exposed) -> Told:
    shown = each.shown
    low, high = shown.effect.interval(shown.level)
    return {
        "name": each.name,
        "value": shown.effect.value,
        "low": low,
        "high": high,
        "judged": each.judged,
        "exposed": shown.is_exposed,
        **_bounds(shown, None),
        "stages": {stage: {"story": IN_WORDS[stage], **_bounds(shown, stage)} for stage in STAGES},
    }


def _bounds(shown: EffectSensitivity, stage: StageName | None) -> Told:
    band, widened = shown.band(stage), shown.interval(stage)
    return {
        "bound": shown.bound(stage),
        "band_low": band.low,
        "band_high": band.high,
        "widened_low": widened.low,
        "widened_high": widened.high,
        "robustness": shown.robustness(stage),
        "robustness_of_interval": shown.robustness_of_interval(stage),
    }


def _benchmarks(exposed: Sequence[Exposed]) -> Iterator[Told]:
    for each in exposed:
        for confounder, as_strong in each.benchmarks.items():
            found = Benchmark(confounder, as_strong).to_dict()
            yield {"name": f"{each.name}: {confounder}", **found}
