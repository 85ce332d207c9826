"""Is torch there? It is an extra: everything else works without it."""

from __future__ import annotations

from typing import Any

from causalfairness.errors import TorchNotInstalledError


def torch_or_explain() -> Any:
    """Which torch is installed? Where none is, how to get it.

    >>> torch_or_explain().__name__
    'torch'
    """
    try:
        import torch
    except ModuleNotFoundError as cause:
        raise TorchNotInstalledError(
            "networks are asked with torch, which is not installed: "
            'pip install "causalfairness[torch]"'
        ) from cause
    return torch
