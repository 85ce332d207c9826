"""What does a network say about some rows? One number each, without gradients, as in use.

A `torch.nn.Module` is given tensors on its own device and in its own precision; any other callable
is given what X is, arrays or tensors. Modules are in evaluation mode while they are asked, and
every part of them is back in its own mode afterwards, whatever happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from causalfairness.errors import PredictorError
from causalfairness.neural.inputs import Inputs
from causalfairness.neural.library import torch_or_explain

if TYPE_CHECKING:
    from torch import Tensor

Output = int | Callable[[Any], Any] | None


@contextmanager
def at_rest(models: Sequence[Any]) -> Iterator[None]:
    """How are models asked without changing them? Evaluation mode, no gradients, then as before.

    >>> import torch
    >>> network = torch.nn.Dropout().train()
    >>> with at_rest([network]):
    ...     network.training
    False
    >>> network.training
    True
    """
    import torch

    modules = [m for model in models if isinstance(model, torch.nn.Module) for m in model.modules()]
    modes = [module.training for module in modules]
    try:
        for module in modules:
            module.training = False
        with torch.inference_mode():
            yield
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode


@dataclass(frozen=True, eq=False)
class Respondent:
    """Who is asked, where does it compute, and which of its outputs counts?

    >>> import torch
    >>> from causalfairness.neural.inputs import read_inputs
    >>> who = respondent(torch.nn.Linear(3, 2), read_inputs(np.zeros((4, 3))), output=1)
    >>> who.dtype, who.answer(torch.zeros(4, 3)).shape
    (torch.float32, torch.Size([4]))
    """

    network: Any
    output: Output
    as_arrays: bool
    device: Any
    dtype: Any

    @property
    def is_module(self) -> bool:
        """Is it a module of torch, rather than any callable?"""
        import torch

        return isinstance(self.network, torch.nn.Module)

    @property
    def name(self) -> str:
        """How is it called in results?"""
        named = getattr(self.network, "__name__", type(self.network).__name__)
        return "the network" if named == "<lambda>" else str(named)

    def answer(self, rows: Tensor) -> Tensor:
        """What does it say about these rows?"""
        told = consult(self.network, rows, as_arrays=self.as_arrays)
        if callable(self.output):
            told = self.output(told)
        return _one_each(told, rows, self.output)


def respondent(network: Any, inputs: Inputs, *, output: Output) -> Respondent:
    """Who is asked? Where it computes follows from its parameters, else from X."""
    torch = torch_or_explain()
    if not callable(network):
        raise PredictorError(
            f"the network is {type(network).__name__}, which cannot be called; expected a "
            "torch.nn.Module, or a function of a table of inputs"
        )
    if isinstance(output, np.integer):
        output = int(output)
    wrong = isinstance(output, bool) or not (output is None or isinstance(output, int))
    if wrong and not callable(output):
        raise PredictorError(
            f"output is {output!r}; expected the place of one output, a function of what the "
            "network returns (such as torch.sigmoid), or None"
        )
    device, dtype = home_of(network)
    if device is None:
        device = torch.device("cpu") if inputs.as_arrays else inputs.native.device
    if dtype is None:
        dtype = inputs.block(slice(0, 1), torch.device("cpu")).dtype
        dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    return Respondent(network, output, inputs.as_arrays, device, dtype)


def home_of(model: Any) -> tuple[Any, Any]:
    """On which device and in which precision does a model compute? None where it does not say.

    >>> import torch
    >>> home_of(torch.nn.Linear(1, 1).double())
    (device(type='cpu'), torch.float64)
    """
    import torch

    if not isinstance(model, torch.nn.Module):
        return None, None
    held = [*model.parameters(), *model.buffers()]
    device = held[0].device if held else None
    return device, next((tensor.dtype for tensor in held if tensor.is_floating_point()), None)


def consult(model: Any, rows: Tensor, *more: Any, as_arrays: bool) -> Any:
    """What does a model return for these rows? A tensor, unless it returns something else."""
    import torch

    if isinstance(model, torch.nn.Module):
        device, dtype = home_of(model)
        return model(rows.to(device=device or rows.device, dtype=dtype or rows.dtype), *more)
    if not as_arrays:
        return model(rows, *more)
    told = rows.to(torch.float32) if rows.dtype == torch.bfloat16 else rows
    try:
        returned = model(told.cpu().numpy(), *more)
    except (TypeError, AttributeError) as cause:
        raise PredictorError(
            f"the function failed on an array ({type(cause).__name__}: {cause}). It is given "
            "arrays because X is one; give X as a tensor if it expects tensors"
        ) from cause
    return _tensor(returned) if _is_array(returned) else returned


def _is_array(returned: Any) -> bool:
    """Is it an array, or does it hold one, as a column of a frame does?"""
    import torch

    held = isinstance(returned, list) or hasattr(returned, "__array__")
    return held and not isinstance(returned, torch.Tensor)


def _tensor(returned: Any) -> Tensor:
    import torch

    numbers = np.array(returned)
    if numbers.dtype.kind not in "fiub":
        raise PredictorError(
            f"the function returned {numbers.dtype} values, {numbers.ravel()[:1].tolist()} first; "
            "expected numbers. Ask for scores or chances, or turn labels into 0 and 1"
        )
    return torch.from_numpy(numbers)


def _one_each(told: Any, rows: Tensor, output: Output) -> Tensor:
    """One number per row, of the outputs that were returned."""
    import torch

    if not isinstance(told, torch.Tensor) or told.is_complex():
        raise PredictorError(
            f"the network returned {type(told).__name__}; expected one number per row. Pick it "
            "with output=..., a function of what the network returns"
        )
    n = len(rows)
    if told.numel() == n and not (isinstance(output, int) and told.ndim > 1):
        return told.reshape(n)
    if told.ndim == 0 or len(told) != n:
        raise PredictorError(
            f"the network returned the shape {tuple(told.shape)} for {n} rows; expected one answer "
            "per row"
        )
    outputs = told.reshape(n, -1)
    if not isinstance(output, int) or not 0 <= output < outputs.shape[1]:
        raise PredictorError(
            f"the network returned {outputs.shape[1]} numbers per row and output is {output!r}; "
            f"say which one is asked about with output=0 to {outputs.shape[1] - 1}, or make one "
            "number of them, as in output=lambda y: y.softmax(-1)[:, 1]"
        )
    return outputs[:, output]
