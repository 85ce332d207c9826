"""How were the answers found, of whom, and what must be known before believing them?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from causalfairness.report.page.blocks import (
    Block,
    Cell,
    Column,
    Folded,
    Section,
    Sentences,
    Table,
)
from causalfairness.report.study.reading import Reading, is_answered
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import ended, full_stop, opening

NOTHING = "No warnings were raised while the questions were asked."
ESTIMATORS = {
    "": "plain rates",
    "DoublyRobust": "doubly robust estimation",
    "Strata": "means within strata",
    "Regression": "regression",
    "Weighting": "weighting",
    "KnownModel": "asking the model itself",
    "Mixture": "a mixture model",
}
MISSED = "Where models of weights and of the outcome err together, world means are off by so much."
LEARNED = "What a model is worth: the smaller the loss on people it has not seen, the better."


def diagnostics(reading: Reading) -> Section:
    """How were the answers found, and of how many people?"""
    answered = [each for each in reading.answers if is_answered(each)]
    blocks: list[Block] = [*_warnings(reading)]
    lines = [line for answer in answered for line in dict.fromkeys(_lines(answer, reading))]
    if lines:
        blocks.append(_overview(lines))
    learned = [each for answer in answered for each in dict.fromkeys(_learners(answer, reading))]
    if learned:
        blocks.append(Folded("Models behind the answers", (_models(learned),)))
    missed = [each for answer in answered for each in dict.fromkeys(_remainders(answer, reading))]
    if missed:
        blocks.append(Folded("What the models miss together", (_missed(missed),)))
    mechanisms = _mechanisms(answered)
    if mechanisms is not None:
        blocks.append(Folded("Mechanisms behind what would have been", (mechanisms,)))
    return Section("diagnostics", "How the answers were found", tuple(blocks))


def _warnings(reading: Reading) -> list[Block]:
    said = [
        f"{opening(each['title'].text)} was not answered: {ended(each['reason'].text)}"
        for each in reading.answers
        if not is_answered(each)
    ]
    said += [
        f"{opening(each['question'].text)}: {full_stop(each['warning'].text)}"
        for each in reading.told.get("warnings", [])
    ]
    return [Sentences(tuple(said), listed=True) if said else Sentences((NOTHING,), quiet=True)]


def _lines(answer: Told, reading: Reading) -> Iterator[tuple[Cell, ...]]:
    """One line for each way an answer was found."""
    for told in answer["diagnostics"]:
        rows = told.get("rows", {})
        overlap = told.get("overlap", {})
        yield (
            opening(reading.called(answer["title"])),
            rows.get("read").number,
            rows.get("used").number,
            _found_by(told.get("estimator", "").text),
            told.get("chosen_because", "").text,
            overlap.get("of_rows").number,
            overlap.get("effective_rows").number,
        )


def _found_by(estimator: str) -> str:
    """An estimator in words, with its settings."""
    name, _, choices = estimator.partition("(")
    if name not in ESTIMATORS:
        return estimator
    settings = choices.rstrip(")").replace("=", " ").replace("_", " ")
    return f"{ESTIMATORS[name]} ({settings})" if settings else ESTIMATORS[name]


def _overview(lines: Sequence[tuple[Cell, ...]]) -> Table:
    columns = (
        Column("question", "question"),
        Column("read", "people read", "number"),
        Column("used", "people used", "number"),
        Column("estimator", "found by"),
        Column("because", "because"),
        Column("rows", "stand in for others", "number", "people weighted to be like the others"),
        Column("worth", "count for", "number", "what they are worth, once weighted"),
    )
    return Table("Question by question", columns, tuple(lines))


def _learners(answer: Told, reading: Reading) -> Iterator[tuple[Cell, ...]]:
    """The model that was taken for each target, and below it all that were compared."""
    title = opening(reading.called(answer["title"]))
    for told in answer["diagnostics"]:
        for model in told.get("learners", []):
            target, learner, measure = (model[key].text for key in ("target", "learner", "measure"))
            baseline = model["baseline"].number
            yield title, target, learner, measure, model["loss"].number, baseline
            for name, loss in model.get("candidates", []):
                yield title, target, name.text, f"{measure}, compared", loss.number, baseline


def _models(lines: Sequence[tuple[Cell, ...]]) -> Table:
    columns = (
        Column("question", "question"),
        Column("target", "what is predicted", meaning="A group, C confounders, M mediators"),
        Column("learner", "by"),
        Column("measure", "measure"),
        Column("loss", "loss on unseen people", "number"),
        Column("baseline", "without a model", "number"),
    )
    return Table(LEARNED, columns, tuple(lines), sortable=True, shown=16)


def _remainders(answer: Told, reading: Reading) -> Iterator[tuple[Cell, ...]]:
    title = opening(reading.called(answer["title"]))
    for told in answer["diagnostics"]:
        for each in told.get("remainders", []):
            numbers = (each[key].number for key in ("value", "error", "smooth", "smooth_error"))
            worlds = (", ".join(f"{at.number:g}" for at in world) for world in each["worlds"])
            yield title, "; ".join(worlds), each["weighted"].text, *numbers


def _missed(lines: Sequence[tuple[Cell, ...]]) -> Table:
    columns = (
        Column("question", "question"),
        Column("world", "world", meaning="direct path set to, mediators set to, among whom"),
        Column("weighted", "weighted by"),
        Column("value", "subtracted", "number", "what is linear in the columns"),
        Column("error", "its standard error", "number"),
        Column("smooth", "smooth remainder", "number", "compared with the parts, not subtracted"),
        Column("smooth_error", "its standard error", "number"),
    )
    return Table(MISSED, columns, tuple(lines), sortable=True, shown=16)


def _mechanisms(answers: Sequence[Told]) -> Table | None:
    keys = ("node", "mechanism", "why", "measure")
    found: dict[tuple[Cell, ...], None] = {}
    for answer in answers:
        for fit in answer["details"].get("mechanisms", []):
            texts = tuple(fit.get(key, "").text for key in keys)
            found[(*texts, fit.get("value").number, fit.get("baseline").number)] = None
    if not found:
        return None
    columns = (
        Column("node", "column"),
        Column("mechanism", "mechanism"),
        Column("why", "chosen because"),
        Column("measure", "measure"),
        Column("value", "on unseen people", "number"),
        Column("baseline", "without causes", "number"),
    )
    return Table("How each column comes about, as fitted", columns, tuple(found))
