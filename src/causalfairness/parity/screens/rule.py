"""Which rule says what a statistical screen measures? Rules are dated files with their source.

A rule names what is measured (a selection rate, or for scores the share above the pooled median),
by which attributes people are divided, which small categories may be left out, and below which
ratio a category is flagged, if it says so at all.
"""

from __future__ import annotations

import os
import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from causalfairness.errors import RuleError
from causalfairness.settings import CLOSED, Contradiction, Number, Text, Texts, refusal_of, said

BUNDLED = Path(__file__).with_name("rules")
SHARE = "a number between 0 and 1, such as 0.8"
TABLE = said("a table of keys")
Date = Annotated[date, said("a date, such as 2023-04-06", strict=True)]
Words = Annotated[Text, said("text that is not empty")]


class _Source(BaseModel):
    """Where a rule is written down, and when that text was published."""

    model_config = CLOSED
    title: Words
    citation: Words
    date: Date
    address: Annotated[Text | None, said("text that is not empty")] = None


class _Exclusion(BaseModel):
    """Below which share of the people a category may be left out."""

    model_config = CLOSED
    value: Annotated[Number, said(SHARE, alias="share_below", gt=0, lt=1)]
    says: Words


class _Threshold(BaseModel):
    """Below which ratio a category is flagged."""

    model_config = CLOSED
    value: Annotated[Number, said(SHARE, alias="ratio_below", gt=0, lt=1)]
    says: Words


class Rule(BaseModel):
    """What does a rule ask to be measured, for whom, and what does it say about the result?

    `by` holds the divisions of people, each by one attribute or by several together; `categories`
    the values of each attribute as the rule names them. Without a `threshold` nothing is flagged,
    without an `exclusion` nobody is left out.

    >>> print(read_rule("nyc_local_law_144"))
    NYC Local Law 144 bias audit (version of 2023-04-06, New York City)
    """

    model_config = CLOSED
    name: Words
    version: Date
    jurisdiction: Words
    source: Annotated[_Source, TABLE]
    measures: Annotated[
        tuple[Literal["selection rate", "scoring rate"], ...],
        said("a list of some of 'selection rate', 'scoring rate'", min_length=1),
    ]
    by: Annotated[
        tuple[Annotated[Texts, Field(min_length=1)], ...],
        said("a list of lists of attributes, such as [['sex'], ['race']]", min_length=1),
    ]
    categories: Annotated[
        dict[str, Texts],
        said("a table of lists of texts, each once; [] takes the values of the data"),
    ]
    exclusion: Annotated[_Exclusion | None, TABLE] = None
    threshold: Annotated[_Threshold | None, TABLE] = None
    notes: Annotated[Texts, said("a list of texts, each once")] = ()

    @model_validator(mode="after")
    def _attributes_have_categories(self) -> Self:
        named = dict.fromkeys(name for division in self.by for name in division)
        lacking = ", ".join(repr(name) for name in named if name not in self.categories)
        if lacking:
            raise Contradiction(
                f"categories: {lacking} of by is missing; expected a list of the values of each "
                "attribute, or [] for those of the data"
            )
        return self

    def to_dict(self) -> dict[str, Any]:
        """What does the rule say, as plain data? Dates as text."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def __str__(self) -> str:
        return f"{self.name} (version of {self.version}, {self.jurisdiction})"


def bundled_rules() -> tuple[str, ...]:
    """Which rules come with the package?

    >>> bundled_rules()
    ('four_fifths', 'nyc_local_law_144')
    """
    return tuple(sorted(file.stem for file in BUNDLED.glob("*.toml")))


def read_rule(rule: Rule | str | os.PathLike[str]) -> Rule:
    """What does a rule say: the one of that name which comes with the package, or a .toml file?

    All that is wrong with a file is said at once.

    >>> read_rule("four_fifths").source.citation
    '29 CFR 1607.4(D); 43 FR 38290'
    """
    if isinstance(rule, Rule):
        return rule
    if rule in bundled_rules():
        path = BUNDLED / f"{rule}.toml"
    elif isinstance(rule, os.PathLike) or str(rule).endswith(".toml"):
        path = Path(rule)
    else:
        raise RuleError(
            f"no rule is named {str(rule)!r}; there are {', '.join(bundled_rules())}, and a rule "
            "of your own is given as the path of a .toml file"
        )
    try:
        return Rule.model_validate(tomllib.loads(path.read_text("utf-8")))
    except ValidationError as error:
        raise RuleError(refusal_of(error, Rule, f"{path} is no rule of a screen")) from None
    except tomllib.TOMLDecodeError as cause:
        raise RuleError(f"{path} is not TOML: {cause}") from cause
    except (OSError, UnicodeDecodeError) as cause:
        raise RuleError(f"the rule file {str(path)!r} cannot be read: {cause}") from cause
