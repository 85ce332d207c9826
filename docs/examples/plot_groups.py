"""
Which groups differ, when all of them are asked about at once?
==============================================================

Four groups with four numbers each make sixteen intervals. If each of them may miss one time in
twenty, it is no surprise that one of them does, and it is the surprising ones that get shown.
Intervals that hold *together* are wider. Here they are for race in the COMPAS records, then for
race and sex together, and with a group about which these data cannot speak.
"""

from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf

# %%
# Everyone against one reference
# ------------------------------
#
# With `comparison=None` the model names the reference only. All groups share one estimator; plain
# learners keep this page quick.

compas = cf.datasets.load_compas()
model = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison=None,
    confounders=["age", "sex"],
    mediators=["priors_count", "c_charge_degree"],
    outcome="two_year_recid",
)
plain = LogisticRegression(max_iter=1_000)
nested = LinearRegression()
estimator = cf.estimators.DoublyRobust(outcome=plain, group=plain, nested=nested)
groups = cf.compare_groups(compas, model, estimator=estimator)
table = groups.table()

gaps = {f"{group}: total": group for group in groups.by_group}
ax = cf.plots.forest(table, names=gaps, percent=True)

# %%
# A dot is an estimate, a line its interval, and a hollow dot marks an interval that includes zero.
# These are the plain gaps to the Caucasian group. Below are their parts, with two mediators and
# plain learners; with the whole record the first direct part is 1.0 points.

ax = cf.plots.forest(table, percent=True)

# %%
# All sixteen intervals hold at once with 95% confidence, so one may point at any row, having looked
# at all of them first. That has its price:

alone = groups["Hispanic"].total.interval()
together = table.interval("Hispanic: total")
print(f"Hispanic gap, asked alone:    {alone.low:+.3f} to {alone.high:+.3f}")
print(f"Hispanic gap, asked together: {together.low:+.3f} to {together.high:+.3f}")
print(f"standard errors to each side: {table.reach:.2f} instead of 1.96")

# %%
# The Asian group is the one to be careful with. Its gap looks as large as that of African-American
# defendants, in the other direction, but it rests on 31 people: the interval allows for everything
# from a wide gap to none. That is not a finding of equality. The data are undecided.
#
# A group that is refused
# -----------------------
#
# One group is missing from the picture, and the result says which and why:

for group, reason in groups.refused.items():
    print(f"{group}: {reason}")

# %%
# Eleven people cannot stand for a group. They are not dropped in silence either: whoever reads the
# table should learn that the question was put and could not be answered.
#
# Race and sex together
# ---------------------
#
# Groups may be combinations. Sex is then part of the group and no longer a confounder.

both = cf.StandardFairnessModel(
    protected=["race", "sex"],
    reference=("Caucasian", "Male"),
    comparison=None,
    confounders=["age"],
    mediators=["priors_count", "c_charge_degree"],
    outcome="two_year_recid",
)
pairs = [
    ("African-American", "Male"),
    ("African-American", "Female"),
    ("Caucasian", "Female"),
]
combined = cf.compare_groups(compas, both, groups=pairs, estimator=estimator)

ax = cf.plots.forest(combined.table(), percent=True)

# %%
# Taken one at a time, race and sex hide what the combination shows. All effects here are changes
# from Caucasian men, on the same people, so that they can be subtracted, and the gap between women
# follows with the right standard error:

men = combined["African-American", "Male"].total
women = combined["African-American", "Female"].total - combined["Caucasian", "Female"].total
print(men.named("race gap among men"))
print(women.named("race gap among women"))
print((men - women).named("difference of the two"))

# %%
# The gap of 13 points that is reported for everyone is one of 15 among men, while among women the
# data are consistent with none above 7.6. An average over both would describe neither.
#
# Only totals may be subtracted like this. The parts of each comparison hold mediators and
# confounders at what they are among Caucasian men, so their differences are not the parts of the
# gap between women; for those, make Caucasian women the reference.
