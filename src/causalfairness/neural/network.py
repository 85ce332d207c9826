"""What does a network say about some rows? One number each, without gradients, as in use.

Rows are handled in blocks whose size depends on the number of inputs alone, so that nothing that is
drawn depends on the machine. A `torch.nn.Module` is given tensors on its own device and in its own
precision, any other callable what X is, arrays or tensors. Modules are in evaluation mode while
they are asked, and every part of them is back in its own mode afterwards, whatever happens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from causalfairness.effects import Basis
from causalfairness.errors import (
    ColumnTypeError,
    PredictorError,
    TooFewRowsError,
    extra,
)

if TYPE_CHECKING:
    from torch import Tensor

Output = int | Callable[[Any], Any] | None
NUMBERS = 2**23  # numbers in one block of rows
MOST_ROWS, FEWEST_ROWS = 2**18, 256
GOLDEN = 0x9E3779B97F4A7C15 - 2**64  # step and multipliers of SplitMix64, as signed numbers
FIRST, SECOND = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64
SALT = 0xD1B54A32D192ED03 - 2**64


def read_inputs(X: Any) -> tuple[Tensor, bool]:
    """Which rows are in this table? A tensor of them, and whether they came as an array."""
    with extra("torch", "networks are asked with"):
        import torch
    as_array = not isinstance(X, torch.Tensor)
    table: Any = np.asarray(X) if as_array else X.detach()
    number = table.dtype.kind in "fiub" if as_array else not table.is_complex()
    if table.ndim != 2 or not number:
        raise ColumnTypeError(
            f"X is of type {table.dtype} with the shape {tuple(table.shape)}; expected a table "
            "of numbers, one row per person and one column per input of the network. Turn words "
            "into numbers the way the network was trained"
        )
    if len(table) < 2:
        raise TooFewRowsError(f"X has {len(table)} rows; standard errors need at least 2")
    if as_array:  # without a copy where torch can read the numbers
        known = table.dtype in (np.float16, np.float32, np.float64)
        numbers = np.ascontiguousarray(table, dtype=None if known else np.float64)
        table = torch.from_numpy(numbers if numbers.flags.writeable else numbers.copy())
    return table, as_array


def blocks(table: Tensor) -> list[slice]:
    """In which pieces are the rows handled?"""
    size = max(FEWEST_ROWS, min(MOST_ROWS, NUMBERS // table.shape[1]))
    return [slice(at, min(at + size, len(table))) for at in range(0, len(table), size)]


def on_device(rows: Tensor, device: Any) -> Tensor:
    """What do these rows hold, on this device? As they are stored, without waiting for it."""
    to_gpu = device.type == "cuda" and rows.device.type == "cpu"
    return (rows.pin_memory() if to_gpu else rows).to(device, non_blocking=to_gpu)


@contextmanager
def at_rest(models: Sequence[Any]) -> Iterator[None]:
    """How are models asked without changing them? Evaluation mode, no gradients, then as before."""
    import torch

    modules = [m for model in models if isinstance(model, torch.nn.Module) for m in model.modules()]
    modes = {module: module.training for module in modules}
    try:
        for module in modes:
            module.training = False
        with torch.inference_mode():
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def home_of(model: Any) -> tuple[Any, Any]:
    """On which device and in which precision does a model compute? None where it does not say."""
    import torch

    module = isinstance(model, torch.nn.Module)
    held = [*model.parameters(), *model.buffers()] if module else []
    device = held[0].device if held else None
    return device, next((tensor.dtype for tensor in held if tensor.is_floating_point()), None)


def consult(model: Any, rows: Tensor, *more: Any, as_array: bool) -> Any:
    """What does a model return for these rows? A tensor, unless it returns something else."""
    import torch

    given: Any = rows
    if isinstance(model, torch.nn.Module):
        device, dtype = home_of(model)
        given = rows.to(device=device or rows.device, dtype=dtype or rows.dtype)
        as_array = False
    elif as_array:
        given = (rows.float() if rows.dtype == torch.bfloat16 else rows).cpu().numpy()
    try:
        returned = model(given, *more)
    except (TypeError, ValueError, RuntimeError, LookupError, AttributeError) as cause:
        raise PredictorError(
            f"{getattr(model, '__name__', type(model).__name__)} was asked about {len(rows)} rows "
            f"of {given.shape[1]} inputs ({given.dtype}) and failed: {type(cause).__name__}: "
            f"{cause}. Expected a module or function of one table of numbers; wrap one that takes "
            "whole numbers (embeddings) or several tables in a module whose forward(x) splits x"
        ) from cause
    if not as_array:
        return returned
    holds_array = isinstance(returned, list) or hasattr(returned, "__array__")
    if isinstance(returned, torch.Tensor) or not holds_array:
        return returned
    numbers = np.array(returned)
    if numbers.dtype.kind not in "fiub":
        raise PredictorError(
            f"the function returned {numbers.dtype} values, {numbers.ravel()[:1].tolist()} first; "
            "expected numbers. Ask for scores or chances, or turn labels into 0 and 1"
        )
    return torch.from_numpy(numbers)


def answer(network: Any, rows: Tensor, output: Output, as_array: bool) -> Tensor:
    """What does a network say about these rows? One number each, of the outputs it returns."""
    import torch

    told, n = consult(network, rows, as_array=as_array), len(rows)
    if callable(output):
        told = output(told)
    if not isinstance(told, torch.Tensor) or told.is_complex():
        raise PredictorError(
            f"the network returned {type(told).__name__}; expected one number per row. Pick it "
            "with output=..., a function of what the network returns"
        )
    if told.numel() == n and (output is None or callable(output)):
        return told.reshape(n)
    if told.ndim == 0 or len(told) != n:
        raise PredictorError(
            f"the network returned the shape {tuple(told.shape)} for {n} rows; expected one answer "
            "per row"
        )
    outputs = told.reshape(n, -1)
    whole = isinstance(output, int | np.integer) and not isinstance(output, bool)
    if not whole or output not in range(outputs.shape[1]):
        raise PredictorError(
            f"the network returned {outputs.shape[1]} numbers per row and output is {output!r}; "
            f"say which one is asked about with output=0 to {outputs.shape[1] - 1}, or make one "
            "number of them, as in output=lambda y: y.softmax(-1)[:, 1]"
        )
    return outputs[:, output]


def by_content(table: Tensor) -> Tensor:
    """Places of the rows in an order that depends on what they hold, whatever theirs is."""
    import torch

    return torch.cat([_words(table[part]) for part in blocks(table)]).argsort(stable=True)


def digest(rows: Tensor, places: Tensor) -> Tensor:
    """Are these the same rows? Three sums, on their device; those of blocks add up to a table's.

    Words of rows are summed modulo 2^64, whatever their order, and mixed with the row's place.
    Neither the device nor the size of a block has a say.
    """
    import torch

    words = _words(rows)
    mixed = _mixed(words)
    in_place = _mixed(mixed + places.to(rows.device) * GOLDEN)
    return torch.stack([mixed.sum(), _mixed(words + SALT).sum(), in_place.sum()])


def _words(rows: Tensor) -> Tensor:
    """One word per row, of the halves of its doubles and their columns' places; singles alike."""
    import torch

    doubles = rows.to(torch.float64) + 0.0  # no minus zero
    halves = doubles.contiguous().view(torch.int32)
    places = torch.arange(1, halves.shape[1] + 1, device=rows.device) * GOLDEN
    return (halves * (_mixed(places) | 1)).sum(dim=1)


def basis_of(table: Tensor, sums: Tensor) -> Basis:
    """Which table is it, and in which order do its rows come? By the digests of its blocks."""
    n, width = table.shape
    first, second, order = sums.tolist()
    content = hashlib.sha256(f"{n} {width} {first} {second}".encode())
    return Basis(content.hexdigest(), "rows", hashlib.sha256(f"{order}".encode()).hexdigest())


def _mixed(words: Tensor) -> Tensor:
    """The finalizer of SplitMix64, with shifts that let zeros in: torch would repeat the sign."""
    for by, factor in ((30, FIRST), (27, SECOND), (31, 1)):
        words = (words ^ ((words >> by) & (2 ** (64 - by) - 1))) * factor
    return words
