"""What is the verdict on a question, and why? In one line for each effect that was judged.

Verdicts are those of the record: beyond the margin, within it, or left open by the data, under the
stated assumptions. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from causalfairness.audit.record import VERDICTS
from causalfairness.errors import RecordError
from causalfairness.parity.necessity.rules import Evidence
from causalfairness.report.page.blocks import Block, Judgment, Judgments, Part, Tone
from causalfairness.report.study.reading import Reading, is_answered
from causalfairness.report.study.rows import between, row_of
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import opening, part_called, remarks

FOUND: dict[Tone, str] = {
    "violated": "shown to lie beyond the margin of {margin}",
    "satisfied": "shown to lie within the margin of {margin}",
    "undecided": "shown neither to lie beyond the margin of {margin} nor within it",
}
UNKNOWN = "no number that could be judged is known"


def question_by_question(
    asked: Sequence[Told],
    reading: Reading,
    about: Callable[[Told, Reading], Iterable[Block]],
    titled: Callable[[Told], str] | None = None,
) -> tuple[Block, ...]:
    """What is said of each question? Its verdict, what there is `about` an answer, and remarks."""
    parts = []
    for answer in asked:
        title = reading.called(answer["title"]) if titled is None else titled(answer)
        said = [*about(answer, reading), *remarks(answer)] if is_answered(answer) else []
        parts.append(Part(opening(title), (*judgments_of(answer), *said)))
    return tuple(parts)


def all_judgments(reading: Reading) -> list[Block]:
    """Which verdicts are there, one line for each question? Questions without answer too."""
    lines = []
    for answer in reading.answers:
        what = opening(reading.called(answer["title"]))
        if not is_answered(answer):
            lines.append(Judgment("unanswered", what, answer["reason"].text))
        elif verdict_of(answer) is not None:
            lines.append(Judgment(tone_of(answer["verdict"]), what, _because(answer)))
    return [Judgments(tuple(lines))] if lines else []


def judgments_of(*answers: Told) -> list[Block]:
    """What is the verdict on these questions? One line for each thing judged; none without one."""
    lines: list[Judgment] = []
    for answer in answers:
        if not is_answered(answer):
            what = opening(answer["title"].text)
            lines.append(Judgment("unanswered", what, answer["reason"].text))
        elif verdict_of(answer) is not None:
            lines += [
                Judgment(tone, what, f"{size}, {why}") for tone, what, size, why in _found(answer)
            ]
    return [Judgments(tuple(lines))] if lines else []


def verdict_of(answer: Told) -> str | None:
    """What is the verdict? None where nothing was judged."""
    return None if answer["verdict"].value is None else tone_of(answer["verdict"])


def tone_of(verdict: Told) -> Tone:
    """Which of the three verdicts is it?"""
    for tone in FOUND:
        if verdict.value == tone:
            return tone
    raise RecordError(
        f"{verdict.where} is {str(verdict.value)[:60]!r}; expected one of {', '.join(VERDICTS)}"
    )


def margin_of(answer: Told) -> float | None:
    """Which margin was set? None where none was."""
    return answer["judgment"]["margin"].number if answer["judgment"] else None


class Found(NamedTuple):
    """What was judged, how large is it, and what do the tests say?"""

    tone: Tone
    what: str
    size: str
    why: str


def _found(answer: Told) -> Iterator[Found]:
    judgment, kind = answer["judgment"], answer["kind"].value
    margin = _margin(answer)
    if kind == "necessity":
        for path in judgment["paths"]:
            yield _along(path, margin)
    elif kind == "invariance":
        yield _moved(judgment, tone_of(answer["verdict"]), margin)
    else:
        about = answer["details"].get("what", "").text
        for effect in judgment["effects"]:
            tone = tone_of(effect["verdict"])
            name = effect["name"].text
            what = opening(f"{part_called(name)}, {about}")
            if kind == "counterfactual_fairness" or not about:
                what = f"Mean change of predictions, {name}"
            yield Found(tone, what, _size(effect), _why(effect, tone, margin))


def _why(judged: Told, tone: Tone, margin: str) -> str:
    """What the tests say, and how many people would do where a margin is out of reach."""
    numbers = (judged.get(key).number for key in ("people", "people_needed"))
    people, needed = (None if each is None else int(each) for each in numbers)
    reach = Evidence("undecided", people=people, people_needed=needed).out_of_reach("this size")
    told = reach if tone == "undecided" else ""
    return f"{FOUND[tone].format(margin=margin)}{f': {told}' if told else ''}"


def _margin(answer: Told) -> str:
    """How large it is, and who set it."""
    by = answer["question"].get("margin_set_by")
    said = "nobody said who set it" if by.value is None else f"set by {by.text}"
    return f"{answer['judgment']['margin'].sure:g} ({said})"


def _size(effect: Told) -> str:
    row = row_of(effect)
    return UNKNOWN if row is None else between(row)


def _along(path: Told, margin: str) -> Found:
    tone, allowed = tone_of(path["verdict"]), path["allowed"].value is True
    judged = {**path.value, "value": path["difference"].value, "name": ""}
    compared = "prediction minus outcome" if allowed else "effect on the prediction"
    return Found(
        tone,
        f"{opening(path['path'].text)} path ({'allowed' if allowed else 'not allowed'})",
        f"{compared} {_size(Told(judged, path.where, path.cut))}",
        _why(path, tone, margin),
    )


def _moved(judgment: Told, tone: Tone, margin: str) -> Found:
    low, high = (judgment[key].sure for key in ("low", "high"))
    size = f"the group moves predictions by {low:.3g} to {high:.3g}, root mean square"
    return Found(tone, "Dependence on the group", size, FOUND[tone].format(margin=margin))


def _because(answer: Told) -> str:
    """The reason in one line: what decided, and what the tests say of it."""
    found = [*_found(answer)]
    decisive = [each for each in found if each.tone == answer["verdict"].value] or found
    if not decisive:
        return UNKNOWN
    sizes = [f"{each.what.partition(', ')[0]}: {each.size}" for each in decisive]
    return f"{'; '.join(sizes)}; {decisive[0].why}"
