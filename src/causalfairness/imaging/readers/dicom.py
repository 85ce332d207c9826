"""Which gray values are in a DICOM file? What a viewer shows, 0 for black and 1 for white.

Stored values are rescaled, or looked up in the table for it (modality), then put through the table
of gray values that the file holds, else through its first window, of center c and width w:

    LINEAR         (x - c + .5) / (w - 1) + .5   cut to [0, 1]; a step where w is 1
    LINEAR_EXACT   (x - c) / w + .5              cut to [0, 1]
    SIGMOID        1 / (1 + exp(-4 (x - c) / w))

and without either through (x - min) / (max - min). MONOCHROME1, where low is bright, is turned
around. Pixels that only pad the image are black.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import ImageFileError

Array = NDArray[np.float64]
KINDS = ("MONOCHROME1", "MONOCHROME2")
FAILURES = (
    *(AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError),
    NotImplementedError,
)


def gray_values(path: Path) -> NDArray[np.float32]:
    """What does this film show? (rows, columns), from 0 to 1.

    >>> gray_values(Path("nowhere.dcm"))
    Traceback (most recent call last):
    ...
    causalfairness.errors.ImageFileError: 'nowhere.dcm' cannot be decoded ([Errno 2] No such file or
    directory: 'nowhere.dcm'). Fetch the file again.
    """
    file = _read(path)
    try:
        stored = np.asarray(file.pixel_array)
    except FAILURES as reason:
        raise _undecoded(path, reason) from reason
    kind = str(file.get("PhotometricInterpretation", "absent"))
    if stored.ndim != 2 or kind not in KINDS:
        raise ImageFileError(
            f"{str(path)!r} holds an image of shape {stored.shape} and kind {kind}; expected one "
            "gray frame, MONOCHROME1 or MONOCHROME2."
        )
    padding = _padding(file, stored)
    try:
        shown = _shown(file, _rescaled(file, stored), padding)
    except FAILURES as reason:
        raise ImageFileError(
            f"{str(path)!r} does not say how its values are shown ({reason}). Correct its tags, or "
            "leave the film out."
        ) from reason
    shown = 1 - shown if kind == "MONOCHROME1" else shown
    return np.where(padding, 0.0, shown).astype(np.float32)


def rows_and_columns(path: Path) -> tuple[int, int]:
    """How many rows and columns has this film? Its pixels are not decoded.

    >>> rows_and_columns(Path("nowhere.dcm"))
    Traceback (most recent call last):
    ...
    causalfairness.errors.ImageFileError: 'nowhere.dcm' cannot be decoded ([Errno 2] No such file or
    directory: 'nowhere.dcm'). Fetch the file again.
    """
    header = _read(path, stop_before_pixels=True)
    return int(header.get("Rows") or 0), int(header.get("Columns") or 0)


def _read(path: Path, **how: bool) -> Any:
    import pydicom
    from pydicom.errors import InvalidDicomError

    try:
        return pydicom.dcmread(path, **how)
    except (InvalidDicomError, *FAILURES) as reason:
        raise _undecoded(path, reason) from reason


def _rescaled(file: Any, stored: NDArray[Any]) -> Array:
    """What the stored values stand for."""
    if file.get("ModalityLUTSequence"):
        from pydicom.pixels import apply_modality_lut

        return np.asarray(apply_modality_lut(stored, file), dtype=np.float64)
    slope, intercept = _number(file, "RescaleSlope"), _number(file, "RescaleIntercept")
    return stored * (1.0 if slope is None else slope) + (intercept or 0.0)


def _shown(file: Any, values: Array, padding: NDArray[np.bool_]) -> Array:
    """How bright each value is."""
    if file.get("VOILUTSequence"):
        from pydicom.pixels import apply_voi

        deepest = 2 ** int(file.VOILUTSequence[0].LUTDescriptor[2]) - 1
        return np.asarray(apply_voi(np.rint(values).astype(np.int64), file) / deepest)
    center, width = _number(file, "WindowCenter"), _number(file, "WindowWidth")
    if center is not None and width is not None:
        return _windowed(values, center, width, str(file.get("VOILUTFunction") or "LINEAR"))
    film = values[~padding] if not padding.all() else values
    low, high = film.min(), film.max()
    return np.clip((values - low) / (high - low), 0, 1) if high > low else np.zeros_like(values)


def _windowed(values: Array, center: float, width: float, function: str) -> Array:
    if width < 1 if function == "LINEAR" else width <= 0:
        raise ValueError(f"its window has the width {width:g}")
    if function == "LINEAR" and width == 1:
        return (values > center - 0.5).astype(np.float64)
    if function == "LINEAR":
        return np.clip((values - center + 0.5) / (width - 1) + 0.5, 0, 1)
    if function == "LINEAR_EXACT":
        return np.clip((values - center) / width + 0.5, 0, 1)
    if function == "SIGMOID":
        return np.asarray(1 / (1 + np.exp(np.clip(-4 * (values - center) / width, -700, 700))))
    raise ValueError(f"its window has the function {function!r}")


def _padding(file: Any, stored: NDArray[Any]) -> NDArray[np.bool_]:
    """Where there is no film, only what fills the frame."""
    value = file.get("PixelPaddingValue")
    if value is None or value == "":
        return np.zeros(stored.shape, dtype=bool)
    limit = file.get("PixelPaddingRangeLimit")
    ends = sorted((int(value), int(value if limit is None or limit == "" else limit)))
    return np.asarray((stored >= ends[0]) & (stored <= ends[1]))


def _number(file: Any, tag: str) -> float | None:
    """What is in this tag? Of several values, such as windows, the first is the one to show."""
    value = file.get(tag)
    if value is None or value == "":
        return None
    several = not isinstance(value, str | float | int)
    number = float(value[0] if several else value)
    if not math.isfinite(number):
        raise ValueError(f"{tag} is {number}")
    return number


def _undecoded(path: Path, reason: Exception) -> ImageFileError:
    if "plugin" in str(reason) or "handler" in str(reason):
        kind = "the way it is compressed has no decoder here"
        return ImageFileError(
            f"{str(path)!r} cannot be decoded: {kind} ({reason}). Install one, such as pylibjpeg "
            "with pylibjpeg-libjpeg and pylibjpeg-openjpeg, or convert the file."
        )
    return ImageFileError(f"{str(path)!r} cannot be decoded ({reason}). Fetch the file again.")
