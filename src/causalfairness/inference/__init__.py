"""How sure can we be? Uncertainty on plain arrays, knowing nothing about fairness."""

from causalfairness.inference.intervals import Interval, normal_interval, two_sided_p_value
from causalfairness.inference.multiplicity import benjamini_hochberg, holm, simultaneous_quantile
from causalfairness.inference.parallel import run_all
from causalfairness.inference.resampling import bayesian_cells, multinomial_cells

__all__ = [
    "Interval",
    "bayesian_cells",
    "benjamini_hochberg",
    "holm",
    "multinomial_cells",
    "normal_interval",
    "run_all",
    "simultaneous_quantile",
    "two_sided_p_value",
]
