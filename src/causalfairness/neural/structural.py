"""What would each row's mediators be, by a structural causal model? (methods §7)

The noise of every mediator is abducted from the row, the protected inputs are set, and the
mediators follow in causal order with the same noise. The model knows columns by name, so the inputs
of the network need `names`; it computes on the CPU, in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MediatorError
from causalfairness.neural.change import Shift
from causalfairness.neural.mediators import Block, Trial

if TYPE_CHECKING:
    from torch import Tensor

    from causalfairness.scm import StructuralCausalModel

Array = NDArray[np.float64]


def is_structural(model: Any) -> bool:
    """Is this a structural causal model? Asked by what it can do: its library may not be loaded."""
    return all(hasattr(model, name) for name in ("graph", "equations", "counterfactual"))


@dataclass(frozen=True, eq=False)
class Structural:
    """How do mediators follow, by a structural causal model?"""

    scm: StructuralCausalModel
    names: tuple[str, ...]
    mediators: tuple[str, ...]
    seed: int

    @property
    def models(self) -> tuple[Any, ...]:
        """Which models are asked?"""
        return ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What does it rest on?"""
        given = (
            "the structural model is taken as given: standard errors cover the drawing of rows, "
            "not the fitting of mechanisms"
        )
        return (*self.scm.assumptions, given)

    def trials(self, block: Block) -> tuple[Trial, ...]:
        """Are there models that could look at the mediators? None: the graph says what causes."""
        return ()

    def moved(self, block: Block, levels: Sequence[int], draw: int) -> dict[int, Tensor]:
        """What are the mediators at each of these levels?"""
        import torch

        from causalfairness.scm.evaluation import Streams, abduct, propagate

        equations, graph = self.scm.equations, self.scm.graph
        needed = dict.fromkeys((*self.mediators, *graph.parents(self.mediators)))
        values = {node: self._column(block.rows, node) for node in needed}
        for node, column in values.items():
            equations.domains[node].check_present(column)
        place = np.random.SeedSequence(self.seed, spawn_key=(block.number,)).generate_state(1)[0]
        noise = abduct(equations, values, Streams(graph.nodes, int(place), draw), self.mediators)
        settled = {node: column for node, column in values.items() if node not in noise}
        found = {}
        for level in levels:
            world = propagate(equations, noise, settled | self._told(block, level, settled))
            columns = np.stack([world[node] for node in self.mediators], axis=1)
            found[level] = torch.from_numpy(columns).to(block.rows.device, block.rows.dtype)
        return found

    def _column(self, rows: Tensor, node: str) -> Array:
        import torch

        column = rows[:, self.names.index(node)].to(torch.float64)
        return np.asarray(column.cpu().numpy())

    def _told(self, block: Block, level: int, settled: dict[str, Array]) -> dict[str, Array]:
        """The protected nodes in the world of a level."""
        to, told = block.change.levels[level], {}
        for place, index in enumerate(block.change.indices):
            node = self.names[index]
            if node in settled:
                start = settled[node]
                told[node] = start + to.by if isinstance(to, Shift) else start * 0.0 + to[place]
        return told


def structural(
    scm: StructuralCausalModel,
    names: Sequence[str] | None,
    width: int,
    protected: Sequence[int],
    mediators: Sequence[int] | None,
    seed: int,
) -> tuple[Structural, tuple[int, ...]]:
    """How do mediators follow, and which are they? `mediators=None`: those that the graph names."""
    if names is None or len(names) != width or len(set(names)) != width:
        raise MediatorError(
            f"a StructuralCausalModel knows columns by name: give names=[...], a different one for "
            f"each of the {width} inputs; found {names!r}"
        )
    called, graph = tuple(map(str, names)), scm.graph
    unknown = [called[index] for index in protected if called[index] not in graph.nodes]
    if unknown:
        raise MediatorError(
            f"the protected input {unknown[0]!r} is not in the graph {graph.to_text()!r}; name it "
            "in names=[...] as the graph does"
        )
    below = set(graph.descendants([called[index] for index in protected]))
    moved = tuple(index for index, name in enumerate(called) if name in below)
    asked = moved if mediators is None else tuple(mediators)
    forgotten = [called[index] for index in moved if index not in asked]
    if forgotten:
        raise MediatorError(
            f"the input {forgotten[0]!r} follows from the protected input by the graph, and is not "
            "among mediator_indices; add it, or leave mediator_indices out to have all of them"
        )
    follow = tuple(index for index in asked if index in moved)
    _check_nodes(scm, called, protected, follow)
    return Structural(scm, called, tuple(called[index] for index in follow), seed), follow


def _check_nodes(
    scm: StructuralCausalModel,
    names: Sequence[str],
    protected: Sequence[int],
    mediators: Sequence[int],
) -> None:
    moved = [names[index] for index in mediators]
    for node in dict.fromkeys((*moved, *scm.graph.parents(moved))):
        if node not in names:
            raise MediatorError(
                f"{node!r} is a cause of {', '.join(map(repr, moved))} by the graph and not among "
                "the inputs of the network, so its change cannot be followed; fit the model to "
                "graph.latent_projection([...]) of the inputs"
            )
        if scm.equations.domains[node].labels:
            raise MediatorError(
                f"{node!r} holds words in the structural model and numbers in X; fit the model to "
                "the columns as the network has them"
            )
