"""A page with every kind of block, written by hand, for tests of how pages look."""

import math
import struct
import zlib

from causalfairness.graph import CausalGraph
from causalfairness.report import causal_picture
from causalfairness.report.page.blocks import (
    Beside,
    Column,
    Curve,
    Curves,
    Dossier,
    Dossiers,
    Folded,
    Histogram,
    Images,
    Intervals,
    Judgment,
    Judgments,
    Page,
    Pairs,
    Part,
    Picture,
    Points,
    Section,
    Sentences,
    Table,
    Waterfall,
    Waterfalls,
)
from causalfairness.report.summary import Row, Step


def page_with(name="African-American"):
    """Every kind of block, with a name that somebody else chose wherever one may stand."""
    return Page(
        title="COMPAS",
        kicker="An audit for causal discrimination",
        sections=(
            _summary(name),
            Section("picture", "The causal picture", (_picture(name),)),
            _gap(name),
            _groups(name),
            _individuals(name),
            _images(name),
            _assumptions(name),
            _provenance(name),
        ),
        footer="Made with causalfairness. The numbers hold under the assumptions stated above.",
        meta=("compas.parquet", "6,172 people", "10 questions", name),
        generator="causalfairness 0.1",
    )


def _summary(name):
    said = (
        f"Scores of 5 and more are given to {name} 24.5 points more often than to Caucasian "
        "(21.9 to 27.2 points), while re-arrest differs by 13.2 points.",
        "Of this gap 7.5 points remain when criminal history, age and sex are held alike; "
        "11.4 points run through criminal history, 5.6 through age and sex.",
        "At equal scores the two groups are re-arrested about equally often: the difference of "
        "3.1 points is too uncertain to judge.",
        "Business necessity was claimed for age and sex only; the direct and the indirect path "
        "are violated, the spurious one is undecided.",
        "One assumption is contradicted by the data: re-arrest and score stay related given "
        "everything else in the graph.",
    )
    verdicts = (
        Judgment("violated", f"direct path for {name}", "7.5 points, above the margin of 2 points"),
        Judgment("undecided", "predictive parity", "neither shown above 0.05 nor below"),
        Judgment("satisfied", "spurious path", "within 2 points of the outcome's"),
        Judgment("unanswered", "invariance", "refused: the column 'x' is missing"),
        Judgment("plain", "four-fifths screen", "a screen, which judges nothing"),
    )
    return Section("summary", "In short", (Sentences(said), Judgments(verdicts)))


def _picture(name):
    graph = CausalGraph.parse("race <-> age; {race, age} -> priors; {race, age, priors} -> recid")
    svg = causal_picture(graph, protected="race", outcome="recid")
    return Picture(svg, f"race causes recid, for {name} too", "Arrows lead to the right.")


def _steps(name, start, parts):
    steps = [Step("reference", "Caucasian", "level", 0.0, start, start - 0.02, start + 0.02)]
    at = start
    for part, size in parts.items():
        steps.append(
            Step(part, part, "change", at, at + size, at + size - 0.015, at + size + 0.015)
        )
        at += size
    return (*steps, Step("comparison", name, "level", 0.0, at, at - 0.02, at + 0.02))


def _gap(name):
    parts = {"direct": 0.010, "indirect": 0.078, "spurious": 0.044}
    more = {"direct": 0.075, "indirect": 0.114, "spurious": 0.056}
    drawings = (
        Waterfall("Re-arrest", "two_year_recid", "Caucasian", name, _steps(name, 0.391, parts)),
        Waterfall("Score of 5 or more", name, "Caucasian", name, _steps(name, 0.331, more)),
    )
    rows = tuple(
        Row(group, part, size, 0.0123, size - 0.024, size + 0.024, 0.0004, meaning=meaning)
        for group in (name, "Hispanic")
        for part, size, meaning in (
            ("total", 0.245, "the whole gap"),
            ("direct", 0.075, ""),
            ("indirect", 0.114, ""),
            ("spurious", 0.056, ""),
            (name, math.nan, "a part of their own naming"),
        )
    )
    return Section(
        "gap",
        "Where the gap comes from",
        (
            Waterfalls(drawings, level=0.95, shared=True),
            Sentences(
                (
                    f"Gap: the mean is 0.245 higher for {name} than for Caucasian.",
                    "Direct: +0.075 (+0.051 to +0.099) of the gap remains.",
                    "Indirect: +0.114 (+0.099 to +0.129) runs through the mediators.",
                    "Spurious: +0.056 (+0.045 to +0.066) comes with age and sex.",
                ),
                listed=True,
            ),
            Intervals("The gap and its parts", rows, level=0.95, margin=0.02),
            Folded("Every effect", (Sentences(("Nothing more.",), quiet=True),)),
        ),
    )


def _groups(name):
    columns = (
        Column("group", "group"),
        Column("people", "people", "number"),
        Column("rate", "selection rate", "share", "the share of people who are selected"),
        Column("ratio", "ratio to the highest", "number"),
        Column("p", "p", "p"),
        Column("verdict", "verdict", "verdict"),
        Column("small", "few people", "yes"),
        Column("remark", "remark"),
    )
    rows = (
        (name, 3175, 0.424, 0.533, 1e-9, "violated", False, ""),
        ("Caucasian", 2103, 0.669, 0.841, 0.03, "undecided", False, "the reference group"),
        ("Native American", 11, 0.273, None, None, "unanswered", True, None),
        ("Other", 343, 0.796, 1.0, 1.0, "satisfied", False, ""),
    )
    return Section(
        "groups",
        "Groups and intersections",
        (
            Sentences(("Every rate stands with the number of people behind it.",), quiet=True),
            Table("Selection rates by race", columns, rows),
            Part("By sex", (Part("Women", (Table("Nobody", columns[:2], ()),)),)),
        ),
    )


def _bell(middle, width):
    at = [x / 10 for x in range(-40, 61)]
    return tuple(at), tuple(math.exp(-(((x - middle) / width) ** 2)) for x in at)


def _individuals(name):
    curves = Curves(
        f"Scores of {name}",
        "decile score",
        (Curve("as they are", *_bell(1.0, 1.5)), Curve(f"not {name}", *_bell(0.2, 1.2))),
        "Densities of what is and what would have been.",
    )
    edges = tuple(x / 10 for x in range(-10, 21))
    counts = tuple(round(900 * math.exp(-((x / 10 - 0.3) ** 2) * 4)) for x in range(-10, 20))
    shifts = Histogram("How far people would move", "shift of the score", edges, counts, "All.")
    columns = (
        Column("row", "person", "number", "the row of the data"),
        Column("k", "neighbors", "number"),
        Column("group", "group"),
        Column("delta", "difference", "number", "declined among controls, minus among peers"),
        Column("low", "from", "number"),
        Column("evidence", "evidence", "yes"),
        Column("p", "p", "p"),
    )
    rows = tuple(
        (at, 15, f"{name} {at % 3}", None if at % 7 == 0 else 0.6 - at / 90, -0.1, at < 20, at / 60)
        for at in range(60)
    )
    links = tuple(str(at) if at < 3 else "" for at in range(60))
    cases = tuple(
        Dossier(
            str(at),
            f"Person {at}, {name}",
            (Pairs((("age", "25"), ("group", name))), Part("Controls", (Sentences(("None.",)),))),
        )
        for at in range(3)
    )
    return Section(
        "individuals",
        "Individuals",
        (
            Beside((curves, shifts)),
            Table("Who was treated differently", columns, rows, True, links, shown=12),
            Dossiers(cases),
        ),
    )


def _images(name):
    films = tuple(tuple(_film(row, column) for column in range(3)) for row in range(2))
    x = tuple(0.1 + 0.008 * at for at in range(100))
    y = tuple(0.9 * value + 0.1 * math.sin(40 * value) + 0.06 for value in x)
    return Section(
        "films",
        "Radiographs",
        (
            Images(
                ("in fact", f"had they been {name}", "difference"),
                films,
                "Films of two people and what would have been.",
                ("Person 1", name),
                "Simulated films.",
            ),
            Points("edema", "score", "score had the group been another", x, y, "One point a film."),
        ),
    )


def _film(row, column, size=48):
    lines = b"".join(
        b"\0" + bytes((x * (column + 2) + y * (row + 2)) % 256 for x in range(size))
        for y in range(size)
    )
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _assumptions(name):
    lines = (
        "The graph leaves out no arrow and no hidden common cause.",
        f"Every {name} could have been compared with somebody.",
    )
    return Section("assumptions", "True only if", (Sentences(lines, listed=True),))


def _provenance(name):
    facts = (("data", "compas.parquet"), ("fingerprint", "3f" * 32), ("group", name), ("seed", "0"))
    return Section("provenance", "Where this comes from", (Pairs(facts),))
