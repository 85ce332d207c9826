"""What would a classifier say of the same image in another group? Two pictures of an audit.

`counterfactual_scores` has one small panel for every pair of groups (paper 004, Figs. 8 to 12): the
group people are of from top to bottom, the group their image was made for from left to right. A dot
is an image, across what is said of it as it is, upward what is said of the made one. On the dashed
line nothing changes. `imaging_audit` writes t and p of every classifier and finding (Tables 12 and
13), shaded where invariance is rejected after adjustment for their number.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from causalfairness.effects.table import format_p_value
from causalfairness.plots.canvas import (
    DASHED,
    INCH,
    SMALL,
    draw_dots,
    draw_line,
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
from causalfairness.plots.lettering import fit, legible, width_of, written
from causalfairness.plots.numbers import drawn
from causalfairness.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from causalfairness.imaging import ImagingAudit

WIDTH, MARGIN, PANEL, LINE_HEIGHT = 6.4, 1.0, 1.75, 0.42  # inches
BETWEEN = 0.05  # of the width, between panels
MOST = 6  # groups in a picture
DENSE = 400  # dots of a panel from which on they are drawn faintly
SHADE = 0.24  # of the color, behind what is rejected


def counterfactual_scores(
    found: ImagingAudit,
    ax: Axes | None = None,
    *,
    model: str | None = None,
    finding: str | None = None,
    theme: Theme = LIGHT,
    caption: bool = False,
) -> Axes:
    """What is said of images as they are, and as they would be in every group?

    The first classifier and finding are shown where none is named.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> from causalfairness import imaging
    >>> films = imaging.Simulator(size=16).draw(90, seed=0)
    >>> learned = imaging.Simulator(size=16).draw(300, seed=1)
    >>> generator = imaging.fit_gaussian(learned.images(), learned.parents, components=5)
    >>> found = imaging.audit(lambda x: x.mean((1, 2, 3)), films, generator=generator)
    >>> ax = cf.plots.counterfactual_scores(found, Figure(layout="constrained").subplots())
    >>> len(ax.child_axes)
    9
    """
    row, column = _chosen(found, model, finding)
    words = counterfactual_scores_caption(found, model=model, finding=finding)
    note = words if caption else "Dots: images. Dashed: nothing changes."
    made = found.generated
    count = len(made.groups)
    if count > MOST:
        raise ValueError(f"there are at most {MOST} groups in a picture; got {count}")
    ax = empty_picture(ax, theme, size=(WIDTH, MARGIN + PANEL * count), lines="none", note=note)
    _grid(ax, found, row, column, theme)
    what = f"{made.findings[column]}, as scored by {made.models[row]}: made image by real image"
    measured(ax, what, theme, pad=22)
    footnote(ax, note, theme, width=points_across(ax)[0], below=2 * theme.size)
    remember(ax, title="Scores of images made for other groups", caption=words)
    return ax


def counterfactual_scores_caption(
    found: ImagingAudit, *, model: str | None = None, finding: str | None = None
) -> str:
    """Which sentences does the picture of scores support?

    >>> from causalfairness import imaging
    >>> films = imaging.Simulator(size=16).draw(90, seed=0)
    >>> learned = imaging.Simulator(size=16).draw(300, seed=1)
    >>> generator = imaging.fit_gaussian(learned.images(), learned.parents, components=5)
    >>> found = imaging.audit(lambda x: x.mean((1, 2, 3)), films, generator=generator)
    >>> print(counterfactual_scores_caption(found))
    90 images; the score of classifier changes by ... on average where an image is made for another
    group, and by ... where it is made for its own. The decision stays the same for ...% of images
    and groups, as far as the generator is right. ...
    """
    row, column = _chosen(found, model, finding)
    made = found.generated
    moved = np.abs(made.counterfactual[:, :, row, column] - made.original[:, row, column])
    own = made.own == np.arange(len(made.groups))[:, None]
    what = f"the {made.findings[column]} of {brief(made.models[row])}"
    if made.findings[column] != "score":
        what = f"the score of {brief(made.models[row])} for {brief(made.findings[column])}"
    at = row * len(made.findings) + column
    test, p = found.test, format_p_value(float(found.test.p_adjusted[at]))
    said = test.claim.depends if test.rejected[at] else f"are {test.claim.silent}"
    return (
        f"{len(made):,} images; {what} changes by {moved[~own].mean():.3g} on average where an "
        f"image is made for another group, and by {moved[own].mean():.3g} where it is made for its "
        f"own. The decision stays the same for {100 * found.agreement.value[row, column]:.3g}% of "
        f"images and groups, as far as the generator is right. In {test.n:,} real images scores "
        f"{said} (adjusted p {'' if p.startswith('<') else '= '}{p})."
    )


def imaging_audit(
    found: ImagingAudit, ax: Axes | None = None, *, theme: Theme = LIGHT, caption: bool = False
) -> Axes:
    """Which classifiers depend on the group, for which findings? t and p, one cell each.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> from causalfairness import imaging
    >>> films = imaging.Simulator(size=16, strength=2.0).draw(90, seed=0)
    >>> learned = imaging.Simulator(size=16).draw(300, seed=1)
    >>> generator = imaging.fit_gaussian(learned.images(), learned.parents, components=5)
    >>> found = imaging.audit(lambda x: x.mean((1, 2, 3)), films, generator=generator)
    >>> ax = cf.plots.imaging_audit(found, Figure(layout="constrained").subplots())
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['score']
    """
    words = imaging_audit_caption(found)
    note = words if caption else "Upper number t, lower p; shaded: rejected after adjustment."
    rows, columns = found.statistic.shape
    names = [fit(name, theme, width=0.28 * WIDTH * INCH) for name in found.models]
    beside = max(width_of(name, theme) for name in names) + 8
    height = MARGIN + LINE_HEIGHT * rows
    ax = empty_picture(ax, theme, size=(WIDTH, height), lines="y", note=note, across=0.9)
    ax.grid(False)
    ax.set_xlim(-0.5, columns - 0.5)
    ax.set_ylim(rows - 0.5, -0.5)
    for row, column in product(range(rows), range(columns)):
        _cell(ax, found, row, column, theme)
    across, size = points_across(ax)[0], SMALL * theme.size
    width = (1.1 * across - beside) / columns
    heads = [fit(name, theme, width=width, size=size) for name in found.findings]
    ax.set_xticks(range(columns), heads, **written(theme, size=size))
    ax.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.set_yticks(range(rows), names, **written(theme))
    footnote(ax, note, theme, width=1.04 * across, indent=beside - 5)
    remember(ax, title="Audit of classifiers and findings", caption=words)
    return ax


def imaging_audit_caption(found: ImagingAudit) -> str:
    """Which sentences does the picture of t and p support?

    >>> from causalfairness import imaging
    >>> films = imaging.Simulator(size=16, strength=2.0).draw(90, seed=0)
    >>> learned = imaging.Simulator(size=16).draw(300, seed=1)
    >>> generator = imaging.fit_gaussian(learned.images(), learned.parents, components=5)
    >>> found = imaging.audit(lambda x: x.mean((1, 2, 3)), films, generator=generator)
    >>> print(imaging_audit_caption(found))
    Scores depend on the group ... for 1 of 1 classifiers and findings (95% level, ...
    """
    test = found.test
    parity = int(found.parity.rejected.sum())
    return (
        f"Scores {test.claim.depends} for {int(found.rejected.sum())} of {found.rejected.size} "
        f"classifiers and findings ({percentage(test.level)} level, adjusted for their number; "
        f"{len(found.generated):,} images). Average scores differ between groups for {parity} of "
        f"them, for whatever reason. Under these assumptions: {'; '.join(test.assumptions)}."
    )


def _chosen(found: ImagingAudit, model: str | None, finding: str | None) -> tuple[int, int]:
    places = []
    for what, name, names in (
        ("classifier", model, found.models),
        ("finding", finding, found.findings),
    ):
        if name is not None and name not in names:
            raise ValueError(f"no {what} is named {name!r}; there are {', '.join(names)}")
        places.append(0 if name is None else names.index(name))
    return places[0], places[1]


def _grid(ax: Axes, found: ImagingAudit, row: int, column: int, theme: Theme) -> None:
    made = found.generated
    said, under = made.original[:, row, column], made.counterfactual[:, :, row, column]
    low, high = float(min(said.min(), under.min())), float(max(said.max(), under.max()))
    room = 0.04 * (high - low) or 0.5
    count = len(made.groups)
    width = (1 - BETWEEN * (count - 1)) / count
    height = (1 - 2 * BETWEEN * (count - 1)) / count
    for own, told in product(range(count), repeat=2):
        bottom = 1 - height - own * (height + 2 * BETWEEN)
        panel = empty_panel(ax, (told * (width + BETWEEN), bottom, width, height), theme)
        _frame(panel, (low - room, high + room), theme, left=told == 0, last=own == count - 1)
        across, up = said[made.own == own], under[told][made.own == own]
        look: Any = {"markersize": 0.26 * theme.size, "markeredgewidth": 0}
        look["alpha"] = 0.7 if len(across) < DENSE else 0.3
        draw_dots(panel, across, up, theme.rest if own == told else theme.indirect, theme, **look)
        _name_panel(panel, made.groups, own, told, theme)


def _frame(
    panel: Axes, limits: tuple[float, float], theme: Theme, *, left: bool, last: bool
) -> None:
    panel.set_xlim(limits)
    panel.set_ylim(limits)
    ticks = round_ticks(*limits, 3)
    write_numbers(panel, "y", ticks, lambda tick: f"{tick:g}" if left else "", theme)
    write_numbers(panel, "x", ticks, lambda tick: f"{tick:g}" if last else "", theme)
    draw_line(panel, limits, limits, theme.muted, width=0.9, dash=DASHED)


def _name_panel(panel: Axes, groups: tuple[str, ...], own: int, told: int, theme: Theme) -> None:
    size = SMALL * theme.size
    width = points_across(panel)[0]
    name = f"{groups[own]}, as {'they are' if own == told else groups[told]}"
    panel.set_title(
        fit(legible(name, theme), theme, width=width, size=size),
        loc="left",
        pad=3,
        **written(theme, size=size, bold=own != told),
    )


def _cell(ax: Axes, found: ImagingAudit, row: int, column: int, theme: Theme) -> None:
    rejected = bool(found.rejected[row, column])
    if rejected:
        look: Any = {"facecolor": theme.direct, "alpha": SHADE, "linewidth": 0}
        ax.add_patch(Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, **look))
    t, p = f"{found.statistic[row, column]:+.1f}", format_p_value(found.p_value[row, column])
    small = written(theme, color=theme.muted, size=SMALL * theme.size)
    for at, text, style in ((-0.17, t, written(theme, bold=rejected)), (0.23, p, small)):
        ax.text(column, row + at, drawn(text), ha="center", va="center", **style)
