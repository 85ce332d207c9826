"""Does the prediction depend on the group once the features are known?"""

from __future__ import annotations

from causalfairness.report.page.blocks import (
    Block,
    Column,
    Folded,
    Part,
    Section,
    Sentences,
    Table,
)
from causalfairness.report.study.reading import Reading, is_answered
from causalfairness.report.study.told import Told
from causalfairness.report.study.verdicts import judgments_of
from causalfairness.report.study.words import listed, opening, remarks, said_of

MEANT = (
    "If nothing but these features tied group and prediction together, the prediction would say "
    "nothing about the group among people who are alike in them: {features}."
)


def invariance(reading: Reading) -> Section | None:
    """Does the prediction depend on the group beyond the features?"""
    asked = reading.of_kind("invariance")
    if not asked:
        return None
    blocks = []
    for answer in asked:
        parts: list[Block] = [*judgments_of(answer)]
        if is_answered(answer):
            features = answer["details"]["features"].texts
            said = MEANT.format(features=listed(features))
            parts.append(Sentences((said,), quiet=True))
            parts.append(said_of(answer))
            parts.append(Folded("The test", (_test(answer),)))
            parts += remarks(answer)
        blocks.append(Part(opening(reading.called(answer["title"])), tuple(parts)))
    return Section("invariance", "Dependence on the group beyond the features", tuple(blocks))


def _test(answer: Told) -> Table:
    keys = ("model", "n", "statistic", "p_value", "p_adjusted", "effect", "upper")
    lines = tuple(tuple(row[key].cell for key in keys) for row in answer["table"].rows)
    columns = (
        Column("model", "prediction"),
        Column("n", "people", "number"),
        Column("statistic", "test statistic", "number"),
        Column("p_value", "p-value", "p"),
        Column("p_adjusted", "p-value, for all tests at once", "p"),
        Column("effect", "mean square the group moves", "number"),
        Column("upper", "at most", "number"),
    )
    return Table(opening(answer["details"]["method"].text), columns, lines)
