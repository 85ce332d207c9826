"""Which data can be tried at once? Bundled real data, and worlds with known answers.

The real data (`load_adult`, `load_compas`, `load_german_credit`, `load_law_school`) come with a
data dictionary each (`describe`). The made-up worlds are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from causalfairness.datasets.bundled import (
    load_adult,
    load_compas,
    load_german_credit,
    load_law_school,
)
from causalfairness.datasets.dictionary import Column, DataDictionary, available, describe

if TYPE_CHECKING:
    from causalfairness.datasets import worlds
    from causalfairness.datasets.loan import (
        make_loan_application,
        make_loan_application_counterfactual,
    )

_MODULES = ("worlds",)
_HOME = {
    "make_loan_application": "causalfairness.datasets.loan",
    "make_loan_application_counterfactual": "causalfairness.datasets.loan",
}

__all__ = [
    "Column",
    "DataDictionary",
    "available",
    "describe",
    "load_adult",
    "load_compas",
    "load_german_credit",
    "load_law_school",
    "make_loan_application",
    "make_loan_application_counterfactual",
    "worlds",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"causalfairness.datasets.{name}")
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'causalfairness.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
