"""
Is the COMPAS gap mostly direct? A published conclusion revisited
=================================================================

*CausalFairness: An Open Source Python Library for Causal Fairness Analysis* audits a logistic
regression trained on COMPAS. It prints a race gap of 32.6 points in the predictions, of which 15.4
are direct and 7.1 indirect, so that the direct part is the larger one by far. The same data, the
same model and the same formula give 7.5 direct and 15.0 indirect once a single choice is changed.
This page repeats both calculations, and shows why no check of the sum could have seen it.
"""

from sklearn.linear_model import LogisticRegression

import causalfairness as cf
from causalfairness.estimators import KnownModel, Strata

# %%
# The audited model
# -----------------
#
# A default logistic regression on race, sex, age and prior offenses, as in the paper, that says
# yes or no.

compas = cf.datasets.load_compas(frame="pandas")
compas = compas[compas["race"].isin(["African-American", "Caucasian"])]


def coded(rows):
    """Which numbers does the regression see?"""
    marks = {"black": rows["race"] == "African-American", "male": rows["sex"] == "Male"}
    return rows[["age", "priors_count"]].assign(**marks).astype(float)


fitted = LogisticRegression(max_iter=1_000).fit(coded(compas), compas["is_recid"])


def predict(rows):
    """Does the model expect a new offense?"""
    return fitted.predict(coded(rows)).astype(float)


compas = compas.assign(predicted=predict(compas))
model = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["age", "sex"],
    mediators=["priors_count"],
    prediction="predicted",
)

# %%
# The choice
# ----------
#
# The formula asks, for each combination of age, sex and prior offenses, what the model predicts
# for people of one group and for people of the other. Many combinations occur in one group only.

profiles = compas.groupby(["age", "sex", "priors_count"])["race"].agg(["nunique", "size"])
alone = profiles[profiles["nunique"] == 1]
print(
    f"{len(alone):,} of {len(profiles):,} combinations are seen in one group only; "
    f"{alone['size'].sum() / len(compas):.0%} of the people are in them"
)

# %%
# The average prediction for nobody is not a number. The library refuses unless you say what to do:

try:
    cf.decompose_disparity(compas, model, of="prediction", estimator=Strata())
except cf.errors.EmptyCellsError as error:
    print(error)

# %%
# The published numbers come out if the missing averages are set to **zero**, as if the model
# predicted "no new offense" for every person who is not there. But the model is at hand and can be
# asked what it **would** predict for such a person.


def decomposed(estimator):
    """How does the gap split up, in the convention of the paper?"""
    return cf.decompose_disparity(
        compas, model, of="prediction", estimator=estimator, convention="symmetric"
    )


zeros = decomposed(Strata(empty_cells="zero"))
own = decomposed(Strata(empty_cells=predict, empty_strata="zero"))
for name, found in {"zeros": zeros, "the model's own values": own}.items():
    parts = (found.direct, found.indirect, found.spurious, found.total)
    print(f"{name:22}", *(f"{part.name} {part.value:.3f} " for part in parts))

# %%
# The picture
# -----------

both = {"missing averages set to zero": zeros, "the model's own values": own}
ax = cf.plots.side_by_side(both)

# %%
# Direct and indirect change places; total and spurious do not move.
#
# Why zero looks like race
# ------------------------
#
# Take men aged 26 with six prior offenses. Ten are in the data, all African-American, and the model
# expects a new offense of each. Had they been Caucasian, it would have said the same. With a zero
# in place of that answer, it looks as if race alone had made the difference. How often does that
# happen? Let the model answer for every person without a counterpart, as they are and as someone
# of the other race.

without = compas.set_index(["age", "sex", "priors_count"]).loc[alone.index].reset_index()
black, white = "African-American", "Caucasian"
other = without["race"].map({black: white, white: black})
as_they_are, if_other = predict(without), predict(without.assign(race=other))
print(f"people without a counterpart:             {len(without)}")
print(f"race changes the answer, by the model:    {(as_they_are != if_other).sum()}")
print(f"race changes the answer, by zero filling: {(as_they_are != 0).sum()}")

# %%
# Adding up proves nothing
# ------------------------
#
# Both decompositions add up to the gap, to the last digit.

for found in (zeros, own):
    rest = found.total - found.direct - found.indirect - found.spurious
    print(f"left over: {abs(rest.value):.1e}")

# %%
# They have to. The parts are differences between neighboring worlds on a walk from one group's
# mean to the other's, and whatever is assumed about a world along the way is added to one part and
# taken from the next: it cancels. One could fill in a hundred, or the phase of the moon. So a
# decomposition that adds up has passed no test, and one has to look at what was filled in. The
# library says so in its notes:

print(*zeros.diagnostics.notes, sep="\n")

# %%
# Without any filling
# -------------------
#
# `KnownModel` needs no cells. It asks the model about every person in the other group and learns
# only how age, sex and records differ between the groups. Nothing is filled in, and the parts are
# the same to within a fraction of a point.

asked_directly = decomposed(KnownModel(predict))
ax = cf.plots.waterfall(asked_directly)

# %%
# What follows, and what does not
# -------------------------------
#
# Under the stated roles, about 7.5 points of the gap in these predictions come from the model's own
# use of race, and about 15 through prior offenses. The direct part is not small, and its interval
# excludes zero. What is reversed is which of the two is larger, and with it what one would repair
# first. Nothing here says that the indirect part is justified: whether records gathered by
# policing may be used at all is not a question of arithmetic.

for part in (asked_directly.direct, asked_directly.indirect):
    print(part)
