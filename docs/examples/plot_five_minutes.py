"""
Where does a gap come from? COMPAS in five minutes
==================================================

Among the defendants that ProPublica collected for its article on COMPAS, a new offense within two
years is on record for 52 in 100 of those listed as African-American and for 39 in 100 of those
listed as Caucasian. That is one number, 13 points, and it does not say where it comes from. Here
is the whole way from the table to a picture that does, and to words one may use about it.
"""

import tempfile
from pathlib import Path

import causalfairness as cf

# %%
# Bring a table
# -------------
#
# Any data frame will do, and so will files and database tables. COMPAS is part of the package.

compas = cf.datasets.load_compas()
print(f"{compas.num_rows:,} defendants, among the columns: {compas.column_names[:4]} ...")

# %%
# Say what causes what
# --------------------
#
# No table can tell; you do. Age and sex are not caused by race, so they are *confounders*: the
# groups differ in them, and they matter for the outcome. The criminal record and the charge may
# well be caused by race, through policing for example, so they are *mediators*.
# :doc:`/choosing-roles` helps to decide.

model = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",  # every effect is a change from this group ...
    comparison="African-American",  # ... to this one
    confounders=["age", "sex"],
    mediators=[
        "priors_count",
        "juv_fel_count",
        "juv_misd_count",
        "juv_other_count",
        "c_charge_degree",
    ],
    outcome="two_year_recid",
)
print(model)

# %%
# Ask
# ---

found = cf.decompose_disparity(compas, model)
print(found.summary())

# %%
# Look
# ----
#
# The waterfall walks from one group's mean to the other's, one path at a time. Read it from left
# to right: the reference group as it is; then the outcome alone takes the other race; then the
# record and the charge are those of the other race too; then age and sex are those of the other
# group.

ax = cf.plots.waterfall(found)

# %%
# The **direct** bar is short, and its thin line, the 95% interval, reaches to both sides of where
# it starts: the data do not say in which direction it goes. Most of the gap is **indirect**: it
# runs through the record, which differs by race at equal age and sex. A third is **spurious**: it
# comes along with age and sex, in which the groups differ and which race does not cause.
#
# Say it
# ------
#
# The result says what it supports in sentences. They are worded with care: see :doc:`/words`
# before you change them.

print(*found.sentences(), sep="\n")

# %%
# Doubt it
# --------
#
# Every result carries what it rests on: how many rows were used, how far the groups overlap, which
# models were learned and what must be true.

print(found.diagnostics)

# %%
# One thing no diagnostic can see: the outcome is an offense that reached the records. If one group
# is watched more closely than the other, that is in these numbers too, and the indirect part does
# not say whether the record was come by justly.
#
# Keep the picture
# ----------------
#
# `svg`, `pdf` and `png` are drawn the same. The caption is the sentence that the picture supports,
# with all its conditions; it is stored in the file for those who cannot see it.

folder = Path(tempfile.mkdtemp())  # or wherever your slides are
cf.plots.save(ax, folder / "compas-gap.svg")
print(cf.plots.waterfall_caption(found))

# %%
# For a dark slide there is a dark palette.

ax = cf.plots.waterfall(found, theme=cf.plots.DARK)

# %%
# Where to go from here
# ---------------------
#
# * Your own table: decide on :doc:`roles </choosing-roles>` first, then on everything else.
# * Is the answer a matter of the estimator? :doc:`plot_estimators_compared`.
# * More than two groups, or race and sex together: :doc:`plot_groups`.
# * What the three parts mean exactly: :doc:`/statistical-parity`.
