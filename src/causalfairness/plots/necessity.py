"""Is each path used as it may be? Effects on outcome and prediction, the margin, and the verdict.

One band per path marks what is required: around zero where the path is not allowed, around the
outcome's effect where it is, as wide as the margin. The prediction's effect should lie in it. A
square is the outcome, a dot the prediction; the line beside the dot is the interval of what must
vanish, drawn from what is required.
"""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from causalfairness.parity import NecessityReport, PathVerdict
from causalfairness.parity.necessity.table import REPORTED
from causalfairness.plots.canvas import (
    LINE,
    draw_dots,
    draw_line,
    empty_picture,
    footnote,
    legend_above,
    points_across,
    remember,
    set_scale,
    write_beside,
)
from causalfairness.plots.captions import percentage
from causalfairness.plots.lettering import fit, width_of, written
from causalfairness.plots.numbers import Unit
from causalfairness.plots.theme import LIGHT, Theme

WIDTH, MARGIN, ROW = 6.4, 1.0, 0.62  # inches
NAMES = 0.3  # of the width of the picture, at most, for the names
HALF = 0.34  # of a row: half the height of a band
LIFT = 0.17  # of a row: outcome above the middle, prediction below it


def necessity(
    found: NecessityReport,
    ax: Axes | None = None,
    *,
    theme: Theme = LIGHT,
    percent: bool | None = None,
    caption: bool = False,
) -> Axes:
    """Is each path used as it may be? One row per path, with its verdict.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female",
    ...     outcome="two_year_recid", prediction="is_recid")
    >>> found = cf.check_business_necessity(cf.datasets.load_compas(), model, allowed={"spurious"})
    >>> ax = cf.plots.necessity(found, Figure(layout="constrained").subplots())
    >>> [label.get_text().partition(chr(10))[0] for label in ax.get_yticklabels()]
    ['direct', 'indirect', 'spurious']
    """
    points = found.in_points if percent is None else percent
    unit = Unit.of([effect.value for path in found for effect in path.effects], percent=points)
    words = necessity_caption(found)
    note = words if caption else _note(found, unit)
    height = MARGIN + ROW * len(found)
    ax = empty_picture(ax, theme, size=(WIDTH, height), lines="x", note=note, across=0.9)
    _set_range(ax, found, unit, theme)
    for at, path in enumerate(found):
        _draw(ax, at, path, found, theme)
        beside: Any = {"within": ("axes fraction", "data"), "bold": path.verdict == "violated"}
        away, sides = (theme.size, 0), ("left", "center")
        write_beside(ax, path.verdict or REPORTED, (1, at), theme, away=away, sides=sides, **beside)
    left = _name(ax, found, theme)
    handles = [_mark(ax, [], [], theme.muted, theme, is_outcome=each) for each in (True, False)]
    told = ["effect on the outcome", "effect on the prediction"]
    legend_above(ax, handles, told, theme, ncols=2, handlelength=1.0)
    footnote(ax, note, theme, width=points_across(ax)[0], indent=left)
    remember(ax, title=f"Business necessity: {found.what}", caption=words)
    return ax


def necessity_caption(found: NecessityReport) -> str:
    """Which sentences does the picture of business necessity support? Those of the report.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female",
    ...     outcome="two_year_recid", prediction="is_recid")
    >>> found = cf.check_business_necessity(cf.datasets.load_compas(), model, allowed={"spurious"})
    >>> print(necessity_caption(found))
    The direct path is not allowed. The prediction's effect along it is ...
    """
    stated = "; ".join(found.assumptions)
    return " ".join([*found.sentences(), f"Assumptions: {stated}." if stated else ""]).strip()


def _note(found: NecessityReport, unit: Unit) -> str:
    points = "percentage points" if unit.percent else "effects"
    required = f"as wide as the margin of {unit.size(found.margin)}" if found.margin else "a line"
    return (
        f"Change from {found.reference} to {found.comparison}, {points}. Bands: what is required, "
        f"{required} to each side, around zero or around the outcome. Lines: "
        f"{percentage(found.level)} intervals of the prediction's distance from that."
    )


def _set_range(ax: Axes, found: NecessityReport, unit: Unit, theme: Theme) -> None:
    ends = [0.0]
    for path in found:
        goal = _required(path)
        ends += [path.outcome.value, path.prediction.value]
        margin = found.margin or 0.0
        around = (-margin, margin, *path.difference.interval(found.level))
        ends += [goal + end for end in around]
    set_scale(ax, "x", ends, unit.step, theme)
    ax.set_ylim(len(found) - 0.4, -0.6)
    ax.axvline(0.0, color=theme.muted, linewidth=1.0, linestyle="-", zorder=1.5)


def _required(path: PathVerdict) -> float:
    """Where should the prediction's effect be?"""
    return path.outcome.value if path.allowed else 0.0


def _draw(ax: Axes, at: int, path: PathVerdict, found: NecessityReport, theme: Theme) -> None:
    color, goal = theme.color(path.name), _required(path)
    band = (goal - (found.margin or 0.0), goal + (found.margin or 0.0))
    ax.fill_betweenx((at - HALF, at + HALF), *band, color=color, alpha=0.2, linewidth=0)
    draw_line(ax, (goal, goal), (at - HALF, at + HALF), color, width=1.0)
    low, high = path.difference.interval(found.level)
    draw_line(ax, (goal + low, goal + high), (at + LIFT, at + LIFT), color, width=2.0)
    _mark(ax, [path.outcome.value], [at - LIFT], color, theme, is_outcome=True)
    _mark(ax, [path.prediction.value], [at + LIFT], color, theme, is_outcome=False)


def _mark(ax: Axes, across: Any, up: Any, color: str, theme: Theme, *, is_outcome: bool) -> Any:
    """A hollow square for the outcome, a dot for the prediction."""
    look: Any = {"marker": "s" if is_outcome else "o", "markersize": 0.68 * theme.size}
    return draw_dots(ax, across, up, color, theme, hollow=is_outcome, markeredgewidth=1.6, **look)


def _name(ax: Axes, found: NecessityReport, theme: Theme) -> float:
    """Paths to the left, each with whether it is allowed; returns how far they reach."""
    width = NAMES * points_across(ax)[0]
    names = [
        f"{fit(path.name, theme, width=width)}\n{'allowed' if path.allowed else 'not allowed'}"
        for path in found
    ]
    ax.set_yticks(range(len(found)), names, linespacing=LINE, **written(theme))
    lines = (line for name in names for line in name.split("\n"))
    return max(width_of(line, theme) for line in lines)
