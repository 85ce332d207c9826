"""What does a result look like? Pictures of decompositions, effects and metrics, and captions.

Each picture is a function of a result and, if you like, of the axes to draw on; it returns the axes
and computes nothing: all numbers are those of the result. Without axes it makes a figure with
pyplot, so that a notebook shows it; nothing is ever shown or kept by force. Pictures are drawn with
matplotlib, `pip install "causalfairness[plots]"`.
"""

from causalfairness.errors import extra

with extra("plots", "pictures are drawn with"):
    from causalfairness.plots.bars import side_by_side, side_by_side_caption
    from causalfairness.plots.frontier import frontier, frontier_caption
    from causalfairness.plots.group_calibration import calibration, calibration_caption
    from causalfairness.plots.group_rates import rates, rates_caption
    from causalfairness.plots.imaging import (
        counterfactual_scores,
        counterfactual_scores_caption,
        imaging_audit,
        imaging_audit_caption,
    )
    from causalfairness.plots.intervals import forest, forest_caption
    from causalfairness.plots.invariance import invariance, invariance_caption
    from causalfairness.plots.necessity import necessity, necessity_caption
    from causalfairness.plots.peers import dossier, dossier_caption
    from causalfairness.plots.predictive import predictive_parity, predictive_parity_caption
    from causalfairness.plots.saving import save, to_svg
    from causalfairness.plots.sensitivity import sensitivity, sensitivity_caption
    from causalfairness.plots.steps import waterfall, waterfall_caption
    from causalfairness.plots.theme import DARK, LIGHT, Theme
    from causalfairness.plots.worlds import two_worlds, two_worlds_caption

__all__ = [
    "DARK",
    "LIGHT",
    "Theme",
    "calibration",
    "calibration_caption",
    "counterfactual_scores",
    "counterfactual_scores_caption",
    "dossier",
    "dossier_caption",
    "forest",
    "forest_caption",
    "frontier",
    "frontier_caption",
    "imaging_audit",
    "imaging_audit_caption",
    "invariance",
    "invariance_caption",
    "necessity",
    "necessity_caption",
    "predictive_parity",
    "predictive_parity_caption",
    "rates",
    "rates_caption",
    "save",
    "sensitivity",
    "sensitivity_caption",
    "side_by_side",
    "side_by_side_caption",
    "to_svg",
    "two_worlds",
    "two_worlds_caption",
    "waterfall",
    "waterfall_caption",
]
