"""What does a result say, as plain data? Everything a report shows, and nothing that computes.

A `Summary` holds text, numbers and tuples only. Texts remember which of their parts are names that
somebody else chose, so that renderers can set those apart. The layout is versioned by `SCHEMA`:
new fields may be added under the same version, none disappears or changes its meaning.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from typing import Any, NamedTuple

SCHEMA = "causalfairness.report/1"


class Piece(NamedTuple):
    """Is this part of a text ours, or a name that somebody else chose?"""

    text: str
    is_name: bool


@dataclass(frozen=True)
class Sentence:
    """What is said, and which parts of it are names that somebody else chose?

    `names` are the places (start, end) of these parts in `text`.

    >>> said = Sentence.fill("{who} against {whom}", who="<b>", whom="Male")
    >>> said.text, said.names
    ('<b> against Male', ((0, 3), (12, 16)))
    """

    text: str
    names: tuple[tuple[int, int], ...] = ()

    @classmethod
    def fill(cls, pattern: str, **names: str) -> Sentence:
        """What does a pattern say with these names in its `{places}`?"""
        return cls._join(pattern, {f"{{{place}}}": name for place, name in names.items()})

    @classmethod
    def mark(cls, text: str, known: Iterable[str]) -> Sentence:
        """Which known names does this text quote?

        >>> Sentence.mark("column 'age' has 65 values", ["age"]).names
        ((8, 11),)
        """
        quoted = {repr(name): name for name in known}
        return cls._join(text, quoted, around="'")

    @classmethod
    def _join(cls, pattern: str, names: Mapping[str, str], around: str = "") -> Sentence:
        text, places, rest = "", [], pattern
        while rest:
            at, place = min(
                ((rest.find(place), place) for place in names if place in rest),
                default=(len(rest), ""),
                key=lambda found: (found[0], -len(found[1])),
            )
            text += rest[:at]
            if place:
                text += around
                places.append((len(text), len(text) + len(names[place])))
                text += names[place] + around
            rest = rest[at + len(place) :]
        return cls(text, tuple(places))

    def pieces(self) -> list[Piece]:
        """How does the text fall into our words and others' names?

        >>> [piece.text for piece in Sentence.fill("for {who}.", who="Male").pieces()]
        ['for ', 'Male', '.']
        """
        cuts = [0, *(end for place in self.names for end in place), len(self.text)]
        spans = [Piece(self.text[a:b], odd % 2 == 1) for odd, (a, b) in enumerate(pairwise(cuts))]
        return [piece for piece in spans if piece.text]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Fact:
    """What is one thing worth knowing, and what is it called?

    >>> Fact("rows", Sentence("10 rows read, 8 used")).name
    'rows'
    """

    name: str
    text: Sentence


@dataclass(frozen=True)
class Row:
    """How large is one effect, for which group, and how sure is it?

    `p_adjusted` allows for all questions asked at once; None where only one was.

    >>> Row("Female", "direct", -0.01, 0.005, -0.02, 0.0, 0.05).p_adjusted is None
    True
    """

    group: str
    name: str
    value: float
    standard_error: float
    low: float
    high: float
    p_value: float
    p_adjusted: float | None = None
    meaning: str = ""
    correction: float = 0.0  # by which the middle of the interval is away from the value


@dataclass(frozen=True)
class Step:
    """Where does one step of a waterfall start and end?

    A step is a `level` (a group's mean) or a `change` (one part of the gap); `low` and `high` bound
    where it ends, and `note` says what is special about it.

    >>> Step("direct", "direct", "change", 0.39, 0.40, 0.37, 0.43).end
    0.4
    """

    name: str
    label: str
    kind: str
    start: float
    end: float
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True)
class Model:
    """How well did one fitted model predict people it had not seen?

    >>> Model("P(A | C)", "boosting", "log loss", 0.61, 0.69).loss
    0.61
    """

    target: str
    learner: str
    measure: str
    loss: float
    baseline: float


@dataclass(frozen=True)
class Finding:
    """What was found about one pair of groups?

    >>> [field.name for field in fields(Finding)][:4]
    ['what', 'reference', 'comparison', 'convention']
    """

    what: str
    reference: str
    comparison: str
    convention: str
    sentences: tuple[Sentence, ...]
    waterfall: tuple[Step, ...]
    parts: tuple[Row, ...]
    effects: tuple[Row, ...]
    diagnostics: tuple[Fact, ...]
    models: tuple[Model, ...]


@dataclass(frozen=True)
class Provenance:
    """Which data, program and settings do the numbers come from?

    >>> Provenance(package="0.1.0", python="3.13.1", libraries={}).date
    ''
    """

    package: str
    python: str
    libraries: Mapping[str, str]
    source: str = ""
    fingerprint: str = ""
    estimator: str = ""
    seed: str = ""
    date: str = ""


@dataclass(frozen=True)
class Summary:
    """What does a result say, as plain data?

    `kind` is `"decomposition"` (one finding) or `"group comparison"` (one finding per group);
    `table` holds the parts of all findings, with intervals that hold together.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> cf.report.summarise(found).kind
    'decomposition'
    """

    schema: str
    kind: str
    title: Sentence
    sentences: tuple[Sentence, ...]
    level: float
    roles: tuple[Fact, ...]
    findings: tuple[Finding, ...]
    table: tuple[Row, ...]
    not_compared: tuple[Fact, ...]
    assumptions: tuple[Sentence, ...]
    provenance: Provenance

    @property
    def compares_groups(self) -> bool:
        """Whether p-values of the table allow for several groups, each a question of its own."""
        return any(row.p_adjusted is not None for row in self.table)


def to_json(summary: Summary) -> str:
    """What does a machine read? One JSON object; numbers that are not finite become null.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> json.loads(to_json(cf.report.summarise(found)))["schema"]
    'causalfairness.report/1'
    """
    return json.dumps(plain(summary), indent=2, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """What is this as JSON knows it? None for numbers that are not known: it has no other word."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
