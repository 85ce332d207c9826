"""How does an answer reach its file, or the next program?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from causalfairness.errors import SourceError

STDOUT = "-"


def write_frame(frame: Any, out: str) -> None:
    """Where does a table go? Whole or not at all: a reader never meets half of one."""
    try:
        if out == STDOUT:
            sys.stdout.buffer.write(frame.write_csv().encode("utf-8"))
            sys.stdout.flush()
            return
        goal = Path(out)
        part = goal.with_name(f".{goal.name}.part")
        try:
            (frame.write_csv if goal.suffix.lower() == ".csv" else frame.write_parquet)(str(part))
            os.replace(part, goal)
        finally:
            part.unlink(missing_ok=True)
    except (NotImplementedError, TypeError, ValueError) as cause:
        raise SourceError(
            f"the table cannot be written to {out!r}: {cause}. CSV has no room for nested values; "
            "write a .parquet file, or leave such columns out"
        ) from cause
    say_written(f"{out} ({len(frame):,} rows)")


def draw(picture: Callable[[Any], Any], path: Path) -> None:
    """Where does a picture go, which is made with `causalfairness.plots`?"""
    plots = pictures()
    plots.save(picture(plots), path)
    say_written(path)


def pictures() -> Any:
    """With what are pictures drawn? As files, no window is opened."""
    os.environ.setdefault("MPLBACKEND", "agg")
    from causalfairness import plots

    return plots


def print_answer(text: str) -> None:
    """What is the answer? The text alone, all of it before the program ends."""
    sys.stdout.write(text)
    sys.stdout.flush()


def say_written(what: object) -> None:
    """What was written? Said beside the answer, not in it."""
    page = Console(stderr=True, highlight=False)
    page.print(Text(f"written: {what}", style="dim"), soft_wrap=True)
