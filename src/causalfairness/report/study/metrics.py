"""What do plain metrics and published screens say of groups? Rates and ratios, never a verdict."""

from __future__ import annotations

from collections.abc import Iterable

from causalfairness.parity.metrics.words import CALLED, by_chance
from causalfairness.report.page.blocks import (
    Block,
    Cell,
    Column,
    Folded,
    Kind,
    Pairs,
    Sentences,
    Table,
)
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import bounds, opening, table_of

FIRST = ("selection_rate", "base_rate", "accuracy", "tpr", "fpr", "ppv", "mean_outcome")
SHOWN = 20  # rows of long tables before a reader asks for more
CHANCE = Column(
    "by_chance",
    "flagged by chance",
    "share",
    "how often chance alone would put this group below, were all rates equal",
)
ABOUT = {  # all of them are shares
    "selection_rate": "how many get the favorable decision",
    "base_rate": "how many have the outcome named here",
    "accuracy": "how many decisions agree with the outcome",
    "tpr": "of those with the outcome named here, how many got this decision",
    "fpr": "of those without the outcome named here, how many got this decision",
    "fnr": "of those with the outcome named here, how many did not get this decision",
    "tnr": "of those without the outcome named here, how many did not get this decision",
    "ppv": "of those who got this decision, how many have the outcome named here",
    "npv": "of those who did not get this decision, how many do not have the outcome named here",
}


def metrics(answer: Told, level: float, smallest: int) -> list[Block]:
    """Do groups fare differently, by the plain metrics that people expect?"""
    rows, details = answer["table"].rows, answer["details"]
    found = [*dict.fromkeys(row["metric"].text for row in rows)]
    first = [name for name in FIRST if name in found] or found[:6]
    blocks: list[Block] = [_by_group(rows, first, details["about"])]
    if why := details["absent"].get("selection_rate", "").text:
        blocks.append(Sentences((f"No selection rate, and no screen: {why}",), quiet=True))
    said = answer["sentences"].texts
    blocks.append(Sentences(said[-1:], quiet=True))
    blocks.append(Folded("In words", (Sentences(said[:-1], listed=True),)))
    if details["four_fifths"]:
        blocks.append(Folded("Four-fifths screen", (_four_fifths(details["four_fifths"]),)))
    values = (Column("value", "value", "number"), *bounds(level))
    people = Column("people", "people it counts", "number")
    everything = _by_metric("Every metric", rows, *values, people)
    blocks.append(Folded("Every metric, with intervals", (everything,)))
    if details["gaps"]:
        against = Column("reference", "against")
        differs = (Column("value", "difference", "number"), *bounds(level))
        gaps = _by_metric("Differences", details["gaps"], against, *differs)
        blocks.append(Folded("Differences to the reference group", (gaps,)))
    if details["calibration"]:
        blocks.append(
            Folded("How often what was predicted came true", (_calibration(details, smallest),))
        )
    return blocks


def screen(answer: Told, level: float) -> list[Block]:
    """Which rates and impact ratios does a published rule ask for? Nothing is passed or failed."""
    details, rule = answer["details"], answer["details"]["rule"]
    source = rule["source"]
    facts = [
        ("rule", f"{rule['name'].text}, version of {rule['version'].text}"),
        ("where it holds", rule["jurisdiction"].text),
        ("source", f"{source['title'].text} ({source['citation'].text})"),
        ("rates are of", f"{details['column'].shown} ({details['measure'].text})"),
    ]
    facts += [("what it says", note.text) for note in rule.get("notes", [])]
    blocks: list[Block] = [Sentences(answer["sentences"].texts[-1:])]
    blocks += [_division(part, level) for part in details["divisions"]]
    in_words = Folded("In words", (Sentences(answer["sentences"].texts, listed=True),))
    return [*blocks, Pairs(tuple(facts)), in_words]


def _by_group(rows: list[Told], metrics: list[str], about: Told) -> Table:
    """One line for each group, one column for each metric."""
    values = {(row["by"].text, row["group"].text, row["metric"].text): row for row in rows}
    several = len({by for by, _, _ in values}) > 1
    lines: list[tuple[Cell, ...]] = []
    for by, group in dict.fromkeys((by, group) for by, group, _ in values):
        shown = [values.get((by, group, name)) for name in metrics]
        people = [row["people"].cell for row in shown if row is not None]
        numbers = [None if row is None else row["value"].number for row in shown]
        lines.append((*((by,) if several else ()), group, people[0] if people else None, *numbers))
    columns = [Column("by", "by")] if several else []
    columns += [Column("group", "group"), Column("people", "people", "number")]
    columns += [Column(name, _called(name), _kind(name), _meant(name, about)) for name in metrics]
    return Table("Group by group", tuple(columns), tuple(lines), sortable=True)


def _by_metric(caption: str, rows: Iterable[Told], *columns: Column) -> Table:
    """One line for each metric of each group, and what is remarked of it."""
    return table_of(
        caption,
        rows,
        Column("metric", "metric"),
        Column("group", "group"),
        *columns,
        Column("remark", "remark"),
        first=lambda row: (_called(row["metric"].text),),
        sortable=True,
        shown=SHOWN,
    )


def _four_fifths(screened: Told) -> Table:
    return table_of(
        "A screen: it says where to look, and is no verdict",
        screened,
        Column("group", "group"),
        Column("people", "people", "number"),
        Column("selection_rate", "selection rate", "share"),
        Column("ratio", "ratio to the highest", "number"),
        Column("low", "interval, from", "number"),
        Column("high", "to", "number"),
        CHANCE,
        Column("reading", "against four fifths"),
        Column("remark", "remark"),
        whole=False,
    )


def _calibration(details: Told, smallest: int) -> Table:
    """Of bins with few people nothing but their number is told: one person's score and outcome
    would stand there."""
    of_bins = ("group", "above", "up_to", "people")
    return table_of(
        "Outcomes by score",
        details["calibration"],
        Column("group", "group"),
        Column("above", "score from", "number"),
        Column("up_to", "to", "number"),
        Column("people", "people", "number"),
        Column("mean_score", "mean score", "number"),
        Column("observed_rate", "had the outcome", "share"),
        Column("low", "interval, from", "share"),
        Column("high", "to", "share"),
        hidden=lambda row, key: key not in of_bins and row["people"].count < smallest,
        sortable=True,
        shown=SHOWN,
    )


def _division(part: Told, level: float) -> Table:
    """The rates and ratios of one attribute, or of an intersection."""
    keys = ("group", "people", "share", "rate", "ratio", "ratio_low", "ratio_high", "by_chance")
    lines = tuple(
        (*(row.get(key).cell for key in keys), _reading(row)) for row in part["categories"]
    )
    columns = (
        Column("group", part["by"].shown),
        Column("people", "people", "number"),
        Column("share", "share of all", "share"),
        Column("rate", "rate", "share"),
        Column("ratio", "impact ratio", "number", "the rate, as a share of the highest one"),
        *bounds(level),
        CHANCE,
        Column("reading", "remark"),
    )
    unknown = part["unknown"].count
    left_out = f"; {unknown:,} people of unknown category are not in it" if unknown else ""
    some = part.get("any_by_chance").number
    chance = f". {by_chance(some)}" if some is not None else ""
    return Table(f"Impact ratios by {part['by'].shown}{left_out}{chance}", columns, lines)


def _reading(row: Told) -> str:
    """Where a ratio lies, and what is remarked of it."""
    words = (row.get(key, "").text for key in ("reading", "remark"))
    return opening("; ".join(filter(None, words)))


def _called(metric: str) -> str:
    return CALLED.get(metric, metric.replace("_", " "))


def _meant(metric: str, about: Told) -> str:
    return "; ".join(filter(None, (ABOUT.get(metric, ""), about.get(metric, "").text)))


def _kind(metric: str) -> Kind:
    return "share" if metric in ABOUT else "number"
