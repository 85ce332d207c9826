"""
Do the estimators agree, and what does it mean if not?
======================================================

Counting, learning and asking the audited model itself are ways to the same twelve world means.
`compare_estimators` asks several at once. Where the truth is known all can be held against it;
where it is not, their disagreement tells something about the question put to each of them.
"""

from dataclasses import replace

from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.estimators import DoublyRobust, KnownModel, Strata

# %%
# A world whose answers are known
# -------------------------------
#
# `worlds.binary` has two confounders, a mediator and an outcome, all binary, and its equations
# can be summed by hand. Let a bank score people of this world by exactly the probability that the
# equations give them. The effects on the score are then those on the outcome, and known.

world = cf.datasets.worlds.binary()
people = world.draw(4_000, seed=0, frame="pandas")


def score(rows):
    """What does the bank's formula say about each row?"""
    green = (rows["group"] == "green").astype(float)
    record = (1.0 + 0.5 * green) * rows["m1"]
    return expit(-1.0 + 0.5 * green + record + 0.7 * rows["c1"] - 0.4 * rows["c2"])


people["score"] = score(people)
question = replace(world.model, prediction="score")

# %%
# Three estimators, one question: why does the score differ between blue and green people?
#
# * `Strata` counts. All columns have two values and every combination is seen in both groups.
# * `DoublyRobust` learns the score and the group from the rows. It never sees the formula. It gets
#   plain learners here, which are quick; left alone it tries several and says which it took.
# * `KnownModel` asks the formula itself what it would have said in the other group.

plain = {"group": LogisticRegression(), "nested": LinearRegression()}
estimators = {
    "Strata": Strata(),
    "DoublyRobust": DoublyRobust(outcome=LinearRegression(), **plain),
    "KnownModel": KnownModel(score, **plain),
}
answers = cf.compare_estimators(people, question, estimators, of="prediction")
print(answers)

ax = cf.plots.side_by_side(answers.by_estimator)
for at, value in enumerate(world.true_effects().values()):
    ax.hlines(value, at - 0.44, at + 0.44, color="black", linestyle="--", linewidth=1.2)
ax.text(0.47, world.true_effects()["total"], "truth", va="center")

# %%
# The dashed lines are the truth. All intervals reach it, and the three agree among themselves far
# better than with the truth: they see the same 4,000 people, and share their luck. Agreement of
# estimators on one sample is no substitute for an interval.
#
# A score on real data
# --------------------
#
# Now a risk score for COMPAS: a logistic regression on race, sex, age and the number of prior
# offenses. Its coefficient of race is small.

compas = cf.datasets.load_compas(frame="pandas")
compas = compas[compas["race"].isin(["African-American", "Caucasian"])]


def coded(rows):
    """Which numbers does the regression see?"""
    marks = {"black": rows["race"] == "African-American", "male": rows["sex"] == "Male"}
    return rows[["age", "priors_count"]].assign(**marks).astype(float)


fitted = LogisticRegression(max_iter=1_000).fit(coded(compas), compas["two_year_recid"])
for column, coefficient in zip(fitted.feature_names_in_, fitted.coef_[0], strict=True):
    print(f"{column:13} {coefficient:+.3f}")


def risk(rows):
    """How likely is a new offense, according to the regression?"""
    return fitted.predict_proba(coded(rows))[:, 1]


# %%
# Ages and counts have too many values to count by: many combinations are seen in one group only,
# and `Strata` would refuse. A common remedy is to coarsen the columns until every cell is full,
# here to three classes of age and three, or five, classes of prior offenses.

compas = compas.assign(risk=risk(compas))
exact = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["age", "sex"],
    mediators=["priors_count"],
    prediction="risk",
)
answers = cf.compare_estimators(
    compas,
    exact,
    {
        "Strata, 3 classes": Strata(bins={"age": [24, 45], "priors_count": [0, 3]}),
        "Strata, 5 classes": Strata(bins={"age": [24, 45], "priors_count": [0, 1, 3, 7]}),
        "DoublyRobust": DoublyRobust(),
        "KnownModel": KnownModel(risk),
    },
    of="prediction",
)
ax = cf.plots.side_by_side(answers.by_estimator)
for sentence in answers.sentences():
    print(sentence)

# %%
# Same people, same score, same gap, and yet the direct part is 3.7, 2.9 or 1.3 points. Nobody has
# miscounted. Within a class such as "more than three prior offenses" the groups still differ in
# the number, the score reacts to it, and a method that sees only classes has nowhere to put that
# difference but on the group itself. With finer classes the direct part shrinks towards
# what `DoublyRobust` finds on the exact columns, and what `KnownModel` knows.
#
# What disagreement means
# -----------------------
#
# * **Counting against learning.** Look for columns that were coarsened, as here. Two roles of one
#   column, exact and coarse, are two questions.
# * **Learning against the known model.** The learner has missed how the model uses a column. The
#   known model is right about the model, so take it.
# * **One learner against another.** Compare their losses in `diagnostics.learners`, and look at
#   the overlap: where few people resemble the other group, learners extrapolate, each its own way.
# * **None.** They may still be wrong together. All three are given the same roles; a mediator
#   called a confounder, or a hidden common cause, misleads them all alike.

for name, found in answers.by_estimator.items():
    print(f"{name:18} {found.direct}")
