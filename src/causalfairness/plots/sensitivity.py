"""How strong must a hidden confounder be to matter? Lines of equal bounds over its two shares.

Across, the share of the outcome's residual that it explains (R_y²), up, the share of the weights
that comes from it (R_a²). Along a thin line a hidden cause could move the effect by the same amount
at most; the bold line is where the estimate reaches the margin and the dashed one where its
interval does. Where they cross the diagonal are the robustness values. Crosses are confounders that
were seen, as strong as they are when left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from causalfairness.errors import SensitivityError
from causalfairness.plots.canvas import (
    LINE,
    SMALL,
    draw_dots,
    draw_line,
    empty_picture,
    footnote,
    leading_line,
    measured,
    name_across,
    patch_behind,
    points_across,
    remember,
    round_ticks,
    write_beside,
    write_numbers,
)
from causalfairness.plots.captions import LISTED, brief, percentage
from causalfairness.plots.lettering import fit, written
from causalfairness.plots.numbers import Unit, drawn
from causalfairness.plots.theme import LIGHT, Theme
from causalfairness.sensitivity import Benchmark, EffectSensitivity
from causalfairness.sensitivity.stages import STORIES, StageName, equal_strength
from causalfairness.sensitivity.strengths import Shares

Array = NDArray[np.float64]
WIDTH, HEIGHT = 5.6, 5.0  # inches
LEAST, MOST = 0.05, 0.98  # how far the axes reach
NAME = 0.4  # of the width of the picture, at most, for one name
MARK = 0.7  # size of a mark, in multiples of the size of text
LINES = 6
APART = 0.05  # of the axes, that a thin line keeps from a dot


def sensitivity(
    found: EffectSensitivity,
    ax: Axes | None = None,
    *,
    benchmarks: Sequence[Benchmark] = (),
    stage: StageName | None = None,
    theme: Theme = LIGHT,
    percent: bool = False,
    caption: bool = False,
) -> Axes:
    """How strong must a hidden confounder be to matter for one effect?

    `stage` shows one stage alone; without it the hidden cause has the same shares in both.
    `benchmarks` are those of the effect, `benchmark_confounders(data, model)["direct"]`.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=0), world.model)
    >>> shown = cf.sensitivity_to_confounding(found, outcome_share=0.05, group_share=0.05)
    >>> ax = cf.plots.sensitivity(shown["direct"], Figure(layout="constrained").subplots())
    >>> ax.get_title(loc="left")
    'share of the weights, group share'
    """
    _refuse_other_effects(found, benchmarks)
    unit = Unit.of([found.distance, found.bound()], percent=percent)
    words = sensitivity_caption(found, benchmarks=benchmarks, stage=stage, percent=percent)
    note = words if caption else _note(found, stage, bool(benchmarks), unit)
    ax = empty_picture(ax, theme, size=(WIDTH, HEIGHT), lines="y", note=note)
    reach = _reach(found, benchmarks, stage)
    _set_range(ax, reach, theme)
    _draw_bounds(ax, found, stage, reach, unit, theme)
    _draw_margins(ax, found, stage, reach, theme)
    _mark(ax, [(each.confounder, each.shares(stage)) for each in benchmarks], theme)
    across = points_across(ax)[0]
    measured(ax, "share of the weights, group share", theme)
    name_across(ax, fit("share of the residual, outcome share", theme, width=across), theme)
    footnote(ax, note, theme, width=across, below=LINE * theme.size)
    remember(ax, title=f"Sensitivity to hidden confounding: {brief(found.name)}", caption=words)
    return ax


def sensitivity_caption(
    found: EffectSensitivity,
    *,
    benchmarks: Sequence[Benchmark] = (),
    stage: StageName | None = None,
    percent: bool = False,
) -> str:
    """Which sentences does the picture of a bound support?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=0), world.model)
    >>> shown = cf.sensitivity_to_confounding(found, outcome_share=0.05, group_share=0.05)
    >>> print(sensitivity_caption(shown["direct"]))
    The estimated direct effect is ... For it to reach zero, a hidden cause would have to ...
    """
    unit = Unit.of([found.effect.value, found.bound()], percent=percent)
    goal = "zero" if found.margin == 0 else f"the margin of {unit.size(found.margin)}"
    low, high = found.effect.interval(found.level)
    whole = found.robustness_of_interval(stage)
    interval = f"{whole:.1%}" if whole > 0 else "none, since it does so already"
    told = [
        f"The estimated {brief(_words(found.name))} is {unit.spoken(found.effect.value)} "
        f"({percentage(found.level)} interval {unit.change(low)} to {unit.change(high)}). For it "
        f"to reach {goal}, {_cause(stage)} would have to account for "
        f"{found.robustness(stage):.1%} of both outcome and weights; for its interval, {interval}."
    ]
    for each in benchmarks[:LISTED]:
        shares = each.shares(stage)
        told.append(
            f"{brief(each.confounder)}, left out, accounts for {shares.outcome:.1%} of the outcome "
            f"and {shares.group:.1%} of the weights."
        )
    if len(benchmarks) > LISTED:
        told.append(f"{len(benchmarks) - LISTED} more confounders are marked.")
    told.append("A bound on the average error, not a test of whether anything is hidden.")
    return " ".join(told)


def _refuse_other_effects(found: EffectSensitivity, benchmarks: Sequence[Benchmark]) -> None:
    if not found.is_exposed:
        raise SensitivityError(
            f"no hidden cause can move {found.name!r}: there is nothing unexplained in it to draw"
        )
    for each in benchmarks:
        if each.as_strong.name != found.name:
            raise SensitivityError(
                f"the benchmark {each.confounder!r} is about {each.as_strong.name!r}, the picture "
                f"about {found.name!r}; give benchmarks[{found.name!r}]"
            )


def _words(name: str) -> str:
    return (
        f"{name} effect" if name in ("direct", "indirect", "spurious") else name.replace("_", " ")
    )


def _cause(stage: StageName | None) -> str:
    return "a hidden cause" if stage is None else STORIES[stage]


def _note(found: EffectSensitivity, stage: StageName | None, marked: bool, unit: Unit) -> str:
    goal = "zero" if found.margin == 0 else f"the margin of {unit.size(found.margin)}"
    points = ", in percentage points" if unit.percent else ""
    crosses = " Crosses: confounders that were seen, if left out." if marked else ""
    cause = f"{_cause(stage)[0].upper()}{_cause(stage)[1:]}"
    return (
        f"{cause} with these shares moves the {_words(found.name)} by at most the number on a thin "
        f"line{points}. Bold: the estimate reaches {goal}. Dashed: its "
        f"{percentage(found.level)} interval does. Dots: robustness values.{crosses}"
    )


def _reach(
    found: EffectSensitivity, benchmarks: Sequence[Benchmark], stage: StageName | None
) -> float:
    shares = [share for each in benchmarks for share in each.shares(stage)]
    wanted = max(found.robustness(stage), *shares, 0.0)
    return min(max(1.25 * wanted, LEAST), MOST)


def _set_range(ax: Axes, reach: float, theme: Theme) -> None:
    ax.set_xlim(0, reach)
    ax.set_ylim(0, reach)
    for which in ("x", "y"):
        write_numbers(ax, which, round_ticks(0.0, reach), lambda tick: f"{100 * tick:g}%", theme)
    draw_line(ax, (0, reach), (0, reach), theme.faint, width=1.0, zorder=1.2)


def _draw_bounds(
    ax: Axes,
    found: EffectSensitivity,
    stage: StageName | None,
    reach: float,
    unit: Unit,
    theme: Theme,
) -> None:
    style = written(theme, color=theme.muted, size=SMALL * theme.size)
    largest = found.bound_at(reach, reach, stage)
    dots = (found.robustness(stage), found.robustness_of_interval(stage))
    for bound in round_ticks(0.0, largest, LINES):
        at = equal_strength(bound / found.scale(stage))
        covered = any(abs(at - dot) < APART * reach for dot in dots)
        if 0 < at < (1 - APART) * reach and not covered:
            line = _along(bound / found.scale(stage), reach)
            draw_line(ax, *line, theme.muted, width=0.8)
            number = drawn(unit.tick(bound).rstrip("%"))
            box = patch_behind(theme)
            ax.text(at, at, number, ha="center", va="center", bbox=box, zorder=2.2, **style)


def _draw_margins(
    ax: Axes, found: EffectSensitivity, stage: StageName | None, reach: float, theme: Theme
) -> None:
    color = theme.color(found.name)
    lines = (
        (found.distance, found.robustness(stage), "-"),
        (found.room, found.robustness_of_interval(stage), (0, (4, 2))),
    )
    for distance, share, dash in lines:
        if 0 < share < reach:
            line = _along(distance / found.scale(stage), reach)
            draw_line(ax, *line, color, width=2.0, dash=dash)
            look: Any = {"markersize": MARK * theme.size, "markeredgecolor": theme.background}
            draw_dots(ax, [share], [share], color, theme, zorder=4, **look)


def _along(strength: float, reach: float) -> tuple[Array, Array]:
    """All shares of one strength: R_y² = strength² (1 - R_a²) / R_a²."""
    least = strength**2 / (reach + strength**2)  # of the weights, where the outcome's is all shown
    group = np.geomspace(least, reach, 200)
    return strength**2 * (1 - group) / group, group


def _mark(ax: Axes, seen: Sequence[tuple[str, Shares]], theme: Theme) -> None:
    """Crosses with names beside them; names that would cover each other stand higher."""
    width, height = points_across(ax)
    reach, taken = ax.get_ylim()[1], -math.inf
    cross: Any = {"marker": "x", "markersize": MARK * theme.size, "markeredgewidth": 1.8}
    for name, at in sorted(seen, key=lambda each: each[1].group):
        draw_dots(ax, [at.outcome], [at.group], theme.ink, theme, zorder=5, clip_on=False, **cross)
        own = at.group / reach * height
        taken = max(own, taken + LINE * theme.size)
        left = at.outcome > 0.6 * reach
        far = taken - own > LINE * theme.size
        write_beside(
            ax,
            fit(name, theme, width=NAME * width),
            (at.outcome, at.group),
            theme,
            away=(-theme.size if left else theme.size, taken - own),
            sides=("right" if left else "left", "center"),
            arrowprops=leading_line(theme) if far else None,
            bbox=patch_behind(theme),
            zorder=4.5,
        )
