"""What do these commands have in common? Options, and what is said without the extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from causalfairness.cli import options as o
from causalfairness.cli.failing import readable
from causalfairness.errors import extra

of_images = o.under("Which images")
of_folder = o.under("Which images", metavar="FOLDER", show_default=False)

Device = Annotated[
    str, o.method("Where the work is done: auto (a GPU if there is one), cpu or cuda.")
]
Resize = Annotated[
    bool, of_images("Resize images of another size. Left out: they are refused.", "--resize")
]


@contextmanager
def readable_images(*, debug: bool) -> Iterator[None]:
    """Did it work? Like `readable`; a library of the extra that is missing is named with it.

    >>> with readable_images(debug=False):
    ...     print("fine")
    fine
    """
    with readable(debug=debug), extra("imaging", "radiographs are handled with"):
        yield


def check_folder(path: Path, option: str) -> None:
    """Is this a folder that can be read? Better known before the work than after it."""
    if not path.is_dir():
        raise typer.BadParameter(f"there is no folder {str(path)!r}", param_hint=option)


def check_free(path: Path, option: str) -> None:
    """Can this be a folder to write to?"""
    if path.exists() and not path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a file; name a folder", param_hint=option)
