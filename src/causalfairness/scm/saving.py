"""How is a structural model kept in a file, and read back?

Structure, parameters, noises and fits are JSON, to be read by people and other programs. Fitted
scikit-learn models go to a file beside it (`.joblib`), whose checksum the JSON holds. Such a file
can run any code when it is loaded, so it is loaded only when the user says that it is trusted.
Functions of users are not saved at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from causalfairness.errors import MechanismError, SourceError, TrustError
from causalfairness.graph import CausalGraph
from causalfairness.scm.additive import AdditiveEquation
from causalfairness.scm.categorical import CategoricalEquation
from causalfairness.scm.choice import as_mechanisms
from causalfairness.scm.counts import CountEquation
from causalfairness.scm.couplings import Gumbel, Monotone
from causalfairness.scm.domain import Domain
from causalfairness.scm.evaluation import Equations
from causalfairness.scm.fitting import Background, Recorded
from causalfairness.scm.given import DeterministicEquation, GivenEquation
from causalfairness.scm.goodness import NodeFit
from causalfairness.scm.linear import LinearEquation
from causalfairness.scm.probabilities import Frequencies, Learned, Logistic, Told
from causalfairness.scm.roots import Observed
from causalfairness.scm.transformed import Scale, TransformedEquation
from causalfairness.tables.frames import Template
from causalfairness.writing import write_whole

VERSION = 1
PARAMETRIC = (
    *(Observed, LinearEquation, TransformedEquation, Scale, CountEquation, CategoricalEquation),
    *(Frequencies, Logistic, Gumbel, Monotone, Domain, NodeFit),
)
LEARNED = (AdditiveEquation, Learned)  # their field `model` goes to the file beside
GIVEN = (DeterministicEquation, GivenEquation, Told)
KINDS = {kind.__name__: kind for kind in (*PARAMETRIC, *LEARNED)}


def save(path: Path, equations: Equations, background: Background, template: Template) -> None:
    """Write a model to this path, and its learners, if it has any, beside it."""
    learners: list[Any] = []
    record = {
        "kind": "causalfairness structural causal model",
        "version": VERSION,
        "graph": equations.graph.to_text(),
        "library": template.library,
        "domains": [_plain(domain, learners) for domain in equations.domains.values()],
        "mechanisms": {node: _plain(fitted, learners) for node, fitted in equations.fitted.items()},
        "noise": {node: noise.tolist() for node, noise in background.noise.items()},
        "fits": [_plain(fit, learners) for fit in background.fits],
    }
    if learners:
        import joblib

        beside = path.with_suffix(".joblib")
        joblib.dump(learners, beside)
        record["learners"] = {"file": beside.name, "sha256": _checksum(beside)}
    write_whole(json.dumps(record, indent=1, allow_nan=False), path)


def load(
    path: Path, *, trust: bool, mechanisms: Mapping[str, Any] | None
) -> tuple[Equations, Background, Template]:
    """Read a model that `save` wrote."""
    record = _read(path)
    learners = _load_learners(path, record, trust=trust)
    graph = CausalGraph.parse(record["graph"])
    known = [_revived(domain, learners) for domain in record["domains"]]
    domains = {domain.name: domain for domain in known}
    given = as_mechanisms(mechanisms, graph)
    fitted: dict[str, Any] = {
        node: _revived(plain, learners) if plain is not None else None
        for node, plain in record["mechanisms"].items()
    }
    equations = Equations(graph, domains, fitted)
    for node in [node for node, equation in fitted.items() if equation is None]:
        fitted[node] = _again(node, given, equations)
    noise = {node: np.array(values, dtype=float) for node, values in record["noise"].items()}
    fits = tuple(_revived(fit, learners) for fit in record["fits"])
    return equations, Recorded(noise, fits), Template(record["library"])


def _plain(value: Any, learners: list[Any]) -> Any:
    """As JSON knows it; None for equations that hold functions."""
    if isinstance(value, GIVEN) or (
        isinstance(value, CategoricalEquation) and isinstance(value.probabilities, Told)
    ):
        return None
    if isinstance(value, LEARNED):
        learners.append(value.model)
        rest = {f.name: getattr(value, f.name) for f in fields(value) if f.name != "model"}
        return {"is": type(value).__name__, "model": len(learners) - 1, **rest}
    if is_dataclass(value):
        inside = {f.name: _plain(getattr(value, f.name), learners) for f in fields(value)}
        return {"is": type(value).__name__, **inside}
    if isinstance(value, tuple):
        return [_plain(item, learners) for item in value]
    return value


def _revived(plain: Any, learners: list[Any]) -> Any:
    if isinstance(plain, list):
        return tuple(_revived(item, learners) for item in plain)
    if not isinstance(plain, dict):
        return plain
    kind = KINDS[plain["is"]]
    inside = {name: _revived(item, learners) for name, item in plain.items() if name != "is"}
    if kind in LEARNED:
        inside["model"] = learners[plain["model"]]
    return kind(**inside)


def _again(node: str, given: Mapping[str, Any], equations: Equations) -> Any:
    """The equation of a node whose functions were not saved."""
    if node not in given:
        raise MechanismError(
            f"the mechanism of {node!r} is a function, which is not saved; give it again: "
            f"load(..., mechanisms={{{node!r}: ...}})"
        )
    nobody = dict.fromkeys(equations.graph.nodes, np.empty(0))
    return given[node].fit(equations.sample(node, nobody, seed=0))


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise SourceError(f"there is no file {str(path)!r}")
    try:
        record = json.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as cause:
        raise SourceError(f"{str(path)!r} is no saved model: {cause}") from cause
    if not isinstance(record, dict) or record.get("version") != VERSION:
        raise SourceError(
            f"{str(path)!r} is no structural causal model of version {VERSION}; save it again"
        )
    return record


def _load_learners(path: Path, record: Mapping[str, Any], *, trust: bool) -> list[Any]:
    if "learners" not in record:
        return []
    beside = path.with_name(record["learners"]["file"])
    if not trust:
        raise TrustError(
            f"{path.name!r} has scikit-learn models in {beside.name!r}. Loading them can run any "
            "code that whoever wrote the file put into it. If you trust where it comes from, say "
            "load(..., trust=True)"
        )
    if not beside.is_file():
        raise SourceError(f"the learners of {str(path)!r} are not there: no file {str(beside)!r}")
    if _checksum(beside) != record["learners"]["sha256"]:
        raise TrustError(
            f"{beside.name!r} is not the file that {path.name!r} was saved with; it was not loaded"
        )
    import joblib

    found: list[Any] = joblib.load(beside)
    return found


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
