"""What does the protected input do to a network's output, directly and through other inputs?

The effects of methods §2 for any `torch.nn.Module` (methods §10). Everything here needs torch,
`pip install "causalfairness[torch]"`, and says so when it is called without.
"""

from causalfairness.neural.change import Shift
from causalfairness.neural.effects import (
    CausalFairnessMetrics,
    controlled_direct_effect,
    effects,
    effects_by_level,
    path_specific_effects,
)
from causalfairness.neural.mediators import InOrder, MediatorModel, Sampled, Sampler
from causalfairness.neural.result import GroupedEffects, NetworkEffects

__all__ = [
    "CausalFairnessMetrics",
    "GroupedEffects",
    "InOrder",
    "MediatorModel",
    "NetworkEffects",
    "Sampled",
    "Sampler",
    "Shift",
    "controlled_direct_effect",
    "effects",
    "effects_by_level",
    "path_specific_effects",
]
