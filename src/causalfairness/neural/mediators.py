"""What would each row's mediators be, were the protected inputs set to a level?

Three ways (methods §10). A *mediator model* predicts the mediators of rows, and what it misses of a
row's own mediators stays with the row: m + f(row told the level) - f(row). A *sampler* draws them
anew. A *structural causal model* (methods §7) abducts the noise of every mediator from the row, and
predicts them in causal order with the same noise; it knows columns by name, and computes on the CPU
in double precision. In all three a row that holds the level already keeps its own mediators.

How a function was fitted cannot be known, and standard errors that follow from it are of rows
alone. What is still to be fitted (a mechanism, a scikit-learn model) makes a structural model here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MediatorError
from causalfairness.neural.change import Change
from causalfairness.neural.network import consult

if TYPE_CHECKING:
    from torch import Tensor

    from causalfairness.scm import StructuralCausalModel

Columns = Sequence["Tensor"]  # one for each mediator
TRIED = 1_024  # rows on which a model is tried with other mediators
SAME = 1e-5  # how far its answers may then be apart, as a share of their size
NOISE_STAYS = (
    "the mediator model is right and taken as given: what it misses of a row's mediators is added "
    "noise that is the same in every world, and standard errors cover the drawing of rows, not the "
    "fitting of the mediator model"
)
SAMPLER_KNOWS = (
    "the sampler draws mediators as they would be, and is taken as given: standard errors cover "
    "the drawing of rows and of mediators, not how the sampler was learned"
)


class MediatorModel(Protocol):
    """Which mediators would these rows have, on average? Called with whole rows of X.

    The protected inputs are set; the columns of the mediators hold what was observed, and the
    answer must not depend on them. A `torch.nn.Module` is one, and so is any function.

    >>> model: MediatorModel = lambda rows: 0.5 * rows[:, [0]]
    >>> model(np.ones((2, 3))).tolist()
    [[0.5], [0.5]]
    """

    def __call__(self, rows: Any, /) -> Any:
        """One column per mediator, in the order of `mediator_indices`."""


class Sampler(Protocol):
    """Which mediators might these rows have? Draws them, with the given generator alone.

    The generator is one of numpy where X is an array, and one of torch where it is a tensor.

    >>> draw: Sampler = lambda rows, chance: rows[:, [0]] + chance.normal(size=(len(rows), 1))
    >>> draw(np.ones((2, 3)), np.random.default_rng(0)).round(2).tolist()
    [[1.13], [0.87]]
    """

    def __call__(self, rows: Any, generator: Any, /) -> Any:
        """One column per mediator, in the order of `mediator_indices`."""


@dataclass(frozen=True)
class Sampled:
    """Are the mediators drawn anew, rather than moved? Give `mediator_model=Sampled(draw)`.

    For mediators whose noise cannot be read off a row: categories, counts. `draws` of `effects`
    averages over several.

    >>> import causalfairness as cf
    >>> group = np.repeat([0, 1], 2_000)
    >>> X = np.column_stack([group, np.random.default_rng(0).random(4_000) < 0.3 + 0.4 * group])
    >>> draw = lambda rows, chance: chance.random(len(rows)) < 0.3 + 0.4 * rows[:, 0]
    >>> found = cf.neural.effects(lambda X: X[:, 1], X, protected_index=0, mediator_indices=[1],
    ...                           mediator_model=Sampled(draw), draws=5)
    >>> bool(abs(found.natural_indirect_effect.value - 0.4) < 0.05)
    True
    """

    draw: Sampler


@dataclass(frozen=True)
class InOrder:
    """Do mediators cause each other? One model for each, causes before effects.

    Each model is given rows with the protected inputs set and the mediators before it moved, and
    must not depend on the others. The order is that of `mediator_indices`. Models that are still
    to be fitted are fitted to these inputs.

    >>> import causalfairness as cf
    >>> X = np.array([[0.0, 1.0, 2.0], [1.0, 2.0, 7.0], [0.0, -1.0, -4.0], [1.0, 3.0, 8.0]])
    >>> chain = InOrder([lambda X: 2 * X[:, 0], lambda X: 3 * X[:, 1]])
    >>> found = cf.neural.effects(lambda X: X[:, 2], X, protected_index=0,
    ...                           mediator_indices=[1, 2], mediator_model=chain)
    >>> round(found.natural_indirect_effect.value, 6)
    6.0
    """

    models: Sequence[MediatorModel]


class Trial(NamedTuple):
    """Does what a model says of rows change with the observed mediators of these columns?"""

    model: Any
    columns: tuple[int, ...]
    say: Callable[[Tensor], Tensor]

    def fails(self, rows: Tensor) -> Tensor:
        """Is it another with the mediators of other rows? One yes or no, known on the device."""
        rows = rows[:TRIED].clone()
        other = rows.clone()
        for column in self.columns:
            other[:, column] = rows[:, column].roll(1)
        one, two = self.say(rows), self.say(other)
        return (one - two).abs().max() > SAME * one.abs().max()


@dataclass(frozen=True, eq=False)
class Mover:
    """How do these mediators follow the protected inputs?

    `move(rows, block, draw)` is what they are under the reference and under the comparison, one
    column each: for the rows of the block of this number, and in the draw of this number where the
    mover is one of `chance`. Its models are usable where no trial fails.
    """

    mediators: tuple[int, ...]
    assumptions: tuple[str, ...]
    move: Callable[[Tensor, int, int], list[Columns]]
    trials: tuple[Trial, ...] = ()
    chance: bool = False
    model: StructuralCausalModel | None = None


def additive(
    steps: Sequence[tuple[MediatorModel, tuple[int, ...]]], change: Change, as_array: bool
) -> Mover:
    """How do mediators follow, if what models miss of them stays with the row?

    A step is a model and the columns of the mediators that it speaks for.
    """
    mediators = tuple(column for _, columns in steps for column in columns)

    def say(model: MediatorModel, columns: tuple[int, ...], rows: Tensor) -> Tensor:
        told = consult(model, rows.clone(), as_array=as_array)
        return _columns(told, rows, columns, "mediator model")

    def move(rows: Tensor, block: int, draw: int) -> list[Columns]:
        worlds = [change.told(rows, level) for level in (0, 1)]
        for model, columns in steps:
            usual = say(model, columns, rows)
            for moved in worlds:
                gain = say(model, columns, moved) - usual
                for place, column in enumerate(columns):
                    moved[:, column] += gain[:, place]
        return [[moved[:, column] for column in mediators] for moved in worlds]

    trials = (
        Trial(model, mediators[mediators.index(columns[0]) :], partial(say, model, columns))
        for model, columns in steps
    )
    return Mover(mediators, (NOISE_STAYS,), move, tuple(trials))


def redrawn(
    sampler: Sampler, mediators: tuple[int, ...], change: Change, as_array: bool, seed: int
) -> Mover:
    """How do mediators follow, if they are drawn anew? With the same chance at all levels."""
    import torch

    of_numpy = as_array and not isinstance(sampler, torch.nn.Module)

    def say(rows: Tensor, block: int = 0, draw: int = 0) -> Tensor:
        sequence = np.random.SeedSequence(seed, spawn_key=(draw, block))
        generator: Any = np.random.default_rng(sequence)
        if not of_numpy:
            state = int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
            generator = torch.Generator(device=rows.device).manual_seed(state)
        told = consult(sampler, rows, generator, as_array=as_array)
        return _columns(told, rows, mediators, "sampler")

    def move(rows: Tensor, block: int, draw: int) -> list[Columns]:
        return [say(change.told(rows, level), block, draw).unbind(1) for level in (0, 1)]

    trials = (Trial(sampler, mediators, say),)
    return Mover(mediators, (SAMPLER_KNOWS,), move, trials, chance=True)


def structural(
    scm: StructuralCausalModel,
    names: Sequence[str] | None,
    change: Change,
    mediators: tuple[int, ...] | None,
    seed: int,
) -> Mover:
    """How do mediators follow, by a structural causal model? None: all that do by its graph."""
    from causalfairness.scm.evaluation import Streams, abduct, propagate

    if names is None or len(set(names)) != len(names):
        raise MediatorError(
            "a StructuralCausalModel knows columns by name: give names=[...], a different one for "
            f"each of the inputs; found {names!r}"
        )
    called, equations = [*map(str, names)], scm.equations
    follow = _followers(scm, called, change.indices, mediators)
    moved = [called[index] for index in follow]
    needed = dict.fromkeys((*moved, *scm.graph.parents(moved)))
    for node in needed:
        if node not in called:
            raise MediatorError(
                f"{node!r} is a cause of {', '.join(map(repr, moved))} by the graph and not among "
                "the inputs of the network, so its change cannot be followed; fit the model to "
                "graph.latent_projection([...]) of the inputs"
            )
        if equations.domains[node].labels:
            raise MediatorError(
                f"{node!r} holds words in the structural model and numbers in X; fit the model to "
                "the columns as the network has them"
            )

    def values(rows: Tensor) -> dict[str, NDArray[np.float64]]:
        return {node: rows[:, called.index(node)].contiguous().numpy() for node in needed}

    def move(rows: Tensor, block: int, draw: int) -> list[Columns]:
        import torch

        exact = rows.to("cpu", torch.float64)
        observed = values(exact)
        for node, column in observed.items():
            equations.domains[node].check_present(column)
        place = np.random.SeedSequence(seed, spawn_key=(block,)).generate_state(1)[0]
        noise = abduct(equations, observed, Streams(scm.graph.nodes, int(place), draw), moved)
        found: list[Columns] = []
        for level in (0, 1):
            told = values(change.told(exact, level))
            settled = {node: column for node, column in told.items() if node not in noise}
            world = propagate(equations, noise, settled)
            found.append([torch.from_numpy(world[node]).to(rows) for node in moved])
        return found

    return Mover(follow, scm.assumptions, move, chance=True, model=scm)


def fitted(
    models: Sequence[Any],
    mediators: tuple[int, ...],
    table: Tensor,
    names: Sequence[str],
    *,
    in_order: bool,
    seed: int,
) -> StructuralCausalModel:
    """Return a structural model of the mediators, fitted to these rows of inputs.

    Each mediator follows from all inputs that are none, and `in_order` from those before it.
    """
    from causalfairness.graph import CausalGraph
    from causalfairness.scm import StructuralCausalModel
    from causalfairness.tables.frames import Numbers, Template

    moved, arrows = [names[at] for at in mediators], []
    for place, mediator in enumerate(moved):
        before = moved[:place] if in_order else []
        arrows += [(name, mediator) for name in names if name not in moved or name in before]
    columns = zip(names, table.double().cpu().numpy().T, strict=True)
    frame = Template("pyarrow").filled({name: Numbers(values, False) for name, values in columns})
    graph = CausalGraph.from_edges(arrows, (), tuple(names))
    mechanisms = dict(zip(moved, models, strict=True))
    return StructuralCausalModel.fit(graph, frame, mechanisms, seed=seed)


def _columns(told: Any, rows: Tensor, mediators: tuple[int, ...], who: str) -> Tensor:
    """What a model said about mediators, one column each, or it is refused."""
    import torch

    n, columns = len(rows), len(mediators)
    if isinstance(told, torch.Tensor) and told.numel() == n * columns and len(told) == n:
        return told.reshape(n, columns).to(device=rows.device, dtype=rows.dtype)
    found = tuple(told.shape) if hasattr(told, "shape") else type(told).__name__
    raise MediatorError(
        f"the {who} returned {found} for {n} rows; expected {columns} columns of numbers, one for "
        f"each of the mediators {mediators}"
    )


def _followers(
    scm: StructuralCausalModel,
    names: Sequence[str],
    protected: Sequence[int],
    mediators: tuple[int, ...] | None,
) -> tuple[int, ...]:
    """The inputs that follow from the protected ones by the graph, in the order that was asked."""
    for name in (names[index] for index in protected):
        if name not in scm.graph.nodes:
            raise MediatorError(
                f"the protected input {name!r} is not in the graph {scm.graph.to_text()!r}; name "
                "it in names=[...] as the graph does"
            )
    below = set(scm.graph.descendants([names[index] for index in protected]))
    follow = [i for i, name in enumerate(names) if name in below]
    asked = follow if mediators is None else mediators
    for index in follow:
        if index not in asked:
            raise MediatorError(
                f"the input {names[index]!r} follows from the protected input by the graph, and is "
                "not among mediator_indices; add it, or leave them out to have all that follow"
            )
    return tuple(index for index in asked if index in follow)
