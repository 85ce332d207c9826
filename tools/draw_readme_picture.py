"""Which picture opens the README? The waterfall of its example, on light and on dark pages.

    python tools/draw_readme_picture.py

writes `docs/pictures/compas-waterfall.svg` and `compas-waterfall-dark.svg`. The caption, with the
numbers, is stored in the file; `tests/test_gallery.py` holds it against the present ones.
"""

from pathlib import Path

import matplotlib

import causalfairness as cf

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
MODEL = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
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
THEMES = {"compas-waterfall.svg": cf.plots.LIGHT, "compas-waterfall-dark.svg": cf.plots.DARK}


def main() -> None:
    """What does the example of the README look like?"""
    matplotlib.use("Agg")
    found = cf.decompose_disparity(cf.datasets.load_compas(), MODEL)
    PICTURES.mkdir(exist_ok=True)
    for name, theme in THEMES.items():
        cf.plots.save(cf.plots.waterfall(found, theme=theme), PICTURES / name)


if __name__ == "__main__":
    main()
