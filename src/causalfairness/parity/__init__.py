"""Why do groups differ? The questions asked of the twelve world means."""

from causalfairness.parity.agreement import Difference, EstimatorComparison, compare_estimators
from causalfairness.parity.error_rate import ErrorRateDecomposition
from causalfairness.parity.groups import GroupComparison, compare_groups
from causalfairness.parity.intersections import AttributeComparison, compare_attributes
from causalfairness.parity.metrics import GroupMetrics, Measured, MetricTable, group_metrics
from causalfairness.parity.odds import decompose_error_rates
from causalfairness.parity.statistical import decompose_disparity

__all__ = [
    "AttributeComparison",
    "Difference",
    "ErrorRateDecomposition",
    "EstimatorComparison",
    "GroupComparison",
    "GroupMetrics",
    "Measured",
    "MetricTable",
    "compare_attributes",
    "compare_estimators",
    "compare_groups",
    "decompose_disparity",
    "decompose_error_rates",
    "group_metrics",
]
