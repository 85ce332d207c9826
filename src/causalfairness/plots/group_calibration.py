"""Does a score mean the same in every group? How often it comes true, against the score itself.

One small panel per group, all with the same axes. A dot is a bin, a range of scores that is the
same in all groups; the line through it is its interval, and it is hollow for few people. The gray
curve is the reference group's, to compare with. Where scores are chances, the dashed diagonal is
where they mean what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from causalfairness.parity import GroupMetrics
from causalfairness.parity.metrics.partitions import Partition
from causalfairness.plots.canvas import (
    DASHED,
    LINE,
    SMALL,
    draw_kinds,
    draw_line,
    empty_panel,
    empty_picture,
    footnote,
    measured,
    points_across,
    remember,
    round_ticks,
    write_beside,
    write_numbers,
)
from causalfairness.plots.captions import brief, percentage
from causalfairness.plots.group_rates import partitions_by
from causalfairness.plots.lettering import fit, written
from causalfairness.plots.theme import LIGHT, Theme

Array = NDArray[np.float64]
WIDTH, MARGIN = 6.4, 0.9  # inches
PANELS = {1: 3.4, 2: 2.6, 3: 2.0}  # inches of height, by how many stand next to each other
MOST = 12  # panels
BETWEEN = 0.08  # of the width of the picture, between panels
HEAD = 0.6  # of the height of a row of panels, at most, for the names


def calibration(
    metrics: GroupMetrics,
    ax: Axes | None = None,
    *,
    by: str | None = None,
    groups: Sequence[Any] | None = None,
    theme: Theme = LIGHT,
    caption: bool = False,
) -> Axes:
    """How often does a score come true in each group?

    `by` is the attribute that divides people, the first one by default. `groups` names up to twelve
    groups; without it the largest are drawn, and the note below names those that are not.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female",
    ...     outcome="two_year_recid", prediction="decile_score")
    >>> found = cf.group_metrics(cf.datasets.load_compas(), model)
    >>> ax = cf.plots.calibration(found, Figure(layout="constrained").subplots())
    >>> [panel.get_title(loc="left") for panel in ax.child_axes]
    ['Male', 'Female']
    """
    curves = _curves(metrics, by, groups)
    words = calibration_caption(metrics, by=by, groups=groups)
    note = words if caption else _note(metrics, by, curves)
    columns = min(len(curves), max(PANELS))
    rows = ceil(len(curves) / columns)
    height = MARGIN + PANELS[columns] * rows
    ax = empty_picture(ax, theme, size=(WIDTH, height), lines="none", note=note)
    for panel, curve in zip(_panels(ax, curves, columns, theme), curves, strict=True):
        if curve is not curves[0]:
            draw_line(panel, curves[0].score, curves[0].observed, theme.rest, width=1.2)
        panel.vlines(curve.score, curve.low, curve.high, color=theme.ink, linewidth=1.1)
        look = {"markersize": 0.5 * theme.size}
        draw_kinds(panel, curve.score, curve.observed, curve.many, theme.ink, theme, **look)
    what = f"share of {metrics.about['base_rate']}, by mean {metrics.about['mean_score']}"
    measured(ax, what, theme)
    footnote(ax, note, theme, width=points_across(ax)[0], below=2 * theme.size)
    remember(ax, title="Calibration within groups", caption=words)
    return ax


def calibration_caption(
    metrics: GroupMetrics, *, by: str | None = None, groups: Sequence[Any] | None = None
) -> str:
    """Which sentence does the picture of calibration support?

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female",
    ...     outcome="two_year_recid", prediction="decile_score")
    >>> print(calibration_caption(cf.group_metrics(cf.datasets.load_compas(), model)))
    How often decile_score comes true (two_year_recid = 1), in 9 bins that are the same in all
    groups, with 95% intervals of each. Male: from 22.4% in the lowest bin with people to 81.7% in
    the highest. Female: ...
    """
    curves = _curves(metrics, by, groups)
    sentences = [
        f"How often {brief(metrics.about['mean_score'])} comes true "
        f"({brief(metrics.about['base_rate'])}), in {curves[0].bins} bins that are the same "
        f"in all groups, with {percentage(metrics.level)} intervals of each.",
        *(f"{brief(curve.name)}: {_said(curve)}." for curve in curves),
        *(f"Not drawn: {left}." for left in _left_out(metrics, by, curves)),
    ]
    return " ".join(sentences)


class _Curve(NamedTuple):
    """What is drawn of one group? One number per bin that has people."""

    name: str
    people: int
    bins: int  # with and without people
    is_chance: bool
    score: Array
    observed: Array
    low: Array
    high: Array
    many: NDArray[np.bool_]  # enough people for a filled dot


def _curves(metrics: GroupMetrics, by: str | None, groups: Sequence[Any] | None) -> list[_Curve]:
    """The groups to draw: those named, or the reference and then the largest."""
    if "calibration" in metrics.absent:
        raise ValueError(f"there is no calibration to draw: {metrics.absent['calibration']}")
    part = partitions_by(metrics, by)[0]
    found = part.calibration
    assert found is not None
    many = found.effective >= metrics.smallest
    numbers = (found.score, found.observed, *found.interval(metrics.level), many)
    if groups is None:
        order = range(len(part.names))
        is_other = [name != part.reference for name in part.names]
        chosen = sorted(order, key=lambda at: (is_other[at], -part.people[at]))[:MOST]
    else:
        chosen = _named(part, groups)
    return [
        _Curve(
            part.names[at],
            int(part.people[at]),
            len(found.score[at]),
            found.of_chances,
            *(number[at][~np.isnan(found.observed[at])] for number in numbers),
        )
        for at in chosen
    ]


def _named(part: Partition, groups: Sequence[Any]) -> list[int]:
    if isinstance(groups, str) or not 1 <= len(groups) <= MOST:
        raise ValueError(f"groups is a list of 1 to {MOST} groups; got {groups!r}")
    there = [*part.groups, *part.names]
    for group in groups:
        if group not in there:
            raise ValueError(f"no group {group!r}; there are {'; '.join(part.names)}")
    return [there.index(group) % len(part.names) for group in groups]


def _left_out(metrics: GroupMetrics, by: str | None, curves: Sequence[_Curve]) -> list[str]:
    """The groups that are not drawn, as one text, or nothing."""
    shown = [curve.name for curve in curves]
    left = [name for name in partitions_by(metrics, by)[0].names if name not in shown]
    more = [f"{len(left) - MOST} more"] if len(left) > MOST else []
    return ["; ".join([*map(brief, left[:MOST]), *more])] if left else []


def _said(curve: _Curve) -> str:
    if curve.is_chance:
        outside = int(np.sum((curve.score < curve.low) | (curve.score > curve.high)))
        return f"the interval excludes the mean score in {outside} of {len(curve.score)} bins"
    first, last = (f"{100 * curve.observed[at]:.1f}%" for at in (0, -1))
    return f"from {first} in the lowest bin with people to {last} in the highest"


def _note(metrics: GroupMetrics, by: str | None, curves: Sequence[_Curve]) -> str:
    parts = [f"Dots: bins of the score with {percentage(metrics.level)} intervals"]
    if not all(curve.many.all() for curve in curves):
        parts.append(f"hollow: fewer than {metrics.smallest} people")
    if len(curves) > 1:
        parts.append(f"gray curve: {brief(curves[0].name)}")
    if curves[0].is_chance:
        parts.append("dashed: the score means what it says")
    parts += [f"not drawn: {left}" for left in _left_out(metrics, by, curves)]
    return f"{'; '.join(parts)}."


def _panels(ax: Axes, curves: Sequence[_Curve], columns: int, theme: Theme) -> list[Axes]:
    """One empty panel per group, under its name; all with the same axes."""
    (across, high), size = points_across(ax), SMALL * theme.size
    width, height = (1 - BETWEEN * (columns - 1)) / columns, 1 / ceil(len(curves) / columns)
    names = [
        fit(curve.name, theme, width=width * across, lines=3, size=size, bold=True)
        for curve in curves
    ]
    lines = max(name.count("\n") for name in names) + 2
    head = min(HEAD, (lines * LINE * size + 14) / (height * high))
    panels = []
    for nth, (curve, name) in enumerate(zip(curves, names, strict=True)):
        row, column = divmod(nth, columns)
        left, bottom = column * (width + BETWEEN), 1 - (row + 1) * height
        panel = empty_panel(ax, (left, bottom, width, height * (1 - head)), theme)
        lift, style = 6 + LINE * size, written(theme, size=size, bold=True)
        panel.set_title(name, loc="left", pad=lift, **style)
        place: Any = {"within": "axes fraction", "away": (0, 6), "sides": ("left", "bottom")}
        people = f"{curve.people:,} people"
        write_beside(panel, people, (0, 1), theme, color=theme.muted, size=size, **place)
        _set_range(panel, curves, theme, left=column == 0, bottom=nth + columns >= len(curves))
        panels.append(panel)
    return panels


def _set_range(
    panel: Axes, curves: Sequence[_Curve], theme: Theme, *, left: bool, bottom: bool
) -> None:
    """The same axes for all panels, written at the left and at the bottom only."""
    scores = np.concatenate([curve.score for curve in curves])
    low, high = float(scores.min()), float(scores.max())
    if curves[0].is_chance:
        low, high = 0.0, 1.0
        draw_line(panel, (0, 1), (0, 1), theme.muted, width=0.9, dash=DASHED)
    room = 0.06 * ((high - low) or 1.0)
    panel.set_xlim(low - room, high + room)
    panel.set_ylim(-0.04, 1.04)
    halves = [0.0, 0.5, 1.0]
    write_numbers(panel, "y", halves, lambda share: f"{100 * share:g}%" if left else "", theme)
    ticks = halves if curves[0].is_chance else round_ticks(low, high, 3)
    write_numbers(panel, "x", ticks, lambda tick: f"{tick:,g}" if bottom else "", theme)
