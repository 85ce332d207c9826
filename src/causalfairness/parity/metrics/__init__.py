"""Do groups fare differently, by the plain metrics that people expect?"""

from causalfairness.parity.metrics.question import GroupMetrics, Measured, group_metrics
from causalfairness.parity.metrics.table import MetricTable

__all__ = ["GroupMetrics", "Measured", "MetricTable", "group_metrics"]
