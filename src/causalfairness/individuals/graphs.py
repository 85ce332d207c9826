"""Does the answer depend on which graph is believed? The same question under several at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from causalfairness.effects import EffectTable
from causalfairness.effects.table import in_columns
from causalfairness.errors import CausalFairnessError
from causalfairness.graph import CausalGraph
from causalfairness.individuals.counterfactual_fairness import counterfactual_fairness
from causalfairness.individuals.shifts import CounterfactualFairness
from causalfairness.scm import StructuralCausalModel


@dataclass(frozen=True, eq=False)
class GraphComparison:
    """What does each graph say about the same people?

    `by_graph` maps each name to its answer, `refused` those without one to the reason.

    >>> GraphComparison({}, {"mine": "a cycle"}).refused["mine"]
    'a cycle'
    """

    by_graph: Mapping[str, CounterfactualFairness]
    refused: Mapping[str, str]

    def table(self, level: float = 0.95) -> EffectTable:
        """What is each group's mean shift under each graph?"""
        effects = [
            effect.named(f"{name}: {effect.name}")
            for name, found in self.by_graph.items()
            for effect in found.table(level)
        ]
        return EffectTable(tuple(effects), level=level)

    def sentences(self, level: float = 0.95) -> tuple[str, ...]:
        """Do the graphs agree about the sign of each group's shift?"""
        tables = {name: found.table(level) for name, found in self.by_graph.items()}
        groups = dict.fromkeys(group for table in tables.values() for group in table.names)
        return tuple(_sentence(group, tables) for group in groups)

    def __str__(self) -> str:
        tables = {name: found.table() for name, found in self.by_graph.items()}
        refused = [f"no answer: {name}: {reason}" for name, reason in self.refused.items()]
        return "\n".join([in_columns(tables), *self.sentences(), *refused])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def compare_graphs(
    predict: Any,
    data: Any,
    graphs: Mapping[str, CausalGraph | StructuralCausalModel],
    do: Any,
    *,
    mechanisms: Mapping[str, Any] | None = None,
    predictor_columns: Sequence[str] = (),
    threshold: float | None = None,
    draws: int = 1,
    seed: int = 0,
) -> GraphComparison:
    """Would each person's prediction have been the same, under each of several graphs?

    A graph is fitted to the data, with the same `mechanisms` for the nodes named in it; a fitted
    model is taken as it is. The rest is as in `counterfactual_fairness`.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data = world.draw(500, seed=0)
    >>> found = cf.compare_graphs(
    ...     lambda people: people["m1"].to_numpy(), data,
    ...     {"caused": cf.CausalGraph.parse("{group, c1, c2} -> m1"),
    ...      "not caused": cf.CausalGraph.parse("group <-> m1; {c1, c2} -> m1")},
    ...     do={"group": {"green": "blue"}})
    >>> found.by_graph["not caused"]["green"].shift.value
    0.0
    """
    if not isinstance(graphs, Mapping) or not graphs:
        raise ValueError("graphs maps a name to each graph, and has at least one")
    asked: dict[str, Any] = {"threshold": threshold, "draws": draws, "seed": seed}
    asked["predictor_columns"] = predictor_columns
    by_graph: dict[str, CounterfactualFairness] = {}
    refused: dict[str, CausalFairnessError] = {}
    for name, graph in graphs.items():
        try:
            scm = _fitted(graph, data, mechanisms, seed)
            by_graph[name] = counterfactual_fairness(predict, data, scm, do, **asked)
        except CausalFairnessError as reason:
            refused[name] = reason
    if not by_graph:
        raise next(iter(refused.values()))
    return GraphComparison(by_graph, {name: str(why) for name, why in refused.items()})


def _fitted(
    graph: CausalGraph | StructuralCausalModel,
    data: Any,
    mechanisms: Mapping[str, Any] | None,
    seed: int,
) -> StructuralCausalModel:
    if isinstance(graph, StructuralCausalModel):
        return graph
    graph = CausalGraph.of(graph)
    own = {node: each for node, each in (mechanisms or {}).items() if node in graph.nodes}
    return StructuralCausalModel.fit(graph, data, own, seed=seed)


def _sentence(group: str, tables: Mapping[str, EffectTable]) -> str:
    signs = {}
    for name, table in tables.items():
        if group in table.names:
            low, high = table.interval(group)
            signs[name] = 0 if low <= 0 <= high else (1 if low > 0 else -1)
    words = {1: "higher than otherwise", -1: "lower than otherwise", 0: "no clear shift"}
    if len(set(signs.values())) == 1:
        return f"{group}: all graphs say the same, {words[next(iter(signs.values()))]}."
    said = "; ".join(f"{words[sign]} under {name}" for name, sign in signs.items())
    return f"{group}: the answer depends on the graph: {said}."
