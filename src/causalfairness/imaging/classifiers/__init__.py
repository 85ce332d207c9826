"""Which networks are audited? Readers of five findings, and how they are trained."""

from causalfairness.imaging.classifiers.dependence import Leaning, lean_targets, one_column_each
from causalfairness.imaging.classifiers.networks import (
    Classifier,
    dense_network,
    inception_network,
    small_network,
    vgg_network,
)
from causalfairness.imaging.classifiers.scoring import Films, area_under_curve, scores
from causalfairness.imaging.classifiers.training import fit_classifier

__all__ = [
    "Classifier",
    "Films",
    "Leaning",
    "area_under_curve",
    "dense_network",
    "fit_classifier",
    "inception_network",
    "lean_targets",
    "one_column_each",
    "scores",
    "small_network",
    "vgg_network",
]
