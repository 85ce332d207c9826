"""Which mechanism suits a node? By what it holds, then by what predicts unseen people best.

    no causes                                            as observed
    words, or one of two values                          categories: logistic or boosting
    up to 20 whole numbers, or words with an order       ordered: logistic or boosting
    more whole numbers from 0 or 1 up to 200             counts: negative binomial
    other numbers                                        linear or boosting, noise added

Of two candidates the second is taken if its cross-validated loss is smaller by more than a standard
error. The choice looks at the node and its causes, never at a counterfactual.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from causalfairness.errors import MechanismError, UnknownNodeError
from causalfairness.graph import CausalGraph
from causalfairness.scm.additive import Additive
from causalfairness.scm.categorical import Categorical, Ordered
from causalfairness.scm.counts import NegativeBinomial
from causalfairness.scm.domain import Domain
from causalfairness.scm.goodness import Check, cross_validate
from causalfairness.scm.learners import boosted_classifier, is_learner
from causalfairness.scm.linear import Linear
from causalfairness.scm.mechanism import Mechanism, Sample

FEW = 20  # whole numbers up to which each value gets a probability of its own
COUNTED = 200  # the largest count that is looked upon as a count


class Choice(NamedTuple):
    """Which mechanism was taken, why, and how well did it do?"""

    mechanism: Mechanism
    why: str
    check: Check | None = None


def choose(sample: Sample) -> Choice:
    """Which mechanism suits this node, which has causes?"""
    candidates, kind = _candidates(sample.target)
    if len(candidates) == 1:
        return Choice(candidates[0], kind)
    sample.check_size()
    first, second = (cross_validate(candidate, sample) for candidate in candidates)
    shown = [f"{check.measure} {check.value:.3f}" for check in (first, second)]
    if first.is_worse_than(second):
        return Choice(candidates[1], f"{kind}; {shown[1]}, simpler {shown[0]}", second)
    return Choice(candidates[0], f"{kind}; {shown[0]}, boosting {shown[1]}", first)


def as_mechanisms(given: Mapping[str, Any] | None, graph: CausalGraph) -> dict[str, Mechanism]:
    """Which mechanisms did the user name? scikit-learn models are put into the mechanism they suit.

    >>> from sklearn.linear_model import Ridge
    >>> graph = CausalGraph.parse("age -> pay")
    >>> print(as_mechanisms({"pay": Ridge()}, graph)["pay"])
    additive (Ridge)
    """
    found: dict[str, Mechanism] = {}
    for node, mechanism in (given or {}).items():
        if node not in graph.nodes:
            raise UnknownNodeError(
                f"mechanisms names {node!r}, which is not in the graph; its nodes are "
                f"{', '.join(graph.nodes)}"
            )
        found[node] = _as_mechanism(node, mechanism)
    return found


def _as_mechanism(node: str, mechanism: Any) -> Mechanism:
    if is_learner(mechanism):
        from sklearn.base import is_classifier

        return Categorical(mechanism) if is_classifier(mechanism) else Additive(mechanism)
    if isinstance(mechanism, type) or not (
        hasattr(mechanism, "fit") and hasattr(mechanism, "learns")
    ):
        raise MechanismError(
            f"the mechanism of {node!r} is {mechanism!r}; expected one such as Linear(), "
            "Additive(), Categorical() or an unfitted scikit-learn model"
        )
    given: Mechanism = mechanism
    return given


def _candidates(domain: Domain) -> tuple[tuple[Mechanism, ...], str]:
    if domain.ranked or 2 < len(domain.levels) <= FEW:
        return (Ordered(), Ordered(boosted_classifier())), "ordered values"
    if domain.size and (domain.is_categorical or domain.size == 1):
        return (Categorical(), Categorical(boosted_classifier())), "categories"
    if domain.levels and domain.levels[0] in (0.0, 1.0) and domain.levels[-1] <= COUNTED:
        return (NegativeBinomial(),), "counts"
    return (Linear(), Additive()), "numbers"
