"""Why does a decision system treat groups differently, and for whom?

The flow is the order of the folders: assumptions (`graph`, `fairness_model`), data (`tables`),
estimation (`effects`, `estimators`), questions (`parity`). Names are loaded on first use, so
that `import causalfairness` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causalfairness import datasets, errors, estimators, plots, report
    from causalfairness.fairness_model import StandardFairnessModel
    from causalfairness.graph import CausalGraph
    from causalfairness.parity import compare_groups, decompose_disparity

__version__ = "0.1.0"

_HOME = {
    "CausalGraph": "causalfairness.graph",
    "StandardFairnessModel": "causalfairness.fairness_model",
    "compare_groups": "causalfairness.parity",
    "decompose_disparity": "causalfairness.parity",
}
_MODULES = ("datasets", "errors", "estimators", "plots", "report")

__all__ = [
    "CausalGraph",
    "StandardFairnessModel",
    "__version__",
    "compare_groups",
    "datasets",
    "decompose_disparity",
    "errors",
    "estimators",
    "plots",
    "report",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"causalfairness.{name}")
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'causalfairness' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
