"""Where do a person, the counterfactual and the people they are compared with stand?

One strip per feature, one lane per group: the control group, the test group, and for a
counterfactual test the group that plain situation testing would compare with. A dot is a person,
filled where declined; a dashed line is whom the group was looked for around.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from causalfairness.individuals import Dossier
from causalfairness.individuals.dossier_strips import Lane, Strip, strips_of
from causalfairness.plots.canvas import (
    INCH,
    SMALL,
    draw_dots,
    draw_line,
    empty_picture,
    footnote,
    heading,
    makes_room,
    points_across,
    remember,
)
from causalfairness.plots.captions import brief
from causalfairness.plots.lettering import SLACK, fit, width_of, written
from causalfairness.plots.theme import LIGHT, Theme

WIDTH = 6.4  # inches
STEP, FOOT, TITLE, FREE = 0.12, 0.16, 0.28, 0.26  # inches: a person, below a lane, names, ticks
DOT = 5.6  # points across
NAMES = 0.32  # of the width, at most, for the names of lanes
SMALLEST = 0.45  # to which letters and dots shrink on axes that are too low


def dossier(
    found: Dossier,
    ax: Axes | None = None,
    *,
    features: Sequence[str] | None = None,
    theme: Theme = LIGHT,
    caption: bool = False,
) -> Axes:
    """Where do the people stand whom a person is compared with, feature by feature?

    `features` picks some of them, and their order.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
    >>> found = cf.situation_test(
    ...     loans, protected="gender", comparison="Female", decision="approved",
    ...     favorable=1, features=["annual_salary", "account_balance"])
    >>> ax = cf.plots.dossier(found.dossier(2), Figure(layout="constrained").subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['control group', 'test group', 'control group', 'test group']
    """
    strips = _chosen(found, features)
    words = dossier_caption(found)
    note = words if caption else _note(found)
    blocks, depth = _laid_out(strips)
    size = (WIDTH, depth)
    ax = empty_picture(ax, theme, size=size, lines="x", note=note, across=0.94, head=0.75)
    ax.grid(False)
    ax.set_xlim(0, 1)
    ax.set_ylim(depth, 0)
    ax.set_xticks([])
    across, high = points_across(ax)
    scale = min(1.0, max(SMALLEST, high / INCH / depth))
    for block in blocks:
        _draw(ax, block, across, scale, theme)
    left = _name(ax, blocks, NAMES * across, scale * theme.size, theme)
    whole = across if makes_room(ax) else left + across
    title = f"{found.person} and the people they are compared with"
    heading(ax, fit(title, theme, width=across), theme)
    footnote(ax, note, theme, width=whole, indent=left)
    remember(ax, title=f"Dossier of {found.person}", caption=words)
    return ax


def dossier_caption(found: Dossier) -> str:
    """Which sentences does the picture of a dossier support?

    >>> import causalfairness as cf
    >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
    >>> found = cf.situation_test(
    ...     loans, protected="gender", comparison="Female", decision="approved",
    ...     favorable=1, features=["annual_salary", "account_balance"])
    >>> print(dossier_caption(found.dossier(2)))
    row 2: This is one of 422 people who were tested at once: ...
    """
    return f"{brief(found.person)}: {' '.join(found.sentences()[:3])}"


class _Placed(NamedTuple):
    """A lane and the height at which its people stand."""

    lane: Lane
    floor: float
    top: float
    part: str  # whose color it has


class _Block(NamedTuple):
    """A strip, with its title at the top and its ticks below."""

    strip: Strip
    title: float
    ticks: float
    lanes: tuple[_Placed, ...]


def _chosen(found: Dossier, features: Sequence[str] | None) -> list[Strip]:
    strips = {strip.feature: strip for strip in strips_of(found)}
    names = list(strips) if features is None else list(features)
    unknown = [name for name in names if name not in strips]
    if unknown or not names:
        raise ValueError(
            f"features are some of {', '.join(strips)}; found {unknown or 'an empty list'}"
        )
    return [strips[name] for name in names]


def _laid_out(strips: Sequence[Strip]) -> tuple[list[_Block], float]:
    """Where everything goes, in inches from the top."""
    blocks, depth = [], 0.0
    for strip in strips:
        title = depth + TITLE / 2
        depth += TITLE
        lanes = []
        for lane, part in zip(strip.lanes, ("direct", "indirect", "rest"), strict=False):
            top = depth
            depth += max(1.6, lane.height) * STEP + FOOT
            lanes.append(_Placed(lane, depth - FOOT, top, part))
        blocks.append(_Block(strip, title, depth + FREE / 2, tuple(lanes)))
        depth += FREE + 0.1
    return blocks, depth


def _draw(ax: Axes, block: _Block, across: float, scale: float, theme: Theme) -> None:
    size = scale * theme.size
    title = fit(block.strip.feature, theme, width=across, size=size, bold=True)
    ax.text(0, block.title, title, va="center", **written(theme, size=size, bold=True))
    for placed in block.lanes:
        _draw_lane(ax, placed, scale * DOT, theme)
    room = across / max(len(block.strip.ticks), 2) - size
    for at, label in block.strip.ticks:
        text = fit(label, theme, width=room, size=SMALL * size)
        style = written(theme, color=theme.muted, size=SMALL * size)
        ax.text(at, block.ticks, text, ha="center", va="center", **style)


def _draw_lane(ax: Axes, placed: _Placed, dot: float, theme: Theme) -> None:
    line = placed.floor + STEP / 2
    color = theme.rest if placed.part == "rest" else theme.color(placed.part)
    draw_line(ax, (0, 1), (line, line), theme.faint, width=0.8, zorder=1)
    if (at := placed.lane.center) is not None:
        ends = (line, placed.top + 0.3 * STEP)
        draw_line(ax, (at, at), ends, theme.ink, width=1.1, dash=(0, (3, 2)))
    for declined in (True, False):
        marks = [mark for mark in placed.lane.marks if mark.declined is declined]
        across = [mark.across for mark in marks]
        up = [placed.floor - STEP * mark.level for mark in marks]
        draw_dots(ax, across, up, color, theme, hollow=not declined, markersize=dot)


def _name(ax: Axes, blocks: Sequence[_Block], width: float, size: float, theme: Theme) -> float:
    """Names of the groups to the left; returns how far they reach."""
    placed = [each for block in blocks for each in block.lanes]
    names = [
        f"{lane.group} ({lane.missing} missing)" if lane.missing else lane.group
        for lane in (each.lane for each in placed)
    ]
    labels = [fit(name, theme, width=width, size=size) for name in names]
    ax.set_yticks([each.floor for each in placed], labels, **written(theme, size=size))
    return max(width_of(label, theme, size=size) for label in labels) / SLACK


def _note(found: Dossier) -> str:
    said = found.finding
    between = f"{said.low:+.2f} to {said.high:+.2f}"
    return (
        f"Filled: declined ({found.means_declined}). Dashed: {found.centers}. Declined in the "
        f"control group {_share(said.control_rate)}, in the test group {_share(said.test_rate)}; "
        f"difference {said.delta:+.2f} ({between}; {found.interval})."
    )


def _share(rate: float) -> str:
    return "nobody" if rate != rate else f"{rate:.0%}"
