"""Why do groups differ? The questions asked of the twelve world means."""

from causalfairness.parity.groups import GroupComparison, compare_groups
from causalfairness.parity.statistical import decompose_disparity

__all__ = ["GroupComparison", "compare_groups", "decompose_disparity"]
