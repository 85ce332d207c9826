"""What do these commands have in common? Options, and what is said without the extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from causalfairness.cli.failing import readable
from causalfairness.cli.options import METHOD, OUTPUT
from causalfairness.errors import extra

of_images = partial(typer.Option, rich_help_panel="Which images")
of_folder = partial(of_images, metavar="FOLDER", show_default=False)
of_method = partial(typer.Option, rich_help_panel=METHOD)
of_output = partial(typer.Option, rich_help_panel=OUTPUT)

Device = Annotated[
    str, of_method(help="Where the work is done: auto (a GPU if there is one), cpu or cuda.")
]
Resize = Annotated[
    bool, of_images("--resize", help="Resize images of another size. Left out: they are refused.")
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
