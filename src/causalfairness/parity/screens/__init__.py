"""What do published rules of thumb say about rates? Statistical screens, with rules as data."""

from causalfairness.parity.screens.question import screen
from causalfairness.parity.screens.result import CategoryRate, Division, Screening
from causalfairness.parity.screens.rule import (
    Limit,
    Rule,
    Source,
    bundled_rule,
    bundled_rules,
    read_rule,
)

__all__ = [
    "CategoryRate",
    "Division",
    "Limit",
    "Rule",
    "Screening",
    "Source",
    "bundled_rule",
    "bundled_rules",
    "read_rule",
    "screen",
]
