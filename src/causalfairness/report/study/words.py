"""How is it said in plain words? Short names, lists and numbers as a reader expects them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from causalfairness.report.numbers import percent
from causalfairness.report.page.blocks import Cell, Column, Sentences, Table
from causalfairness.report.page.cells import NUMBERS
from causalfairness.report.study.told import Told

PARTS = {
    "total": "the whole gap",
    "direct": "the direct part",
    "indirect": "the indirect part",
    "spurious": "the spurious part",
    "outside_support": "people without a counterpart",
    "misfit": "what the comparison model misses",
    "ppm": "the gap in outcomes at equal scores",
    "drift": "the drift of scores within bins",
    "causal": "what the group causes",
    "reverse_causal": "what remains when the group is alike",
}
MEANINGS = {
    "total": "the difference between the two groups' means",
    "direct": "what remains when mediators and confounders are held alike",
    "indirect": "what runs through the mediators, which differ by group",
    "spurious": "what comes along with the confounders, in which the groups differ",
    "outside_support": "people who have no counterpart in the other group",
    "misfit": "what the model behind the comparison does not reproduce",
}

JUDGED = "Judged with a margin of "


def part_called(name: str) -> str:
    """What is a part of a gap called, for readers?

    >>> part_called("ppm"), part_called("absolute_drift")
    ('the gap in outcomes at equal scores', 'the drift of scores within bins, whichever its sign')
    """
    if name.startswith("absolute_"):
        return f"{part_called(name.removeprefix('absolute_'))}, whichever its sign"
    return PARTS.get(name, name.replace("_", " "))


def opening(text: str) -> str:
    """How does a text begin a line?

    >>> opening("false positive rate")
    'False positive rate'
    """
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str], most: int = 0) -> str:
    """How are names listed in a sentence?

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2), listed([])
    ('a, b and c', 'a, b and 1 more', 'none')
    """
    shown = [*names]
    if most and len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most:,} more"]
    if len(shown) < 2:
        return "".join(shown) or "none"
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(count: int, one: str, several: str = "") -> str:
    """How many is it, in words?

    >>> counted(1, "question"), counted(1_200, "person", "people")
    ('1 question', '1,200 people')
    """
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def bounds(level: float, of: str = "") -> tuple[Column, Column]:
    """Which columns hold the ends of an interval?"""
    low = Column(f"{of}low", f"{percent(level)} interval, from", "number")
    return low, Column(f"{of}high", "to", "number")


def table_of(
    caption: str,
    rows: Iterable[Told],
    *columns: Column,
    first: Callable[[Told], tuple[Cell, ...]] = lambda _: (),
    hidden: Callable[[Told, str], bool] = lambda row, key: False,
    whole: bool = True,
    sortable: bool = False,
    shown: int = 0,
) -> Table:
    """Which table has these rows? The first cells, then what stands under the keys of the columns.

    Of rows that are not `whole`, some keys may be missing; what is `hidden` is left empty.
    """

    def cell(row: Told, column: Column) -> Cell:
        if hidden(row, column.key) or not (whole or row.get(column.key)):
            return None
        told = row[column.key] if whole else row.get(column.key)
        return told.number if column.kind in NUMBERS else told.cell

    def line(row: Told) -> tuple[Cell, ...]:
        begin = first(row)
        return *begin, *(cell(row, column) for column in columns[len(begin) :])

    return Table(caption, columns, tuple(map(line, rows)), sortable=sortable, shown=shown)


def said_of(answer: Told) -> Sentences:
    """What does an answer say? Without the verdict, which stands beside it."""
    lines = answer["sentences"].texts
    judged = answer["verdict"].value is not None
    return Sentences(
        tuple(each for each in lines if not (judged and each.startswith(JUDGED))), listed=True
    )


def remarks(answer: Told) -> list[Sentences]:
    """What should be known about an answer, in small letters? Notes and warnings."""
    lines = (*answer.get("notes", []).texts, *answer.get("warnings", []).texts)
    return [Sentences(tuple(map(full_stop, lines)), listed=True, quiet=True)] if lines else []


def full_stop(text: str) -> str:
    """How does a remark stand on its own?

    >>> full_stop("people are independent draws")
    'People are independent draws.'
    """
    return opening(ended(text))


def ended(text: str) -> str:
    """How does a sentence end?

    >>> ended("too few people")
    'too few people.'
    """
    return text + ("" if text[-1:] in (".", "!", "?", "…") or not text else ".")
