"""Why do groups differ? The questions asked of the twelve world means."""

from causalfairness.parity import screens
from causalfairness.parity.agreement import Difference, EstimatorComparison, compare_estimators
from causalfairness.parity.error_rate import ErrorRateDecomposition
from causalfairness.parity.frontier import (
    CoordinateAudit,
    Frontier,
    FrontierPoint,
    audit_coordinates,
    frontier,
)
from causalfairness.parity.groups import GroupComparison, compare_groups
from causalfairness.parity.intersections import AttributeComparison, compare_attributes
from causalfairness.parity.metrics import GroupMetrics, Measured, MetricTable, group_metrics
from causalfairness.parity.necessity import (
    Declaration,
    NecessityReport,
    NecessityTable,
    PathVerdict,
    check_business_necessity,
    published_business_necessity,
)
from causalfairness.parity.odds import decompose_error_rates
from causalfairness.parity.predictive import (
    Adapter,
    BinnedGap,
    PredictiveParity,
    ScoreBin,
    decompose_predictive_parity,
)
from causalfairness.parity.statistical import decompose_disparity

__all__ = [
    "Adapter",
    "AttributeComparison",
    "BinnedGap",
    "CoordinateAudit",
    "Declaration",
    "Difference",
    "ErrorRateDecomposition",
    "EstimatorComparison",
    "Frontier",
    "FrontierPoint",
    "GroupComparison",
    "GroupMetrics",
    "Measured",
    "MetricTable",
    "NecessityReport",
    "NecessityTable",
    "PathVerdict",
    "PredictiveParity",
    "ScoreBin",
    "audit_coordinates",
    "check_business_necessity",
    "compare_attributes",
    "compare_estimators",
    "compare_groups",
    "decompose_disparity",
    "decompose_error_rates",
    "decompose_predictive_parity",
    "frontier",
    "group_metrics",
    "published_business_necessity",
    "screens",
]
