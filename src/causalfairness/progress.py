"""How far is the work? A bar for anything long, silent when nobody is watching."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
PATIENCE = 2.0  # seconds before a bar is worth the distraction
_watched: list[str] = []  # what the bar in sight is about; loops within that loop show none


def track(work: Iterable[Item], *, total: int, what: str) -> Iterator[Item]:
    """How far is this loop? Yields the items; after two seconds a bar shows on a terminal.

    >>> list(track([1, 2, 3], total=3, what="counting"))
    [1, 2, 3]
    """
    if not sys.stderr.isatty():
        yield from work
        return
    yield from _with_bar(work, total=total, what=what)


def _with_bar(work: Iterable[Item], *, total: int, what: str) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import Progress

    started, bar = time.monotonic(), None
    task = None
    try:
        for done, item in enumerate(work):
            yield item
            late = time.monotonic() - started > PATIENCE and done + 1 < total
            if bar is None and late and not _watched:
                _watched.append(what)
                bar = Progress(console=Console(stderr=True), transient=True)
                bar.start()
                task = bar.add_task(what, total=total)
            if bar is not None and task is not None:
                bar.update(task, completed=done + 1)
    finally:
        if bar is not None:
            bar.stop()
            _watched.clear()
