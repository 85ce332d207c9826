"""What is a causal picture made of? Boxes, links between them, words beside them, a legend.

Everything has its place in units of the picture, x to the right and y downwards. Links are chains
of cubic curves; an arrow's tip is the end of its last curve, on the border of a box.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from causalfairness.report.legible import legible, shortened

SIZE = 13.0  # of letters
LONGEST_TITLE = 300  # characters of a full name shown on hovering
NARROW, WIDE = frozenset("fijlrtI.,:;'|!()[]{} -"), frozenset("mwMW@%—…")


class Point(NamedTuple):
    """Where is it?"""

    x: float
    y: float


class Curve(NamedTuple):
    """How does a line run on from where it is? A cubic curve with two control points."""

    leaving: Point
    arriving: Point
    end: Point


@dataclass(frozen=True)
class Box:
    """Where is a column, or the columns of one role, and what is written there?"""

    name: str
    role: str
    left: float
    top: float
    width: float
    height: float
    lines: tuple[str, ...]
    full: str  # shown on hovering
    heading: str = ""

    @property
    def right(self) -> float:
        """Where does it end?"""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Where does it end, downwards?"""
        return self.top + self.height

    @property
    def center(self) -> Point:
        """Where is its middle?"""
        return Point(self.left + self.width / 2, self.top + self.height / 2)


@dataclass(frozen=True)
class Link:
    """How does an arrow, or the line of a hidden common cause, run from box to box?

    `path` is direct, indirect or spurious; empty where it is none of these.
    """

    cause: str
    effect: str
    path: str
    hidden: bool
    start: Point
    curves: tuple[Curve, ...]

    @property
    def words(self) -> str:
        """What does it say?"""
        path = f" ({self.path})" if self.path else ""
        if self.hidden:
            return f"{self.cause} and {self.effect} may share a hidden cause{path}"
        return f"{self.cause} causes {self.effect}{path}"

    @property
    def end(self) -> Point:
        """Where is its tip?"""
        return self.curves[-1].end


@dataclass(frozen=True)
class Label:
    """Which words stand beside a path?"""

    path: str
    text: str
    left: float
    baseline: float


@dataclass(frozen=True)
class Entry:
    """What does a line of the legend explain?"""

    path: str
    text: str
    dashed: bool = False
    drawn: bool = True  # with a sample of the line


@dataclass(frozen=True)
class Picture:
    """What is drawn, on how large a page?"""

    boxes: tuple[Box, ...]
    links: tuple[Link, ...]
    width: float
    height: float
    labels: tuple[Label, ...] = ()


def moved(picture: Picture, by: float, width: float) -> Picture:
    """What is the picture on a page of another width, moved to the right by so much?"""

    def to(point: Point) -> Point:
        return Point(point.x + by, point.y)

    return replace(
        picture,
        boxes=tuple(replace(box, left=box.left + by) for box in picture.boxes),
        links=tuple(
            replace(
                link,
                start=to(link.start),
                curves=tuple(Curve(to(a), to(b), to(c)) for a, b, c in link.curves),
            )
            for link in picture.links
        ),
        width=width,
    )


def straight(start: Point, end: Point) -> Curve:
    """Which curve is a straight line?

    >>> straight(Point(0, 0), Point(30, 0)).leaving
    Point(x=10.0, y=0.0)
    """
    dx, dy = (end.x - start.x) / 3, (end.y - start.y) / 3
    return Curve(Point(start.x + dx, start.y + dy), Point(end.x - dx, end.y - dy), end)


def width_of(text: str, size: float = SIZE) -> float:
    """How wide is a text in an unknown font, rather too wide than too narrow?

    >>> width_of("ill") < width_of("mum") < width_of("漢字漢")
    True
    """
    return size * sum(map(_advance, text))


def fitted(name: str, width: float) -> str:
    """How is a name written in so much room? Hidden characters spelled out, cut at the end.

    >>> fitted("a name that goes on and on", 80)
    'a name t…'
    """
    text = legible_here(name)
    keep = len(text)
    if width_of(text) > width:
        room = width - width_of("…")
        keep = 1
        while keep < len(text) and width_of(text[: keep + 1]) <= room:
            keep += 1
        keep += 1  # the ellipsis counts
    return shortened(text, keep)


def legible_here(name: str) -> str:
    """How is a name written where only the characters of XML may stand?

    >>> legible_here("a\\x00b\\uffff")
    'a\\\\x00b\\\\uffff'
    """
    text = legible(name)
    return "".join(f"\\u{ord(c):04x}" if c in "\ufffe\uffff" else c for c in text)


def whole(name: str) -> str:
    """How is a name written on hovering? In full, unless it is as long as a page.

    >>> len(whole("x" * 10_000))
    300
    """
    return shortened(legible_here(name), LONGEST_TITLE)


def listed(names: Sequence[str], width: float, most: int) -> tuple[str, ...]:
    """How are many names written below each other? The first ones, and how many more.

    >>> listed(["a", "b", "c", "d"], 100, 3)
    ('a', 'b', 'and 2 more')
    """
    if len(names) <= most:
        return tuple(fitted(name, width) for name in names)
    shown = tuple(fitted(name, width) for name in names[: most - 1])
    return *shown, f"and {len(names) - most + 1} more"


def _advance(letter: str) -> float:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.3 if unicodedata.category(letter) == "So" else 1.05
    if letter in NARROW:
        return 0.42
    if letter in WIDE:
        return 1.0
    if letter.isascii():
        return 0.74 if letter.isupper() else 0.62
    return 0.8
