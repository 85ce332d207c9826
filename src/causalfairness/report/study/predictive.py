"""Does a score mean the same in both groups, and may it use what it uses? Paths, and the group."""

from __future__ import annotations

from causalfairness.report.page.blocks import (
    Block,
    Column,
    Curve,
    Curves,
    Folded,
    Pairs,
    Section,
    Sentences,
    Table,
)
from causalfairness.report.study.reading import Reading
from causalfairness.report.study.rows import intervals, row_of, unknown
from causalfairness.report.study.told import Told
from causalfairness.report.study.verdicts import margin_of, question_by_question
from causalfairness.report.study.words import (
    bounds,
    listed,
    opening,
    part_called,
    said_of,
    table_of,
)

DECLARED = "Nobody declared a path necessary: each is allowed only where the audit says so."
PARITY = (
    "If a score means the same in both groups, people with the same score have the same outcomes "
    "on average, whichever group they belong to."
)
NECESSITY = (
    "A path that is not allowed should carry nothing of the prediction; one that is allowed should "
    "carry no more of it than of the outcome itself."
)

MEANT = (
    "If nothing but these features tied group and prediction together, the prediction would say "
    "nothing about the group among people who are alike in them: {features}."
)


def predictive(reading: Reading) -> Section | None:
    """Does a score mean the same in both groups, and does it use only the paths it may?"""
    asked = reading.of_kind("predictive_parity", "necessity")
    title = "What the prediction means, and what it may use"
    blocks = question_by_question(asked, reading, _about)
    return Section("predictive", title, blocks) if asked else None


def invariance(reading: Reading) -> Section | None:
    """Does the prediction depend on the group beyond the features?"""
    asked = reading.of_kind("invariance")
    title = "Dependence on the group beyond the features"
    blocks = question_by_question(asked, reading, _dependence)
    return Section("invariance", title, blocks) if asked else None


def _about(answer: Told, reading: Reading) -> list[Block]:
    of_parity = answer["kind"].value == "predictive_parity"
    return _parity(answer, reading) if of_parity else _necessity(answer, reading)


def _parity(answer: Told, reading: Reading) -> list[Block]:
    level, smallest = reading.level, reading.smallest
    effects = [each for each in answer["effects"] if not each["name"].exact.startswith("absolute_")]
    named = [row_of(each, name=opening(part_called(each["name"].text))) for each in effects]
    rows = [row for row in named if row is not None]
    return [
        Sentences((PARITY,), quiet=True),
        said_of(answer),
        *_drawn(answer, smallest),
        *intervals("On average over all scores", rows, level=level, margin=margin_of(answer)),
        *unknown(effects),
        Folded("Score by score", (_bins(answer, level, smallest),)),
    ]


def _drawn(answer: Told, smallest: int) -> list[Block]:
    """Mean outcomes by score, group by group; bins with nobody, or with few, are left out."""
    curves, details = [], answer["details"]
    for at, key in enumerate(("reference", "comparison")):
        scores = _numbers(details["mean_scores"], at)
        outcomes = _numbers(details["mean_outcomes"]["value"], at)
        points = [
            (score, outcome)
            for score, outcome, row in zip(scores, outcomes, answer["table"].rows, strict=False)
            if score is not None and outcome is not None
            if row[f"{key}_people"].count >= smallest
        ]
        if len(points) > 1:
            x, y = zip(*sorted(points), strict=True)
            curves.append(Curve(details[key].text, x, y))
    what, score = details["what"].text, details["score"].text
    caption = f"Where the lines part, the same score goes with different {what}."
    drawn = Curves(f"Mean {what} by score", score, tuple(curves), caption, f"mean {what}")
    return [drawn] if curves else []


def _numbers(groups: Told, at: int) -> list[float | None]:
    by_group = [*groups]
    return [each.number for each in by_group[at]] if at < len(by_group) else []


def _bins(answer: Told, level: float, smallest: int) -> Table:
    details = answer["details"]
    sides = [(side, details[side].text) for side in ("reference", "comparison")]
    what = details["what"].text
    return table_of(
        "Outcomes at equal scores",
        answer["table"].rows,
        Column("score_from", f"{details['score'].text} from", "number"),
        Column("score_to", "to", "number"),
        *(Column(f"{side}_people", f"people, {group}", "number") for side, group in sides),
        *(Column(f"{side}_outcome", f"mean {what}, {group}", "number") for side, group in sides),
        Column("ppm", "difference", "number"),
        *bounds(level, "ppm_"),
        hidden=lambda row, key: _tells_on_few(row, key, smallest),
    )


def _tells_on_few(row: Told, key: str, smallest: int) -> bool:
    """Would this cell say what so few people had, alone or by the difference?"""
    few = [side for side in ("reference", "comparison") if row[f"{side}_people"].count < smallest]
    return bool(few) and (key.startswith("ppm") or any(key == f"{side}_outcome" for side in few))


def _necessity(answer: Told, reading: Reading) -> list[Block]:
    details, level = answer["details"], reading.level
    return [
        Sentences((NECESSITY,), quiet=True),
        _paths(answer, level),
        _ledger(details),
        Folded("In words", (Sentences(answer["sentences"].texts, listed=True),)),
    ]


def _paths(answer: Told, level: float) -> Table:
    return table_of(
        "Path by path",
        answer["table"].rows,
        Column("path", "path"),
        Column("allowed", "allowed", "yes"),
        Column("outcome", "effect on the outcome", "number"),
        Column("prediction", "effect on the prediction", "number"),
        Column(
            "difference",
            "what is judged",
            "number",
            "the effect on the prediction; on an allowed path, what it has beyond the outcome's",
        ),
        *bounds(level),
        Column("verdict", "verdict", "verdict"),
        first=lambda row: (opening(row["path"].text),),
    )


def _ledger(details: Told) -> Block:
    lines = []
    for each in details["declarations"]:
        when = f", {each['on'].text}" if each.get("on") else ""
        said = f"declared necessary by {each['by'].text}{when}: {each['because'].text}"
        lines.append((f"{each['path'].text} path", said))
    return Pairs(tuple(lines)) if lines else Sentences((DECLARED,), quiet=True)


def _dependence(answer: Told, _: Reading) -> list[Block]:
    said = MEANT.format(features=listed(answer["details"]["features"].texts))
    test = Folded("The test", (_test(answer),))
    return [Sentences((said,), quiet=True), said_of(answer), test]


def _test(answer: Told) -> Table:
    return table_of(
        opening(answer["details"]["method"].text),
        answer["table"].rows,
        Column("model", "prediction"),
        Column("n", "people", "number"),
        Column("statistic", "test statistic", "number"),
        Column("p_value", "p-value", "p"),
        Column("p_adjusted", "p-value, for all tests at once", "p"),
        Column("effect", "mean square the group moves", "number"),
        Column("upper", "at most", "number"),
        Column("explained", "variance that features reproduce", "share"),
        Column("undecided", "not sure", "yes"),
        whole=False,  # records of version 0.1 do not say the last two
    )
