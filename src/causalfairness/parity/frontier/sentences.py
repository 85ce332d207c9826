"""What does a frontier say, in plain words? No verdict is given, and no set is recommended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects.table import decimals

if TYPE_CHECKING:
    from causalfairness.parity.frontier.result import Frontier, FrontierPoint


def sentences_about(found: Frontier) -> tuple[str, ...]:
    """Where do the ends of the frontier lie, and what lies between?"""
    said = [_closest(found, "spm"), _closest(found, "ippm")]
    if len(found) > 1:
        said.append(_trade(found))
        said.append(_price(found))
    return tuple(said)


KINDS = {"spm": "statistical parity (SPM 0)", "ippm": "predictive parity (iPPM 0)"}


def _size(point: FrontierPoint, measure: str) -> float:
    return abs(point.mean(measure))


def _places(found: Frontier, measure: str) -> int:
    return decimals([max(point.sd(measure) for point in found)], least=3)


def _closest(found: Frontier, measure: str) -> str:
    near = min(found, key=lambda point: _size(point, measure))
    far = max(found, key=lambda point: _size(point, measure))
    places = _places(found, measure)
    text = (
        f"Closest to {KINDS[measure]} with {near.name} allowed: {near.mean(measure):+.{places}f} "
        f"(sd {near.sd(measure):.{places}f})"
    )
    if far is not near:
        text += (
            f"; farthest with {far.name} allowed: {far.mean(measure):+.{places}f} "
            f"(sd {far.sd(measure):.{places}f})"
        )
    return f"{text}."


def _trade(found: Frontier) -> str:
    """Which sets are farther than another in both respects, by more than splits differ?"""
    behind = {
        point.name: other.name
        for point in found
        for other in found
        if all(_is_farther(point, other, measure) for measure in KINDS)
    }
    if not behind:
        return (
            "A trade-off: no set is farther than another from both kinds of parity by more than "
            "splits differ (one sd); what brings predictions closer to one takes them from the "
            "other."
        )
    told = "; ".join(f"{name} lies behind {other}" for name, other in behind.items())
    return f"Some sets are farther from both kinds of parity than another: {told}."


def _is_farther(point: FrontierPoint, other: FrontierPoint, measure: str) -> bool:
    """On the same splits, so that they are compared split by split."""
    apart = _sizes(point, measure) - _sizes(other, measure)
    return bool(apart.mean() > apart.std(ddof=1))


def _sizes(point: FrontierPoint, measure: str) -> NDArray[np.float64]:
    """Values with the sign of their mean taken off."""
    values = np.array(point.values[measure])
    return np.asarray(values * np.sign(values.mean()))


def _price(found: Frontier) -> str:
    measure = "accuracy" if "accuracy" in found.measures else "r2"
    word = {"accuracy": "Accuracy", "r2": "R^2"}[measure]
    low = min(found, key=lambda point: point.mean(measure))
    high = max(found, key=lambda point: point.mean(measure))
    places = _places(found, measure)
    return (
        f"{word}, by the outcome as it was, goes from {low.mean(measure):.{places}f} with "
        f"{low.name} allowed to {high.mean(measure):.{places}f} with {high.name} allowed."
    )
