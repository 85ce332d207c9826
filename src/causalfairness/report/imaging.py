"""What does an audit of radiographs show? Tests, scores, images and what they rest on.

The record is all there is (`causalfairness.imaging.recording`): nothing is computed again. Parts
that it does not hold, such as pictures, are left out. Sections stand here as they do on the page.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from causalfairness.errors import RecordError
from causalfairness.report.numbers import percent
from causalfairness.report.page.blocks import (
    Beside,
    Block,
    Cell,
    Column,
    Folded,
    Images,
    Page,
    Pairs,
    Part,
    Points,
    Section,
    Sentences,
    Table,
)
from causalfairness.report.study.words import opening

SCHEMA = "causalfairness.imaging/1"
NEEDED = ("rows", "sentences", "settings", "assumptions", "notes", "versions")
FOOTER = (
    "Made with causalfairness {version} from the record of the audit. What is said holds under the "
    "assumptions stated above, as far as the generator can be trusted, and under no others."
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
INVARIANCE = (
    "A score is invariant to the group if it stays the same when only the group is another: same "
    "person, same findings, another group. The generator makes those images; the test asks whether "
    "the scores of real images move with the group as it says they would."
)
OPEN = 10  # plots that are shown at once
POINTS = (
    "Every point is one image made for one other group: its score as it is, and had the group been "
    "that one. On the line nothing changed. These are generated images: what the generator gets "
    "wrong moves points too, so the tests above do not rest on this picture alone."
)
EXAMPLES = (
    "The first people of each group, not chosen by what they show. If a picture has changed where "
    "the group has no business, such as in a finding, the audit is about more than the group."
)
QUALITY = {
    "composition": "mean absolute change of a pixel, made for the own group; 0 is right",
    "reversibility": "the same after another group and back; 0 is right",
}
CAUTION = (
    "Neither proves that the images are what they would have been: on real images nobody knows. "
    "A generator is checked against the truth on simulated radiographs (docs/imaging.md)."
)


def imaging_page(record: Mapping[str, Any]) -> Page:
    """What does an audit of radiographs show?

    >>> row = {"model": "reader", "finding": "edema", "statistic": 0.2, "p_value": 0.42,
    ...        "p_adjusted": 0.42, "rejected": False, "agreement": 0.97}
    >>> record = {"schema": SCHEMA, "title": "Films", "rows": [row], "sentences": ["Nothing."],
    ...           "settings": {"method": "projected", "level": 0.95}, "assumptions": [],
    ...           "notes": [], "versions": {"causalfairness": "1.0"}}
    >>> [section.key for section in imaging_page(record).sections]
    ['summary', 'tests', 'assumptions', 'provenance']
    """
    told = _checked(record)
    sections = (summary, dependence, scores, images, quality, assumptions, provenance)
    found = [make(told) for make in sections]
    version = told["versions"].get("causalfairness", "")
    data = told.get("data", {})
    about = (
        f"{data['images']:,} images" if "images" in data else "",
        ", ".join(map(group_called, data.get("groups", {}))),
        str(data.get("folder", "")),
    )
    return Page(
        title=str(told.get("title") or "An audit of classifiers of radiographs"),
        kicker="Counterfactual invariance of images",
        sections=tuple(section for section in found if section is not None),
        footer=FOOTER.format(version=version),
        meta=tuple(each for each in about if each),
        generator=f"causalfairness {version}",
    )


def is_imaging_record(record: Any) -> bool:
    """Is this the record of an audit of radiographs?

    >>> is_imaging_record({"schema": "causalfairness.imaging/1"}), is_imaging_record({})
    (True, False)
    """
    return isinstance(record, Mapping) and record.get("schema") == SCHEMA


def _checked(record: Mapping[str, Any]) -> Mapping[str, Any]:
    if not is_imaging_record(record):
        raise RecordError(
            f"this is no record of an audit of radiographs: its schema is "
            f"{record.get('schema')!r}, expected {SCHEMA!r}"
        )
    absent = [name for name in NEEDED if name not in record]
    if absent:
        raise RecordError(
            f"the record of the audit lacks {', '.join(absent)}; write it again with "
            "causalfairness imaging audit --record"
        )
    return record


def summary(record: Mapping[str, Any]) -> Section:
    """What was found, in short?"""
    said = Sentences((_counted(record), *map(str, record["sentences"])))
    return Section("summary", "In short", (said, Pairs(tuple(_in_short(record).items()))))


def dependence(record: Mapping[str, Any]) -> Section:
    """What did every test find?"""
    settings = record["settings"]
    caption = (
        f"{opening(str(settings.get('method', 'invariance')))} test of every classifier and "
        f"finding, at the {percent(float(settings.get('level', 0.95)))} level"
    )
    blocks: list[Block] = [Sentences((INVARIANCE,), quiet=True), _table(record, COLUMNS, caption)]
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


def _in_short(record: Mapping[str, Any]) -> dict[str, str]:
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


def scores(record: Mapping[str, Any]) -> Section | None:
    """How do scores move? None where the record holds no scores."""
    plots = record.get("scores", [])
    if not plots:
        return None
    drawn = [_points(plot) for plot in plots]
    blocks: list[Block] = [Sentences((POINTS,), quiet=True), Beside(tuple(drawn[:OPEN]))]
    if len(drawn) > OPEN:
        rest = Beside(tuple(drawn[OPEN:]))
        blocks.append(Folded(f"{len(drawn) - OPEN} more classifiers and findings", (rest,)))
    return Section("scores", "How scores move with the group", tuple(blocks))


def _points(plot: Mapping[str, Any]) -> Points:
    people = plot.get("people")
    return Points(
        title=f"{plot['finding']}, {plot['model']}",
        x_axis="score of the image as it is",
        y_axis="score had the group been another",
        x=tuple(map(float, plot["x"])),
        y=tuple(map(float, plot["y"])),
        caption=f"{people:,} people" if people else "",
    )


def images(record: Mapping[str, Any]) -> Section | None:
    """What do counterfactual images look like? None where the record holds none."""
    pictures = record.get("pictures", {})
    if not pictures.get("people"):
        return None
    groups, factor = [*map(group_called, pictures["groups"])], pictures["factor"]
    people = pictures["people"]
    worlds = _grid(
        people,
        ("as it is", *(f"as {group}" for group in groups)),
        [(person["factual"], *person["counterfactuals"]) for person in people],
        "as they are, and as generated under each of the groups",
        "Under the own group nothing should change.",
    )
    changes = _grid(
        people,
        tuple(f"change to {group}" for group in groups),
        [person["differences"] for person in people],
        "and what changes on them under each of the groups",
        f"Changes are drawn {factor} times as strong as they are: red is brighter than the image "
        "as it is, blue darker, gray the same.",
    )
    blocks = (
        Sentences((EXAMPLES,), quiet=True),
        Part("Had the group been another", (worlds,)),
        Part(f"What changed, x {factor}", (changes,)),
    )
    return Section("images", "What the generator does to images", blocks)


def _grid(
    people: Sequence[Mapping[str, Any]],
    columns: tuple[str, ...],
    files: Sequence[Sequence[str]],
    words: str,
    caption: str,
) -> Images:
    return Images(
        columns=columns,
        rows=tuple(tuple(map(base64.b64decode, row)) for row in files),
        words=f"Radiographs of {len(people)} people {words}",
        row_names=tuple(_name(person) for person in people),
        caption=caption,
    )


def _name(person: Mapping[str, Any]) -> str:
    told = [group_called(person["group"])]
    if person.get("age") is not None:
        told.append(f"{person['age']:.0f} years")
    return ", ".join(told)


def quality(record: Mapping[str, Any]) -> Section | None:
    """How far can the images be trusted? None where nothing was measured."""
    measured, blocks = record.get("quality", {}), list[Block]()
    lines = [
        (name, f"{measured[name]:.2g}: {meaning}")
        for name, meaning in QUALITY.items()
        if measured.get(name) is not None
    ]
    if lines:
        blocks += [Pairs(tuple(lines)), Sentences((CAUTION,), quiet=True)]
    for title, table in (
        ("How well classifiers read findings", _areas(record)),
        ("Findings by group", _shares(record)),
    ):
        if table is not None:
            blocks.append(Part(title, (table,)))
    return Section("quality", "How far can this be trusted?", tuple(blocks)) if blocks else None


def assumptions(record: Mapping[str, Any]) -> Section:
    """What is assumed, and what else is to be known?"""
    said = tuple(map(str, record["assumptions"]))
    blocks: list[Block] = [Sentences(said, listed=True)] if said else []
    if record["notes"]:
        notes = Sentences(tuple(map(str, record["notes"])), listed=True)
        blocks.append(Part("Notes", (notes,)))
    return Section("assumptions", "True only if", tuple(blocks))


def provenance(record: Mapping[str, Any]) -> Section:
    """Which images, generator, program and settings do the numbers come from?"""
    blocks: list[Block] = [Pairs(tuple(_facts(record)))]
    every = {**record.get("generator", {}), **record["settings"]}
    lines = tuple(
        (name.replace("_", " "), _text(value)) for name, value in every.items() if value is not None
    )
    if lines:
        blocks.append(Folded("Every setting", (Pairs(lines),)))
    return Section("provenance", "Where this comes from", tuple(blocks))


def _areas(record: Mapping[str, Any]) -> Table | None:
    known = {name: it["auc"] for name, it in record.get("classifiers", {}).items() if it.get("auc")}
    if not known:
        return None
    findings = list(next(iter(known.values())))
    columns = (Column("classifier", "classifier"), *(Column(it, it, "number") for it in findings))
    rows = tuple((name, *(areas.get(it) for it in findings)) for name, areas in known.items())
    return Table("Area under the curve on the audited images; 0.5 is guessing", columns, rows)


def _shares(record: Mapping[str, Any]) -> Table | None:
    stated = record.get("data", {}).get("findings", [])
    told = [row for row in stated if any(share is not None for share in row["shares"].values())]
    if not told:
        return None
    groups = list(told[0]["shares"])
    columns = (
        Column("finding", "finding"),
        *(Column(f"group {name}", group_called(name), "share") for name in groups),
        Column("p_value", "p-value of chi-square", "p"),
    )
    rows = tuple(
        (row["finding"], *(row["shares"][name] for name in groups), row["p_value"]) for row in told
    )
    return Table("Share of images with each finding", columns, rows)


def _facts(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    data, generator = record.get("data", {}), record.get("generator", {})
    if "folder" in data:
        yield "data", str(data["folder"])
    yield from data.get("origin", {}).items()
    if "fingerprint" in data:
        yield "fingerprint of the data", str(data["fingerprint"])
    if "part" in data:
        yield "audited part", str(data["part"])
    if data.get("left_out"):
        yield (
            "left out",
            ", ".join(f"{count:,} {reason}" for reason, count in data["left_out"].items()),
        )
    if "images" in generator:
        yield "generator learned from", str(generator["images"])
    yield "level", percent(float(record["settings"].get("level", 0.95)))
    if "seed" in record["settings"]:
        yield "seed", str(record["settings"]["seed"])
    points, shown = record.get("scores", []), record.get("pictures", {}).get("people", [])
    of = {"scores": points[0].get("people") if points else 0, "images, group and age": len(shown)}
    told = [f"{what} of {many:,}" for what, many in of.items() if many]
    yield "single people", "; ".join(told) or "nothing is said about single people"
    versions = dict(record["versions"])
    yield "program", f"causalfairness {versions.pop('causalfairness', '')}".strip()
    if versions:
        yield "with", ", ".join(f"{name} {number}" for name, number in versions.items())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_text(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def group_called(name: object) -> str:
    """How is a group called? A bare number is one of a simulation.

    >>> group_called("White"), group_called("1")
    ('White', 'group 1')
    """
    text = str(name)
    return f"group {text}" if text.isdigit() else text
