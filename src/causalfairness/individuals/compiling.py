"""How does a loop over numbers run at the speed of the machine? Compiled on its first call.

Import this module, and those that use it, inside functions only: it loads numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from causalfairness.errors import extra

with extra("fast", "loops are compiled with"):
    from numba import njit

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """Which compiled function does the same? Other threads may run meanwhile.

    The machine code is kept on disk for the next start of Python, beside the module or among the
    user's cached files. Where neither can be written, it is made again every time. What is kept
    follows changes of the module itself only: take no functions from other modules, and no
    constants that may change.

    >>> def double(x: float) -> float:
    ...     return 2 * x
    >>> compiled(double)(1.5)
    3.0
    """
    try:
        found: Loop = njit(loop, cache=True, nogil=True, error_model="numpy")
    except RuntimeError:  # no folder to keep it in
        found = njit(loop, nogil=True, error_model="numpy")
    return found


def inlined(loop: Loop) -> Loop:
    """Which part of compiled functions is this? Compiled as if written where it is called.

    >>> def double(x: float) -> float:
    ...     return 2 * x
    >>> inlined(double)(1.5)
    3.0
    """
    found: Loop = njit(loop, nogil=True, error_model="numpy", inline="always")
    return found
