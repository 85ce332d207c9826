"""On which processor is the work done, and how quickly are its many short kernels launched there?

A small network's step is thousands of short kernels, and launching them takes longer than running
them. On a GPU the whole step is recorded once, for fixed shapes, as a CUDA graph, and replayed;
elsewhere the function is called as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from causalfairness.errors import TrainingError

REHEARSALS = 3  # calls before recording, in which libraries choose and prepare their kernels


def device_of(name: str = "auto") -> str:
    """On which processor is the work done? "auto": a GPU if there is one.

    >>> device_of("cpu")
    'cpu'
    >>> device_of("gpu")
    Traceback (most recent call last):
    ...
    causalfairness.errors.TrainingError: there is no device 'gpu' here; use auto, cpu, or cuda where
    there is a GPU
    """
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as cause:
        raise TrainingError(
            f"there is no device {name!r} here; use auto, cpu, or cuda where there is a GPU"
        ) from cause
    return name


def captured(function: Callable[..., Tensor], example: tuple[Tensor, ...]) -> Callable[..., Tensor]:
    """Which function does the same faster, for inputs shaped like the example?

    Rehearsing runs the function on the example: what it changes, the caller puts back. The answer
    of a replay is overwritten by the next one.

    >>> captured(lambda x: 2 * x, (torch.ones(2),))(torch.ones(2)).tolist()
    [2.0, 2.0]
    """
    if not example[0].is_cuda:
        return function
    inputs = tuple(value.clone() for value in example)
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for _ in range(REHEARSALS):
            function(*inputs)
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        answer = function(*inputs)

    def replay(*values: Tensor) -> Tensor:
        for kept, value in zip(inputs, values, strict=True):
            kept.copy_(value)
        graph.replay()
        return answer

    return replay
