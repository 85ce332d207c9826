"""What was measured already, and with which settings? A JSON file with one entry per name.

Entries are added to what the file holds at that moment, whole or not at all: runs that share a file
do not lose each other's. An entry says with which settings it was measured, and is refused when
other ones are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from causalfairness.imaging.checkpoints import refuse_other_plan
from causalfairness.writing import write_whole


def measured(path: Path, name: str, *, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """What was measured under this name? None where nothing was.

    >>> import tempfile
    >>> path = keep_measured(Path(tempfile.mkdtemp()) / "found.json",
    ...                      {"one": {"settings": {"count": 30}, "error": 0.2}})
    >>> measured(path, "one", settings={"count": 30})["error"], measured(path, "two", settings={})
    (0.2, None)
    """
    held = _held(path)
    if name not in held:
        return None
    found = held[name]
    stated = found.get("settings", {}) if isinstance(found, dict) else {}
    refuse_other_plan(stated, settings, path=Path(f"{path}, {name!r},"))
    return dict(found)


def keep_measured(path: Path, entries: Mapping[str, Any]) -> Path:
    """Where are these entries now? Beside those that the file holds already.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "found.json"
    >>> for name in "ab":
    ...     _ = keep_measured(path, {name: 1})
    >>> json.loads(path.read_text("utf-8"))
    {'a': 1, 'b': 1}
    """
    return write_whole(json.dumps({**_held(path), **entries}, indent=1) + "\n", path)


def _held(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}
