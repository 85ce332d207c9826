"""Does a prediction change with the group beyond what the features explain? Tests for it.

`invariance_test` asks it of one model or of a pool of them, `demographic_parity_test` and
`equal_opportunity_test` ask the questions it is often confused with, and
`expected_counterfactual_agreement` is the truth where counterfactual predictions are known.
"""

from causalfairness.invariance.agreement import expected_counterfactual_agreement
from causalfairness.invariance.baselines import demographic_parity_test, equal_opportunity_test
from causalfairness.invariance.result import InvarianceTable, InvarianceTest
from causalfairness.invariance.testing import invariance_test

__all__ = [
    "InvarianceTable",
    "InvarianceTest",
    "demographic_parity_test",
    "equal_opportunity_test",
    "expected_counterfactual_agreement",
    "invariance_test",
]
