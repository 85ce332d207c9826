"""
What if something else is hidden?
=================================

COMPAS again: how much of the gap in recidivism between African-American and Caucasian defendants
is direct, if age, sex and the degree of the charge are held alike? The answer assumes that nothing
else is a common cause. How strong would such a cause have to be to change it?
"""

import causalfairness as cf
from causalfairness.sensitivity import benchmark_confounders

# %%
# The answer, and what it assumes
# -------------------------------

compas = cf.datasets.load_compas()
model = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["age_cat", "sex"],
    mediators=["c_charge_degree"],
    outcome="two_year_recid",
)
found = cf.decompose_disparity(compas, model)  # prior offenses are in the direct part here
shown = cf.sensitivity_to_confounding(found, outcome_share=0.05, group_share=0.05, margin=0.01)
print(shown.table())

# %%
# Confounders that were seen, as a measure for one that was not
# -------------------------------------------------------------
#
# Each is left out in turn, as if nobody had recorded it.

benchmarks = benchmark_confounders(compas, model, margin=0.01)
for sentence in benchmarks.sentences():
    print(sentence)

# %%
# The direct effect
# -----------------
#
# Only a hidden cause to the right of the bold line could bring the estimate down to the margin.

ax = cf.plots.sensitivity(shown["direct"], benchmarks=benchmarks["direct"], percent=True)

# %%
# The spurious effect
# -------------------
#
# It is smaller, and a hidden cause as strong as the age groups would be enough.

ax = cf.plots.sensitivity(shown["spurious"], benchmarks=benchmarks["spurious"], percent=True)
