"""What stands on a page? Sections of blocks, as plain data that a renderer writes in its own way.

Whoever knows a result says what there is to show in these blocks; whoever knows a format (HTML,
Markdown) writes each kind of block once. Texts are as they come from records, with names in them
that somebody else chose: renderers escape all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from causalfairness.report.summary import Row, Step

Cell = str | float | int | bool | None
Kind = Literal["text", "number", "share", "p", "verdict", "yes"]
Tone = Literal["satisfied", "violated", "undecided", "unanswered", "plain"]


@dataclass(frozen=True)
class Sentences:
    """What is said? The first line may stand out; `listed` makes them points of a list.

    >>> Sentences(("There is a gap.",)).listed
    False
    """

    lines: tuple[str, ...]
    listed: bool = False
    quiet: bool = False  # remarks, in smaller letters


@dataclass(frozen=True)
class Pairs:
    """Which short facts are there? Names and texts.

    >>> Pairs((("rows", "6,172"),)).lines[0][0]
    'rows'
    """

    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Judgment:
    """What is the verdict, on what, and why?

    >>> Judgment("violated", "direct path", "lies above the margin of 0.02").tone
    'violated'
    """

    tone: Tone
    what: str
    because: str


@dataclass(frozen=True)
class Judgments:
    """Which verdicts are there? Each with a sign and a word, never by color alone.

    >>> len(Judgments((Judgment("satisfied", "direct path", "within the margin"),)).lines)
    1
    """

    lines: tuple[Judgment, ...]


@dataclass(frozen=True)
class Waterfall:
    """From one group's mean through the paths to the other's: which steps are there?

    >>> Waterfall("recidivism", "two_year_recid", "A", "B", ()).title
    'recidivism'
    """

    title: str
    what: str
    reference: str
    comparison: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Waterfalls:
    """Which waterfalls stand side by side? On one scale where they measure the same thing.

    >>> Waterfalls((), level=0.95).shared
    False
    """

    drawings: tuple[Waterfall, ...]
    level: float
    shared: bool = False


@dataclass(frozen=True)
class Intervals:
    """How large are effects, and how sure? Rows with a drawn interval, by group if there are any.

    `margin` is drawn as a band around zero.

    >>> Intervals("Parts of the gap", (), level=0.95).margin is None
    True
    """

    caption: str
    rows: tuple[Row, ...]
    level: float
    margin: float | None = None


@dataclass(frozen=True)
class Column:
    """What stands in a column, and what are its cells?

    >>> Column("delta", "difference", "number").kind
    'number'
    """

    key: str
    title: str
    kind: Kind = "text"
    meaning: str = ""


@dataclass(frozen=True)
class Table:
    """Which rows are there? `sortable` lets a reader order them; `links` open dossiers by key.

    `links` holds, for each row, the key of a dossier on this page, or an empty text.

    >>> Table("Errors", (Column("rate", "rate"),), (("fpr",),)).sortable
    False
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sortable: bool = False
    links: tuple[str, ...] = ()
    shown: int = 0  # rows before a reader asks for more; 0: all


@dataclass(frozen=True)
class Curve:
    """Which line is drawn? Points from left to right.

    >>> Curve("as they are", (0.0, 1.0), (0.0, 2.0)).name
    'as they are'
    """

    name: str
    at: tuple[float, ...]
    height: tuple[float, ...]


@dataclass(frozen=True)
class Curves:
    """How are numbers spread, in fact and otherwise? Densities over one axis.

    With a `height_axis` the heights are read too: lines with numbers beside them, not areas.

    >>> Curves("African-American", "score", ()).axis
    'score'
    """

    title: str
    axis: str
    curves: tuple[Curve, ...]
    caption: str = ""
    height_axis: str = ""


@dataclass(frozen=True)
class Histogram:
    """How many people were moved how far? Counts between edges.

    >>> Histogram("shift", "score", (0.0, 1.0), (5,)).counts
    (5,)
    """

    title: str
    axis: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    caption: str = ""


@dataclass(frozen=True)
class Points:
    """Which points lie where? `x` against `y`, with the line of no change.

    >>> Points("edema", "score", "score had the group been another", (), ()).title
    'edema'
    """

    title: str
    x_axis: str
    y_axis: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """What is drawn already? SVG text of our own making, and what it shows in words.

    >>> Picture("<svg></svg>", "an arrow").words
    'an arrow'
    """

    svg: str
    words: str
    caption: str = ""


@dataclass(frozen=True)
class Images:
    """Which photographs stand in rows and columns? PNG bytes, one row per person.

    >>> Images(("factual",), (), "none").columns
    ('factual',)
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[bytes, ...], ...]
    words: str
    row_names: tuple[str, ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class Dossier:
    """What is known about one person's case? Opened from a table by its key.

    >>> Dossier("17", "Person 17", ()).key
    '17'
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Dossiers:
    """Which cases can be opened?

    >>> Dossiers(()).cases
    ()
    """

    cases: tuple[Dossier, ...]


@dataclass(frozen=True)
class Folded:
    """What may a reader open? Blocks behind a line.

    >>> Folded("All twelve means", ()).title
    'All twelve means'
    """

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Beside:
    """Which blocks stand side by side, where there is room?

    >>> Beside(()).blocks
    ()
    """

    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Part:
    """What stands under a smaller heading within a section?

    >>> Part("Female against Male", ()).title
    'Female against Male'
    """

    title: str
    blocks: tuple[Block, ...]


Block = (
    Sentences
    | Pairs
    | Judgments
    | Waterfalls
    | Intervals
    | Table
    | Curves
    | Histogram
    | Points
    | Picture
    | Images
    | Dossiers
    | Folded
    | Beside
    | Part
)


@dataclass(frozen=True)
class Section:
    """What is one part of a page about?

    >>> Section("summary", "In short", ()).key
    'summary'
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """What does a whole study show? Its title, its sections, and what is said at the end.

    >>> Page("COMPAS", "An audit", (), "Made by hand.").sections
    ()
    """

    title: str
    kicker: str
    sections: tuple[Section, ...]
    footer: str
    meta: Sequence[str] = field(default=())
    generator: str = ""
