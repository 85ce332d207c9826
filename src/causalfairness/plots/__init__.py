"""What does a result look like? Pictures of decompositions and effects, and their captions.

Each picture is a function of a result and, if you like, of the axes to draw on; it returns the axes
and computes nothing: all numbers are those of the result. Without axes it makes a figure with
pyplot, so that a notebook shows it; nothing is ever shown or kept by force.
"""

from causalfairness.plots.bars import side_by_side
from causalfairness.plots.captions import (
    forest_caption,
    side_by_side_caption,
    waterfall_caption,
)
from causalfairness.plots.intervals import forest
from causalfairness.plots.saving import save, to_svg
from causalfairness.plots.steps import waterfall
from causalfairness.plots.theme import DARK, LIGHT, Theme

__all__ = [
    "DARK",
    "LIGHT",
    "Theme",
    "forest",
    "forest_caption",
    "save",
    "side_by_side",
    "side_by_side_caption",
    "to_svg",
    "waterfall",
    "waterfall_caption",
]
