"""What is wrong with an audit? Everything at once: the path of the key, and what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from causalfairness.audit.kinds import Contradiction
from causalfairness.audit.questions import KINDS

LONGEST = 60  # characters of a value that is shown
NO_KEY, NO_TAG, WRONG_TAG = "extra_forbidden", "union_tag_not_found", "union_tag_invalid"


def refusal_of(error: ValidationError, schema: type[BaseModel], where: str) -> str:
    """What is said about all that is wrong? One line each.

    >>> from causalfairness.audit.sections import Settings
    >>> try:
    ...     Settings(level=2, sead=1)
    ... except ValidationError as error:
    ...     print(refusal_of(error, Settings, "this"))
    this is no audit:
      level: found 2; expected a number between 0.5 and 1, such as 0.95
      sead: is no key here; did you mean seed?
    """
    lines = dict.fromkeys(_line(each, schema) for each in error.errors(include_url=False))
    return "\n".join([f"{where} is no audit:", *(f"  {line}" for line in lines)])


def _line(error: Any, schema: type[BaseModel]) -> str:
    location, kind = error["loc"], error["type"]
    path = _path(location)
    named = f"{path}: " if path else ""
    steps = [*_steps(location, schema)]
    if kind == NO_KEY:
        return f"{path}: is no key here; {_nearest(str(location[-1]), _keys(location, schema))}"
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Contradiction):
        return f"{named}{cause}"
    if kind in (NO_TAG, WRONG_TAG):
        found = error["input"].get("ask") if isinstance(error["input"], dict) else None
        near = _nearest(found, KINDS) if isinstance(found, str) else _nearest("", KINDS)
        return (
            f"{path}.ask: found {_shown(found)}; {near}"
            if found is not None
            else (f"{path}.ask: is missing; {near}")
        )
    expected = steps[-1] if steps else "a table of keys"
    if kind == "missing":
        return f"{path}: is missing; expected {expected}"
    return f"{named}found {_shown(error['input'])}; expected {expected}"


def _path(location: Sequence[Any]) -> str:
    text = ""
    for at, part in enumerate(location):
        if isinstance(part, int):
            text += f"[{part}]"
        elif not _is_tag(location, at):
            text += f".{part}" if text else str(part)
    return text


def _is_tag(location: Sequence[Any], at: int) -> bool:
    """Kinds of questions stand behind their position; they are no keys."""
    return at == 2 and location[0] == "questions" and isinstance(location[1], int)


def _steps(location: Sequence[Any], schema: type[BaseModel]) -> Iterator[str]:
    """What is expected at each step of the way?"""
    model: Any = schema
    for at, part in enumerate(location):
        if _is_tag(location, at):
            model = KINDS.get(str(part))
        elif isinstance(part, str) and model is not None:
            field = model.model_fields.get(part)
            if field is None:
                return
            yield field.description or "something else"
            model = _table_of(field.annotation)


def _keys(location: Sequence[Any], schema: type[BaseModel]) -> Sequence[str]:
    model: Any = schema
    for at, part in enumerate(location[:-1]):
        if _is_tag(location, at):
            model = KINDS.get(str(part))
        elif isinstance(part, str) and model is not None:
            field = model.model_fields.get(part)
            model = None if field is None else _table_of(field.annotation)
    return () if model is None else tuple(model.model_fields)


def _table_of(annotation: Any) -> type[BaseModel] | None:
    """Which table does a field hold, if any?"""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        found = _table_of(inner)
        if found is not None:
            return found
    return None


def _nearest(name: Any, known: Any) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
