"""What does a record say about its study? Answers by kind, levels and roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from causalfairness.audit.questions import Question
from causalfairness.audit.record import check_record
from causalfairness.errors import RecordError
from causalfairness.report.study.names import Names
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import ended, full_stop

ABOUT_PEOPLE = ("counterfactual_fairness", "situations")
QUESTIONS = get_args(get_args(Question)[0])
KINDS = ("attributes", "groups", *(each.model_fields["ask"].default for each in QUESTIONS))


@dataclass(frozen=True, eq=False)
class Reading:
    """What does a record say? Made by `Reading.of`, which refuses what is no record.

    >>> Reading.of({})
    Traceback (most recent call last):
    ...
    causalfairness.errors.RecordError: 'this' is no record of an audit; ...
    """

    told: Told
    names: Names

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Reading:
        """What does this record say?"""
        found = check_record(record, "this")
        names = Names.of(found)
        reading = cls(Told(found, "record", names.cut), names)
        for answer in reading.answers:
            kind, status = answer["kind"].exact, answer["status"].exact
            if kind not in KINDS or status not in ("answered", "not answered"):
                raise RecordError(
                    f"{answer.where} is of kind {kind!r} and status {status!r}, which this version "
                    "does not know"
                )
        return reading

    @cached_property
    def answers(self) -> tuple[Told, ...]:
        """Which questions were asked? In their order, answered or not."""
        return tuple(self.told["answers"])

    def of_kind(self, *kinds: str) -> tuple[Told, ...]:
        """Which questions of these kinds were asked?"""
        return tuple(each for each in self.answers if each["kind"].value in kinds)

    def answered(self, *kinds: str) -> tuple[Told, ...]:
        """Which questions of these kinds have an answer?"""
        return tuple(each for each in self.of_kind(*kinds) if is_answered(each))

    @cached_property
    def pair(self) -> str:
        """Who is compared with whom, where all questions are about the same two? Else nothing."""
        pairs = {against(answer) for answer in self.answers}
        return pairs.pop() if len(pairs) == 1 else ""

    @property
    def main_gaps(self) -> list[Told]:
        """Which answers say what the gap between the two main groups is made of?"""
        main = [self.roles[key].value for key in ("reference", "comparison")]
        return [
            each
            for each in self.answered("disparity")
            if [each["groups"][key].value for key in ("reference", "comparison")] == main
        ]

    def called(self, title: Told) -> str:
        """What is a question called? Without its groups, where all have the same."""
        return title.text.removesuffix(f": {self.pair}") if self.pair else title.text

    def sentence(self, text: str) -> str:
        """How does a text stand on its own? It begins small where it begins with a column."""
        begins = any(
            text.startswith(self.told.cut(name)) for name in self.told["data"]["columns"].keys
        )
        return ended(text) if begins else full_stop(text)

    @property
    def level(self) -> float:
        """How sure are intervals?"""
        found = self.told["settings"]["settings"]["level"]
        if not 0 < found.sure < 1:
            raise RecordError(f"{found.where} is {found.sure:g}; expected a level between 0 and 1")
        return found.sure

    @property
    def smallest(self) -> int:
        """People of groups smaller than what are not listed?"""
        return self.told["settings"]["settings"]["smallest"].count

    @property
    def roles(self) -> Told:
        """Which column plays which part?"""
        return self.told["roles"]


def against(answer: Told) -> str:
    """Who is compared with whom?"""
    groups = answer["groups"]
    return f"{groups['comparison'].text} against {groups['reference'].text}"


def is_answered(answer: Told) -> bool:
    """Was this question answered?"""
    return bool(answer["status"].value == "answered")
