"""How does a page of a whole study look as one HTML file that needs nothing else?

The file holds its own style and one script, and no address of anything outside. It tells the
browser which script that is (by its hash), so that no other can ever run, and that nothing may be
loaded. Everything can be read without the script, which only sorts, opens and counts. Whatever
comes from the data is escaped, spelled out and, where it is long, cut, with the whole at the end.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from causalfairness.effects.table import format_p_value
from causalfairness.report.environment import environment
from causalfairness.report.html import Track, by_group
from causalfairness.report.legible import legible, shortened
from causalfairness.report.numbers import decimals_for, written
from causalfairness.report.page.blocks import (
    Beside,
    Block,
    Dossiers,
    Folded,
    Judgments,
    Page,
    Part,
    Picture,
    Waterfalls,
)
from causalfairness.report.page.cells import NUMBERS, TONES, long_columns, write_rows
from causalfairness.report.page.drawings import (
    Drawing,
    axis_around,
    draw,
    draw_curves,
    draw_histogram,
    draw_points,
)
from causalfairness.report.page.pictures import own_svg, styles_of

LONGEST_TEXT = 1_200  # characters of a sentence
LONGEST_CELL = 160  # characters of a heading or a label
LONGEST_PASSAGE = 480  # characters of a cell in a table
LONGEST_WORD = 80  # characters without a space
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")
PARTS = ("total", "direct", "indirect", "spurious", "outside_support", "misfit")
OURS = ("content", "contents", "said", "theme-auto", "theme-light", "theme-dark")


def render_page(page: Page) -> str:
    """How does this study look in a browser, on paper and on a phone?

    >>> from causalfairness.report.page.blocks import Section, Sentences
    >>> said = Section("summary", "In short", (Sentences(("There is a <gap>.",)),))
    >>> text = render_page(Page("COMPAS", "An audit", (said,), "Made by hand."))
    >>> text.startswith("<!DOCTYPE html>"), "There is a &lt;gap&gt;." in text
    (True, True)
    """
    templates = _environment()
    script = templates.get_template("study.js").render()
    reading = Reading(_dossier_names(page))
    return templates.get_template("study.html").render(
        page=page,
        sections=[(reading.name(section.key), section) for section in page.sections],
        tally=_tally(page),
        reading=reading,
        styles=styles_of(block.svg for block in _blocks(page) if isinstance(block, Picture)),
        script=Markup(script),
        script_hash=script_hash(script),
    )


def script_hash(script: str) -> str:
    """By which hash does a browser know this script?

    >>> script_hash("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@dataclass
class Reading:
    """What has been written on a page so far? Names of its places, and texts that had to be cut.

    >>> reading = Reading({})
    >>> reading.name("table"), reading.name("Table!"), reading.cut("short", 10)
    ('table', 'table-2', ('short', 0))
    """

    dossiers: dict[str, str]
    taken: set[str] = field(default_factory=lambda: set(OURS))
    whole: dict[str, int] = field(default_factory=dict)  # the full texts, and their numbers
    opened_from: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.taken |= set(self.dossiers.values())

    def name(self, wanted: str) -> str:
        """Under which name can a place be linked to? Like the wanted one, and unique."""
        name = _unique(wanted, self.taken)
        self.taken.add(name)
        return name

    def cut(self, text: str, limit: int) -> tuple[str, int]:
        """How does a text look in little room, and under which number does it stand in full?

        A long word (mostly a name) stands there by itself, and once, wherever it occurs.
        """
        full = legible(text)
        words = [*_LONG_WORD.findall(full)]
        short = _LONG_WORD.sub(lambda word: shortened(word[0], LONGEST_WORD), full)
        cut = [*words, *([full] if len(short) > limit else [])]
        numbers = [self.whole.setdefault(each, len(self.whole) + 1) for each in cut]
        return shortened(short, limit), numbers[-1] if numbers else 0

    def opens(self, key: str, table: str) -> str:
        """Which dossier does a row of this table open? Empty where there is none."""
        if key in self.dossiers:
            self.opened_from.setdefault(key, table)
        return self.dossiers.get(key, "")


def _tally(page: Page) -> list[tuple[str, int]]:
    """How many verdicts of each kind does the page open with?"""
    blocks = page.sections[0].blocks if page.sections else ()
    said = [line.tone for block in blocks if isinstance(block, Judgments) for line in block.lines]
    return [(tone, said.count(tone)) for tone in TONES if tone in said and tone != "plain"]


@cache
def _environment() -> Environment:
    made = environment().overlay()
    made.filters = made.filters | {
        "kind_of": lambda block: type(block).__name__,
        "cells": write_rows,
        "long_columns": long_columns,
        "drawn_curves": draw_curves,
        "drawn_histogram": draw_histogram,
        "drawn_points": draw_points,
        "drawn_waterfalls": _waterfalls,
        "own_svg": own_svg,
        "encoded": lambda data: base64.b64encode(data).decode("ascii"),
        "by_group": by_group,
        "track": lambda block: Track.around(block.rows, block.margin),
        "decimals": decimals_for,
        "signed": lambda value, places: written(value, places) if math.isfinite(value) else "",
        "p_or_nothing": lambda p: "" if p is None or math.isnan(p) else format_p_value(p),
        "label": _label,
    }
    made.globals = made.globals | {
        "LONGEST_TEXT": LONGEST_TEXT,
        "LONGEST_CELL": LONGEST_CELL,
        "LONGEST_PASSAGE": LONGEST_PASSAGE,
        "PARTS": PARTS,
        "TONES": TONES,
        "NUMBERS": NUMBERS,
    }
    return made


def _waterfalls(block: Waterfalls) -> list[Drawing]:
    steps = [step for one in block.drawings for step in one.steps]
    axis = axis_around(steps) if block.shared and steps else None
    return [draw(one.steps, axis) for one in block.drawings]


def _label(text: str) -> tuple[str, str]:
    """Does a sentence begin with what it is about? The label, and the rest."""
    found = re.match(r"([^\W\d_][^:.;()]{1,32}): (?=\S)", text)
    return (found[1], text[found.end() :]) if found else ("", text)


def _dossier_names(page: Page) -> dict[str, str]:
    names: dict[str, str] = {}
    for block in _blocks(page):
        for case in block.cases if isinstance(block, Dossiers) else ():
            wanted = f"dossier-{case.key}"
            names.setdefault(case.key, _unique(wanted, {*names.values(), *OURS}))
    return names


def _blocks(page: Page) -> Iterator[Block]:
    for section in page.sections:
        yield from _every(section.blocks)


def _every(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Folded | Beside | Part):
            yield from _every(block.blocks)
        elif isinstance(block, Dossiers):
            for case in block.cases:
                yield from _every(case.blocks)


def _unique(wanted: str, taken: set[str]) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:60] or "place"
    return next(
        name
        for name in (plain, *(f"{plain}-{at}" for at in range(2, len(taken) + 3)))
        if name not in taken
    )
