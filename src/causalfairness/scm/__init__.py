"""What would have happened, had something been different? Structural models of whole tables.

A `StructuralCausalModel` has a graph and one mechanism per node: given, or fitted. Mechanisms say
how a node follows from its causes and its noise, and thereby how worlds are coupled.
"""

from causalfairness.scm.additive import Additive
from causalfairness.scm.categorical import Categorical, Ordered
from causalfairness.scm.counts import NegativeBinomial, Poisson
from causalfairness.scm.couplings import Coupling, Gumbel, Monotone
from causalfairness.scm.given import Deterministic, StructuralEquation
from causalfairness.scm.goodness import NodeFit
from causalfairness.scm.linear import Linear
from causalfairness.scm.mechanism import FittedMechanism, Mechanism
from causalfairness.scm.roots import Empirical
from causalfairness.scm.structural_causal_model import StructuralCausalModel
from causalfairness.scm.transformed import Bounded, LogNormal

__all__ = [
    "Additive",
    "Bounded",
    "Categorical",
    "Coupling",
    "Deterministic",
    "Empirical",
    "FittedMechanism",
    "Gumbel",
    "Linear",
    "LogNormal",
    "Mechanism",
    "Monotone",
    "NegativeBinomial",
    "NodeFit",
    "Ordered",
    "Poisson",
    "StructuralCausalModel",
    "StructuralEquation",
]
