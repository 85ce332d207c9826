"""How sure can we be? Uncertainty on plain arrays, knowing nothing about fairness."""

from causalfairness.inference.exact_difference import exact_p_values
from causalfairness.inference.intervals import (
    Interval,
    detectable_effect,
    difference_error,
    equivalence_p_value,
    minimum_effect_p_value,
    normal_interval,
    rows_to_rule_out,
    two_sided_p_value,
)
from causalfairness.inference.multiplicity import benjamini_hochberg, holm, simultaneous_quantile
from causalfairness.inference.parallel import on_one_thread, run_all
from causalfairness.inference.proportions import (
    Bounds,
    added_people,
    added_people_interval,
    agresti_caffo_interval,
    effective_size,
    newcombe_interval,
    quantiles,
    ratio_interval,
    wald_interval,
    wilson_interval,
)
from causalfairness.inference.resampling import bayesian_cells, multinomial_cells

__all__ = [
    "Bounds",
    "Interval",
    "added_people",
    "added_people_interval",
    "agresti_caffo_interval",
    "bayesian_cells",
    "benjamini_hochberg",
    "detectable_effect",
    "difference_error",
    "effective_size",
    "equivalence_p_value",
    "exact_p_values",
    "holm",
    "minimum_effect_p_value",
    "multinomial_cells",
    "newcombe_interval",
    "normal_interval",
    "on_one_thread",
    "quantiles",
    "ratio_interval",
    "rows_to_rule_out",
    "run_all",
    "simultaneous_quantile",
    "two_sided_p_value",
    "wald_interval",
    "wilson_interval",
]
