"""What does it cost, and what does it gain, to forbid a predictor some paths? (methods §6)"""

from causalfairness.parity.frontier.coordinates import CoordinateAudit, audit_coordinates
from causalfairness.parity.frontier.question import frontier
from causalfairness.parity.frontier.result import Frontier, FrontierPoint

__all__ = ["CoordinateAudit", "Frontier", "FrontierPoint", "audit_coordinates", "frontier"]
