"""Which function is audited? One that the command line names, and only with trust: it runs code."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causalfairness.errors import CausalFairnessError, PredictorError, TrustError

FAILURES = (
    *(ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError),
    SystemExit,  # or its exit code would be taken for the answer
)
UNREADABLE = (*FAILURES, ImportError, SyntaxError)


@dataclass(frozen=True)
class NamedClassifier:
    """What does this function say about a batch of images? Its failures are told in words.

    >>> NamedClassifier("reader:scores", len)([1, 2])
    2
    """

    name: str
    function: Callable[[Any], Any]

    @property
    def training(self) -> bool:
        """Is it a network in training mode?"""
        return getattr(self.function, "training", False) is True

    @property
    def findings(self) -> tuple[str, ...] | None:
        """What are its outputs, if it says so?"""
        return getattr(self.function, "findings", None)

    def __call__(self, images: Any) -> Any:
        """What are the scores of these images?"""
        try:
            return self.function(images)
        except CausalFairnessError:
            raise
        except FAILURES as cause:
            raise PredictorError(
                f"the classifier {self.name!r} failed on images of the shape "
                f"{tuple(images.shape)}: {type(cause).__name__}: {cause}. It is called with (n, 1, "
                "size, size) floating point images from 0 to 1, and returns a score for each image "
                "and finding"
            ) from cause


def named_classifiers(names: Sequence[str], *, trust: bool) -> dict[str, NamedClassifier]:
    """Which functions are audited, by name? Modules are looked for in the current folder too.

    >>> sorted(named_classifiers(["math:sqrt"], trust=True))
    ['math:sqrt']
    """
    if names and not trust:
        raise TrustError(
            f"the audit asks the classifier {names[0]!r}. Loading it runs code, whatever it is "
            "that somebody put there. If you trust where it comes from, say so with --trust"
        )
    place = str(Path.cwd())
    sys.path.insert(0, place)
    try:
        return {name: NamedClassifier(name, _function(name)) for name in names}
    finally:
        sys.path.remove(place)


def _function(name: str) -> Callable[[Any], Any]:
    try:
        found = pkgutil.resolve_name(name)
    except UNREADABLE as cause:
        raise PredictorError(
            f"the classifier {name!r} cannot be loaded: {type(cause).__name__}: {cause}. Name it "
            "module:function; modules are looked for in the current folder too"
        ) from cause
    if not callable(found):
        raise PredictorError(f"the classifier {name!r} is a {type(found).__name__}, no function")
    named: Callable[[Any], Any] = found
    return named
