"""How are a group's predictions spread, in fact and had its people been of another group?

Two densities over one axis: filled in fact, an outline in the other world. Lines mark the means;
their distance is the mean shift.
"""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from causalfairness.individuals import CounterfactualFairness, GroupShift
from causalfairness.plots.canvas import (
    SMALL,
    draw_line,
    empty_picture,
    footnote,
    heading,
    points_across,
    remember,
    round_ticks,
    write_beside,
)
from causalfairness.plots.captions import brief, percentage
from causalfairness.plots.lettering import fit, written
from causalfairness.plots.theme import LIGHT, Theme

WIDTH, HEIGHT = 6.4, 3.2  # inches
ROOM = 1.28  # of the highest density: space for the words at the means
LEVEL = 0.95


def two_worlds(
    found: CounterfactualFairness,
    group: Any,
    ax: Axes | None = None,
    *,
    theme: Theme = LIGHT,
    caption: bool = False,
) -> Axes:
    """How would a group's predictions be spread, had its people been of another group?

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data = world.draw(500, seed=0)
    >>> scm = cf.StructuralCausalModel.fit(cf.CausalGraph.parse(
    ...     "group <-> {c1, c2}; {group, c1, c2} -> m1"), data)
    >>> found = cf.counterfactual_fairness(
    ...     lambda people: people["m1"].to_numpy(), data, scm, do={"group": {"green": "blue"}})
    >>> ax = cf.plots.two_worlds(found, "green", Figure(layout="constrained").subplots())
    >>> [text.get_text() for text in ax.texts if text.get_visible()]
    ['in fact', 'otherwise']
    """
    of_group, spread = found[group], found.densities(group)
    words = two_worlds_caption(found, group)
    note = words if caption else _note(of_group, found.told)
    ax = empty_picture(ax, theme, size=(WIDTH, HEIGHT), lines="x", note=note, across=0.9)
    ax.fill_between(spread.at, spread.fact, color=theme.direct, alpha=0.28, linewidth=0)
    draw_line(ax, spread.at, spread.fact, theme.direct, width=1.6)
    draw_line(ax, spread.at, spread.otherwise, theme.indirect, width=1.6, dash=(0, (5, 2)))
    highest = float(max(spread.fact.max(), spread.otherwise.max()))
    ax.set_xlim(float(spread.at[0]), float(spread.at[-1]))
    ax.set_ylim(0, ROOM * highest)
    _mark(ax, of_group, ROOM * highest, theme)
    ticks = round_ticks(float(spread.at[0]), float(spread.at[-1]))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], **written(theme, color=theme.muted))
    ax.set_yticks([])
    width = points_across(ax)[0]
    heading(ax, fit(f"predictions for {of_group.name}, density", theme, width=width), theme)
    footnote(ax, note, theme, width=width)
    remember(ax, title=f"Predictions for {of_group.name} in two worlds", caption=words)
    return ax


def two_worlds_caption(found: CounterfactualFairness, group: Any) -> str:
    """Which sentence does the picture of two worlds support?

    >>> import causalfairness as cf
    >>> data = cf.datasets.worlds.linear_gaussian().draw(500, seed=0)
    >>> scm = cf.StructuralCausalModel.fit(
    ...     cf.CausalGraph.parse("group <-> {c1, c2}; {group, c1, c2} -> m1"), data)
    >>> found = cf.counterfactual_fairness(
    ...     lambda people: people["m1"].to_numpy(), data, scm, do={"group": {"green": "blue"}})
    >>> print(two_worlds_caption(found, "green"))
    Predictions for the ... people of green: ... on average in fact, and ...
    """
    of_group = found[group]
    low, high = of_group.shift.interval(LEVEL)
    return (
        f"Predictions for the {of_group.people:,} people of {brief(of_group.name)}: "
        f"{of_group.fact:.3f} on average in fact, and {of_group.otherwise:.3f} had "
        f"{of_group.changed:,} of them been of another {' and '.join(found.told)}; a shift of "
        f"{of_group.shift.value:+.3f} ({percentage(LEVEL)} interval {low:+.3f} to {high:+.3f})."
    )


def _mark(ax: Axes, found: GroupShift, top: float, theme: Theme) -> None:
    """The two means, each with its word on the side away from the other."""
    gap = found.fact - found.otherwise
    for mean, word, color, side in (
        (found.fact, "in fact", theme.direct, 1 if gap >= 0 else -1),
        (found.otherwise, "otherwise", theme.indirect, -1 if gap >= 0 else 1),
    ):
        draw_line(ax, (mean, mean), (0, top), color, width=1.1, dash=(0, (1, 2)))
        look: Any = {"color": color, "size": SMALL * theme.size, "bold": True}
        sides = ("left" if side > 0 else "right", "top")
        write_beside(ax, word, (mean, top), theme, away=(4 * side, -2), sides=sides, **look)


def _note(found: GroupShift, told: tuple[str, ...]) -> str:
    low, high = found.shift.interval(LEVEL)
    return (
        f"{found.changed:,} of {found.people:,} people change {' and '.join(told)}. Mean "
        f"shift {found.shift.value:+.3f} ({low:+.3f} to {high:+.3f}); half of all shifts lie "
        f"between {found.quantiles[1]:+.3f} and {found.quantiles[3]:+.3f}."
    )
