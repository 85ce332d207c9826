"""Which columns cause which? The graph itself, its constructors and its questions.

`nodes` keeps the order of first mention, and every answer lists columns in that order; two
graphs are equal when they say the same, whatever the order. "Ancestors" and "descendants"
never include the columns asked about.
"""

from __future__ import annotations

import graphlib
import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

from causalfairness.errors import CycleError, GraphSyntaxError, UnknownNodeError, extra
from causalfairness.graph import dot, notation, projection, separation
from causalfairness.graph.notation import Pair
from causalfairness.graph.separation import Independence

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, eq=False, repr=False)
class CausalGraph:
    """Which columns cause which, and which share hidden causes?

    `arrows` are pairs (cause, effect), `hidden` are pairs with a hidden common cause. Usually
    made by `parse`; a graph never changes.

    >>> graph = CausalGraph.parse("race <-> age; {race, age} -> priors -> recid")
    >>> graph.nodes
    ('race', 'age', 'priors', 'recid')
    >>> graph.arrows
    (('race', 'priors'), ('age', 'priors'), ('priors', 'recid'))
    >>> graph.hidden
    (('race', 'age'),)
    >>> graph == CausalGraph.parse("priors -> recid; age <-> race; priors <- {age, race}")
    True
    """

    nodes: tuple[str, ...]
    arrows: tuple[Pair, ...] = ()
    hidden: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        nodes = tuple(dict.fromkeys(_checked_name(name) for name in _several(self.nodes)))
        arrows = [_checked_pair(pair) for pair in self.arrows]
        hidden = [_checked_pair(pair) for pair in self.hidden]
        object.__setattr__(self, "nodes", nodes)
        self._known(name for pair in (*arrows, *hidden) for name in pair)
        for one, other in hidden:
            if one == other:
                raise GraphSyntaxError(
                    f"{notation.quote(one)} <-> {notation.quote(one)}: a hidden common cause "
                    "links two different columns; remove this edge"
                )
        hidden = [min(pair, pair[::-1], key=self._places) for pair in hidden]
        object.__setattr__(self, "arrows", tuple(sorted(set(arrows), key=self._places)))
        object.__setattr__(self, "hidden", tuple(sorted(set(hidden), key=self._places)))
        _ = self._causal_order  # refuses a cycle

    @classmethod
    def parse(cls, text: str) -> CausalGraph:
        r"""Which graph does this text describe?

        `a -> b` or `b <- a`, `a <-> b` for a hidden common cause, `{a, b} -> {c, d}` for every
        combination, `a -> b -> c` for a chain, `a` alone for a column without arrows.
        Statements end at `;` or at the end of the line, `#` starts a comment, and names with
        spaces or symbols stand in double quotes.

        >>> graph = CausalGraph.parse('''
        ...     sex -> {major, "years worked"} -> salary   # what pay depends on
        ...     sex <-> region
        ... ''')
        >>> graph.children("sex")
        ('major', 'years worked')
        """
        if not isinstance(text, str):
            raise GraphSyntaxError(
                f"a graph is read from text such as 'a -> b; a <-> c', not from {text!r}"
            )
        parts = notation.read_notation(text)
        return cls.from_edges(parts.arrows, parts.hidden, parts.nodes)

    @classmethod
    def from_edges(
        cls, edges: Iterable[Pair], hidden: Iterable[Pair] = (), nodes: Iterable[str] = ()
    ) -> CausalGraph:
        """Which graph has these arrows (cause, effect) and these hidden pairs?

        `nodes` adds columns without arrows, or fixes the order of all.

        >>> print(CausalGraph.from_edges([("a", "b")], hidden=[("b", "c")], nodes=["d"]))
        {d, a, b, c}; b <-> c; a -> b
        """
        arrows = [_checked_pair(pair) for pair in edges]
        pairs = [_checked_pair(pair) for pair in hidden]
        mentioned = (name for pair in (*arrows, *pairs) for name in pair)
        return cls((*_several(nodes), *mentioned), tuple(arrows), tuple(pairs))

    @classmethod
    def from_networkx(cls, graph: networkx.DiGraph) -> CausalGraph:
        """Which causal graph does this networkx graph hold?

        Edges are arrows; hidden pairs are read from the graph attribute `hidden`, a list of
        pairs, where `to_networkx` puts them.

        >>> import networkx as nx
        >>> print(CausalGraph.from_networkx(nx.DiGraph([("a", "b")], hidden=[("a", "b")])))
        a <-> b; a -> b
        """
        if not all(hasattr(graph, name) for name in ("is_directed", "edges", "nodes", "graph")):
            raise GraphSyntaxError(
                f"found {graph!r}, which is no graph of networkx; expected a networkx.DiGraph. "
                "Text is read by `parse`, pairs by `from_edges`"
            )
        if not graph.is_directed():
            raise GraphSyntaxError(
                "the networkx graph has no directions, so no causes; expected a networkx.DiGraph"
            )
        edges = [(edge[0], edge[1]) for edge in graph.edges()]
        return cls.from_edges(edges, graph.graph.get("hidden", ()), list(graph.nodes()))

    @classmethod
    def of(cls, graph: CausalGraph | networkx.DiGraph) -> CausalGraph:
        """Return a causal graph as it is, and one of networkx read by `from_networkx`.

        Parameters
        ----------
        graph : CausalGraph or networkx.DiGraph
            Whatever was given where a graph is taken.

        Returns
        -------
        CausalGraph
            The same graph.

        Examples
        --------
        >>> import networkx as nx
        >>> print(CausalGraph.of(nx.DiGraph([("a", "b")])), CausalGraph.of(CausalGraph(("a",))))
        a -> b a
        """
        return graph if isinstance(graph, CausalGraph) else cls.from_networkx(graph)

    @classmethod
    def from_dot(cls, text: str) -> CausalGraph:
        """Which graph does this DOT drawing (text of a `digraph`) show?

        Attributes are ignored, except that an edge with `dir=both` is a hidden common cause.

        >>> print(CausalGraph.from_dot("digraph { {a b} -> c; a -> b [dir=both, color=red] }"))
        a <-> b; {a, b} -> c
        """
        if not isinstance(text, str):
            raise GraphSyntaxError(f"a drawing is read from DOT text, not from {text!r}")
        parts = dot.read_dot(text)
        return cls.from_edges(parts.arrows, parts.hidden, parts.nodes)

    def to_text(self) -> str:
        """How is this graph written, such that `parse` gives it back?

        >>> CausalGraph.parse('b <- a; b <- "a 2"; a <-> "a 2"').to_text()
        '{b, a, "a 2"}; a <-> "a 2"; {a, "a 2"} -> b'
        """
        return "; ".join(notation.write_notation(self.nodes, self.arrows, self.hidden))

    def to_dot(self) -> str:
        """How is this graph drawn by Graphviz? `from_dot` gives it back.

        >>> print(CausalGraph.parse("a -> b").to_dot())
        digraph {
          "a";
          "b";
          "a" -> "b";
        }
        """
        return dot.write_dot(self.nodes, self.arrows, self.hidden)

    def to_networkx(self) -> networkx.DiGraph:
        """What is this graph in networkx? The hidden pairs are its graph attribute `hidden`.

        Needs networkx, `pip install "causalfairness[graphs]"`.

        >>> drawing = CausalGraph.parse("a -> b; b <-> c").to_networkx()
        >>> list(drawing.edges), drawing.graph["hidden"]
        ([('a', 'b')], [('b', 'c')])
        """
        with extra("graphs", "such graphs are made by"):
            import networkx
        drawing = networkx.DiGraph(hidden=list(self.hidden))
        drawing.add_nodes_from(self.nodes)
        drawing.add_edges_from(self.arrows)
        return drawing

    def parents(self, of: str | Iterable[str]) -> tuple[str, ...]:
        """Which columns cause `of` (one column or several) directly?

        >>> CausalGraph.parse("{a, b} -> c -> d").parents("c")
        ('a', 'b')
        """
        return self._neighbors(of, self.parent_map)

    def children(self, of: str | Iterable[str]) -> tuple[str, ...]:
        """Which columns does `of` (one column or several) cause directly?

        >>> CausalGraph.parse("{a, b} -> c -> d").children(["a", "c"])
        ('d',)
        """
        return self._neighbors(of, self.child_map)

    def ancestors(
        self, of: str | Iterable[str], *, avoiding: str | Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Which columns cause `of` (one column or several), directly or through others?

        With `avoiding`, only along paths that pass through none of those columns.

        >>> graph = CausalGraph.parse("a -> b -> c; d -> c")
        >>> graph.ancestors("c")
        ('a', 'b', 'd')
        >>> graph.ancestors("c", avoiding="b")
        ('d',)
        """
        return self._reach(of, self.parent_map, avoiding)

    def descendants(
        self, of: str | Iterable[str], *, avoiding: str | Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Which columns can change when `of` (one column or several) is changed?

        With `avoiding`, only along paths that pass through none of those columns.

        >>> CausalGraph.parse("a -> b -> c; d -> c").descendants(["a", "d"])
        ('b', 'c')
        """
        return self._reach(of, self.child_map, avoiding)

    def topological_order(self) -> tuple[str, ...]:
        """In which order do causes come before effects? Ties go to the node mentioned first.

        >>> CausalGraph.parse("c -> d; a -> c; b").topological_order()
        ('a', 'c', 'd', 'b')
        """
        return self._causal_order

    def separated(
        self, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Are `x` and `y` independent given `given`, in all data that fits the graph?

        Each may be one column or several. This is m-separation: hidden common causes count as
        unseen columns. A column in `given` is known and depends on nothing; a column in both
        `x` and `y` otherwise depends on itself.

        >>> graph = CausalGraph.parse("a -> b -> c; b <-> d")
        >>> graph.separated("a", "c"), graph.separated("a", "c", given="b")
        (False, True)
        >>> graph.separated("a", "d"), graph.separated("a", "d", given="c")
        (True, False)
        """
        known = frozenset(self._known(given))
        goals = frozenset(self._known(y)) - known
        return goals.isdisjoint(separation.connected_nodes(self, self._known(x), known))

    def independences(self) -> list[Independence]:
        """Which independences should data show if the graph is right?

        One for every pair of columns that can be separated at all. Without hidden causes each
        pair is given the parents of its later column, and all other independences follow. With
        hidden causes a graph may also restrict data in ways that are no independences; those
        are not listed.

        >>> print(*CausalGraph.parse("a -> b -> c -> d").independences(), sep="; ")
        a _||_ c | b; a _||_ d | c; b _||_ d | c
        >>> print(*CausalGraph.parse("a -> b <-> c").independences(), sep="; ")
        a _||_ c
        """
        return separation.implied_independences(self)

    def latent_projection(self, keep: str | Iterable[str]) -> CausalGraph:
        """What does the graph say about the columns in `keep`, the others out of sight?

        Chains through unseen columns become arrows, unseen common causes become hidden pairs.

        >>> graph = CausalGraph.parse("u -> {a, b}; a -> v -> c")
        >>> print(graph.latent_projection(["a", "b", "c"]))
        a <-> b; a -> c
        """
        kept = frozenset(self._known(keep))
        arrows, hidden = projection.project(self, kept)
        return CausalGraph.from_edges(arrows, hidden, [node for node in self.nodes if node in kept])

    @cached_property
    def parent_map(self) -> Mapping[str, tuple[str, ...]]:
        """What are the parents of each node?

        >>> CausalGraph.parse("a -> b").parent_map
        {'a': (), 'b': ('a',)}
        """
        return _collect(self.nodes, ((effect, cause) for cause, effect in self.arrows))

    @cached_property
    def child_map(self) -> Mapping[str, tuple[str, ...]]:
        """What are the children of each node?

        >>> CausalGraph.parse("a -> b").child_map
        {'a': ('b',), 'b': ()}
        """
        return _collect(self.nodes, self.arrows)

    @cached_property
    def partner_map(self) -> Mapping[str, tuple[str, ...]]:
        """With which nodes does each node share a hidden cause?

        >>> CausalGraph.parse("a <-> b").partner_map
        {'a': ('b',), 'b': ('a',)}
        """
        return _collect(self.nodes, (*self.hidden, *(pair[::-1] for pair in self.hidden)))

    @cached_property
    def _causal_order(self) -> tuple[str, ...]:
        sorter = graphlib.TopologicalSorter(self.parent_map)
        try:
            sorter.prepare()
        except graphlib.CycleError as found:
            cycle = found.args[1][1:]  # its first node is its last one again
            first = cycle.index(min(cycle, key=self._place.__getitem__))
            told = " -> ".join(map(notation.quote, (*cycle[first:], *cycle[: first + 1])))
            raise CycleError(
                f"the arrows form a cycle: {told}; nothing causes itself: remove or turn one of "
                "these arrows, or give each point in time a column of its own"
            ) from None
        ready: list[int] = []
        order = []
        while sorter.is_active():
            for node in sorter.get_ready():
                heapq.heappush(ready, self._place[node])
            order.append(self.nodes[heapq.heappop(ready)])
            sorter.done(order[-1])
        return tuple(order)

    def _places(self, pair: Pair) -> tuple[int, int]:
        return self._place[pair[0]], self._place[pair[1]]

    def _known(self, names: str | Iterable[str]) -> tuple[str, ...]:
        asked = (names,) if isinstance(names, str) else tuple(names)
        for name in asked:
            if name not in self._place:
                raise UnknownNodeError(_unknown(name, self.nodes))
        return asked

    def _neighbors(
        self, of: str | Iterable[str], step: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        start = frozenset(self._known(of))
        found = {neighbor for node in start for neighbor in step[node]}
        return tuple(node for node in self.nodes if node in found and node not in start)

    def _reach(
        self,
        of: str | Iterable[str],
        step: Mapping[str, tuple[str, ...]],
        avoiding: str | Iterable[str],
    ) -> tuple[str, ...]:
        start = frozenset(self._known(of))
        seen = set(start)
        closed = frozenset(self._known(avoiding))
        waiting = list(start)
        while waiting:
            for node in step[waiting.pop()]:
                if node not in seen and node not in closed:
                    seen.add(node)
                    waiting.append(node)
        return tuple(node for node in self.nodes if node in seen and node not in start)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {node: place for place, node in enumerate(self.nodes)}

    @cached_property
    def _statement(self) -> tuple[frozenset[str], frozenset[Pair], frozenset[frozenset[str]]]:
        pairs = frozenset(frozenset(pair) for pair in self.hidden)
        return frozenset(self.nodes), frozenset(self.arrows), pairs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CausalGraph):
            return NotImplemented
        return self._statement == other._statement

    def __hash__(self) -> int:
        return hash(self._statement)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"CausalGraph.parse({self.to_text()!r})"


def _collect(nodes: Iterable[str], pairs: Iterable[Pair]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {node: [] for node in nodes}
    for key, value in pairs:
        found[key].append(value)
    return {node: tuple(values) for node, values in found.items()}


def _several(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise GraphSyntaxError(f"expected a list of node names, got the text {names!r}; write [..]")
    return tuple(names)


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise GraphSyntaxError(
            f"a node is named by text that is not empty, got {name!r}; rename it first"
        )
    return name


def _checked_pair(pair: object) -> Pair:
    if isinstance(pair, str) or not isinstance(pair, Iterable):
        raise GraphSyntaxError(f"an edge is a pair of two names, got {pair!r}")
    ends = tuple(pair)
    if len(ends) != 2:
        raise GraphSyntaxError(f"an edge is a pair of two names, got {len(ends)} in {pair!r}")
    return _checked_name(ends[0]), _checked_name(ends[1])


def _unknown(name: object, nodes: tuple[str, ...]) -> str:
    lowered = {node.lower(): node for node in reversed(nodes)}
    close = get_close_matches(str(name).lower(), lowered, n=3)
    if close:
        hint = "did you mean " + " or ".join(repr(lowered[match]) for match in close) + "?"
    else:
        shown = ", ".join(nodes[:8]) + (", ..." if len(nodes) > 8 else "")
        hint = f"its nodes are {shown}" if nodes else "it has no nodes at all"
    return f"the graph has no node {name!r}; {hint}"
