"""Which radiographs have known counterfactuals? Simulated ones."""

from causalfairness.imaging.simulator.radiographs import Radiographs, Simulator
from causalfairness.imaging.simulator.saving import SavedRadiographs, save_radiographs

__all__ = ["Radiographs", "SavedRadiographs", "Simulator", "save_radiographs"]
