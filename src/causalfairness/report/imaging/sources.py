"""How far can the images be trusted, what is assumed, and where does it all come from?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from causalfairness.report.imaging.words import group_called
from causalfairness.report.numbers import percent
from causalfairness.report.page.blocks import (
    Block,
    Column,
    Folded,
    Pairs,
    Part,
    Section,
    Sentences,
    Table,
)

QUALITY = {
    "composition": (
        "composition",
        "mean absolute change of a pixel, made for the own group; 0 is right",
    ),
    "reversibility": ("reversibility", "the same after another group and back; 0 is right"),
}
CAUTION = (
    "Neither proves that the images are what they would have been: on real images nobody knows. "
    "A generator is checked against the truth on simulated radiographs (docs/imaging.md)."
)


def quality(record: Mapping[str, Any]) -> Section | None:
    """How far can the images be trusted? None where nothing was measured."""
    measured, blocks = record.get("quality", {}), list[Block]()
    lines = [
        (title, f"{measured[key]:.2g}: {meaning}")
        for key, (title, meaning) in QUALITY.items()
        if measured.get(key) is not None
    ]
    if lines:
        blocks += [Pairs(tuple(lines)), Sentences((CAUTION,), quiet=True)]
    areas = _areas(record)
    if areas is not None:
        blocks.append(Part("How well classifiers read findings", (areas,)))
    shares = _shares(record)
    if shares is not None:
        blocks.append(Part("Findings by group", (shares,)))
    if not blocks:
        return None
    return Section("quality", "How far can this be trusted?", tuple(blocks))


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
    chosen = {name: value for name, value in every.items() if value is not None}
    lines = tuple(
        (name.replace("_", " "), _text(value))
        for name, value in chosen.items()
        if value is not None
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
