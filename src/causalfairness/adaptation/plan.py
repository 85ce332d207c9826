"""Which columns are moved, in which order, and what happens to the others?

Descendants of the protected attribute are taken in causal order (methods §9):

* a *resolving* column stays, and so does one whose only changed causes are resolving;
* any other descendant is adapted, given its causes; where the protected attribute is one of them
  every group has a mechanism of its own, else all groups share one;
* everything else stays, unless confounders are to be transported to the reference group's
  distribution as well: then they come first, each given those before it. That is no counterfactual,
  and depends on their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from causalfairness.errors import PathError, RoleError
from causalfairness.graph import CausalGraph
from causalfairness.scm.domain import nearest
from causalfairness.scm.fitting import check_hidden

SPURIOUS, INDIRECT, DIRECT = "spurious", "indirect", "direct"


@dataclass(frozen=True)
class Move:
    """Which column is moved, given which others, and does each group have its own mechanism?"""

    column: str
    causes: tuple[str, ...]
    by_group: bool
    transported: bool = False


@dataclass(frozen=True)
class Plan:
    """What happens to each column of a graph?

    >>> graph = CausalGraph.parse("race <-> age; {race, age} -> priors -> charge; race -> recid")
    >>> plan = plan_of(graph, ("race",), resolving=["priors"])
    >>> [move.column for move in plan.moves], plan.resolving, plan.resolved_too, plan.staying
    (['recid'], ('priors',), ('charge',), ('age',))
    """

    protected: tuple[str, ...]
    moves: tuple[Move, ...]
    resolving: tuple[str, ...]
    resolved_too: tuple[str, ...]
    staying: tuple[str, ...]

    @property
    def moved(self) -> tuple[str, ...]:
        """Which columns get new values, the protected ones aside?"""
        return tuple(move.column for move in self.moves)

    @property
    def confounders(self) -> tuple[str, ...]:
        """Which columns does the group not cause, but lead to a column that is moved?"""
        transported = {move.column for move in self.moves if move.transported}
        outside = transported.union(self.staying)
        causes = (cause for move in self.moves for cause in (*move.causes, move.column))
        return tuple(dict.fromkeys(cause for cause in causes if cause in outside))

    @property
    def columns(self) -> tuple[str, ...]:
        """Which columns are looked at?"""
        causes = (cause for move in self.moves for cause in move.causes)
        return tuple(dict.fromkeys((*self.protected, *self.moved, *causes)))


def plan_of(
    graph: CausalGraph,
    protected: tuple[str, ...],
    *,
    resolving: Iterable[str] = (),
    transport: bool = False,
) -> Plan:
    """What happens to each column? See the module for the rules.

    >>> graph = CausalGraph.parse("sex <-> age; {sex, age} -> pay")
    >>> [move.column for move in plan_of(graph, ("sex",), transport=True).moves]
    ['age', 'pay']
    """
    caused = graph.descendants(protected)
    kept = _checked(graph, protected, caused, resolving)
    moves = _transports(graph, protected, caused) if transport else []
    changed = {*protected, *(move.column for move in moves)}
    too = []
    for column in graph.topological_order():
        if column not in caused or column in kept:
            continue
        causes = graph.parent_map[column]
        if changed.isdisjoint(causes):
            too.append(column)
        else:
            others = tuple(cause for cause in causes if cause not in protected)
            moves.append(Move(column, others, by_group=len(others) < len(causes)))
            changed.add(column)
    check_hidden(graph, [move.column for move in moves if not move.transported])
    staying = [node for node in graph.nodes if node not in changed and node not in caused]
    return Plan(protected, tuple(moves), kept, tuple(too), tuple(staying))


def _checked(
    graph: CausalGraph,
    protected: tuple[str, ...],
    caused: tuple[str, ...],
    resolving: Iterable[str],
) -> tuple[str, ...]:
    if isinstance(resolving, str):
        raise RoleError(f"resolving is a list of columns, got the text; write [{resolving!r}]")
    if isinstance(resolving, Iterator):
        raise RoleError("resolving can be read only once, and every fit reads it; give a list")
    wanted = set(resolving)
    graph.parents(wanted)  # refuses what is not in the graph
    name = ", ".join(map(repr, protected))
    if not caused:
        raise RoleError(
            f"the graph has no arrow out of {name}, so there is nothing to adapt; add the arrows "
            "to what it influences"
        )
    for column in sorted(wanted.difference(caused)):
        raise RoleError(
            f"resolving names {column!r}, but {name} does not lead to it in the graph: it stays as "
            "it is anyway; leave it out, or correct the graph"
        )
    return tuple(node for node in graph.nodes if node in wanted)


def _transports(
    graph: CausalGraph, protected: tuple[str, ...], caused: tuple[str, ...]
) -> list[Move]:
    """What leads to a descendant of the protected attribute without being one, in causal order."""
    confounders = {*graph.ancestors(caused, avoiding=protected)}.difference(caused)
    placed = [column for column in graph.topological_order() if column in confounders]
    return [Move(each, tuple(placed[:at]), True, True) for at, each in enumerate(placed)]


class Kept(NamedTuple):
    """Which columns are resolving, and do confounders stay as they are?"""

    resolving: tuple[str, ...]
    spurious: bool


def keeping(
    graph: CausalGraph,
    protected: tuple[str, ...],
    outcome: str | None,
    paths: Iterable[str],
    named: Mapping[str, Iterable[str]],
) -> Kept:
    """What stays, if these paths may be used? Resolving sets by the name of a path.

        "spurious"      the association of the group with what it does not cause: confounders stay
                        as they are. Not kept, they are transported to the reference group's
                        distribution.
        "indirect"      everything between the group and the outcome: all of it is resolving
        a column        that mediator is resolving, and so is what follows from it alone
        a name of yours a group of mediators, `named={"juvenile": ["juv_fel_count", ...]}`

    The direct path is always removed: keeping it means predicting from the group itself.

    >>> graph = CausalGraph.parse("race <-> age; {race, age} -> {priors, charge} -> recid")
    >>> keeping(graph, ("race",), "recid", ["old"], {"old": ["priors"]})
    Kept(resolving=('priors',), spurious=False)
    >>> keeping(graph, ("race",), "recid", ["indirect", "spurious"], {})
    Kept(resolving=('priors', 'charge'), spurious=True)
    """
    if isinstance(paths, str):
        raise PathError(f"paths is a set of names, got the text; write {{{paths!r}}}")
    if isinstance(paths, Iterator):
        raise PathError("paths can be read only once, and every fit reads them; give a set")
    between = _between(graph, protected, outcome)
    wanted: set[str] = set()
    names = set(paths)
    for name in names:
        if name == DIRECT:
            raise PathError(
                "the direct path cannot be kept by adaptation, which removes it first of all; a "
                "predictor that may use the group directly is one trained on the rows as they are"
            )
        if name == INDIRECT:
            wanted.update(between)
        elif name != SPURIOUS:
            wanted.update(_between_two(name, between, named))
    return Kept(tuple(node for node in graph.nodes if node in wanted), SPURIOUS in names)


def _between(
    graph: CausalGraph, protected: tuple[str, ...], outcome: str | None
) -> tuple[str, ...]:
    """What the group influences, the outcome and what follows from it aside."""
    if outcome is None:
        raise PathError(
            "paths lead to an outcome, and the graph has several columns that lead nowhere; name "
            "it (outcome=...)"
        )
    after = {outcome, *graph.descendants(outcome)}
    return tuple(node for node in graph.descendants(protected) if node not in after)


def _between_two(
    name: str, between: tuple[str, ...], named: Mapping[str, Iterable[str]]
) -> tuple[str, ...]:
    columns = tuple(named[name]) if name in named else (name,)
    for column in columns:
        if column not in between:
            known = (SPURIOUS, INDIRECT, *named, *between)
            where = f" (in the group {name!r})" if name in named else ""
            raise PathError(
                f"{column!r}{where} is no path from the group to the outcome: expected one of "
                f"them by name, or a column between the two; {nearest(column, known)}"
            )
    return columns
