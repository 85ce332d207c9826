"""Which rule says what a statistical screen measures? Rules are dated files with their source."""

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
Date = Annotated[date, said("a date, such as 2023-04-06", strict=True)]
Share = Annotated[Number | None, said("a number between 0 and 1, such as 0.8", gt=0, lt=1)]
Words = Annotated[Text, said("text that is not empty")]


class _Source(BaseModel):
    """Where a rule is written down, and when that text was published."""

    model_config = CLOSED
    title: Words
    citation: Words
    date: Date


class Rule(BaseModel):
    """What does a rule ask to be measured, for whom, and what does it say about the result?

    `measures` are selection rates, or for scores the shares beyond the pooled median. `by` holds
    the divisions of people, by one attribute or several together; `categories` the values that the
    rule names. A category with a ratio below `ratio_below` is flagged, one with a share of the
    people below `share_below` may be left out; without them none is.

    >>> print(read_rule("nyc_local_law_144"))
    NYC Local Law 144 bias audit (version of 2023-04-06, New York City)
    """

    model_config = CLOSED
    name: Words
    version: Date
    jurisdiction: Words
    source: Annotated[_Source, said("a table of keys")]
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
    share_below: Share = None
    ratio_below: Share = None
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
        return self.model_dump(mode="json", exclude_none=True)

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

    >>> read_rule("four_fifths").source.citation
    '29 CFR 1607.4(D); 43 FR 38290'
    """
    if isinstance(rule, Rule):
        return rule
    path = BUNDLED / f"{rule}.toml" if rule in bundled_rules() else Path(str(rule))
    if path.suffix != ".toml":
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
