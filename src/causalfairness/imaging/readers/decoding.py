"""What is in an image file? Gray values in [0, 1], of a square of the size asked for.

JPEG and PNG give their values over the largest possible one, DICOM what a viewer shows (`dicom`).
Resizing averages over the pixels that are lost, and squeezes what is not square.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from causalfairness.errors import ImageFileError
from causalfairness.imaging.readers.dicom import gray_values, rows_and_columns

_DEEP = {"I;16": 65535.0, "I;16B": 65535.0, "I;16L": 65535.0, "I": 65535.0}
SUFFIXES = (".jpg", ".jpeg", ".png", ".dcm")


def decode(path: Path, *, size: int) -> Tensor:
    """What is in this file? (1, size, size) float32 in [0, 1].

    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("L", (40, 30), color=51).save(f"{folder}/film.png")
    ...     decode(Path(folder) / "film.png", size=2)
    tensor([[[0.2000, 0.2000],
             [0.2000, 0.2000]]])
    """
    values = gray_values(path) if _is_dicom(path) else _picture(path)
    return _resized(torch.from_numpy(values), size)


def found(stem: Path) -> Path:
    """Which file is this image in? As it is named or, without a suffix, the one kind there is."""
    path = file_of(stem)
    if path is not None:
        return path
    if stem.is_file():
        raise ImageFileError(
            f"{str(stem)!r} is of a kind that is not read; expected {', '.join(SUFFIXES)}. Convert "
            "it, or name it by what it is."
        )
    kinds = "" if stem.suffix.lower() in SUFFIXES else f" ({', '.join(SUFFIXES)})"
    raise ImageFileError(f"There is no image {str(stem)!r}{kinds}. Is the download complete?")


def file_of(stem: Path) -> Path | None:
    """Which file is this image in, if it is there?"""
    if stem.suffix.lower() in SUFFIXES:
        return stem if stem.is_file() else None
    named = [stem.with_name(stem.name + suffix) for suffix in SUFFIXES]
    return next((path for path in named if path.is_file()), None)


def measured(path: Path) -> tuple[int, int]:
    """How many rows and columns has the image in this file? Without decoding it.

    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("L", (40, 30)).save(f"{folder}/film.png")
    ...     measured(Path(folder) / "film.png")
    (30, 40)
    """
    if _is_dicom(path):
        return rows_and_columns(path)
    with _opened(path) as picture:
        return int(picture.height), int(picture.width)


def _picture(path: Path) -> np.ndarray[Any, Any]:
    with _opened(path) as picture:
        if picture.mode in _DEEP:
            return np.asarray(picture, dtype=np.float32) / np.float32(_DEEP[picture.mode])
        return np.asarray(picture.convert("L"), dtype=np.float32) / np.float32(255)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The picture in a file; what is wrong with it is said of the file."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            yield picture
    except Image.DecompressionBombError as reason:
        raise ImageFileError(
            f"{str(path)!r} says that it is larger than any film ({reason}). Shrink it first."
        ) from reason
    except (OSError, SyntaxError, ValueError) as reason:
        raise ImageFileError(
            f"{str(path)!r} cannot be decoded ({reason}). Fetch the file again."
        ) from reason


def _is_dicom(path: Path) -> bool:
    return path.suffix.lower() == ".dcm"


def _resized(values: Tensor, size: int) -> Tensor:
    if values.shape != (size, size):
        values = functional.interpolate(
            values[None, None], size=(size, size), mode="bilinear", antialias=True
        )[0, 0]
    return values.clamp(0, 1)[None]
