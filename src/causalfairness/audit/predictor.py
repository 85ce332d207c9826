"""What does the audited model say? A column, a function `module:function`, or a saved model.

A function and a saved file can run any code, so neither is touched without explicit trust. The
model is given a frame of the library that the audit names, whatever the data came in.
"""

from __future__ import annotations

import hashlib
import pickle
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from causalfairness.audit.schema import Audit
from causalfairness.errors import AuditError, CausalFairnessError, PredictorError, TrustError
from causalfairness.individuals.auditee import Auditee, auditee_of

BROKEN = (ArithmeticError, AttributeError, EOFError, ImportError, LookupError, RuntimeError)
UNREADABLE = (
    *(*BROKEN, OSError, SyntaxError, TypeError, ValueError, pickle.PickleError),
    SystemExit,  # or its exit code would be taken for the answer
)


@dataclass(frozen=True, eq=False)
class Predictor:
    """How is the audited model asked, and which file is it?

    `digest` tells one version of the code from another.
    """

    name: str
    digest: str
    auditee: Auditee
    as_pandas: bool

    def score(self, people: Any) -> Any:
        """Which number does the model give each person?"""
        return self.auditee.score(self._seen(people))

    def decide(self, people: Any) -> Any:
        """What does the model decide about each person? Scores, where these are no decisions."""
        seen = self._seen(people)
        score = self.auditee.score(seen)
        decided = self.auditee.decide(seen, score)
        return score if decided is None else decided

    def _seen(self, people: Any) -> Any:
        wanted = self.auditee.columns or ()
        if lacking := [name for name in wanted if name not in people.column_names]:
            raise PredictorError(
                f"the model {self.name!r} uses {', '.join(map(repr, lacking))}, which it is not "
                "given here; make these columns confounders or mediators (they may carry the "
                "group's influence), or list them in data.columns"
            )
        if not self.as_pandas:
            return people
        try:
            return people.to_pandas()
        except ImportError as cause:
            raise PredictorError(
                f"the model {self.name!r} is given pandas frames, and pandas is not installed; "
                "install it, or say predictor.frame = 'pyarrow'"
            ) from cause


def load_predictor(audit: Audit, *, trust: bool) -> Predictor | None:
    """Which model is audited? None where it is a column, or there is none."""
    choice = audit.predictor
    if not choice.is_code:
        return None
    name = choice.function or choice.file
    assert name is not None
    if not trust:
        raise TrustError(
            f"the audit asks the model {name!r}. Loading it runs code, whatever it is that "
            "somebody put there. If you trust where it comes from, say so: run(trust=True), or "
            "--trust on the command line"
        )
    load = _function if choice.function is not None else _saved
    model, digest = load(name, audit.beside)
    auditee = auditee_of(model, choice.threshold, choice.columns)
    return Predictor(name, digest, auditee, choice.frame == "pandas")


def named_function(
    name: str, folder: Path, called: str, error: type[CausalFairnessError]
) -> Callable[[Any], Any]:
    """Which function is `module:function`? Modules are looked for in this folder too."""
    with _importing_from(folder):
        try:
            found: Callable[[Any], Any] = pkgutil.resolve_name(name)
        except UNREADABLE as cause:
            raise error(
                f"{called} {name!r} cannot be loaded: {type(cause).__name__}: {cause}. Name it "
                f"module:function; modules are looked for in {str(folder)!r} too"
            ) from cause
    if not callable(found):
        raise error(f"{called} {name!r} is a {type(found).__name__}, no function")
    return found


def _function(name: str, folder: Path) -> tuple[Callable[[Any], Any], str]:
    found = named_function(name, folder, "predictor.function", AuditError)
    module = sys.modules.get(name.partition(":")[0])
    source = getattr(module, "__file__", None)
    return found, "" if source is None else digest_of(Path(source))


def _saved(name: str, folder: Path) -> tuple[Any, str]:
    path = folder / name
    if not path.is_file():
        raise AuditError(f"predictor.file: there is no file {str(path)!r}")
    import joblib

    with _importing_from(folder):
        try:
            return joblib.load(path), digest_of(path)
        except UNREADABLE as cause:
            raise AuditError(
                f"predictor.file {str(path)!r} holds no model that can be loaded: "
                f"{type(cause).__name__}: {cause}"
            ) from cause


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Modules beside the audit file are found, for as long as it takes to load them."""
    place = str(folder.resolve())
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path.remove(place)


def digest_of(path: Path) -> str:
    """Which version of a file is it?"""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def decisions(scores: Any, threshold: float) -> list[int | None]:
    """Who is decided 1, at this threshold? None where there is no score.

    >>> decisions(np.array([0.2, 0.5, np.nan]), 0.5)
    [0, 1, None]
    """
    known = np.asarray(scores, dtype=float)
    return [None if np.isnan(each) else int(each >= threshold) for each in known]
