"""Which rule says what a statistical screen measures? Rules are dated files with their source.

A rule names what is measured (a selection rate, or for scores the share above the pooled median),
by which attributes people are divided, which small categories may be left out, and below which
ratio a category is flagged, if it says so at all. Rules that come with the package are TOML files
beside this module; others are read from a file of the same form.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from causalfairness.errors import RuleError
from causalfairness.parity.screens.rule_file import read_toml

Name = str | os.PathLike[str]
SUFFIX = ".toml"


@dataclass(frozen=True)
class Source:
    """Where is a rule written down, and when was that text published?

    >>> bundled_rule("four_fifths").source.citation
    '29 CFR 1607.4(D); 43 FR 38290'
    """

    title: str
    citation: str
    date: date
    address: str = ""


@dataclass(frozen=True)
class Limit:
    """Which number does a rule set, and in which words?

    >>> bundled_rule("nyc_local_law_144").exclusion.value
    0.02
    """

    value: float
    says: str


@dataclass(frozen=True)
class Rule:
    """What does a rule ask to be measured, for whom, and what does it say about the result?

    `by` holds the divisions of people, each by one attribute or by several together; `categories`
    the values of each attribute as the rule names them. Without a `threshold` nothing is flagged,
    without an `exclusion` nobody is left out.

    >>> rule = bundled_rule("nyc_local_law_144")
    >>> print(rule)
    NYC Local Law 144 bias audit (version of 2023-04-06, New York City)
    >>> rule.by, rule.threshold
    ((('sex',), ('race',), ('sex', 'race')), None)
    """

    name: str
    version: date
    jurisdiction: str
    source: Source
    measures: tuple[str, ...]
    by: tuple[tuple[str, ...], ...]
    categories: Mapping[str, tuple[str, ...]] = field(hash=False)
    exclusion: Limit | None = None
    threshold: Limit | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What does the rule say, as plain data? Dates as text.

        >>> bundled_rule("four_fifths").to_dict()["threshold"]["ratio_below"]
        0.8
        """
        source = {"title": self.source.title, "citation": self.source.citation}
        source |= {"date": self.source.date.isoformat()}
        limits = {
            "exclusion": _limit(self.exclusion, "share_below"),
            "threshold": _limit(self.threshold, "ratio_below"),
        }
        return {
            "name": self.name,
            "version": self.version.isoformat(),
            "jurisdiction": self.jurisdiction,
            "source": source | ({"address": self.source.address} if self.source.address else {}),
            "measures": list(self.measures),
            "by": [list(division) for division in self.by],
            "categories": {name: list(values) for name, values in self.categories.items()},
            **{name: limit for name, limit in limits.items() if limit},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return f"{self.name} (version of {self.version}, {self.jurisdiction})"


def bundled_rules() -> tuple[str, ...]:
    """Which rules come with the package?

    >>> bundled_rules()
    ('four_fifths', 'nyc_local_law_144')
    """
    names = (file.name for file in files(__package__).joinpath("rules").iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)))


def bundled_rule(name: str) -> Rule:
    """What does a rule that comes with the package say?

    >>> bundled_rule("four_fifths").version.year
    1978
    >>> bundled_rule("four_fifth")
    Traceback (most recent call last):
    ...
    causalfairness.errors.RuleError: no rule is named 'four_fifth'; did you mean 'four_fifths'? ...
    """
    if name not in bundled_rules():
        near = get_close_matches(name, bundled_rules(), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise RuleError(
            f"no rule is named {name!r}; {hint}there are {', '.join(bundled_rules())}, and a rule "
            f"of your own is given as the path of a {SUFFIX} file"
        )
    text = files(__package__).joinpath("rules", name + SUFFIX).read_text("utf-8")
    return _rule(read_toml(text, name + SUFFIX))


def read_rule(path: Name) -> Rule:
    """What does a rule file of your own say? All that is wrong with it is said at once.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "own.toml")
    ...     _ = file.write_text("name = 5")
    ...     read_rule(file)
    Traceback (most recent call last):
    ...
    causalfairness.errors.RuleError: ...own.toml is no rule of a screen:
      name: found 5; expected text that is not empty
      version: is missing; expected a date, such as 2023-04-06
      ...
    """
    file = Path(path)
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise RuleError(f"the rule file {str(file)!r} cannot be read: {cause}") from cause
    return _rule(read_toml(text, str(file)))


def rule_called(rule: Rule | Name) -> Rule:
    """Which rule is meant? A rule, the name of a bundled one, or the path of a file.

    >>> rule_called("four_fifths") == bundled_rule("four_fifths")
    True
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and not rule.endswith(SUFFIX):
        return bundled_rule(rule)
    if not isinstance(rule, str | os.PathLike):
        raise RuleError(
            f"found {rule!r}; expected a rule, the name of one ({', '.join(bundled_rules())}) or "
            f"the path of a {SUFFIX} file"
        )
    return read_rule(rule)


def _rule(found: Mapping[str, Any]) -> Rule:
    exclusion, threshold = found.get("exclusion"), found.get("threshold")
    return Rule(
        name=found["name"],
        version=found["version"],
        jurisdiction=found["jurisdiction"],
        source=Source(**found["source"]),
        measures=tuple(found["measures"]),
        by=tuple(map(tuple, found["by"])),
        categories={name: tuple(values) for name, values in found["categories"].items()},
        exclusion=Limit(exclusion["share_below"], exclusion["says"]) if exclusion else None,
        threshold=Limit(threshold["ratio_below"], threshold["says"]) if threshold else None,
        notes=tuple(found.get("notes", ())),
    )


def _limit(limit: Limit | None, name: str) -> dict[str, Any]:
    return {} if limit is None else {name: limit.value, "says": limit.says}
