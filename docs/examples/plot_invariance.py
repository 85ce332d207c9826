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
from causalfairness.invariance import (
    demographic_parity_test,
    equal_opportunity_test,
    expected_counterfactual_agreement,
)

# %%
# People, models, and the truth
# -----------------------------

rng = np.random.default_rng(1)
features = rng.normal(size=(1_000, 8))
group = (rng.random(1_000) < 1 / (1 + np.exp(-features[:, 0]))).astype(int)
change = features @ rng.normal(size=(8, 8)) * np.linspace(0, 0.4, 8)
weights = rng.normal(size=(8, 20)) ** 3
labels = features[:, 0] + rng.logistic(size=1_000) > 0  # what the models are meant to predict


def predict(group):
    """Twenty decisions for everyone, as if everyone were of this group."""
    return (features + np.reshape(group, (-1, 1)) * change) @ weights > 0


predictions = predict(group)
agreement = expected_counterfactual_agreement(
    predictions, [predict(np.zeros(1_000)), predict(np.ones(1_000))]
)
print(f"agreement from {agreement.min():.2f} to {agreement.max():.2f}")

# %%
# Five tests of all of them
# -------------------------
#
# One call tests a whole pool. Diamonds, where there are any, are models of which a test is not
# sure.

tests = {
    method: cf.invariance_test(predictions, group, features, method=method)
    for method in ("projected", "randomization", "paired")
}
tests["demographic parity"] = demographic_parity_test(predictions, group)
tests["equal opportunity"] = equal_opportunity_test(predictions, group, labels, favorable=1)
ax = cf.plots.invariance(tests, agreement)

# %%
# The projected test has its dots on a rising band: the less a model agrees with itself across
# groups, the smaller the p-value. The randomization test orders them alike until it reaches the
# smallest p-value that its number of draws allows. The two tests of group averages ask another
# question, and their p-values say nothing about this one.

print(tests["projected"])
