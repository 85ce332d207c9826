"""
What does it cost to forbid a predictor some paths?
===================================================

A predictor of reoffending may be forbidden to use race itself, or criminal records as far as race
has shaped them, or even age and sex as far as they go along with race. Each prohibition brings
predictions for two groups closer together, and takes them away from what then happens. Where to
stand between the two is decided by people. What each place costs can be measured.
"""

from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness import parity
from causalfairness.estimators import DoublyRobust

# %%
# The question
# ------------
#
# All 7,214 people of the published table. Race is held to come along with age and sex, and to lead
# to juvenile offences, prior offences and the degree of the charge.

compas = cf.datasets.load_compas(propublica_filter=False, frame="pandas")
compas["northpointe"] = (compas["decile_score"] > 4).astype(int)
records = ["juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]
model = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison=None,
    confounders=["age", "sex"],
    mediators=[*records, "c_charge_degree"],
    outcome="two_year_recid",
    prediction="northpointe",
)

# %%
# Five predictors
# ---------------
#
# For each set of allowed paths, people are moved to what they would be without the others, a model
# learns from them, and its scores are measured on people it has not seen, against what they did.
# Three splits keep this page quick.

found = cf.frontier(compas, model, repetitions=3)
print(found)

# %%
# The frontier
# ------------
#
# With nothing allowed, scores of the two groups are alike (SPM near 0), and people with the same
# score reoffend at different rates. With everything allowed it is the other way around. Keeping
# only what comes along with age and sex, or only what leads through records, lies in between.

ax = cf.plots.frontier(found)

# %%
# Three predictions of one outcome
# --------------------------------
#
# Take the case in which only the spurious path is allowed. The outcome itself, Northpointe's
# prediction, and the predictor built for this case, part by part:

logistic, line = LogisticRegression(max_iter=1_000), LinearRegression()
shares = DoublyRobust(outcome=logistic, group=logistic, nested=line)
scores = DoublyRobust(outcome=line, group=logistic, nested=line)
outcome = cf.decompose_disparity(compas, model, estimator=shares)
northpointe = cf.decompose_disparity(compas, model, of="prediction", estimator=shares)
audit = parity.audit_coordinates(compas, model, allowed={"spurious"}, effects=scores)
bars = {"reoffending": outcome, "Northpointe": northpointe, "only spurious": audit.adapted}
ax = cf.plots.side_by_side(bars)

# %%
# Northpointe's prediction has a direct and an indirect effect, the new one neither, and what goes
# along with age and sex stays close to what it is for the outcome.
#
# In whose coordinates?
# ---------------------
#
# The new predictor sees adapted records. On these it has no direct and no indirect effect, by
# construction. People have other records: with these held as they are, a change of race alone
# changes the adapted ones, and so the prediction. The direct effect this makes and the indirect one
# cancel, and both are there.

print(audit)
both = {"records as adapted": audit.adapted, "as people have them": audit.original}
ax = cf.plots.side_by_side(both)

# %%
# Whether that is what "removing" a path should mean is worth asking before such a predictor is
# used: of two people with the same record, the one of the group with the longer records on average
# is taken to have the shorter one.
