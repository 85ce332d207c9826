"""Which radiographs have known counterfactuals? Simulated ones."""

from causalfairness.imaging.simulator.radiographs import Radiographs, Simulator

__all__ = ["Radiographs", "Simulator"]
