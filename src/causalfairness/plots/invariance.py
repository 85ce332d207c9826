"""Do tests reject the models whose predictions change with the group? Log p against agreement.

One small panel per test, all with the same axes. A dot is a model: to the right its predictions
stay the same in the other group (the expected counterfactual agreement, known where counterfactual
predictions are), further down it is harder to reconcile with invariance. Filled dots lie below the
dashed line, the level of the test; hollow diamonds are models of which the test is not sure. A test
that asks the right question has its dots on a rising band. P-values are spaced by the root of their
logarithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from causalfairness.invariance import InvarianceTest
from causalfairness.plots.canvas import (
    DASHED,
    LINE,
    SMALL,
    draw_kinds,
    empty_panel,
    empty_picture,
    footnote,
    measured,
    points_across,
    remember,
    round_ticks,
    write_numbers,
)
from causalfairness.plots.captions import brief, percentage
from causalfairness.plots.lettering import fit, written
from causalfairness.plots.theme import LIGHT, Theme

Array = NDArray[np.float64]
WIDTH, MARGIN, PANEL = 6.4, 0.9, 2.3  # inches
ACROSS, MOST = 3, 9  # panels
BETWEEN = 0.06  # of the width of the picture, between panels
MARKED = (1.0, 0.05, 1e-3, 1e-10, 1e-30, 1e-100, 1e-300)  # p-values that may be written
APART = 0.09  # of the height of a panel, between two of them


def invariance(
    found: Mapping[str, InvarianceTest],
    agreement: ArrayLike,
    ax: Axes | None = None,
    *,
    theme: Theme = LIGHT,
    caption: bool = False,
) -> Axes:
    """Which tests reject the models that change with the group? Up to nine tests of one pool.

    `agreement` holds one number per model, as `expected_counterfactual_agreement` gives it.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> rng = np.random.default_rng(0)
    >>> z, a = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    >>> scores = np.column_stack([z[:, 0], z[:, 0] + a])
    >>> found = {"projected": cf.invariance_test(scores, a, z)}
    >>> ax = cf.plots.invariance(found, [1.0, 0.5], Figure(layout="constrained").subplots())
    >>> [panel.get_title(loc="left") for panel in ax.child_axes]
    ['projected']
    """
    agreed = _agreement(found, agreement)
    words = invariance_caption(found, agreement)
    level = max(test.level for test in found.values())
    unsure = "; diamonds: not sure" if any(it.undecided.any() for it in found.values()) else ""
    said = f"Dots: models; filled: p at most {1 - level:.3g} (dashed){unsure}."
    note = words if caption else said
    columns = min(len(found), ACROSS)
    rows = ceil(len(found) / columns)
    ax = empty_picture(ax, theme, size=(WIDTH, MARGIN + PANEL * rows), lines="none", note=note)
    lowest = min(float(test.log_p_value.min()) for test in found.values())
    for nth, (name, test) in enumerate(found.items()):
        panel = _panel(ax, nth, rows, columns, name, theme)
        _set_range(panel, agreed, lowest, theme, left=nth % columns == 0)
        if nth + columns < len(found):
            panel.set_xticklabels([])
        _draw(panel, test, agreed, theme)
    measured(ax, "p-value, by how often predictions agree with those in another group", theme)
    footnote(ax, note, theme, width=points_across(ax)[0], below=2 * theme.size)
    remember(ax, title="Tests of invariance against agreement", caption=words)
    return ax


def invariance_caption(found: Mapping[str, InvarianceTest], agreement: ArrayLike) -> str:
    """Which sentence does the picture of several tests support?

    >>> import causalfairness as cf
    >>> rng = np.random.default_rng(0)
    >>> z, a = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    >>> scores = np.column_stack([z[:, 0], z[:, 0] + a])
    >>> print(invariance_caption({"projected": cf.invariance_test(scores, a, z)}, [1.0, 0.5]))
    2 models, whose predictions agree with those in another group between 50% and 100% of the time.
    Rejected at the 95% level, each model on its own: projected 0 of 1 that always agree and 1 of 1
    others, under the stated assumptions of each test.
    """
    agreed = _agreement(found, agreement)
    steady = agreed == 1
    told = [
        f"{brief(name)} {int((_below(test) & steady).sum())} of {int(steady.sum())} that always "
        f"agree and {int((_below(test) & ~steady).sum())} of {int((~steady).sum())} others"
        + (f" (not sure of {unsure} more)" if (unsure := int(test.undecided.sum())) else "")
        for name, test in found.items()
    ]
    levels = " or ".join(sorted({percentage(test.level) for test in found.values()}))
    return (
        f"{len(agreed)} models, whose predictions agree with those in another group between "
        f"{100 * agreed.min():.3g}% and {100 * agreed.max():.3g}% of the time. Rejected at the "
        f"{levels} level, each model on its own: {'; '.join(told)}, under the stated assumptions "
        "of each test."
    )


def _agreement(found: Mapping[str, InvarianceTest], agreement: ArrayLike) -> Array:
    agreed = np.asarray(agreement, dtype=float).reshape(-1)
    if not 1 <= len(found) <= MOST:
        raise ValueError(f"there are 1 to {MOST} tests in a picture; got {len(found)}")
    for name, test in found.items():
        if len(test.models) != len(agreed):
            raise ValueError(
                f"{name} tested {len(test.models)} models, agreement is given for {len(agreed)}; "
                "all tests must be of the same pool"
            )
    if not np.all((agreed >= 0) & (agreed <= 1)):
        raise ValueError("agreement must lie between 0 and 1")
    return agreed


def _below(test: InvarianceTest) -> NDArray[np.bool_]:
    return np.asarray((test.log_p_value <= log(1 - test.level)) & ~test.undecided)


def _panel(ax: Axes, nth: int, rows: int, columns: int, name: str, theme: Theme) -> Axes:
    across, high = points_across(ax)
    width, height = (1 - BETWEEN * (columns - 1)) / columns, 1 / rows
    row, column = divmod(nth, columns)
    head = (LINE * SMALL * theme.size + 8) / high
    below = APART * height if row + 1 < rows else 0.0
    left, bottom = column * (width + BETWEEN), 1 - (row + 1) * height + below
    panel = empty_panel(ax, (left, bottom, width, max(height - head - below, 0.1 * height)), theme)
    size = SMALL * theme.size
    told = fit(name, theme, width=width * across, size=size, bold=True)
    panel.set_title(told, loc="left", pad=6, **written(theme, size=size, bold=True))
    return panel


def _set_range(panel: Axes, agreed: Array, lowest: float, theme: Theme, *, left: bool) -> None:
    """The same axes for all panels, written at the left only."""
    panel.set_yscale("function", functions=(_root, _square))
    panel.set_ylim(1.1 * min(lowest, log(0.01)) - 0.5, 0.08)
    low = min(float(agreed.min()), 0.98)
    room = 0.06 * (1 - low)
    panel.set_xlim(low - room, 1 + room)
    shown = [p for p in MARKED if log(p) >= 1.1 * min(lowest, log(0.01))]
    shown = shown if len(shown) < 6 else [p for p in shown if p != MARKED[2]]
    values = {log(p): f"{p:g}" if left else "" for p in shown}
    write_numbers(panel, "y", list(values), values.__getitem__, theme)
    panel.minorticks_off()
    write_numbers(panel, "x", round_ticks(low, 1.0, 4), lambda tick: f"{tick:g}", theme)


def _draw(panel: Axes, test: InvarianceTest, agreed: Array, theme: Theme) -> None:
    panel.axhline(log(1 - test.level), color=theme.muted, linewidth=0.9, linestyle=DASHED)
    look: Any = {"markersize": 0.4 * theme.size, "markeredgewidth": 0.9}
    for chosen, marker in ((~test.undecided, "o"), (test.undecided, "D")):
        at = agreed[chosen], test.log_p_value[chosen], _below(test)[chosen]
        draw_kinds(panel, *at, theme.indirect, theme, marker=marker, **look)


def _root(values: Array) -> Array:
    return np.asarray(np.sign(values) * np.sqrt(np.abs(values)))


def _square(values: Array) -> Array:
    return np.asarray(np.sign(values) * np.square(values))
