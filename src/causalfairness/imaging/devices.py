"""On which processor is the work done?"""

from __future__ import annotations

import torch

from causalfairness.errors import TrainingError


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
