"""What is written in an audit file? TOML or JSON as plain data, or where it stops making sense."""

from __future__ import annotations

import json
import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from causalfairness.errors import AuditError

LARGEST = 10_000_000  # bytes; no study takes as many words


def read_file(path: Path) -> Any:
    """What does the file hold? Dates become text, as JSON has them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "audit.toml")
    ...     _ = file.write_text("title = \\n")
    ...     read_file(file)
    Traceback (most recent call last):
    ...
    causalfairness.errors.AuditError: ...audit.toml is not TOML: Invalid value (at line 1, column 9)
    """
    text = _text(path)
    if path.suffix.lower() == ".json":
        return _parsed(lambda: json.loads(text), path, "JSON")
    return _plain(_parsed(lambda: tomllib.loads(text), path, "TOML"))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise AuditError(f"{str(path)!r} has more than {LARGEST:,} bytes; is it an audit?")
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise AuditError(
            f"{str(path)!r} is not text in UTF-8: {cause.reason} at byte {cause.start}; save it "
            "as UTF-8"
        ) from None
    except (OSError, ValueError) as cause:
        why = getattr(cause, "strerror", None) or cause
        raise AuditError(f"the audit file {str(path)!r} cannot be read: {why}") from None


def _parsed(parse: Any, path: Path, kind: str) -> Any:
    try:
        return parse()
    except json.JSONDecodeError as cause:
        raise AuditError(
            f"{str(path)!r} is not {kind}: {cause.msg} (at line {cause.lineno}, column "
            f"{cause.colno})"
        ) from None
    except ValueError as cause:  # of tomllib, which says where; or a number of too many digits
        raise AuditError(f"{path} is not {kind}: {cause}") from None
    except RecursionError:
        raise AuditError(
            f"{path} is not {kind} that can be read: brackets are nested too deep"
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.isoformat() if isinstance(value, date | datetime | time) else value
