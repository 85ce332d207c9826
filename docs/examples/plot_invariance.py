"""
Which test notices a model that changes with the group?
=======================================================

Twenty models that decide by weighted sums of what they see of people. A group changes what they
see, for some directions much and for others little, and the group is not independent of the
features that matter. Since these people are made up, it is known how often each model would decide
the same for them in the other group.
"""

import numpy as np

import causalfairness as cf
from causalfairness.datasets import worlds
from causalfairness.invariance import (
    demographic_parity_test,
    equal_opportunity_test,
    expected_counterfactual_agreement,
)

# %%
# People, models, and the truth
# -----------------------------

process = worlds.invariance_process("linear", strength=0.3, confounding=1.0)
people = process.draw(1_000, seed=1)
directions = np.random.default_rng(0).normal(size=(32, 20))


def predict(inputs):
    """Twenty decisions for everyone."""
    return inputs @ directions > 0


predictions = predict(people.inputs)
agreement = expected_counterfactual_agreement(
    predictions, process.counterfactual_predictions(predict, people)
)
print(f"agreement from {agreement.min():.2f} to {agreement.max():.2f}")

# %%
# Five tests of all of them
# -------------------------
#
# One call tests a whole pool: its regressions are learned once.

tests = {
    method: cf.invariance_test(predictions, people.group, people.features, method=method)
    for method in ("projected", "randomization", "paired")
}
tests["demographic parity"] = demographic_parity_test(predictions, people.group)
tests["equal opportunity"] = equal_opportunity_test(predictions, people.group, people.labels)
ax = cf.plots.invariance(tests, agreement)

# %%
# The projected test has its dots on a rising band: the less a model agrees with itself across
# groups, the smaller the p-value. The randomization test orders them alike until it reaches the
# smallest p-value that its number of draws allows. The two tests of group averages ask another
# question, and their p-values say nothing about this one.

print(tests["projected"])
