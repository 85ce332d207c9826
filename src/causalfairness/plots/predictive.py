"""Does a score mean the same in both groups, and what is the difference made of? Two panels.

Above, mean outcomes against mean scores: a dot is a bin, the line through it its interval, gray and
hollow for the reference group. Where scores are on the scale of the outcome, the dashed diagonal is
where they mean what they say. Below, at the same scores, the gap between the groups, the terms that
it is the sum of where these are known, and the drift of scores within bins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from causalfairness.effects.table import decimals
from causalfairness.parity import BinnedGap, PredictiveParity
from causalfairness.plots.canvas import (
    DASHED,
    SMALL,
    draw_dots,
    draw_line,
    empty_panel,
    empty_picture,
    footnote,
    measured,
    points_across,
    remember,
    set_scale,
    write_beside,
)
from causalfairness.plots.captions import brief, percentage
from causalfairness.plots.lettering import fit, width_of
from causalfairness.plots.theme import LIGHT, Theme

Array = NDArray[np.float64]
WIDTH, HEIGHT = 6.4, 5.6  # inches
UPPER, BETWEEN = 0.46, 0.17  # of the height: the upper panel, and what lies between the two
NAMES = {
    "ppm": "gap",
    "causal": "causal (Term I)",
    "reverse_causal": "reverse-causal (Term II)",
    "drift": "drift of scores",
}


def predictive_parity(
    found: PredictiveParity,
    ax: Axes | None = None,
    *,
    level: float = 0.95,
    theme: Theme = LIGHT,
    caption: bool = False,
) -> Axes:
    """Do equal scores mean equal outcomes in both groups, and what is the difference made of?

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female",
    ...     outcome="two_year_recid", prediction="decile_score")
    >>> found = cf.decompose_predictive_parity(cf.datasets.load_compas(), model, replicates=50)
    >>> ax = cf.plots.predictive_parity(found, Figure(layout="constrained").subplots())
    >>> [text.get_text() for text in ax.child_axes[1].texts]
    ['gap', 'drift of scores']
    """
    words = predictive_parity_caption(found, level=level)
    note = words if caption else _note(found, level)
    ax = empty_picture(ax, theme, size=(WIDTH, HEIGHT), lines="none", note=note)
    width = points_across(ax)[0]
    upper = empty_panel(ax, (0, 1 - UPPER, 1, UPPER), theme)
    lower = empty_panel(ax, (0, 0, 1, 1 - UPPER - BETWEEN), theme)
    groups = {found.reference: theme.rest, found.comparison: theme.ink}
    _draw_outcomes(upper, found, list(groups.values()), level, theme)
    _draw_gaps(lower, found, level, theme)
    _key(upper, groups, width, theme)
    _key(lower, {NAMES[gap.name]: _color(gap, theme) for gap in found.gaps}, width, theme)
    measured(ax, f"mean {found.what}, by {found.score}", theme, pad=14 + 1.3 * theme.size)
    footnote(ax, note, theme, width=width, below=2 * theme.size)
    remember(ax, title=f"Outcomes at equal {found.score}", caption=words)
    return ax


def predictive_parity_caption(found: PredictiveParity, *, level: float = 0.95) -> str:
    """Which sentence does the picture of predictive parity support?

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female",
    ...     outcome="two_year_recid", prediction="decile_score")
    >>> found = cf.decompose_predictive_parity(cf.datasets.load_compas(), model, replicates=50)
    >>> print(predictive_parity_caption(found))
    Mean two_year_recid of Female and of Male at equal decile_score, in 10 bins with both groups.
    On average over bins, with 95% intervals: gap -0.105 (-0.1... to -0.0...), drift of scores ...
    """
    effects = [gap.integrated for gap in found.gaps]
    places = decimals((effect.standard_error for effect in effects), least=3)
    values = [
        f"{NAMES[effect.name]} {effect.value:+.{places}f} "
        f"({' to '.join(f'{end:+.{places}f}' for end in effect.interval(level))})"
        for effect in effects
    ]
    low, high = _ends(found.ppm, level)
    apart = int(np.sum((low > 0) | (high < 0)))
    return (
        f"Mean {brief(found.what)} of {brief(found.comparison)} and of {brief(found.reference)} at "
        f"equal {brief(found.score)}, in {found.compared} bins with both groups. On average over "
        f"bins, with {percentage(level)} intervals: {', '.join(values)}. The gap's own interval "
        f"excludes zero in {apart} of {found.compared} bins, under the stated assumptions."
    )


def _color(gap: BinnedGap, theme: Theme) -> str:
    own = {"causal": theme.direct, "reverse_causal": theme.indirect, "drift": theme.rest}
    return own.get(gap.name, theme.ink)


def _ends(gap: BinnedGap, level: float) -> tuple[Array, Array]:
    """The intervals of all bins with both groups."""
    ends = [effect.interval(level) for effect in gap.by_bin if effect is not None]
    low, high = np.array(ends).T
    return low, high


def _note(found: PredictiveParity, level: float) -> str:
    parts = [
        f"Dots: bins of the score with {percentage(level)} intervals",
        f"gaps: {brief(found.comparison)} minus {brief(found.reference)}",
    ]
    if _is_calibrated_scale(found):
        parts.append("dashed diagonal: the score means what it says")
    if found.causal is not None:
        parts.append("causal + reverse-causal = gap in every bin")
    if (left := len(found.bins) - found.compared) > 0:
        parts.append(f"{left} bins without one of the groups have no gap")
    return f"{'; '.join(parts)}."


def _is_calibrated_scale(found: PredictiveParity) -> bool:
    """Can scores be read as outcomes? Chances for a share; for numbers, where the ranges meet."""
    outcomes, scores = found.means[0], found.mean_scores
    if found.is_binary:
        return bool(np.nanmin(scores) >= 0 and np.nanmax(scores) <= 1)
    low, high = np.nanmin(outcomes), np.nanmax(outcomes)
    return bool(low < np.nanmean(scores) < high)


def _draw_outcomes(
    panel: Axes, found: PredictiveParity, colors: Sequence[str], level: float, theme: Theme
) -> None:
    means, (low, high) = found.mean_outcomes(level)
    scores = found.mean_scores
    if _is_calibrated_scale(found):
        ends = (float(np.nanmin(scores)), float(np.nanmax(scores)))
        draw_line(panel, ends, ends, theme.muted, width=0.9, dash=DASHED)
    for group, color in enumerate(colors):
        known = ~np.isnan(means[group])
        at, mean = scores[group, known], means[group, known]
        panel.vlines(at, low[group, known], high[group, known], color=color, linewidth=1.1)
        draw_line(panel, at, mean, color, width=0.8)
        _dots(panel, at, mean, color, theme, hollow=group == 0)
    _set_range(panel, scores, np.concatenate([low, high]), theme)


def _draw_gaps(panel: Axes, found: PredictiveParity, level: float, theme: Theme) -> None:
    panel.axhline(0.0, color=theme.muted, linewidth=1.0, linestyle="-")
    there = found.ppm.compared
    at = found.mean_scores[:, there].mean(axis=0)
    reached = [np.zeros(1)]
    for gap in found.gaps:
        color, values = _color(gap, theme), gap.values[there]
        low, high = _ends(gap, level)
        if gap.name == "drift":
            draw_line(panel, at, values, color, width=1.2, dash=DASHED)
            reached.append(values)
            continue
        reached += [low, high]
        if gap.name == "ppm":
            panel.vlines(at, low, high, color=color, linewidth=1.1, zorder=3)
            _dots(panel, at, values, color, theme, hollow=False)
        else:
            panel.fill_between(at, low, high, color=color, alpha=0.22, linewidth=0)
            draw_line(panel, at, values, color, width=1.6)
    _set_range(panel, found.mean_scores, np.concatenate(reached), theme)


def _dots(panel: Axes, at: Array, values: Array, color: str, theme: Theme, *, hollow: bool) -> None:
    look: Any = {"markersize": 0.45 * theme.size, "markeredgewidth": 1.1, "zorder": 4}
    draw_dots(panel, at, values, color, theme, hollow=hollow, **look)


def _set_range(panel: Axes, scores: Array, reached: Array, theme: Theme) -> None:
    set_scale(panel, "x", scores[~np.isnan(scores)], "{:,g}".format, theme)
    set_scale(panel, "y", reached[~np.isnan(reached)], "{:,g}".format, theme)


def _key(panel: Axes, colors: Mapping[str, str], width: float, theme: Theme) -> None:
    """What is what, in words of its color above the panel."""
    look: Any = {"size": SMALL * theme.size, "bold": True}
    between = 1.8 * look["size"]
    names = [fit(name, theme, width=width, **look) for name in colors]
    wide = sum(width_of(name, theme, **look) + between for name in names)
    room = width if wide <= width + between else (width + between) / len(colors) - between
    start = 0.0
    for told, color in colors.items():
        name = fit(told, theme, width=room, **look)
        place: Any = {"within": "axes fraction", "away": (start, 5), "sides": ("left", "bottom")}
        write_beside(panel, name, (0, 1), theme, color=color, **place, **look)
        start += width_of(name, theme, **look) + between
