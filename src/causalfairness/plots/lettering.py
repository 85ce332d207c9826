"""How is a name written so that it can be read, whatever it is made of?

Names come from data. They may be as long as a page, hold line breaks, dollar signs, right-to-left
script, or letters that no font has. Here they become text that a font can draw: white space is
one space, invisible letters go, letters without a shape are written as their number, and what is
too wide is shortened in the middle, where names differ least.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from math import ceil
from typing import Any

import matplotlib
from matplotlib.font_manager import FontProperties, findfont, get_font

from causalfairness.plots.theme import Theme

ELLIPSIS = "…"
NO_NAME = "(no name)"
LONGEST = 400  # letters that are looked at; more never fit into a picture
MARKS = 2  # combining marks kept on one letter
BREAK_AFTER = " -_/,;:."
SLACK = 1.08  # letters stand on whole pixels: drawn, they are up to so much wider
SHAPES_ITSELF = matplotlib.__version_info__ >= (3, 11)  # matplotlib orders right-to-left script


def legible(name: str, theme: Theme) -> str:
    """How is a name written in letters that the fonts have?

    >>> from causalfairness.plots import LIGHT
    >>> legible("two\\nlines, \\U0001f680 and $x_1$", LIGHT)
    'two lines, [U+1F680] and $x_1$'
    """
    return in_reading_order("".join(_letters(name, theme.fonts)))


def fit(
    name: str,
    theme: Theme,
    *,
    width: float,
    lines: int = 1,
    size: float = 0.0,
    bold: bool = False,
) -> str:
    """How is a name written in so many points of width, on so many lines?

    >>> from causalfairness.plots import LIGHT
    >>> fit("a very long name of a group of people", LIGHT, width=100)
    'a very lo…f people'
    >>> fit("African-American defendants", LIGHT, width=100, lines=2)
    'African-American\\ndefendants'
    """
    letters = _letters(name, theme.fonts)
    measure = _measure(theme, size, bold)
    fewest, most = 2, len(letters)
    if len(_wrapped(letters, width, measure)) > lines:
        while fewest < most - 1:
            middle = (fewest + most) // 2
            fits = len(_wrapped(_cut(letters, middle), width, measure)) <= lines
            fewest, most = (middle, most) if fits else (fewest, middle)
        letters = _cut(letters, fewest)
    found = _wrapped(letters, width, measure)
    return "\n".join(in_reading_order(line) for line in found)


def paragraph(text: str, theme: Theme, *, width: float, size: float) -> str:
    """How is a text broken into lines of so many points?

    >>> from causalfairness.plots import LIGHT
    >>> paragraph("one two three", LIGHT, width=60, size=10)
    'one two\\nthree'
    """
    measure = _measure(theme, size, False)
    letters = [letter for letter in map(_drawable(theme.fonts), _plain(text)) if letter]
    found = _wrapped(letters, width, measure, break_after=" ")
    return "\n".join(in_reading_order(line) for line in found)


def width_of(text: str, theme: Theme, *, size: float = 0.0, bold: bool = False) -> float:
    """How many points wide is a text, at most?

    >>> from causalfairness.plots import LIGHT
    >>> width_of("mm", LIGHT) > width_of("ii", LIGHT) > 0
    True
    """
    return sum(map(_measure(theme, size, bold), text))


def written(theme: Theme, *, color: str = "", size: float = 0.0, bold: bool = False) -> Any:
    """Which properties make matplotlib draw a text as it is? No formulas, no settings of others."""
    return {
        "fontfamily": list(theme.fonts),
        "fontsize": size or theme.size,
        "fontweight": "bold" if bold else "normal",
        "fontstyle": "normal",
        "color": color or theme.ink,
        "parse_math": False,
        "usetex": False,
    }


def in_reading_order(line: str) -> str:
    """In which order are the letters of a line drawn from left to right?

    Matplotlib before 3.11 draws letters in the order they are stored, so that right-to-left words
    come out backwards; there, their runs are turned around.
    """
    return line if SHAPES_ITSELF else turned(line)


def turned(line: str) -> str:
    """What is a line with its right-to-left runs turned around?

    >>> turned("abc \\u05d0\\u05d1") == "abc \\u05d1\\u05d0"
    True
    """
    runs = groupby(line, lambda each: unicodedata.bidirectional(each) in ("R", "AL", "NSM"))
    return "".join("".join([*run][:: -1 if backwards else 1]) for backwards, run in runs)


def _letters(name: str, fonts: tuple[str, ...]) -> list[str]:
    """The letters to draw; one without a shape is a whole `[U+...]`."""
    text, half = _plain(name), LONGEST // 2
    if len(text) > LONGEST:
        text = f"{text[:half]}{ELLIPSIS}{text[-half:]}"
    letters = [letter for letter in map(_drawable(fonts), text) if letter]
    return letters or list(NO_NAME)


def _plain(text: str) -> str:
    """One space for all white space, composed letters, no towers of marks."""
    composed = unicodedata.normalize("NFC", " ".join(text.split()))
    kept, marks = [], 0
    for letter in composed:
        marks = marks + 1 if unicodedata.combining(letter) else 0
        if marks <= MARKS:
            kept.append(letter)
    return "".join(kept)


def _drawable(fonts: tuple[str, ...]) -> Callable[[str], str]:
    known = _shapes(fonts)

    def draw(letter: str) -> str:
        category = unicodedata.category(letter)
        if category == "Cf" or "\ufe00" <= letter <= "\ufe0f":  # joins, marks of direction
            return ""
        if ord(letter) in known and category not in ("Cc", "Cs", "Co", "Cn"):
            return letter
        return f"[U+{ord(letter):04X}]"

    return draw


def _cut(letters: Sequence[str], keep: int) -> list[str]:
    head, tail = ceil(keep / 2), keep // 2
    start = "".join(letters[:head]).rstrip(" ")
    end = "".join(letters[len(letters) - tail :]).lstrip(" ")
    return [*start, ELLIPSIS, *end]


def _wrapped(
    letters: Sequence[str],
    width: float,
    measure: Callable[[str], float],
    break_after: str = BREAK_AFTER,
) -> list[str]:
    """Lines no wider than `width`, broken after a space or sign where there is one."""
    lines, line, used, breakable = [], "", 0.0, 0
    for letter in letters:
        advance = measure(letter)
        if line and used + advance > width and letter != " ":
            at = breakable or len(line)
            lines.append(line[:at].rstrip(" "))
            line, breakable = line[at:].lstrip(" "), 0
            used = sum(map(measure, line))
        line, used = line + letter, used + advance
        if letter in break_after:
            breakable = len(line)
    return [*lines, line.rstrip(" ")]


def _measure(theme: Theme, size: float, bold: bool) -> Callable[[str], float]:
    scale = SLACK * (size or theme.size)
    return lambda letter: scale * _advance(letter, theme.fonts, bold)


@lru_cache(maxsize=4096)
def _advance(letter: str, fonts: tuple[str, ...], bold: bool) -> float:
    """The width of a letter, in multiples of the size of the text."""
    font: Any = get_font(_paths(fonts, bold))
    font.set_size(100, 72)
    font.set_text(f"|{letter}|")
    with_letter, _ = font.get_width_height()
    font.set_text("||")
    return float((with_letter - font.get_width_height()[0]) / 64 / 100)


@lru_cache(maxsize=16)
def _shapes(fonts: tuple[str, ...]) -> frozenset[int]:
    return frozenset().union(*(get_font(path).get_charmap() for path in _paths(fonts, False)))


@lru_cache(maxsize=16)
def _paths(fonts: tuple[str, ...], bold: bool) -> tuple[str, ...]:
    wanted = [FontProperties(family=[n], weight="bold" if bold else "normal") for n in fonts]
    try:
        return tuple(findfont(each, fallback_to_default=False) for each in wanted)
    except ValueError as error:
        raise ValueError(
            f"a font of {', '.join(fonts)} is not installed: {error}; "
            "matplotlib.font_manager.get_font_names() lists those that are"
        ) from error
