"""Which paths may a business use, and does its predictor use them as the world does?"""

from causalfairness.parity.necessity.ledger import Declaration
from causalfairness.parity.necessity.question import (
    check_business_necessity,
    published_business_necessity,
)
from causalfairness.parity.necessity.report import NecessityReport, PathVerdict
from causalfairness.parity.necessity.table import NecessityTable

__all__ = [
    "Declaration",
    "NecessityReport",
    "NecessityTable",
    "PathVerdict",
    "check_business_necessity",
    "published_business_necessity",
]
