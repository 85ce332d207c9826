"""What is in an image file? Gray values in [0, 1], of a square of the size asked for.

JPEG and PNG give their values over the largest possible one. DICOM gives stored values, rescaled
and put through the window that the file names, (x - center + .5) / (width - 1) + .5 cut to [0, 1];
without a window, (x - min) / (max - min). MONOCHROME1, where low is bright, is turned around.
Resizing averages over the pixels that are lost, and squeezes what is not square.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from causalfairness.errors import ImageFileError

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
    values = _dicom(path) if path.suffix == ".dcm" else _picture(path)
    return _resized(torch.from_numpy(values), size)


def found(stem: Path) -> Path:
    """Which file is this image in? As it is named or, without a suffix, the one kind there is."""
    path = file_of(stem)
    if path is not None:
        return path
    kinds = "" if stem.suffix in SUFFIXES else f" ({', '.join(SUFFIXES)})"
    raise ImageFileError(f"There is no image {str(stem)!r}{kinds}. Is the download complete?")


def file_of(stem: Path) -> Path | None:
    """Which file is this image in, if it is there?"""
    named = [stem] if stem.suffix in SUFFIXES else [stem.with_suffix(s) for s in SUFFIXES]
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
    if path.suffix == ".dcm":
        header = _read_dicom(path, stop_before_pixels=True)
        return int(header.get("Rows", 0)), int(header.get("Columns", 0))
    from PIL import Image

    try:
        with Image.open(path) as picture:
            return int(picture.height), int(picture.width)
    except (OSError, SyntaxError, ValueError) as reason:
        raise _damaged(path, reason) from reason


def _picture(path: Path) -> np.ndarray[Any, Any]:
    from PIL import Image

    try:
        with Image.open(path) as picture:
            if picture.mode in _DEEP:
                return np.asarray(picture, dtype=np.float32) / np.float32(_DEEP[picture.mode])
            return np.asarray(picture.convert("L"), dtype=np.float32) / np.float32(255)
    except (OSError, SyntaxError, ValueError) as reason:
        raise _damaged(path, reason) from reason


def _dicom(path: Path) -> np.ndarray[Any, Any]:
    file = _read_dicom(path)
    try:
        stored = np.asarray(file.pixel_array, dtype=np.float64)
    except (AttributeError, OSError, ValueError, RuntimeError) as reason:
        raise _damaged(path, reason) from reason
    kind = str(file.get("PhotometricInterpretation", "absent"))
    if stored.ndim != 2 or kind not in ("MONOCHROME1", "MONOCHROME2"):
        raise ImageFileError(
            f"{str(path)!r} holds an image of shape {stored.shape} and kind {kind}; expected one "
            "gray frame, MONOCHROME1 or MONOCHROME2."
        )
    shown = _windowed(file, stored)
    return (1 - shown if kind == "MONOCHROME1" else shown).astype(np.float32)


def _read_dicom(path: Path, **how: bool) -> Any:
    import pydicom
    from pydicom.errors import InvalidDicomError

    try:
        return pydicom.dcmread(path, **how)
    except (InvalidDicomError, AttributeError, OSError, ValueError, RuntimeError) as reason:
        raise _damaged(path, reason) from reason


def _windowed(file: Any, stored: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values = stored * float(file.get("RescaleSlope", 1)) + float(file.get("RescaleIntercept", 0))
    center, width = _first(file.get("WindowCenter")), _first(file.get("WindowWidth"))
    if center is not None and width is not None and width > 1:
        return np.clip((values - center + 0.5) / (width - 1) + 0.5, 0, 1)
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _first(value: Any) -> float | None:
    """A file may name several windows; the first is the one meant for display."""
    if value is None or value == "":
        return None
    several = not isinstance(value, str | float | int)
    return float(value[0] if several else value)


def _resized(values: Tensor, size: int) -> Tensor:
    if values.shape != (size, size):
        values = functional.interpolate(
            values[None, None], size=(size, size), mode="bilinear", antialias=True
        )[0, 0]
    return values.clamp(0, 1)[None]


def _damaged(path: Path, reason: Exception) -> ImageFileError:
    return ImageFileError(f"{str(path)!r} cannot be decoded ({reason}). Fetch the file again.")
