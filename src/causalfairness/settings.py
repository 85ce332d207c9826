"""Which kinds of values may stand in a file of settings, and what is said where others do?

Every field of a schema carries a description that says what is expected there; a refusal quotes it,
after the path of the key and what was found. All that is wrong is said at once. Numbers are finite,
whole numbers exact as floats, and texts are not empty. Tables that stand for each other are told
apart by `ask`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, NamedTuple, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    ValidationError,
)

CLOSED = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
LARGEST = 2**53  # whole numbers up to here are exact as floats
LONGEST = 100_000  # characters of one text
SHOWN = 60  # characters of a value in a refusal
DEEPEST = 2  # values inside values, such as {race = {Black = "White"}}


TAG = "ask"
NO_KEY, NO_TAG, WRONG_TAG = "extra_forbidden", "union_tag_not_found", "union_tag_invalid"


class Closed(BaseModel):
    """A table of settings: a key that it does not know is refused."""

    model_config = CLOSED


class Contradiction(ValueError):
    """What is said here is wrong in a way that no list of expected values explains."""


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST or "\0" in value:
        raise ValueError("some text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("text that can be written") from None
    return value


def _value(value: Any) -> bool | int | float | str:
    """One value of a column: text, a number, or a truth."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) <= LARGEST:  # NaN is not
        return value
    return _text(value)


def _one_or_more(of: Callable[[Any], Any]) -> PlainValidator:
    """One, or a list of at least one."""

    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return of(value)
        if not value:
            raise ValueError("at least one")
        return tuple(map(of, value))

    return PlainValidator(read)


def _intervention(value: Any, depth: int = 1) -> Any:
    if not isinstance(value, Mapping) or not value:
        raise ValueError("a table")
    return {
        _text(key): _intervention(each, depth + 1)
        if isinstance(each, Mapping) and depth < DEEPEST
        else _value(each)
        for key, each in value.items()
    }


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError("a number of usual size")
    return float(value)


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for at, value in enumerate(values):
        if value in values[:at]:
            raise Contradiction(f"{value!r} is named twice")
    return values


Text = Annotated[str, PlainValidator(_text)]
Texts = Annotated[tuple[Text, ...], AfterValidator(_each_once)]
Value = Annotated[Any, PlainValidator(_value)]
Values = Annotated[tuple[Value, ...], AfterValidator(_each_once)]
GroupValue = Annotated[Any, _one_or_more(_value)]
Columns = Annotated[Any, _one_or_more(_text)]
Do = Annotated[Any, PlainValidator(_intervention)]
Truth = Annotated[bool, Strict()]
Number = Annotated[float, BeforeValidator(_number)]
Whole = Annotated[int, Strict()]
Margin = Annotated[Number, Field(ge=0, le=LARGEST)]
Level = Annotated[Number, Field(gt=0.5, lt=1)]


def said(words: str, **limits: Any) -> Any:
    """Which field is it, of which `words` say what is expected?"""
    return Field(description=words, **limits)


def whole(least: int, most: int, about: str = "") -> Any:
    """Which field holds whole numbers between these, and what is said `about` them?"""
    return said(f"a whole number from {least} to {most}{about}", ge=least, le=most)


def refusal_of(error: ValidationError, schema: type[BaseModel], opening: str) -> str:
    """What is said about all that is wrong? An opening, and one line each.

    >>> class Choice(Closed):
    ...     level: Annotated[Level, said("a number between 0.5 and 1, such as 0.95")]
    >>> try:
    ...     Choice(level=2, sead=1)
    ... except ValidationError as error:
    ...     print(refusal_of(error, Choice, "this is no choice"))
    this is no choice:
      level: found 2; expected a number between 0.5 and 1, such as 0.95
      sead: is no key here; expected one of level
    """
    lines = dict.fromkeys(_line(each, schema) for each in error.errors(include_url=False))
    return "\n".join([f"{opening}:", *(f"  {line}" for line in lines)])


class _Place(NamedTuple):
    """Where something is wrong: its path, what is expected there, and which names are known."""

    path: str
    expected: str
    known: tuple[str, ...]


def _line(error: Any, schema: type[BaseModel]) -> str:
    place = _place(error["loc"], schema)
    path, kind, found = place.path, error["type"], error["input"]
    cause = error.get("ctx", {}).get("error")
    if kind == NO_KEY:
        return f"{path}: is no key here; {_nearest(error['loc'][-1], place.known)}"
    if isinstance(cause, Contradiction):
        return f"{path}: {cause}" if path else str(cause)
    if kind in (NO_TAG, WRONG_TAG):
        tag = found.get(TAG) if isinstance(found, dict) else None
        near = _nearest(tag if isinstance(tag, str) else "", place.known)
        return f"{path}.{TAG}: {'is missing' if tag is None else f'found {_shown(tag)}'}; {near}"
    if kind == "missing":
        return f"{path}: is missing; expected {place.expected}"
    return f"{f'{path}: ' if path else ''}found {_shown(found)}; expected {place.expected}"


def _place(location: Iterable[int | str], schema: type[BaseModel]) -> _Place:
    path, expected = "", "a table of keys"
    tables: dict[str, type[BaseModel]] = {"": schema}
    known: tuple[str, ...] = ()
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif len(tables) > 1:  # which of them it is; that is no key of the file
            tables = {part: tables[part]}
        else:
            path += f".{part}" if path else part
            fields = {
                field.alias or name: field
                for table in tables.values()
                for name, field in table.model_fields.items()
            }
            field = fields.get(part)
            expected = field.description or expected if field else expected
            tables = _tables_in(field.annotation) if field else {}
            known = tuple(tables) if len(tables) > 1 else tuple(fields)
    return _Place(path, expected, known)


def _tables_in(annotation: Any) -> dict[str, type[BaseModel]]:
    """Which tables may a field hold, each by its tag? A table that stands alone needs none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        tag = annotation.model_fields.get(TAG)
        return {tag.default if tag else "": annotation}
    found: dict[str, type[BaseModel]] = {}
    for inner in get_args(annotation):
        found |= _tables_in(inner)
    return found


def _nearest(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= SHOWN else f"{shown[: SHOWN - 1]}…"
