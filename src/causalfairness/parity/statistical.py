"""How much of a gap between two groups is direct, indirect or spurious? (methods §2)

The total is E[y | comparison] - E[y | reference], and so are all signs: a change from the
reference group to the comparison group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from causalfairness.effects import Decomposition, Estimate
from causalfairness.effects.contrasts import PARTS, Convention
from causalfairness.estimators import Estimator, choose_estimator
from causalfairness.estimators.role_columns import estimate_from
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Missing, Of, Table, ask


def decompose_disparity(
    data: Any,
    model: StandardFairnessModel,
    *,
    of: Of = "outcome",
    estimator: Estimator | None = None,
    convention: Convention = "sequential",
    missing: Missing = "refuse",
    workers: int = 1,
    seed: int = 0,
) -> Decomposition:
    """How much of the gap between two groups is direct, indirect or spurious?

    `data` is a pandas, polars or pyarrow table, a DuckDB relation, or a path (or glob) to CSV or
    Parquet files, which are not loaded whole. `estimator=None` chooses and says why; `missing`
    says what happens to missing values: `"refuse"`, `"drop"` (counted per group) or `"category"`.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female",
    ...     mediators=["marital_status"], outcome="income", outcome_value=">50K")
    >>> found = cf.decompose_disparity(cf.datasets.load_adult(), model)
    >>> round(found.total.value, 4)
    -0.1945
    >>> parts = found.direct.value + found.indirect.value + found.spurious.value
    >>> abs(parts - found.total.value) < 1e-12
    True
    """
    check_convention(convention)
    table, model = ask(data, model, missing=missing)
    chosen, because = pick(table, [model], of, estimator)
    reading = chosen.read(table, model, of)
    estimate = estimate_from(chosen, reading, model, workers=workers, seed=seed)
    return describe(explain(estimate, because), model, of, convention)


def check_convention(convention: Convention) -> None:
    """Is this one of the two ways to add up the parts?"""
    if convention not in PARTS:
        raise ValueError(f"convention must be 'sequential' or 'symmetric'; found {convention!r}")


def pick(
    table: Table, models: Sequence[StandardFairnessModel], of: Of, estimator: Estimator | None
) -> tuple[Estimator, str]:
    """Which estimator answers, and why that one?"""
    if estimator is not None:
        return estimator, ""
    chosen = choose_estimator(table, models, of)
    return chosen.estimator, chosen.because


def explain(estimate: Estimate, because: str) -> Estimate:
    """Why was this estimator chosen? The reason joins the diagnostics."""
    return replace(estimate, diagnostics=replace(estimate.diagnostics, chosen_because=because))


def describe(
    estimate: Estimate, model: StandardFairnessModel, of: Of, convention: Convention
) -> Decomposition:
    """Whose gap is it, in words?"""
    return Decomposition(
        what=model.target_label(of),
        reference=model.reference_label,
        comparison=model.comparison_label,
        convention=convention,
        estimate=estimate,
    )
