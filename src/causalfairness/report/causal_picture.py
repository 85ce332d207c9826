"""What does a causal graph look like, and on which path does a gap run? Drawn as SVG.

Arrows lead to the right (or down, where a graph is long), dashed lines with two heads are hidden
common causes. The direct, the indirect and the spurious path have the colors they have in every
picture; with the effects of a decomposition their sizes stand beside them. The parts are those of
the gap, comparison group minus reference group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from causalfairness.effects import Decomposition
from causalfairness.errors import RoleError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.report.legible import LONGEST, shortened
from causalfairness.report.numbers import decimals_for, percent, written
from causalfairness.report.picture.layers import Layers
from causalfairness.report.picture.parts import (
    Box,
    Entry,
    Link,
    Picture,
    fitted,
    legible_here,
    moved,
    whole,
    width_of,
)
from causalfairness.report.picture.paths import PATHS, Paths, paths_of
from causalfairness.report.picture.roles import draw_roles
from causalfairness.report.picture.svg import write_svg
from causalfairness.report.summary import Row
from causalfairness.tables import Of

if TYPE_CHECKING:
    from causalfairness.plots.theme import Theme

NARROWEST, WIDEST, HIGH = 60.0, 150.0, 34.0  # of a box
READABLE = 560.0  # a picture wider than this is too small on a phone
ORDER = ("confounder", "other", "outcome", "mediator", "protected")  # from the top of a layer
SAID = {
    "direct": "direct",
    "indirect": "indirect, through mediators",
    "spurious": "spurious, through confounders",
}


def causal_picture(
    shown: CausalGraph | StandardFairnessModel,
    *,
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    of: Of | None = None,
    effects: Decomposition | Sequence[Row] | None = None,
    level: float = 0.95,
    theme: Theme | None = None,
) -> str:
    """What does a causal graph, or a standard fairness model, look like? SVG text.

    A graph is drawn column by column; with `protected` and `outcome` its arrows have the colors of
    their paths. A model is drawn role by role: `of` says whether its outcome or its prediction is
    meant (by default the outcome, if there is one). `effects` is a decomposition, or the rows of a
    report's table, whose parts are written beside the paths. Without a `theme` the picture follows
    the page it stands on, or the reader's choice of light or dark.

    >>> import causalfairness as cf
    >>> graph = cf.CausalGraph.parse("race <-> age; {race, age} -> priors; {race, priors} -> recid")
    >>> picture = causal_picture(graph, protected="race", outcome="recid")
    >>> picture.startswith("<svg"), "<script" in picture
    (True, False)
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> "direct +0." in causal_picture(world.model, effects=found)
    True
    """
    if isinstance(shown, StandardFairnessModel):
        if protected is not None or outcome is not None:
            raise RoleError("the model says what is protected and what the outcome is; leave both")
        _check_groups(shown, effects)
        return _of_model(shown, of, _rows(effects, level), level, theme)
    if hasattr(shown, "is_directed"):
        shown = CausalGraph.from_networkx(shown)
    if not isinstance(shown, CausalGraph):
        raise RoleError(
            f"found a {type(shown).__name__}; expected a CausalGraph or a StandardFairnessModel"
        )
    if of is not None:
        raise RoleError(f"of={of!r} goes with a model; in a graph, name the column: outcome=...")
    attribute = _attribute(shown, protected, outcome, effects)
    return _of_graph(shown, attribute, outcome, _rows(effects, level), level, theme)


def _of_model(
    model: StandardFairnessModel,
    of: Of | None,
    rows: Sequence[Row],
    level: float,
    theme: Theme | None,
) -> str:
    target = of or ("prediction" if model.outcome is None else "outcome")
    if target not in ("outcome", "prediction") or getattr(model, target) is None:
        named = {"an outcome": model.outcome, "a prediction": model.prediction}
        has = " and ".join(name for name, value in named.items() if value)
        raise RoleError(f"of={of!r}: the model has {has}; ask for what it has")
    made = model.prediction_column or "a function of the others"
    columns = {
        "protected": model.protected_columns,
        "confounders": model.confounders,
        "mediators": model.mediators,
        target: (str(model.outcome) if target == "outcome" else made,),
    }
    columns = {role: names for role, names in columns.items() if names}
    places = decimals_for(rows)
    sizes = {row.name: written(row.value, places) for row in rows if row.name in PATHS}
    picture = draw_roles(columns, target, sizes)
    words = [f"{role}: {', '.join(map(_short, names))}" for role, names in columns.items()]
    description = ". ".join([*words, *(link.words for link in picture.links), *_said(rows)]) + "."
    return write_svg(
        picture,
        [*_legend(picture.links, rows, level)],
        title=f"Causal picture of {_short(columns[target][0])}, role by role",
        description=description,
        theme=theme,
    )


def _of_graph(
    graph: CausalGraph,
    protected: Sequence[str],
    outcome: str | None,
    rows: Sequence[Row],
    level: float,
    theme: Theme | None,
) -> str:
    paths = paths_of(graph, protected, outcome)
    picture = _layered(graph, paths, downwards=False)
    if picture.width > READABLE:
        picture = min(picture, _layered(graph, paths, downwards=True), key=lambda each: each.width)
    about = f" of {_short(outcome)}" if outcome else ""
    entries = [*_legend(picture.links, rows, level)]
    words = [*(link.words for link in picture.links), *_said(rows)]
    return write_svg(
        _widened(picture, entries),
        entries,
        title=f"Causal picture{about}, {len(graph.nodes)} columns",
        description=". ".join(words or ["No arrows"]) + ".",
        theme=theme,
    )


def _layered(graph: CausalGraph, paths: Paths, *, downwards: bool) -> Picture:
    widths = {
        node: min(max(width_of(legible_here(node)) + 22.0, NARROWEST), WIDEST)
        for node in graph.nodes
    }
    sizes = {node: (HIGH, w) if downwards else (w, HIGH) for node, w in widths.items()}
    turn = -1 if downwards else 1  # the protected attribute at the bottom, or on the left
    first = {node: turn * ORDER.index(role) for node, role in paths.roles.items()}
    layers = Layers(graph, sizes, first, downwards)
    boxes = []
    for node in graph.nodes:
        spot, size = layers.spot(node), layers.size(node)
        role = paths.roles[node]
        full = whole(node)
        boxes.append(
            Box(
                name=node,
                role=role,
                left=spot.x - size.x / 2,
                top=spot.y - size.y / 2,
                width=size.x,
                height=size.y,
                lines=(fitted(node, size.x - 16.0),),
                full=full if role == "other" else f"{full} ({role})",
            )
        )
    links = []
    for tie in layers.ties:
        one, other, hidden = tie
        pairs = paths.hidden if hidden else paths.arrows
        path = pairs.get((one, other)) or pairs.get((other, one)) or ""
        start, curves = layers.line(tie)
        links.append(Link(_short(one), _short(other), path, hidden, start, curves))
    width, height = layers.extent
    return Picture(tuple(boxes), tuple(links), width, height)


def _widened(picture: Picture, entries: Sequence[Entry]) -> Picture:
    """A narrow picture gets room for its legend, and stays in the middle."""
    needed = max((width_of(entry.text, 12.0) + 64.0 for entry in entries), default=0.0)
    if picture.width >= needed:
        return picture
    return moved(picture, (needed - picture.width) / 2, needed)


def _legend(links: Sequence[Link], rows: Sequence[Row], level: float) -> Iterator[Entry]:
    """What do the colors mean, and how large is each part?"""
    drawn = {link.path for link in links}
    found = {row.name: row for row in rows}
    places = decimals_for(rows)
    for path in PATHS:
        if path in drawn:
            size = f": {_between(found[path], places)}" if path in found else ""
            yield Entry(path, SAID[path] + size)
    if "" in drawn and drawn != {""}:
        yield Entry("", "on none of the three paths")
    if any(link.hidden for link in links):
        yield Entry("other", "hidden common cause", dashed=True)
    for row in rows:
        if row.name not in PATHS and row.name != "total":
            called = row.name.replace("_", " ")
            yield Entry("", f"{called}, on no path: {_between(row, places)}", drawn=False)
    if "total" in found:
        text = f"the whole gap: {_between(found['total'], places)}, {percent(level)} intervals"
        yield Entry("", text, drawn=False)


def _said(rows: Sequence[Row]) -> Iterator[str]:
    places = decimals_for(rows)
    for row in rows:
        called = "The whole gap" if row.name == "total" else f"{row.name.replace('_', ' ')} part"
        yield f"{called}: {_between(row, places)}"


def _between(row: Row, places: int) -> str:
    low, high = written(row.low, places), written(row.high, places)
    return f"{written(row.value, places)} ({low} to {high})"


def _rows(effects: Decomposition | Sequence[Row] | None, level: float) -> tuple[Row, ...]:
    if effects is None:
        return ()
    if isinstance(effects, Decomposition):
        records = effects.summary(level).to_records()
        return tuple(Row(group=effects.comparison, **record) for record in records)
    rows = tuple(effects)
    if len({row.group for row in rows}) > 1:
        groups = ", ".join(dict.fromkeys(row.group for row in rows))
        raise RoleError(f"found the effects of several groups ({groups}); draw one group at a time")
    return rows


def _check_groups(
    model: StandardFairnessModel, effects: Decomposition | Sequence[Row] | None
) -> None:
    """Are the effects those of the model's groups?"""
    if not isinstance(effects, Decomposition):
        return
    asked = model.comparison_label, model.reference_label
    if (effects.comparison, effects.reference) != asked:
        raise RoleError(
            f"the effects compare {effects.comparison} with {effects.reference}, the model "
            f"{asked[0]} with {asked[1]}; draw the model that was asked about"
        )


def _attribute(
    graph: CausalGraph,
    protected: str | Sequence[str] | None,
    outcome: str | None,
    effects: object,
) -> tuple[str, ...]:
    """Which columns are protected? None where the graph is drawn without paths."""
    if not graph.nodes:
        raise RoleError("the graph has no columns: there is nothing to draw")
    if (protected is None) != (outcome is None):
        raise RoleError(
            f"found protected={protected!r} and outcome={outcome!r}; paths lead from one to the "
            "other: give both, or neither"
        )
    if protected is None:
        if effects is not None:
            raise RoleError("effects belong to paths: say which column is protected, and outcome")
        return ()
    return (protected,) if isinstance(protected, str) else tuple(protected)


def _short(name: str | None) -> str:
    return shortened(legible_here(name or ""), LONGEST)
