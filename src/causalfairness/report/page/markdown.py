"""How does a page of a whole study look as Markdown? Headings, lists, tables, and parts to open.

What cannot be drawn in Markdown comes in words and as a small table: waterfalls step by step,
curves at a few places, bars one by one. Texts hold names that somebody else chose, and
all are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import Any

from causalfairness.report.legible import legible
from causalfairness.report.markdown import effect_cells, escaped, table_text
from causalfairness.report.numbers import decimals_for, percent, written
from causalfairness.report.page.blocks import (
    Beside,
    Block,
    Curves,
    Dossiers,
    Folded,
    Histogram,
    Images,
    Intervals,
    Judgments,
    Page,
    Pairs,
    Part,
    Picture,
    Points,
    Sentences,
    Table,
    Waterfalls,
)
from causalfairness.report.page.cells import NUMBERS, write_rows
from causalfairness.report.page.drawings import draw_curves, draw_histogram, draw_points
from causalfairness.report.summary import Step

SIGNS = {"violated": "✗", "satisfied": "✓", "undecided": "?", "unanswered": "-", "plain": "·"}
SAID = {"unanswered": "not answered", "plain": ""}
DEEPEST = 6  # heading
PLACES = 9  # of a curve that are written
HARMLESS = re.compile(r"\\([(){}\"'=!+.-]|:(?=\s|$))")
AT_START = re.compile(r"(?:\d+\\[.)]|\\[-+])(?=\s|$)|(?:\\[-=] ?)+$")


def render_page(page: Page) -> str:
    """How does this study look as Markdown?

    >>> from causalfairness.report.page.blocks import Section
    >>> said = Section("summary", "In short", (Sentences(("There is a <gap>.",)),))
    >>> print(render_page(Page("COMPAS", "An audit", (said,), "Made by hand.")))
    # COMPAS
    <BLANKLINE>
    *An audit*
    <BLANKLINE>
    ## In short
    <BLANKLINE>
    There is a \\<gap\\>.
    <BLANKLINE>
    ---
    <BLANKLINE>
    *Made by hand.*
    <BLANKLINE>
    """
    above = " · ".join(shown(each) for each in (page.kicker, *page.meta) if each)
    pieces = [f"# {shown(page.title)}", f"*{above}*"]
    for section in page.sections:
        pieces.append(f"## {shown(section.title)}")
        pieces += _all(section.blocks, 3)
    pieces += ["---", f"*{shown(page.footer)}*"]
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def shown(text: str) -> str:
    """How is a text written that may hold anything? Escaped, but for what is harmless within it.

    >>> print(shown("mean y_1 is 0.132 (0.1 to 0.2): <b> at www.x.org"))
    mean y\\_1 is 0.132 (0.1 to 0.2): \\<b\\> at www\\.x.org
    >>> print(shown("1. no list"), shown("- no list"))
    1\\. no list \\- no list
    """
    safe = escaped(" ".join(legible(text).split()))
    begin = AT_START.match(safe)
    start = begin.end() if begin else 0

    def bare(found: re.Match[str]) -> str:
        before = safe[max(found.start() - 3, 0) : found.start()].lower()
        return found[0] if found.start() < start or before == "www" else found[1]

    return HARMLESS.sub(bare, safe)


def _all(blocks: Iterable[Block], depth: int) -> Iterator[str]:
    for block in blocks:
        yield from _write(block, depth)


def _write(block: Block, depth: int) -> Iterable[str]:
    if isinstance(block, Part):
        heading = f"{'#' * min(depth, DEEPEST)} {shown(block.title)}"
        return [heading, *_all(block.blocks, depth + 1)]
    if isinstance(block, Beside):
        return _all(block.blocks, depth)
    if isinstance(block, Folded):
        return _folded(block.title, [*_all(block.blocks, depth)])
    if isinstance(block, Dossiers):
        return [
            line
            for case in block.cases
            for line in _folded(case.title, [*_all(case.blocks, depth)], _place(case.key))
        ]
    writer: Callable[[Any], Iterable[str]] = WRITERS[type(block)]
    return writer(block)


def _folded(title: str, inside: Sequence[str], name: str = "") -> list[str]:
    """Parts that a reader opens; the line above them is HTML, and escaped as such."""
    place = f'<a id="{name}"></a>' if name else ""
    return [
        f"<details>{place}<summary>{escape(' '.join(legible(title).split()))}</summary>",
        *inside,
        "</details>",
    ]


def _place(key: str) -> str:
    return "dossier-" + re.sub(r"[^A-Za-z0-9]+", "-", key)


def _sentences(block: Sentences) -> list[str]:
    lines = [shown(line) for line in block.lines if line.strip()]
    if block.listed:
        return ["\n".join(f"- {line}" for line in lines)]
    return [f"*{line}*" for line in lines] if block.quiet else lines


def _pairs(block: Pairs) -> list[str]:
    return ["\n".join(f"- **{shown(name)}**: {shown(text)}" for name, text in block.lines)]


def _judgments(block: Judgments) -> list[str]:
    lines = []
    for line in block.lines:
        word = SAID.get(line.tone, line.tone)
        verdict = f"{shown(SIGNS[line.tone])} **{word}**" if word else SIGNS[line.tone]
        lines.append(f"- {verdict}: {shown(line.what)}. {shown(line.because)}")
    return ["\n".join(lines)]


def _waterfalls(block: Waterfalls) -> Iterator[str]:
    for drawing in block.drawings:
        between = f"from {shown(drawing.reference)} to {shown(drawing.comparison)}"
        yield f"**{shown(drawing.title)}: {between}**"
        head = ["step", "mean or change", f"{percent(block.level)} interval"]
        yield table_text(head, [_step(step) for step in drawing.steps], words={0})


def _step(step: Step) -> list[str]:
    note = f" ({shown(step.note)})" if step.note else ""
    if step.kind == "level":
        ends = f"{step.low:,.3f} to {step.high:,.3f}"
        return [f"**{shown(step.label)}**{note}", f"**{step.end:,.3f}**", ends]
    change, low, high = (each - step.start for each in (step.end, step.low, step.high))
    ends = f"{written(low, 3)} to {written(high, 3)}"
    return [f"{shown(step.label)}{note}", written(change, 3), ends]


def _intervals(block: Intervals) -> Iterator[str]:
    margin = "" if block.margin is None else f"; judged with a margin of {block.margin:g}"
    yield f"**{shown(block.caption)}**{margin}"
    several = len({row.group for row in block.rows}) > 1
    adjusted = any(row.p_adjusted is not None for row in block.rows)
    head = ["part", "value", f"{percent(block.level)} interval", "standard error"]
    head.append("p-value, for all tests at once" if adjusted else "p-value")
    places = decimals_for(block.rows)
    lines = []
    for row in block.rows:
        group = [shown(row.group)] if several else []
        lines.append([*group, shown(row.name.replace("_", " ")), *effect_cells(row, places)[1:]])
    yield table_text(["group", *head] if several else head, lines, words=range(2 if several else 1))


def _cells(block: Table) -> Iterator[str]:
    """A table; rows beyond those shown first can be opened."""
    if block.caption:
        yield f"**{shown(block.caption)}**"
    head = [shown(column.title) for column in block.columns]
    words = {at for at, column in enumerate(block.columns) if column.kind not in NUMBERS}
    lines = [[shown(cell.text) for cell in row] for row in write_rows(block)]
    for at, key in enumerate(block.links):
        if key and lines[at]:
            lines[at][0] = f"[{lines[at][0]}](#{_place(key)})"
    first = block.shown or len(lines)
    yield table_text(head, lines[:first], words=words)
    if lines[first:]:
        rest = table_text(head, lines[first:], words=words)
        yield from _folded(f"{len(lines) - first:,} more", [rest])


def _curves(block: Curves) -> Iterator[str]:
    yield f"**{shown(block.title)}**"
    yield shown(f"{draw_curves(block).words}. {block.caption}".strip())
    lines = []
    for curve in block.curves:
        points = [*zip(curve.at, curve.height, strict=True)]
        step = max((len(points) - 1) / (PLACES - 1), 1)
        chosen = dict.fromkeys(round(at * step) for at in range(PLACES))
        for at in chosen:
            if at < len(points):
                lines.append([shown(curve.name), *(f"{each:.3g}" for each in points[at])])
    head = ["curve", shown(block.axis), shown(block.height_axis or "height")]
    yield table_text(head, lines, words={0})


def _histogram(block: Histogram) -> Iterator[str]:
    yield f"**{shown(block.title)}**"
    yield shown(f"{draw_histogram(block).words}. {block.caption}".strip())
    bars = zip(block.edges, block.edges[1:], block.counts, strict=False)
    lines = [[f"{low:.4g} to {high:.4g}", f"{count:,}"] for low, high, count in bars if count]
    yield table_text([shown(block.axis), "people"], lines, words=set())


def _points(block: Points) -> Iterator[str]:
    yield f"**{shown(block.title)}**: {shown(block.y_axis)} against {shown(block.x_axis)}"
    yield shown(f"{draw_points(block).words}. {block.caption}".strip())


def _picture(block: Picture) -> Iterator[str]:
    yield f"**{shown(block.caption)}**" if block.caption else ""
    yield shown(block.words)


def _images(block: Images) -> Iterator[str]:
    yield f"**{shown(block.caption)}**" if block.caption else ""
    yield shown(block.words)
    columns = ", ".join(map(shown, block.columns))
    yield f"{len(block.rows):,} rows of images, each with {columns}; they are in the HTML report."


WRITERS: dict[type, Callable[[Any], Iterable[str]]] = {
    Sentences: _sentences,
    Pairs: _pairs,
    Judgments: _judgments,
    Waterfalls: _waterfalls,
    Intervals: _intervals,
    Table: _cells,
    Curves: _curves,
    Histogram: _histogram,
    Points: _points,
    Picture: _picture,
    Images: _images,
}
