"""How strong would a hidden confounder have to be to change what was found?"""

from causalfairness.sensitivity.benchmarks import (
    Benchmark,
    ConfounderBenchmarks,
    benchmark_confounders,
)
from causalfairness.sensitivity.effect_sensitivity import EffectSensitivity
from causalfairness.sensitivity.question import sensitivity_to_confounding
from causalfairness.sensitivity.result import Sensitivity
from causalfairness.sensitivity.stages import Stage
from causalfairness.sensitivity.strengths import Shares

__all__ = [
    "Benchmark",
    "ConfounderBenchmarks",
    "EffectSensitivity",
    "Sensitivity",
    "Shares",
    "Stage",
    "benchmark_confounders",
    "sensitivity_to_confounding",
]
