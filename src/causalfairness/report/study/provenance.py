"""Which data, program and settings do the answers come from, and how can a stranger check them?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from causalfairness.report.legible import legible
from causalfairness.report.numbers import percent
from causalfairness.report.page.blocks import (
    Block,
    Cell,
    Column,
    Folded,
    Pairs,
    Part,
    Section,
    Sentences,
    Table,
)
from causalfairness.report.study.reading import Reading
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import counted, full_stop, listed, opening, table_of

CHECK = (
    "Whoever has the data and the record can find every number again, with another engine if they "
    "like. The command asks all questions anew, compares, and names the first difference."
)
FILE = "record.json"
HANDED = "FILE"  # stands for data that was handed over in memory
IN_MEMORY = ("pandas", "polars", "pyarrow", "duckdb", "narwhals")
CHOICES = ("data", "predictor", "estimator", "groups", "sensitivity")


def provenance(reading: Reading) -> Section:
    """Where does all this come from, and how is it checked?"""
    told = reading.told
    check: list[Block] = [Sentences((CHECK,)), Pairs((("to verify", verifying(told)),))]
    blocks: list[Block] = [Pairs(tuple(_facts(reading))), Part("Check it yourself", tuple(check))]
    if told.get("notes"):
        notes = tuple(map(full_stop, told["notes"].texts))
        blocks.append(Part("Notes of the audit", (Sentences(notes, listed=True),)))
    blocks.append(Folded("Fingerprint of every column", (_columns(told["data"]["columns"]),)))
    blocks.append(Folded("What was asked, as it was written down", (_asked(told),)))
    if told.get("timings") and told["timings"].get("questions"):
        blocks.append(Folded("How long it took", (_timings(told["timings"]),)))
    full = [*reading.names.in_full()]
    if full:
        blocks.append(Folded("Names in full", (Pairs(tuple(full)),)))
    return Section("provenance", "Where this comes from", tuple(blocks))


def verifying(told: Told) -> str:
    """Which command checks the record against its data?"""
    source = told["data"]["source"].exact
    data = HANDED if source in IN_MEMORY else shlex.quote(legible(source))
    trust = " --trust" if told.get("model") else ""
    return told.cut(f"causalfairness verify {FILE} --data {data}{trust}")


def _facts(reading: Reading) -> Iterator[tuple[str, str]]:
    told, data = reading.told, reading.told["data"]
    yield "data", data["source"].text
    yield "rows", f"{data['rows'].count:,}"
    yield "fingerprint of the data", data["fingerprint"].text
    if told.get("people"):
        single, columns = told["people"]["single"].count, told["people"]["columns"].texts
        of = f"{counted(single, 'person', 'people')}, with {listed(columns)}"
        yield "single people", of if single else "nothing is said about single people"
    if told.get("model"):
        yield "audited model", f"{told['model']['name'].text}, {told['model']['sha256'].text}"
    yield "level of intervals", percent(reading.level)
    yield "seed", told["seed"].shown
    versions = told["versions"]
    yield "program", f"causalfairness {versions['causalfairness'].text}"
    libraries = [f"{name} {each.text}" for name, each in versions["libraries"].items()]
    yield "with", ", ".join([f"Python {versions['python'].text}", *libraries])
    timings = told.get("timings", {})
    if timings.get("started"):
        seconds = timings.get("seconds").number
        took = "" if seconds is None else f", {seconds:,.0f} seconds"
        yield "run", f"{timings['started'].text}{took}"
    yield "layout of the record", told["schema"].text


def _columns(columns: Told) -> Table:
    lines = tuple((name, each.text) for name, each in columns.items())
    heads = (Column("column", "column"), Column("fingerprint", "fingerprint"))
    return Table("The same values give the same fingerprint, on any engine", heads, lines)


def _asked(told: Told) -> Table:
    lines: list[tuple[Cell, ...]] = []
    for at, question in enumerate(told.get("asked", []), 1):
        name = question["ask"].text.replace("_", " ")
        lines.append((f"{at}. {opening(name)}", _choices(question, skip="ask")))
    for section in CHOICES:
        choice = told["settings"].get(section)
        if choice:
            lines.append((opening(section), _choices(choice)))
    columns = (Column("question", "question or section"), Column("choices", "choices"))
    return Table("Questions and settings", columns, tuple(lines))


def _choices(told: Told, skip: str = "") -> str:
    found = []
    for name, each in told.items():
        if name != skip and each.value not in (None, [], {}, ""):
            found.append(f"{name.replace('_', ' ')}: {_value(each)}")
    return "; ".join(found)


def _value(told: Told) -> str:
    if isinstance(told.value, bool):
        return "yes" if told.value else "no"
    if isinstance(told.value, dict):
        return ", ".join(f"{name} = {_value(each)}" for name, each in told.items())
    if isinstance(told.value, list):
        return ", ".join(_value(each) for each in told)
    return told.shown


def _timings(timings: Told) -> Table:
    return table_of(
        "Seconds",
        timings["questions"],
        Column("question", "question"),
        Column("seconds", "seconds", "number"),
        Column("restored", "answered in an earlier run", "yes"),
        first=lambda each: (opening(each["question"].text),),
    )
