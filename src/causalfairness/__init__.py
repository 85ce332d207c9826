"""Why does a decision system treat groups differently, and for whom?

The flow is the order of the folders: assumptions (`graph`, `fairness_model`), data (`tables`),
estimation (`effects`, `estimators`), questions (`parity`). Names are loaded on first use, so
that `import causalfairness` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causalfairness import datasets, errors, estimators, plots, report, scm
    from causalfairness.decomposition import CausalFairnessDecomposition
    from causalfairness.fairness_model import StandardFairnessModel
    from causalfairness.graph import CausalGraph
    from causalfairness.individuals import (
        compare_graphs,
        compare_situations,
        counterfactual_fairness,
        counterfactual_situation_test,
        situation_test,
    )
    from causalfairness.parity import (
        compare_attributes,
        compare_estimators,
        compare_groups,
        decompose_disparity,
        decompose_error_rates,
        group_metrics,
    )
    from causalfairness.scm import StructuralCausalModel

__version__ = "0.1.0"

_HOME = {
    "CausalFairnessDecomposition": "causalfairness.decomposition",
    "CausalGraph": "causalfairness.graph",
    "StandardFairnessModel": "causalfairness.fairness_model",
    "StructuralCausalModel": "causalfairness.scm",
    "compare_attributes": "causalfairness.parity",
    "compare_estimators": "causalfairness.parity",
    "compare_graphs": "causalfairness.individuals",
    "compare_groups": "causalfairness.parity",
    "compare_situations": "causalfairness.individuals",
    "counterfactual_fairness": "causalfairness.individuals",
    "counterfactual_situation_test": "causalfairness.individuals",
    "decompose_disparity": "causalfairness.parity",
    "decompose_error_rates": "causalfairness.parity",
    "group_metrics": "causalfairness.parity",
    "situation_test": "causalfairness.individuals",
}
_MODULES = ("datasets", "errors", "estimators", "plots", "report", "scm")

__all__ = [
    "CausalFairnessDecomposition",
    "CausalGraph",
    "StandardFairnessModel",
    "StructuralCausalModel",
    "__version__",
    "compare_attributes",
    "compare_estimators",
    "compare_graphs",
    "compare_groups",
    "compare_situations",
    "counterfactual_fairness",
    "counterfactual_situation_test",
    "datasets",
    "decompose_disparity",
    "decompose_error_rates",
    "errors",
    "estimators",
    "group_metrics",
    "plots",
    "report",
    "scm",
    "situation_test",
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
