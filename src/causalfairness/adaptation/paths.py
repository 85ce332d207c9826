"""Which columns stay, if a path may be used? Resolving sets by the name of a path.

    "spurious"      the association of the group with what it does not cause: confounders stay as
                    they are. Not kept, they are transported to the reference group's distribution.
    "indirect"      everything between the group and the outcome: all of it is resolving
    a column        that mediator is resolving, and so is what follows from it alone
    a name of yours a group of mediators, `named={"juvenile": ["juv_fel_count", ...]}`

The direct path is always removed: keeping it means predicting from the group itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from causalfairness.errors import PathError
from causalfairness.graph import CausalGraph
from causalfairness.scm.domain import nearest

SPURIOUS, INDIRECT, DIRECT = "spurious", "indirect", "direct"


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
    """What stays, if these paths may be used?

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
            wanted.update(_columns(name, between, named))
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


def _columns(
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
