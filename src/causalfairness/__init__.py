"""Why does a decision system treat groups differently, and for whom?

The flow is the order of the folders: assumptions (`graph`, `fairness_model`), data (`tables`),
estimation (`effects`, `estimators`), questions (`parity`). Names are loaded on first use, so
that `import causalfairness` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causalfairness import (
        adaptation,
        audit,
        datasets,
        errors,
        estimators,
        invariance,
        neural,
        parity,
        plots,
        report,
        scm,
        sensitivity,
    )
    from causalfairness.adaptation import FairAdapter, FairPredictor
    from causalfairness.audit import Audit
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
    from causalfairness.invariance import invariance_test
    from causalfairness.parity import (
        check_business_necessity,
        compare_attributes,
        compare_estimators,
        compare_groups,
        decompose_disparity,
        decompose_error_rates,
        decompose_predictive_parity,
        frontier,
        group_metrics,
    )
    from causalfairness.scm import StructuralCausalModel
    from causalfairness.sensitivity import sensitivity_to_confounding
    from causalfairness.tables import Table

__version__ = "0.2.0"

_HOME = {
    "Audit": "causalfairness.audit",
    "CausalFairnessDecomposition": "causalfairness.decomposition",
    "CausalGraph": "causalfairness.graph",
    "FairAdapter": "causalfairness.adaptation",
    "FairPredictor": "causalfairness.adaptation",
    "StandardFairnessModel": "causalfairness.fairness_model",
    "StructuralCausalModel": "causalfairness.scm",
    "Table": "causalfairness.tables",
    "check_business_necessity": "causalfairness.parity",
    "compare_attributes": "causalfairness.parity",
    "compare_estimators": "causalfairness.parity",
    "compare_graphs": "causalfairness.individuals",
    "compare_groups": "causalfairness.parity",
    "compare_situations": "causalfairness.individuals",
    "counterfactual_fairness": "causalfairness.individuals",
    "counterfactual_situation_test": "causalfairness.individuals",
    "decompose_disparity": "causalfairness.parity",
    "decompose_error_rates": "causalfairness.parity",
    "decompose_predictive_parity": "causalfairness.parity",
    "frontier": "causalfairness.parity",
    "group_metrics": "causalfairness.parity",
    "invariance_test": "causalfairness.invariance",
    "sensitivity_to_confounding": "causalfairness.sensitivity",
    "situation_test": "causalfairness.individuals",
}
_MODULES = (
    "adaptation",
    "audit",
    "datasets",
    "errors",
    "estimators",
    "invariance",
    "neural",
    "parity",
    "plots",
    "report",
    "scm",
    "sensitivity",
)

__all__ = [
    "Audit",
    "CausalFairnessDecomposition",
    "CausalGraph",
    "FairAdapter",
    "FairPredictor",
    "StandardFairnessModel",
    "StructuralCausalModel",
    "Table",
    "__version__",
    "adaptation",
    "audit",
    "check_business_necessity",
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
    "decompose_predictive_parity",
    "errors",
    "estimators",
    "frontier",
    "group_metrics",
    "invariance",
    "invariance_test",
    "neural",
    "parity",
    "plots",
    "report",
    "scm",
    "sensitivity",
    "sensitivity_to_confounding",
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
