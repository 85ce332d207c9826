"""What do a gap at equal scores and its terms say, in plain words? No verdict is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from causalfairness.effects import Effect
from causalfairness.effects.table import decimals

if TYPE_CHECKING:
    from causalfairness.parity.predictive.result import PredictiveParity


def sentences_about(found: PredictiveParity, level: float) -> tuple[str, ...]:
    """What was found, one sentence per question?"""
    places = decimals((gap.integrated.standard_error for gap in found.gaps), least=3)
    said = [_gap(found, level, places), _size(found, places)]
    if found.causal is not None and found.reverse_causal is not None:
        causal, reverse = found.causal.integrated, found.reverse_causal.integrated
        said.append(
            f"Causal (Term I): outcomes of {found.comparison} are "
            f"{_signed(causal, level, places, 'what they would have been')} as {found.reference}."
        )
        said.append(
            f"Reverse-causal (Term II): had {found.comparison} been {found.reference}, their "
            f"outcomes would be {_signed(reverse, level, places, f'those of {found.reference}')} "
            f"with the same {found.score}."
        )
        if _apart(causal, level) and _apart(reverse, level) and causal.value * reverse.value < 0:
            kept = found.ppm.integrated.value
            said.append(
                f"The two terms have opposite signs: of {abs(causal.value):.{places}f} and "
                f"{abs(reverse.value):.{places}f} all but {abs(kept):.{places}f} cancels."
            )
    return tuple(said)


def _gap(found: PredictiveParity, level: float, places: int) -> str:
    gap, drift = found.ppm.integrated, found.drift.integrated
    one_sided = len(found.bins) - found.compared
    bins = f"{found.compared} bin{'s' if found.compared > 1 else ''}"
    if one_sided:
        bins += f" ({one_sided} more with people of one group only)"
    return (
        f"Gap: at equal {found.score}, mean {found.what} of {found.comparison} is "
        f"{_signed(gap, level, places, f'that of {found.reference}')}, on average over {bins}; "
        f"the drift of scores within bins is {drift.value:+.{places}f}."
    )


def _size(found: PredictiveParity, places: int) -> str:
    gap = found.ppm
    return (
        f"Size: whichever its sign, the gap of a bin is {gap.integrated_absolute.value:.{places}f} "
        f"on average, where noise alone would make it {gap.noise_alone:.{places}f}."
    )


def _signed(effect: Effect, level: float, places: int, than: str) -> str:
    """How much higher or lower, with what the data are consistent with."""
    low, high = effect.interval(level)
    if effect.value == 0 and effect.standard_error == 0:
        return f"the same as {than}"
    side = "higher" if effect.value > 0 else "lower"
    percent = f"{100 * level:.6g}% level"
    text = f"{abs(effect.value):.{places}f} {side} than {than} ({low:+.{places}f} to "
    text += f"{high:+.{places}f} at the {percent}"
    if low <= 0 <= high:
        text += f", consistent with no difference above {max(-low, high):.{places}f}"
    return f"{text})"


def _apart(effect: Effect, level: float) -> bool:
    low, high = effect.interval(level)
    return not low <= 0 <= high
