"""Is a rule file well formed? Everything that is wrong with it, at once, by the path of its key."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from typing import Any, NamedTuple

from causalfairness.errors import RuleError

MEASURES = ("selection rate", "scoring rate")


class Expected(NamedTuple):
    """What may a key hold, in words and as a check?"""

    words: str
    holds: Callable[[Any], bool]
    required: bool = True


def read_toml(text: str, where: str) -> dict[str, Any]:
    """What does the text of a rule file hold? Refused where anything is wrong with it.

    >>> read_toml("name = ", "own.toml")
    Traceback (most recent call last):
    ...
    causalfairness.errors.RuleError: own.toml is not TOML: Invalid value (at ...)
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as cause:
        raise RuleError(f"{where} is not TOML: {cause}") from cause
    problems = [*_problems(found)]
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise RuleError(f"{where} is no rule of a screen:\n{listed}")
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_date(value: Any) -> bool:
    return type(value) is date  # a time of day is no date of a text


def _is_share(value: Any) -> bool:
    return isinstance(value, float) and 0 < value < 1


def _is_list(value: Any, holds: Callable[[Any], bool], *, least: int = 0) -> bool:
    listed = isinstance(value, list) and len(value) >= least and all(map(holds, value))
    return listed and all(one not in value[:at] for at, one in enumerate(value))


def _are_texts(value: Any) -> bool:
    return _is_list(value, _is_text)


def _are_measures(value: Any) -> bool:
    return _is_list(value, MEASURES.__contains__, least=1)


def _are_divisions(value: Any) -> bool:
    return _is_list(value, lambda one: _is_list(one, _is_text, least=1), least=1)


TEXT = Expected("text that is not empty", _is_text)
DATE = Expected("a date, such as 2023-04-06", _is_date)
SHARE = Expected("a number between 0 and 1, such as 0.8", _is_share)
TABLE = Expected("a table of keys", lambda value: isinstance(value, dict))
KEYS: Mapping[str, Expected] = {
    "name": TEXT,
    "version": DATE,
    "jurisdiction": TEXT,
    "measures": Expected(f"a list of some of {', '.join(map(repr, MEASURES))}", _are_measures),
    "by": Expected("a list of lists of attributes, such as [['sex'], ['race']]", _are_divisions),
    "notes": Expected("a list of texts, each once", _are_texts, required=False),
    "source": TABLE,
    "categories": TABLE,
    "exclusion": TABLE._replace(required=False),
    "threshold": TABLE._replace(required=False),
}
INSIDE: Mapping[str, Mapping[str, Expected]] = {
    "source": {
        "title": TEXT,
        "citation": TEXT,
        "date": DATE,
        "address": TEXT._replace(required=False),
    },
    "exclusion": {"share_below": SHARE, "says": TEXT},
    "threshold": {"ratio_below": SHARE, "says": TEXT},
}
VALUES = Expected("a list of texts, each once; [] takes the values of the data", _are_texts)


def _problems(found: Mapping[str, Any]) -> Iterator[str]:
    yield from _of_table(found, KEYS, "")
    for name, keys in INSIDE.items():
        if isinstance(found.get(name), dict):
            yield from _of_table(found[name], keys, f"{name}.")
    categories = found.get("categories")
    if not isinstance(categories, dict):
        return
    for name, values in categories.items():
        if not VALUES.holds(values):
            yield _refused(f"categories.{name}", values, VALUES)
    if _are_divisions(found.get("by")):
        yield from _unknown_attributes(found["by"], categories)


def _of_table(found: Mapping[str, Any], keys: Mapping[str, Expected], at: str) -> Iterator[str]:
    for name, expected in keys.items():
        if name not in found:
            if expected.required:
                yield f"{at}{name}: is missing; expected {expected.words}"
        elif not expected.holds(found[name]):
            yield _refused(at + name, found[name], expected)
    for name in found:
        if name not in keys:
            near = get_close_matches(name, keys, n=1)
            hint = f"did you mean {at}{near[0]}?" if near else f"expected {', '.join(keys)}"
            yield f"{at}{name}: is no key of a rule; {hint}"


def _unknown_attributes(by: list[list[str]], categories: Mapping[str, Any]) -> Iterator[str]:
    for place, division in enumerate(by):
        for name in division:
            if name not in categories:
                yield (
                    f"by[{place}]: {name!r} is not among the categories; add categories.{name} "
                    "(a list of its values, or [] for those of the data)"
                )


def _refused(path: str, value: Any, expected: Expected) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    return f"{path}: found {shown}; expected {expected.words}"
