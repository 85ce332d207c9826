"""Which scores depend on the group? What is said in short, and the test of every finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from causalfairness.report.imaging.words import group_called
from causalfairness.report.numbers import percent
from causalfairness.report.page.blocks import (
    Block,
    Cell,
    Column,
    Folded,
    Pairs,
    Section,
    Sentences,
    Table,
)

COLUMNS = (
    Column("model", "classifier"),
    Column("finding", "finding"),
    Column("statistic", "t", "number", "in standard deviations under invariance"),
    Column("p_value", "p", "p", "how often chance alone would do this"),
    Column("p_adjusted", "p, adjusted", "p", "for all tests at once (Benjamini-Hochberg)"),
    Column("rejected", "depends", "yes", "on the group, at the level, after adjustment"),
    Column("moved", "moved by", "number", "root mean square, in units of the score"),
    Column("bound", "at most", "number", "upper bound of that"),
    Column(
        "agreement",
        "ECA",
        "share",
        "decisions that stay the same, over all groups, the own one included",
    ),
)
WHO = COLUMNS[:2]
OTHERS = (
    Column("parity_p_value", "p, demographic parity", "p", "do mean scores differ by group?"),
    Column("opportunity_p_value", "p, equal opportunity", "p", "do they where the finding is?"),
    Column("opportunity_n", "people with the finding", "number"),
)
BESIDE = (
    "Neither asks whether the group itself is read from the image: groups that differ in age, or "
    "in how often they have a finding, differ in their scores too."
)
MEANT = (
    "A score is invariant to the group if it stays the same when only the group is another: same "
    "person, same findings, another group. The generator makes those images; the test asks whether "
    "the scores of real images move with the group as it says they would."
)


def summary(record: Mapping[str, Any]) -> Section:
    """What was found, in short?"""
    said = Sentences((_counted(record), *map(str, record["sentences"])))
    return Section("summary", "In short", (said, Pairs(tuple(_facts(record).items()))))


def tests(record: Mapping[str, Any]) -> Section:
    """What did every test find?"""
    settings = record["settings"]
    caption = (
        f"{_capital(str(settings.get('method', 'invariance')))} test of every classifier and "
        f"finding, at the {percent(float(settings.get('level', 0.95)))} level"
    )
    blocks: list[Block] = [Sentences((MEANT,), quiet=True), _table(record, COLUMNS, caption)]
    if any(row.get("parity_p_value") is not None for row in record["rows"]):
        others = _table(record, (*WHO, *OTHERS), "Do scores differ between groups?")
        said = Sentences((BESIDE,), quiet=True)
        blocks.append(Folded("Demographic parity and equal opportunity", (said, others)))
    return Section("tests", "Which scores depend on the group?", tuple(blocks))


def _table(record: Mapping[str, Any], columns: Sequence[Column], caption: str) -> Table:
    """A table of the columns about which something is known."""
    rows = record["rows"]
    known = {column.key for column in columns for row in rows if _cell(row, column.key) is not None}
    shown = [column for column in columns if column.key in known]
    lines = tuple(tuple(_cell(row, column.key) for column in shown) for row in rows)
    return Table(caption, tuple(shown), lines, sortable=True)


def _facts(record: Mapping[str, Any]) -> dict[str, str]:
    data, generator = record.get("data", {}), record.get("generator", {})
    models = list(dict.fromkeys(str(row["model"]) for row in record["rows"]))
    facts = {"classifiers": ", ".join(models)}
    if "images" in data:
        people = f" of {data['people']:,} people" if "people" in data else ""
        facts["images"] = f"{data['images']:,}{people}"
    if "groups" in data:
        facts["groups"] = ", ".join(
            f"{group_called(name)}: {count:,}" for name, count in data["groups"].items()
        )
    if "kind" in generator:
        facts["generator"] = f"{generator['kind']}, {generator['size']} x {generator['size']}"
    return facts


def _counted(record: Mapping[str, Any]) -> str:
    rejected = sum(bool(row["rejected"]) for row in record["rows"])
    level = percent(float(record["settings"].get("level", 0.95)))
    return (
        f"{rejected} of {len(record['rows'])} tests find that a score depends on the group, at the "
        f"{level} level, allowing for their number (Benjamini-Hochberg)."
    )


def _cell(row: Mapping[str, Any], key: str) -> Cell:
    """A cell of the table; effects are variances, and shown by their roots."""
    sources = {"moved": "effect", "bound": "upper"}
    value = row.get(sources.get(key, key))
    if value is None or value != value:
        return None
    if key in sources:
        return float(max(float(value), 0.0) ** 0.5)
    return value if isinstance(value, str | bool) else float(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
