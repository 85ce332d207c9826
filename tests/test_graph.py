"""Causal graphs: what is read, what is refused, and every answer against a slow, plain one."""

import pickle
from dataclasses import FrozenInstanceError
from itertools import chain, combinations, pairwise, product

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalfairness.errors import CycleError, GraphSyntaxError, UnknownNodeError
from causalfairness.graph import CausalGraph, Independence
from causalfairness.graph.projection import directed_route, hidden_route

repeatable = settings(max_examples=150, deadline=None, derandomize=True)


@st.composite
def small_graphs(draw, names=tuple("abcdef"), most=6):
    """Any acyclic graph with hidden causes; causal order and order of mention are unrelated."""
    nodes = draw(st.permutations(names[: draw(st.integers(2, most))]))
    kinds = st.sampled_from(["none", "none", "arrow", "arrow", "hidden", "both"])
    arrows, hidden = [], []
    for pair in combinations(nodes, 2):
        kind = draw(kinds)
        arrows += [pair] if kind in ("arrow", "both") else []
        hidden += [pair] if kind in ("hidden", "both") else []
    return CausalGraph.from_edges(arrows, hidden, draw(st.permutations(nodes)))


def with_explicit_causes(graph):
    """The same graph in networkx, every hidden common cause a node of its own."""
    explicit = networkx.DiGraph(graph.arrows)
    explicit.add_nodes_from(graph.nodes)
    for number, (one, other) in enumerate(graph.hidden):
        explicit.add_edges_from([(("hidden", number), one), (("hidden", number), other)])
    return explicit


def truly_separated(graph, x, y, z):
    return networkx.is_d_separator(with_explicit_causes(graph), set(x), set(y), set(z))


def subsets(items):
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


# Reading and writing


@pytest.mark.parametrize(
    ("text", "arrows", "hidden", "nodes"),
    [
        ("a -> b; {a, b} -> c; a <-> d", "ab ac bc", "ad", "abcd"),
        ("a -> {b, c}", "ab ac", "", "abc"),
        ("{a, b} -> {c, d}", "ac ad bc bd", "", "abcd"),
        ("a -> b -> c", "ab bc", "", "abc"),
        ("a -> b <- c <-> d", "ab cb", "cd", "abcd"),
        ("b <- a", "ab", "", "ba"),
        ("a->b<-c<->d", "ab cb", "cd", "abcd"),
        ("a\nb # -> c\n\n# d -> a\nc -> b", "cb", "", "abc"),
        ("{a,\n b,  # note\n}\n\n  ->\n c", "ac bc", "", "abc"),
        ("a ->\n\n b\n-> c;;", "ab bc", "", "abc"),
        ("{a, b} <-> {c, d}", "", "ac ad bc bd", "abcd"),
        ("a -> b; a -> b; a <-> b; b <-> a", "ab", "ab", "ab"),
        ("z; {x, y}", "", "", "zxy"),
        ("", "", "", ""),
        (" \r\n a -> b\r\n b -> c ", "ab bc", "", "abc"),
    ],
)
def test_the_notation_is_read_as_written(text, arrows, hidden, nodes):
    graph = CausalGraph.parse(text)
    assert graph.nodes == tuple(nodes)
    assert set(graph.arrows) == {tuple(pair) for pair in arrows.split()}
    assert sorted(graph.hidden) == sorted(tuple(pair) for pair in hidden.split())


def test_names_may_hold_letters_of_any_language_and_in_quotes_anything():
    graph = CausalGraph.parse(
        'Größe-2.1->prénom/x; हिन्दी -> "a -> b; {c} # \\"d\\" \\\\ \n"; 收入 <-> _id; 0 -> 1'
    )
    assert graph.nodes == (
        "Größe-2.1", "prénom/x", "हिन्दी", 'a -> b; {c} # "d" \\ \n', "收入", "_id", "0", "1",
    )  # fmt: skip
    assert CausalGraph.parse("cafe\u0301 -> x").nodes == ("cafe\u0301", "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = b", r"line 1, column 3: found '= b', expected a name, a brace or one of the arrows"),
        ("a -> b\nb --> c", r"line 2, column 3: found '--> c'.* ->, <- and <->"),
        ("a-->b", r"column 2: found '-->b'"),
        ("a → b", r"column 3: found '→ b', expected no '→' .* double quotes"),
        ("a→b", r"column 2: found '→b'"),
        ("home owner -> loan", r'column 6: .* a name with spaces goes in double quotes'),
        ("a, b -> c", r"column 2: .* several names go in braces"),
        ("{a b} -> c", r"column 4: found 'b} -> c', expected a comma"),
        ("{a, b -> c", r"column 7: found '-> c', expected a comma .* or a brace }"),
        ("{} -> c", r"column 2: .*the name of a column"),
        ("a -> ", r"column 6: found the end of the line, expected the name of a column"),
        ("-> b", r"column 1: found '-> b', expected the name"),
        ("a -> -> b", r"column 6: .* the name of a column"),
        ("a -> b}", r"column 7: .*expected an arrow"),
        ('"a -> b', r'column 1: .* a closing " after this one'),
        ('a -> ""', r"column 6: .* a name that is not empty"),
        ("a -> " + "b" * 40 + " c d", r"column 47: found 'c d'"),
        (None, r"read from text such as 'a -> b; a <-> c', not from None"),
    ],
)  # fmt: skip
def test_unreadable_text_is_refused_at_its_place(text, message):
    with pytest.raises(GraphSyntaxError, match=message):
        CausalGraph.parse(text)


@repeatable
@given(small_graphs())
def test_text_dot_and_networkx_give_the_graph_back(graph):
    for again in (
        CausalGraph.parse(graph.to_text()),
        CausalGraph.from_dot(graph.to_dot()),
        CausalGraph.from_networkx(graph.to_networkx()),
        CausalGraph(graph.nodes, graph.arrows, graph.hidden),
        pickle.loads(pickle.dumps(graph)),
        eval(repr(graph)),
    ):
        assert again == graph
        assert hash(again) == hash(graph)
        assert again.nodes == graph.nodes  # the order of mention is kept, too
        assert again.arrows == graph.arrows
        assert again.hidden == graph.hidden


@repeatable
@given(
    st.lists(
        st.text(min_size=1, max_size=6) | st.text(alphabet='ab-><{},;#"\\ \n./é', min_size=1),
        min_size=3,
        max_size=5,
        unique=True,
    )
)
def test_every_name_survives_writing_and_reading(names):
    first, second, *others = names
    graph = CausalGraph.from_edges(
        [(first, second)], [(second, other) for other in others], names[:1]
    )
    assert CausalGraph.parse(graph.to_text()) == graph
    assert CausalGraph.from_dot(graph.to_dot()) == graph


def test_dot_drawings_are_read_and_their_decoration_ignored():
    graph = CausalGraph.from_dot(
        """
        /* drawn
           by hand */
        # a preprocessor line
        strict digraph "my graph" {
          rankdir=LR; node [shape=box, label="a -> b"]; graph [label=<<b>x</b> y>]
          a -> b -> c [color=red, weight=-1.5];  // a chain
          {a "b 2"; 3} -> d:n;
          subgraph cluster_1 { label="inner"; e; f -> e }
          subgraph { g h } -> c
          a -> c [dir="both"] [style=dashed]
          { edge [dir=both]; a -> e }
          a -> f; "node"; Node_1
        }
        """
    )
    assert graph == CausalGraph.parse(
        'a -> b -> c; {a, "b 2", 3} -> d; f -> e; {g, h} -> c; a <-> c; a <-> e; a -> f;'
        "node; Node_1"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph { a -- b }", r"expected a directed graph: digraph"),
        ("model.dot", r"column 6: found '.dot'|a directed graph: digraph"),
        ("digraph { a -- b }", r"column 13: found '-- b }', expected an arrow ->"),
        ("digraph { a -> }", r"column 16: found '}', expected the name of a column"),
        ("digraph { a -> b", r"found the end of the line, expected the name .* closing brace"),
        ("digraph a -> b", r"expected an opening brace"),
        ("digraph { a -> b } c", r"expected the end of the text"),
        ("digraph { a -> b [dir=back] }", r"column 18: .* no dir=back: turn the arrow around"),
        ("digraph { a [color=red }", r"column 13: .* a closing bracket"),
        ("digraph { a -> b [dir=", r"a closing bracket"),
        ("digraph { rankdir=", r"expected a value"),
        ("digraph { a:", r"expected a value"),
        ("digraph { node", r"expected the name"),
        ("", r"a directed graph"),
        (7, r"DOT text, not from 7"),
    ],
)
def test_drawings_that_cannot_be_read_are_refused(text, message):
    with pytest.raises(GraphSyntaxError, match=message):
        CausalGraph.from_dot(text)


def test_networkx_graphs_without_direction_or_text_names_are_refused():
    with pytest.raises(GraphSyntaxError, match=r"no directions.*DiGraph"):
        CausalGraph.from_networkx(networkx.Graph([("a", "b")]))
    with pytest.raises(GraphSyntaxError, match=r"named by text .* got 1; rename it"):
        CausalGraph.from_networkx(networkx.DiGraph([(1, 2)]))
    for no_graph in ("a -> b", [("a", "b")], None):
        with pytest.raises(GraphSyntaxError, match=r"no graph of networkx; expected.*`parse`"):
            CausalGraph.from_networkx(no_graph)
    many = networkx.MultiDiGraph([("a", "b"), ("a", "b")])
    assert CausalGraph.from_networkx(many) == CausalGraph.parse("a -> b")


# Values


def test_graphs_are_values():
    graph = CausalGraph.parse("a -> b; c <-> b; d")
    same = CausalGraph.from_edges([("a", "b")], hidden=[("b", "c")], nodes=["d"])
    assert graph == same
    assert len({graph, same}) == 1
    assert graph != CausalGraph.parse("a -> b; c <-> b")
    assert graph != CausalGraph.parse("b -> a; c <-> b; d")
    assert graph != "a -> b; c <-> b; d"
    with pytest.raises(FrozenInstanceError):
        graph.nodes = ()


@pytest.mark.parametrize(
    ("edges", "hidden", "nodes", "message"),
    [
        ([], [("a", "a")], [], r"a <-> a: a hidden common cause links two different columns"),
        (["ab"], [], [], r"an edge is a pair of two names, got 'ab'"),
        ([("a", "b", "c")], [], [], r"pair of two names, got 3 in \('a', 'b', 'c'\)"),
        ([7], [], [], r"pair of two names, got 7"),
        ([("a", "")], [], [], r"text that is not empty, got ''"),
        ([("a", None)], [], [], r"text that is not empty, got None"),
        ([], [], "ab", r"expected a list of node names, got the text 'ab'"),
    ],
)
def test_edges_that_are_no_edges_are_refused(edges, hidden, nodes, message):
    with pytest.raises(GraphSyntaxError, match=message):
        CausalGraph.from_edges(edges, hidden, nodes)


def test_the_constructor_wants_every_node_named():
    with pytest.raises(UnknownNodeError, match=r"no node 'b'; its nodes are a"):
        CausalGraph(("a",), (("a", "b"),))


@pytest.mark.parametrize(
    ("text", "cycle"),
    [
        ("a -> b -> a", "a -> b -> a"),
        ("a -> a", "a -> a"),
        ("{a, b} -> b", "b -> b"),
        ("x -> b -> c -> d -> b; d -> y -> z", "b -> c -> d -> b"),
        ('"my col" -> a -> "my col"', '"my col" -> a -> "my col"'),
    ],
)
def test_a_cycle_is_refused_and_named(text, cycle):
    with pytest.raises(CycleError) as refused:
        CausalGraph.parse(text)
    assert str(refused.value).startswith(f"the arrows form a cycle: {cycle}; ")
    assert "remove or turn one of these arrows" in str(refused.value)


def test_unknown_nodes_are_answered_with_the_nearest_names():
    graph = CausalGraph.parse("{race, age, priors_count} -> recid")
    for ask in (graph.parents, graph.children, graph.ancestors, graph.descendants):
        with pytest.raises(UnknownNodeError, match=r"no node 'Rase'; did you mean 'race'\?"):
            ask("Rase")
    with pytest.raises(UnknownNodeError, match=r"did you mean 'priors_count'"):
        graph.separated("race", "age", given=["priors"])
    with pytest.raises(UnknownNodeError, match=r"did you mean 'age'"):
        graph.latent_projection(["AGE"])
    with pytest.raises(UnknownNodeError, match=r"its nodes are race, age, priors_count, recid"):
        graph.ancestors("recid", avoiding="xyz")
    with pytest.raises(UnknownNodeError, match=r"it has no nodes at all"):
        CausalGraph.parse("").parents("a")
    with pytest.raises(UnknownNodeError, match=r"its nodes are n0, .*n7, \.\.\.$"):
        CausalGraph.parse("; ".join(f"n{i}" for i in range(20))).parents("zzz")


# Questions


@repeatable
@given(small_graphs(), st.data())
def test_relatives_agree_with_networkx_and_never_include_the_asked(graph, data):
    asked = data.draw(st.sets(st.sampled_from(graph.nodes), min_size=1))
    explicit = networkx.DiGraph(graph.arrows)
    explicit.add_nodes_from(graph.nodes)
    for answer, relatives in [
        (graph.parents(asked), explicit.predecessors),
        (graph.children(asked), explicit.successors),
        (graph.ancestors(asked), lambda node: networkx.ancestors(explicit, node)),
        (graph.descendants(asked), lambda node: networkx.descendants(explicit, node)),
    ]:
        expected = {found for node in asked for found in relatives(node)} - asked
        assert answer == tuple(node for node in graph.nodes if node in expected)
    avoided = data.draw(st.sets(st.sampled_from(graph.nodes))) - asked
    explicit.remove_nodes_from(avoided)
    expected = {found for node in asked for found in networkx.ancestors(explicit, node)} - asked
    assert set(graph.ancestors(asked, avoiding=avoided)) == expected


@repeatable
@given(small_graphs())
def test_causes_come_before_effects_in_the_same_order_every_time(graph):
    order = graph.topological_order()
    assert sorted(order) == sorted(graph.nodes)
    assert all(order.index(cause) < order.index(effect) for cause, effect in graph.arrows)
    shuffled = CausalGraph(graph.nodes, graph.arrows[::-1], graph.hidden[::-1])
    assert shuffled.topological_order() == order


@repeatable
@given(small_graphs())
def test_separation_is_d_separation_with_hidden_causes_drawn_as_nodes(graph):
    for x, y in combinations(graph.nodes, 2):
        for z in subsets([node for node in graph.nodes if node not in (x, y)]):
            expected = truly_separated(graph, {x}, {y}, z)
            assert graph.separated(x, y, z) == graph.separated(y, x, z) == expected, (x, y, z)


@repeatable
@given(small_graphs(), st.data())
def test_separation_of_sets(graph, data):
    roles = [data.draw(st.sampled_from("xyz-")) for _ in graph.nodes]
    x, y, z = (
        {node for node, role in zip(graph.nodes, roles, strict=True) if role == wanted}
        for wanted in "xyz"
    )
    expected = not x or not y or truly_separated(graph, x, y, z)
    assert graph.separated(x, y, given=z) == expected


def test_a_known_column_depends_on_nothing_and_an_unknown_one_on_itself():
    graph = CausalGraph.parse("a -> b")
    assert graph.separated("a", ["a", "b"], given="a")
    assert not graph.separated("a", "a")
    assert graph.separated([], "a")


@repeatable
@given(small_graphs(most=5))
def test_independences_name_every_separable_pair_once_and_hold(graph):
    found = graph.independences()
    for one in found:
        assert truly_separated(graph, {one.left}, {one.right}, one.given), one
    separable = {
        frozenset((x, y))
        for x, y in combinations(graph.nodes, 2)
        if any(
            truly_separated(graph, {x}, {y}, z)
            for z in subsets([node for node in graph.nodes if node not in (x, y)])
        )
    }
    assert {frozenset((one.left, one.right)) for one in found} == separable
    assert len(found) == len(separable)


@repeatable
@given(small_graphs())
def test_without_hidden_causes_the_parents_of_the_later_column_are_given(graph):
    plain = CausalGraph.from_edges(graph.arrows, nodes=graph.nodes)
    order = plain.topological_order()
    for one in plain.independences():
        assert order.index(one.left) < order.index(one.right)
        assert set(one.given) == set(plain.parents(one.right))


def test_independences_print_as_statements():
    graph = CausalGraph.parse('a -> "my b" -> c; a -> d; d -> c')
    assert [str(one) for one in graph.independences()] == [
        '"my b" _||_ d | a',
        'a _||_ c | "my b", d',
    ]
    assert Independence("a", "b", ("c",)) == Independence("a", "b", ("c",))


@repeatable
@given(small_graphs(), st.data())
def test_the_latent_projection_keeps_every_separation_among_the_kept(graph, data):
    keep = data.draw(st.sets(st.sampled_from(graph.nodes), min_size=2))
    projected = graph.latent_projection(keep)
    assert projected.nodes == tuple(node for node in graph.nodes if node in keep)
    for x, y in combinations(projected.nodes, 2):
        for z in subsets(keep - {x, y}):
            assert projected.separated(x, y, z) == graph.separated(x, y, z), (x, y, z)


@repeatable
@given(small_graphs(), st.data())
def test_the_latent_projection_follows_its_definition_and_names_the_edges(graph, data):
    keep = data.draw(st.sets(st.sampled_from(graph.nodes), min_size=2))
    unseen = set(graph.nodes) - keep
    explicit = with_explicit_causes(graph)
    hidden_causes = set(explicit.nodes) - keep
    arrows, hidden = set(), set()
    for x, y in product(keep, keep):
        through = explicit.subgraph([*hidden_causes, x, y])
        if x != y and networkx.has_path(through, x, y):
            arrows.add((x, y))
        below_x = explicit.subgraph([*hidden_causes, x])
        below_y = explicit.subgraph([*hidden_causes, y])
        if x != y and networkx.ancestors(below_x, x) & networkx.ancestors(below_y, y):
            hidden.add(frozenset((x, y)))
    projected = graph.latent_projection(keep)
    assert set(projected.arrows) == arrows
    assert {frozenset(pair) for pair in projected.hidden} == hidden
    edges = {f"{a} -> {b}" for a, b in graph.arrows}
    edges |= {f"{a} <-> {b}" for a, b in (*graph.hidden, *(pair[::-1] for pair in graph.hidden))}
    for x, y in combinations(projected.nodes, 2):
        route = hidden_route(graph, x, y, through=unseen)
        assert bool(route) == (frozenset((x, y)) in hidden)
        assert set(route) <= edges
        if route:
            named = CausalGraph.parse("; ".join((*route, x, y)))
            assert named.latent_projection([x, y]).hidden


def test_the_shortest_way_from_cause_to_effect():
    graph = CausalGraph.parse("a -> b -> c -> d; a -> c")
    assert directed_route(graph, "a", "d") == ("a", "c", "d")
    assert directed_route(graph, "d", "a") == ()


def test_a_large_graph_with_more_paths_than_atoms_is_answered_at_once():
    """250 layers of two, each causing both of the next: 2^249 paths from end to end."""
    layers = [(f"l{i}", f"r{i}") for i in range(250)]
    text = "\n".join(
        f"{{{left}, {right}}} -> {{{l2}, {r2}}}" for (left, right), (l2, r2) in pairwise(layers)
    )
    graph = CausalGraph.parse(text + "\nl0 <-> r249")
    assert len(graph.nodes) == 500
    assert CausalGraph.parse(graph.to_text()) == graph
    assert CausalGraph.from_dot(graph.to_dot()) == graph
    assert len(graph.ancestors("l249")) == 498
    assert not graph.separated("l0", "l249")
    assert not graph.separated("l0", "l249", given="l100")
    assert graph.separated("l0", "l249", given=layers[100])
    assert not graph.separated("l0", "r249", given=layers[100])
    assert not graph.separated("r0", "r249", given=layers[1])
    assert graph.separated("r0", "l249", given=layers[1])
    assert not graph.separated("r0", "l249", given=[*layers[1], "r249"])
    pairs = 500 * 499 // 2 - len(graph.arrows) - 1
    assert len(graph.independences()) == pairs
    assert graph.latent_projection(["l0", "l249"]) == CausalGraph.parse("l0 -> l249")
    assert graph.latent_projection(["l1", "r249"]) == CausalGraph.parse("l1 -> r249; l1 <-> r249")
    assert len(directed_route(graph, "l0", "r249")) == 250
