"""Which rows is the network asked about? A table of numbers: an array, or a tensor on any device.

The table is never changed and never copied as a whole. Rows are handled in blocks whose size
depends on the number of inputs alone, so that nothing that is drawn depends on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from causalfairness.errors import ColumnTypeError, TooFewRowsError
from causalfairness.neural.library import torch_or_explain

if TYPE_CHECKING:
    from torch import Tensor

NUMBERS = 2**23  # numbers in one block of rows
MOST_ROWS = 2**18
FEWEST_ROWS = 256


@dataclass(frozen=True, eq=False)
class Inputs:
    """Which rows is the network asked about? `as_arrays`: they came as an array, not a tensor.

    >>> inputs = read_inputs(np.zeros((300_000, 32)))
    >>> len(inputs), inputs.width, [part.stop for part in inputs.blocks()]
    (300000, 32, [262144, 300000])
    """

    native: Any
    as_arrays: bool

    def __len__(self) -> int:
        return int(self.native.shape[0])

    @property
    def width(self) -> int:
        """How many inputs does the network have?"""
        return int(self.native.shape[1])

    def blocks(self) -> Iterator[slice]:
        """In which pieces are the rows handled?"""
        size = max(FEWEST_ROWS, min(MOST_ROWS, NUMBERS // self.width))
        for start in range(0, len(self), size):
            yield slice(start, min(start + size, len(self)))

    def block(self, part: slice, device: Any) -> Tensor:
        """What do these rows hold, on this device? As they are stored, without waiting for it."""
        rows = _tensor(self.native[part]) if self.as_arrays else self.native[part].detach()
        if device.type == "cuda" and rows.device.type == "cpu":
            staged = rows if rows.is_pinned() else rows.pin_memory()
            return staged.to(device, non_blocking=True)
        return rows.to(device)


def read_inputs(X: Any) -> Inputs:
    """Which rows are in this table? Anything but a table of numbers is refused.

    >>> read_inputs([[0.0, 1.0], [1.0, 3.0]]).width
    2
    """
    torch = torch_or_explain()
    as_arrays = not isinstance(X, torch.Tensor)
    native: Any = np.asarray(X) if as_arrays else X
    number = native.dtype.kind in "fiub" if as_arrays else not native.is_complex()
    if native.ndim != 2 or not number:
        raise ColumnTypeError(
            f"X is of type {native.dtype} with the shape {tuple(native.shape)}; expected a table "
            "of numbers, one row per person and one column per input of the network. Turn words "
            "into numbers the way the network was trained"
        )
    if len(native) < 2:
        raise TooFewRowsError(f"X has {len(native)} rows; standard errors need at least 2")
    return Inputs(native, as_arrays)


def _tensor(array: np.ndarray[Any, Any]) -> Tensor:
    """The same numbers as a tensor, without a copy where torch can read them."""
    import torch

    readable = array.dtype in (np.float16, np.float32, np.float64) and array.dtype.isnative
    numbers = np.ascontiguousarray(array, dtype=None if readable else np.float64)
    return torch.from_numpy(numbers if numbers.flags.writeable else numbers.copy())
