"""What does every answer of an audit say? The same keys for all kinds of questions.

`effects` have a value, a standard error, an interval and a p-value; `table` holds rows of whatever
the question is about; `details` holds what only this kind of question has, for pictures above all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from causalfairness.audit.plain import as_table, plain
from causalfairness.effects import Effect
from causalfairness.effects.effect import worst
from causalfairness.effects.table import record_of
from causalfairness.parity.necessity.rules import EquivalenceRule, unjudged
from causalfairness.tables.disclosure import without_few

Record = Mapping[str, Any]
AS_IS = ("effects", "verdict", "judgment", "sensitivity", "details", "diagnostics")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was found about one question?

    >>> Answer(sentences=("Nothing.",)).to_dict()["verdict"] is None
    True
    """

    sentences: Sequence[str]
    table: Sequence[Record] = ()
    effects: Sequence[Record] = ()
    verdict: str | None = None
    judgment: Record | None = None
    sensitivity: Record | None = None  # to hidden common causes
    details: Record = field(default_factory=dict)
    diagnostics: Sequence[Record] = ()
    assumptions: Sequence[str] = ()
    notes: Sequence[str] = ()

    def judged(self, verdict: str | None, sentence: str, **judgment: Any) -> Answer:
        """Return the answer with a verdict, the sentence that says it, and what it was made of."""
        said = (*self.sentences, sentence)
        return replace(self, verdict=verdict, judgment=judgment, sentences=said)

    def to_dict(self, smallest: int = 0) -> dict[str, Any]:
        """What was found, as plain data? No row of a table has numbers of fewer people."""
        rows = without_few(self.table, smallest, within=("by", "metric"))
        return {
            "sentences": list(self.sentences),
            "table": as_table(rows),
            **{name: plain(getattr(self, name)) for name in AS_IS},
            "settled": worst(each.get("settled", True) for each in self.diagnostics),
            "assumptions": list(dict.fromkeys(self.assumptions)),
            "notes": list(dict.fromkeys(self.notes)),
        }


def judged(
    answer: Answer,
    effects: Sequence[Effect],
    margin: float | None,
    level: float,
    people: Sequence[int],
) -> Answer:
    """Return the answer with a verdict on these effects, by the tests of business necessity.

    Nothing is judged where no margin was given, or effects cannot be judged (`unjudged`). `people`
    are those behind each effect.

    >>> judged(Answer(sentences=()), [], None, 0.95, []).verdict is None
    True
    """
    if margin is None or not effects:
        return answer
    found = EquivalenceRule(margin, level).judge(effects, people)
    if found.verdict is None:
        return replace(answer, sentences=(*answer.sentences, unjudged(effects)))
    rows = [
        {**record_of(effect, effect.interval(level)), **evidence._asdict()}
        for effect, evidence in zip(effects, found.evidence, strict=True)
    ]
    names = ", ".join(effect.name.replace("_", " ") for effect in effects)
    said = {
        "violated": f"more than {margin:g} from zero",
        "satisfied": f"consistent with no effect above {margin:g}",
        "undecided": f"neither shown to be above {margin:g} nor to be below",
    }[str(found.verdict)]
    most = max(found.evidence, key=lambda each: each.people_needed or 0)
    reach = most.out_of_reach(f"{margin:g}") if found.verdict == "undecided" else ""
    sentence = (
        f"Judged with a margin of {margin:g} at the {100 * level:.6g}% level, under these "
        f"assumptions: {found.verdict} ({names}: {said}{f'; {reach}' if reach else ''})."
    )
    return answer.judged(found.verdict, sentence, margin=margin, level=level, effects=rows)
