"""Which questions are finished already? Answers kept in a folder, each under a key of its own.

The key is a digest of all that an answer depends on: data, question, roles, settings, seed, model
and version. What changes any of these changes the key, so that no stale answer is ever found.
Answers are written whole or not at all; one that cannot be read is asked again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causalfairness.audit.plain import plain, written
from causalfairness.errors import AuditError
from causalfairness.writing import write_whole


def key_of(what: Mapping[str, Any]) -> str:
    """Under which key is an answer kept?

    >>> key_of({"seed": 0}) == key_of({"seed": 0}), key_of({"seed": 0}) == key_of({"seed": 1})
    (True, False)
    """
    return hashlib.sha256(written(plain(what)).encode("utf-8")).hexdigest()


@dataclass(frozen=True)
class Store:
    """Where are finished answers kept? Nowhere, without a folder.

    >>> Store(None).find("key") is None
    True
    """

    folder: Path | None

    @classmethod
    def at(cls, folder: str | os.PathLike[str] | None) -> Store:
        """Which store is in this folder? It is made where it is not there."""
        if folder is None:
            return cls(None)
        place = Path(folder) / "answers"
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as cause:
            raise AuditError(
                f"answers cannot be kept in {str(place)!r}: {cause.strerror or cause}; name "
                "another folder"
            ) from cause
        return cls(place)

    def find(self, key: str) -> dict[str, Any] | None:
        """What was answered before? None where nothing was, or nothing that can be read."""
        if self.folder is None:
            return None
        try:
            found = json.loads(self._file(key).read_text("utf-8"))
            kept: dict[str, Any] = plain(found["kept"])
            return kept if found["sha256"] == _digest(kept, key) else None
        except (OSError, ValueError, RecursionError, LookupError, TypeError):
            return None

    def holds(self, key: str) -> bool:
        """Is there a file under this key, readable or not?"""
        return self.folder is not None and os.path.lexists(self._file(key))

    def keep(self, key: str, kept: Mapping[str, Any]) -> None:
        """Keep an answer under its key, with a digest of both by which damage is seen."""
        if self.folder is not None:
            whole = {"kept": kept, "sha256": _digest(kept, key)}
            write_whole(written(whole), self._file(key))

    def _file(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{key}.json"


def _digest(kept: Any, key: str) -> str:
    return key_of({"key": key, "kept": kept})
