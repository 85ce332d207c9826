"""Which kinds of values may stand in an audit file? Checked once, each with one plain refusal.

Every field of the schema carries a description that says what is expected there; a refusal quotes
it (`problems`). Numbers are finite, whole numbers exact as floats, and texts are not empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainValidator

CLOSED = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
LARGEST = 2**53  # whole numbers up to here are exact as floats
LONGEST = 100_000  # characters of one text
DEEPEST = 2  # values inside values, such as {race = {Black = "White"}}


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


def _group(value: Any) -> Any:
    """One value, or one for each protected column."""
    if isinstance(value, list | tuple):
        if not value:
            raise ValueError("at least one value")
        return tuple(_value(each) for each in value)
    return _value(value)


def _columns(value: Any) -> Any:
    """One column, or several."""
    if isinstance(value, list | tuple):
        if not value:
            raise ValueError("at least one column")
        return tuple(_text(each) for each in value)
    return _text(value)


def _intervention(value: Any, depth: int = 1) -> Any:
    if not isinstance(value, Mapping) or not value:
        raise ValueError("a table")
    return {
        _text(key): _intervention(each, depth + 1)
        if isinstance(each, Mapping) and depth < DEEPEST
        else _value(each)
        for key, each in value.items()
    }


def _whole(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number")
    return value


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


def _truth(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


Text = Annotated[str, PlainValidator(_text)]
Texts = Annotated[tuple[Text, ...], AfterValidator(_each_once)]
Value = Annotated[Any, PlainValidator(_value)]
Values = Annotated[tuple[Value, ...], AfterValidator(_each_once)]
GroupValue = Annotated[Any, PlainValidator(_group)]
Columns = Annotated[Any, PlainValidator(_columns)]
Do = Annotated[Any, PlainValidator(_intervention)]
Truth = Annotated[bool, BeforeValidator(_truth)]
Number = Annotated[float, BeforeValidator(_number)]
Whole = Annotated[int, BeforeValidator(_whole)]
Margin = Annotated[Number, Field(ge=0, le=LARGEST)]
Level = Annotated[Number, Field(gt=0.5, lt=1)]
