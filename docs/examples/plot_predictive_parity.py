"""
When does a score mean the same in two groups, and at what price?
=================================================================

A score that predicts as well as can be has *predictive parity*: people of both groups with the
same score have, on average, the same outcome. That does not mean that the group makes no
difference. It means that two large differences cancel. Here they are drawn apart, in a made-up
world where everyone's outcome in the other group is known, and the simulation of the paper that
found this is repeated.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import causalfairness as cf

# %%
# A world with two mediators
# --------------------------
#
# Group is a coin. It moves `w1`, which moves `w2` by its square, and both move the outcome. Nothing
# confounds. A learner predicts the outcome from all three.

world = cf.datasets.worlds.curved()
model = cf.StandardFairnessModel(
    protected="group",
    reference="blue",
    comparison="green",
    mediators=["w1", "w2"],
    outcome="y",
    prediction="score",
)


def features(people):
    """What does the learner see?"""
    return np.column_stack([people["group"] == "green", people["w1"], people["w2"]])


def with_score(people):
    """Which score does a learner give these people, and which learner is it?"""
    learner = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=16)
    learner.fit(features(people), people["y"])
    return people.assign(score=learner.predict(features(people))), learner


# %%
# What outcomes would have been is said by a structural model. Its mechanisms must be able to
# represent the world: squares and products here.

graph = cf.CausalGraph.parse("group -> {w1, w2, y}; w1 -> {w2, y}; w2 -> y")
curve = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())
mechanisms = {"w1": cf.scm.Linear(), "w2": cf.scm.Additive(curve), "y": cf.scm.Additive(curve)}


def decompose(people):
    """What is the gap at equal scores made of?"""
    scm = cf.StructuralCausalModel.fit(graph, people, mechanisms)
    return cf.decompose_predictive_parity(people, model, counterfactual=scm, replicates=200)


people, learner = with_score(world.draw(5_000, seed=0, frame="pandas"))
found = decompose(people)
print("\n".join(found.sentences()))

# %%
# One bin after the other
# -----------------------
#
# Above, equal scores go with nearly equal outcomes. Below, the same bins: the gap is what is left
# of two terms. Had the people of `green` been `blue`, their outcomes would have been lower
# (causal). And people of `green` who reach a score are not those of `blue` who reach it: as `blue`,
# they would have had lower outcomes than these (reverse-causal).

ax = cf.plots.predictive_parity(found)

# %%
# More data: the gap goes to its drift, the terms stay
# ----------------------------------------------------
#
# The experiment is repeated with more and more people. The integrated gap (iPPM) goes to the
# *drift*: within a bin of positive width the groups' mean scores still differ a little, and no
# predictor can remove that. (With few people the learner has seen them too well, and the gap starts
# on the other side of zero.) The two terms stay where they are and cancel. Shaded: one standard
# deviation over ten repetitions.

sizes = [1_000, 2_000, 3_500, 5_000, 7_500, 10_000]
means = {}
for n in sizes:
    repeated = [decompose(with_score(world.draw(n, seed=s, frame="pandas"))[0]) for s in range(10)]
    for name in ("ppm", "causal", "reverse_causal", "drift"):
        values = [getattr(each, name).integrated.value for each in repeated]
        means.setdefault(name, []).append((np.mean(values), np.std(values)))

light = cf.plots.LIGHT
colors = {"ppm": light.ink, "causal": light.direct, "reverse_causal": light.indirect}
figure, axes = plt.subplots(2, 1, sharex=True, figsize=(6.4, 5.2), layout="constrained")
for name, values in means.items():
    center, spread = np.array(values).T
    where = {"ppm": axes, "drift": axes[1:]}.get(name, axes[:1])
    for ax in where:
        color = colors.get(name, light.rest)
        style = "--" if name == "drift" else "-"
        ax.plot(sizes, center, style, color=color, label=name.replace("_", "-"))
        ax.fill_between(sizes, center - spread, center + spread, color=color, alpha=0.2)
axes[0].set_ylim(-2.2, 2.8)
axes[0].legend(frameon=False, ncols=3, loc="upper right", fontsize=8)
axes[0].set_title("integrated terms over 20 bins", loc="left", fontsize=10)
axes[1].set_ylim(-0.12, 0.12)
axes[1].set_title("the gap and its drift, closer", loc="left", fontsize=10)
axes[1].legend(frameon=False, ncols=2, loc="lower right", fontsize=8)
axes[1].set_xlabel("people")

print(f"drift of the last: {means['drift'][-1][0]:+.3f}, gap: {means['ppm'][-1][0]:+.3f}")

# %%
# Is the causal term right?
# -------------------------
#
# In this world it is known. With the score held fixed, the truth is computed from the equations
# themselves, bin by bin, and the estimate repeated on new people.

cuts = [each.high for each in found.bins[:-1]]
truth = cf.datasets.worlds.true_terms(world, lambda people: learner.predict(features(people)), cuts)
estimates = []
for seed in range(20):
    others = world.draw(5_000, seed=100 + seed, frame="pandas")
    others["score"] = learner.predict(features(others))
    scm = cf.StructuralCausalModel.fit(graph, others, mechanisms)
    again = cf.decompose_predictive_parity(
        others, model, counterfactual=scm, bins=cuts, replicates=20
    )
    estimates.append(again.causal.values)
center, spread = np.mean(estimates, axis=0), np.std(estimates, axis=0)

bins = np.arange(1, 21)
figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
ax.fill_between(bins, center - spread, center + spread, color=light.ink, alpha=0.2, linewidth=0)
ax.plot(bins, center, color=light.ink, label="estimated, with its standard deviation")
ax.plot(bins, truth.causal, "o", color=light.direct, markersize=4, label="truth")
ax.set_xlabel("bin of the score")
ax.set_xticks([1, 5, 10, 15, 20])
ax.set_title("causal term (Term I)", loc="left", fontsize=10)
ax.legend(frameon=False)

far = np.abs(center - truth.causal) / spread
print(f"farthest from the truth: {far.max():.1f} standard deviations, in bin {far.argmax() + 1}")

# %%
# So predictive parity is no evidence that a group is treated as if it did not matter. It says that
# the score has taken up *all* that the group does to the outcome. Whether it should is a question
# of which paths a decision may use, and of law rather than statistics.
