"""Does a score mean the same in every group? How often it comes true, against the score itself.

One small panel per group, all with the same axes. A dot is a bin, a range of scores that is the
same in all groups; the line through it is its interval, and it is hollow for few people. The gray
curve is the reference group's, to compare with. Where scores are chances, the dashed diagonal is
where they mean what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from causalfairness.inference import Bounds
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
            first, known = curves[0], curves[0].known
            across, up = first.score[known], first.observed[known]
            draw_line(panel, across, up, theme.rest, width=1.2)
        _draw(panel, curve, metrics.smallest, theme)
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
        f"({brief(metrics.about['base_rate'])}), in {len(curves[0].score)} bins that are the same "
        f"in all groups, with {percentage(metrics.level)} intervals of each.",
        *(f"{brief(curve.name)}: {_said(curve)}." for curve in curves),
        *(f"Not drawn: {left}." for left in _left_out(metrics, by, curves)),
    ]
    return " ".join(sentences)


@dataclass(frozen=True, eq=False)
class _Curve:
    """What is drawn of one group? One number per bin, NaN where there is nobody."""

    name: str
    people: int
    score: Array
    observed: Array
    interval: Bounds
    effective: Array
    is_chance: bool

    @property
    def known(self) -> NDArray[np.int64]:
        return np.flatnonzero(~np.isnan(self.observed))

    @property
    def outside(self) -> int:
        """In how many bins does the interval exclude the mean score?"""
        score, (low, high) = self.score[self.known], self.interval
        return int(np.sum((score < low[self.known]) | (score > high[self.known])))


def _curves(metrics: GroupMetrics, by: str | None, groups: Sequence[Any] | None) -> list[_Curve]:
    """The groups to draw: those named, or the reference and then the largest."""
    if "calibration" in metrics.absent:
        raise ValueError(f"there is no calibration to draw: {metrics.absent['calibration']}")
    part = partitions_by(metrics, by)[0]
    found = part.calibration
    assert found is not None
    low, high = found.interval(metrics.level)
    return [
        _Curve(
            part.names[at],
            int(part.people[at]),
            found.score[at],
            found.observed[at],
            Bounds(low[at], high[at]),
            found.effective[at],
            found.of_chances,
        )
        for at in (_largest(part) if groups is None else _named(part, groups))
    ]


def _largest(part: Partition) -> list[int]:
    order = sorted(range(len(part.names)), key=lambda at: -part.people[at])
    first = [at for at in order if part.names[at] == part.reference]
    return [*first, *(at for at in order if at not in first)][:MOST]


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
    known = curve.known
    if curve.is_chance:
        return f"the interval excludes the mean score in {curve.outside} of {len(known)} bins"
    first, last = (f"{100 * curve.observed[at]:.1f}%" for at in (known[0], known[-1]))
    return f"from {first} in the lowest bin with people to {last} in the highest"


def _note(metrics: GroupMetrics, by: str | None, curves: Sequence[_Curve]) -> str:
    parts = [f"Dots: bins of the score with {percentage(metrics.level)} intervals"]
    if any(np.any(curve.effective[curve.known] < metrics.smallest) for curve in curves):
        parts.append(f"hollow: fewer than {metrics.smallest} people")
    if len(curves) > 1:
        parts.append(f"gray curve: {brief(curves[0].name)}")
    if curves[0].is_chance:
        parts.append("dashed: the score means what it says")
    parts += [f"not drawn: {left}" for left in _left_out(metrics, by, curves)]
    return f"{'; '.join(parts)}."


def _panels(ax: Axes, curves: Sequence[_Curve], columns: int, theme: Theme) -> list[Axes]:
    """One empty panel per group, under its name; all with the same axes."""
    across, high = points_across(ax)
    width, height = (1 - BETWEEN * (columns - 1)) / columns, 1 / ceil(len(curves) / columns)
    names = [
        fit(curve.name, theme, width=width * across, lines=3, size=SMALL * theme.size, bold=True)
        for curve in curves
    ]
    lines = max(name.count("\n") for name in names) + 2
    head = min(HEAD, (lines * LINE * SMALL * theme.size + 14) / (height * high))
    panels = []
    for nth, (curve, name) in enumerate(zip(curves, names, strict=True)):
        row, column = divmod(nth, columns)
        left, bottom = column * (width + BETWEEN), 1 - (row + 1) * height
        panel = empty_panel(ax, (left, bottom, width, height * (1 - head)), theme)
        _name(panel, name, curve.people, theme)
        _set_range(panel, curves, theme, left=column == 0, bottom=nth + columns >= len(curves))
        panels.append(panel)
    return panels


def _name(panel: Axes, name: str, people: int, theme: Theme) -> None:
    size = SMALL * theme.size
    panel.set_title(name, loc="left", pad=6 + LINE * size, **written(theme, size=size, bold=True))
    look: Any = {"within": "axes fraction", "color": theme.muted, "size": size}
    away, sides = (0, 6), ("left", "bottom")
    write_beside(panel, f"{people:,} people", (0, 1), theme, away=away, sides=sides, **look)


def _set_range(
    panel: Axes, curves: Sequence[_Curve], theme: Theme, *, left: bool, bottom: bool
) -> None:
    """The same axes for all panels, written at the left and at the bottom only."""
    scores = np.concatenate([curve.score[curve.known] for curve in curves])
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


def _draw(panel: Axes, curve: _Curve, smallest: int, theme: Theme) -> None:
    known = curve.known
    score, observed = curve.score[known], curve.observed[known]
    low, high = curve.interval.low[known], curve.interval.high[known]
    panel.vlines(score, low, high, color=theme.ink, linewidth=1.1)
    many = curve.effective[known] >= smallest
    draw_kinds(panel, score, observed, many, theme.ink, theme, markersize=0.5 * theme.size)
