"""What could an audit of this data look like? A file to be corrected by people who know it.

Roles are guessed by names and types of columns, each guess with its reason as a comment. Whether
a column is a confounder or a mediator no data can tell, and nothing is run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causalfairness.audit.sections import UNSAID
from causalfairness.audit.study import open_source
from causalfairness.errors import SourceError
from causalfairness.tables.columns import Column, column_of
from causalfairness.tables.groups import shown_value, typed
from causalfairness.tables.source import collect, open_frame, reading

SNIFFED = 100_000  # rows that columns are judged by
FEW = 20  # values of a column that can be a group
PROTECTED = "race|ethnic|sex|gender|religio|national|disab|marital|caste|color|origin|migrant"
BORN = "^age|_age|birth|^sex$|gender|race|ethnic"  # what is settled before anything else
OUTCOME = "outcome|label|target|recid|approv|hired|admit|income|default|grant|reject|class|^y$|pass"
PREDICTION = "pred|score|decile|risk|prob|y_hat|yhat|decision|recommend"
WEIGHTS = "weight|fnlwgt|pweight"
IDENTITY = "^id$|_id$|name$|number$|uuid"
MANY = 10  # rows that have a value which is shown
LISTED = 12  # values of a column that are shown


@dataclass(frozen=True)
class Seen:
    """What is known about one column?"""

    column: Column
    name: str

    @property
    def values(self) -> tuple[Any, ...]:
        """Which values are there, the most frequent first?"""
        return tuple(self.counts)

    @property
    def counts(self) -> dict[Any, int]:
        """How many rows have each value? The most frequent first."""
        levels = self.column.levels()
        found = Counter(sorted(levels.codes.tolist())).most_common()  # of as many: in their order
        named = ((levels.values[code], count) for code, count in found)
        return {value: count for value, count in named if value is not None}

    @property
    def missing(self) -> int:
        """How many rows have no value?"""
        return int(self.column.is_missing.sum())

    def looks_like(self, pattern: str) -> bool:
        """Does the name sound like it?"""
        return re.search(pattern, self.name, re.IGNORECASE) is not None

    def described(self) -> str:
        """What does the column hold, in a few words? No value of a few, harmless in a comment."""
        often = [value for value, count in self.counts.items() if count >= MANY][:LISTED]
        kind = "numbers" if self.column.is_number else "words"
        text = f"{len(self.counts):,} different {kind}"
        if often:
            every = ":" if len(often) == len(self.counts) else ", such as"
            text += f"{every} {', '.join(quoted(typed(value)) for value in often)}"
        return text + (f"; {self.missing:,} rows without a value" if self.missing else "")


def propose(data: Any, *, source: str | None = None) -> str:
    """What could an audit of this data look like? The text of a TOML file, with its reasons.

    `data` is a table, a path, or the name of bundled data; `source` is what the file calls it.

    >>> import causalfairness as cf
    >>> text = cf.audit.propose("dataset:german_credit")
    >>> print(text.splitlines()[0])
    # An audit of dataset:german_credit, proposed from the names and types of its columns.
    """
    if isinstance(data, str | Path):
        source, frame = str(data) if source is None else source, open_source(str(data), Path())
    else:
        frame = open_frame(data)
    with reading():
        head = collect(frame.head(SNIFFED))
        seen = [Seen(column_of(head[name]), name) for name in head.columns]
    if not seen or not len(head):
        raise SourceError("the data has no rows to propose anything from")
    return "\n".join(_lines(seen, source, whole=len(head) < SNIFFED)) + "\n"


def _lines(seen: Sequence[Seen], source: str | None, *, whole: bool) -> Iterator[str]:
    parts = _parts(seen)
    protected, outcome = parts["protected"][0], parts["outcome"]
    called = "your data" if source is None else quoted(source)[1:-1]  # on one line
    yield f"# An audit of {called}, proposed from the names and types of its columns."
    yield "# Nothing was estimated. Read every line: whether a column is a confounder (not caused"
    yield "# by the group) or a mediator (possibly caused by it) only people who know can tell."
    if not whole:
        yield f"# Columns were judged by the first {SNIFFED:,} rows."
    yield f"\ntitle = {quoted('Audit of ' + called)}"
    yield "\n[data]"
    yield f"source = {quoted(source or 'your data')}"
    yield "# What happens to rows with missing values: refuse, drop (they are counted) or category."
    if lacking := [quoted(each.name) for each in seen if each.missing]:
        yield f"# FILL IN which: values are missing in {', '.join(lacking[:LISTED])}."
    yield f"missing = {quoted(UNSAID if lacking else 'refuse')}"
    yield "# Whole numbers that are codes, and text that holds numbers:"
    yield "# categorical = ['column']"
    yield "# numeric = ['column']"
    yield "\n[roles]"
    yield from _guessed(protected, parts["protected"])
    yield f"protected = {quoted(protected.name)}"
    values = [typed(value) for value in protected.values]
    yield "# Effects are a change from the reference group (here the largest) to the comparison."
    yield f"reference = {quoted(values[0])}"
    yield f"comparison = {quoted(values[1])}"
    yield "# Not caused by the group, but possibly related to it."
    yield f"confounders = {_list(parts['confounders'])}"
    yield "# Possibly caused by the group. Instead of both lists, give graph = 'race -> priors'."
    yield f"mediators = {_list(parts['mediators'])}"
    if parts["left_out"]:
        yield "# In neither list, since they sound like outcomes too:"
        yield f"# {_list(parts['left_out'])}"
    nothing = "No column looks like an outcome; name the one that is to be explained."
    yield from _column("outcome", outcome, nothing)
    if (good := _label(outcome)) is not None:
        yield "# The value that counts as 1."
        yield f"outcome_value = {quoted(good)}"
    if parts["weights"] is not None:
        yield "# How much a row counts, if that is what it says."
        yield f"# weights = {quoted(parts['weights'].name)}"
    yield from _wanted(outcome or parts["prediction"])
    yield from _prediction(parts["prediction"])
    yield from _rest(parts)


def _parts(seen: Sequence[Seen]) -> dict[str, Any]:
    """Which column plays which part? Guesses, each column at most once."""
    usable = [each for each in seen if len(each.values) > 1]
    groups = [each for each in usable if 2 <= len(each.values) <= FEW]
    protected = [each for each in groups if each.looks_like(PROTECTED)] or groups[:1]
    if not protected:
        raise SourceError(
            f"no column has between 2 and {FEW} values, so that none can tell groups apart; write "
            "the audit by hand"
        )
    protected.sort(key=lambda each: not each.looks_like("race|ethnic"))
    free = [each for each in usable if each is not protected[0]]
    prediction = next((each for each in free if _is_prediction(each)), None)
    free = [each for each in free if each is not prediction]
    outcomes = [each for each in free if len(each.values) == 2]
    named = [each for each in free if each.looks_like(OUTCOME) and _is_measured(each)]
    both = [each for each in named if each in outcomes]
    outcome = next(iter([*both, *named, *outcomes[::-1], *free[::-1]]), None)
    free = [each for each in free if each is not outcome]
    weights = next((each for each in free if each.looks_like(WEIGHTS)), None)
    others = [each for each in free if each is not weights and each.looks_like(OUTCOME)]
    free = [each for each in free if each not in (weights, *others) and _is_feature(each)]
    return {
        "protected": protected,
        "outcome": outcome,
        "prediction": prediction,
        "weights": weights,
        "left_out": others,
        "confounders": [each for each in free if each.looks_like(BORN)],
        "mediators": [each for each in free if not each.looks_like(BORN)],
    }


def _is_prediction(seen: Seen) -> bool:
    return seen.looks_like(PREDICTION) and not seen.looks_like(OUTCOME) and seen.column.is_number


def _is_measured(seen: Seen) -> bool:
    return seen.column.is_number or len(seen.values) <= FEW


def _is_feature(seen: Seen) -> bool:
    """Numbers, or few words; what names people is none."""
    return not seen.looks_like(f"{IDENTITY}|{PREDICTION}") and _is_measured(seen)


def _guessed(chosen: Seen, others: Sequence[Seen]) -> Iterator[str]:
    why = "from its name" if chosen.looks_like(PROTECTED) else "since it has few values"
    yield f"# Guessed {why}: {quoted(chosen.name)} has {chosen.described()}."
    rest = [quoted(each.name) for each in others if each is not chosen]
    if rest:
        yield f"# Other columns that sound like it: {', '.join(rest[:LISTED])}."


def _column(role: str, seen: Seen | None, nothing: str) -> Iterator[str]:
    if seen is None:
        yield f"# {nothing}"
        yield f"# {role} = 'column'"
        return
    yield f"# Guessed: {quoted(seen.name)} has {seen.described()}."
    yield f"{role} = {quoted(seen.name)}"


def _wanted(seen: Seen | None) -> Iterator[str]:
    """Which value is good news no name and no number tells: a line that people have to fill."""
    if seen is not None:
        what = " or ".join(quoted(typed(value)) for value in seen.values)
        what = what if len(seen.values) <= 2 else "'higher' or 'lower'"
        yield f"# FILL IN which value of {quoted(seen.name)} people want for themselves: {what}."
        yield f"favorable = {quoted(UNSAID)}"


def _prediction(seen: Seen | None) -> Iterator[str]:
    nothing = "The column of what a system predicts or decides, if there is one."
    yield from _column("prediction", seen, nothing)
    if seen is not None and len(seen.values) > 2:
        middle = sorted(value for value in seen.values if isinstance(value, float))
        yield "\n[predictor]"
        yield "# Decisions are 1 from this score on (here the middle one). Is it the right one?"
        yield f"threshold = {quoted(typed(middle[len(middle) // 2]))}"


def _rest(parts: dict[str, Any]) -> Iterator[str]:
    yield "\n# More pairs of groups, every group against the reference, intersections."
    yield "[groups]\neach = false\nintersections = false"
    yield "\n# One table for each question. A margin makes it a judgment: how far from zero an"
    yield "# effect may be. Without one, it says what was found and judges nothing."
    yield "[[questions]]\nask = 'disparity'\n# margin = 0.02"
    yield "\n[[questions]]\nask = 'group_metrics'"
    if parts["prediction"] is not None and parts["outcome"] is not None:
        yield "\n[[questions]]\nask = 'error_rates'\nrates = ['fpr', 'fnr']"
        yield "\n[[questions]]\nask = 'predictive_parity'"
        yield "\n[[questions]]\nask = 'necessity'\n# margin = 0.02\n# margin_set_by = '...'"
        yield "# Which paths may the prediction use? None, or say who declared it, and why:"
        yield "allowed = []"
        yield "# declarations = [{path = 'spurious', by = '...', because = '...'}]"
    yield "\n# Other questions: counterfactual_fairness, situations, invariance, screens."
    yield "\n# How strong must a hidden common cause be to change a verdict? The band is for these"
    yield "# shares; benchmarks leave out the confounders in turn, which takes a while with models."
    yield "[sensitivity]\noutcome_share = 0.05\ngroup_share = 0.05\nbenchmarks = true"
    yield "\n[settings]\nlevel = 0.95\nseed = 0"
    yield "# People of smaller groups are never listed one by one.\nsmallest = 10"


def _label(seen: Seen | None) -> Any:
    """Which value counts as 1, where that is not clear from the values themselves?"""
    if seen is None:
        return None
    if not seen.column.is_number:
        return typed(seen.values[-1])
    if len(seen.values) == 2 and {*seen.values} != {0.0, 1.0}:
        return typed(max(seen.values))
    return None


def _list(columns: Sequence[Seen]) -> str:
    return f"[{', '.join(quoted(each.name) for each in columns)}]"


def quoted(value: Any) -> str:
    """How is a value written in TOML, so that it cannot end its line?

    >>> quoted('a "b"'), quoted(3), quoted("x\\n\\x7f")
    ('"a \\\\"b\\\\""', '3', '"x\\\\n\\\\u007f"')
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return shown_value(value) if not isinstance(value, float) else repr(value)
