"""What do published rules of thumb say about rates? Statistical screens, with rules as data."""

from causalfairness.parity.screens.question import Screening, screen
from causalfairness.parity.screens.rule import Rule, bundled_rules, read_rule

__all__ = ["Rule", "Screening", "bundled_rules", "read_rule", "screen"]
