"""Which columns cause which, and what does that imply?

A `CausalGraph` has one node per column, an arrow `a -> b` where `a` causes `b` directly, and
`a <-> b` where both have a hidden common cause. Arrows never lead back to where they started.
Separation in such a graph is m-separation: d-separation with every hidden cause drawn as a
node of its own. Every question takes polynomial time, most of them one walk over the arrows.
"""

from causalfairness.graph.causal_graph import CausalGraph
from causalfairness.graph.separation import Independence

__all__ = ["CausalGraph", "Independence"]
