"""How does a text reach its file? Whole or not at all: a reader never meets half of one."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from causalfairness.errors import NotWrittenError


def write_whole(content: str | bytes, path: str | os.PathLike[str]) -> Path:
    """Where is the file now? Written beside its place first, then moved there in one step.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_whole("done", Path(folder, "note.txt")).read_text())
    done
    """
    goal = Path(path)
    part = goal.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, goal)
    except OSError as cause:
        raise NotWrittenError(cause.errno, cause.strerror or str(cause), str(goal)) from cause
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return goal
