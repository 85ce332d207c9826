"""What would each row's mediators be, were the protected inputs set to a level?

Three ways (methods §10). A *mediator model* predicts the mediators of rows, and what it misses of a
row's own mediators stays with the row: m + f(row told the level) - f(row). A *sampler* draws them
anew. A *structural causal model* (`causalfairness.neural.structural`) abducts the noise of every
mediator and predicts them in causal order. In all of them a row that holds the level already keeps
its own mediators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from causalfairness.errors import MediatorError
from causalfairness.neural.change import Change
from causalfairness.neural.network import consult

if TYPE_CHECKING:
    from torch import Tensor

TRIED = 1_024  # rows on which a model is tried with other mediators
SAME = 1e-5  # how far its answers may then be apart, as a share of their size


class MediatorModel(Protocol):
    """Which mediators would these rows have, on average? Called with whole rows of X.

    The protected inputs are set; the columns of the mediators hold what was observed, and the
    answer must not depend on them. A `torch.nn.Module` is one, and so is any function.

    >>> from causalfairness.neural import MediatorModel
    >>> model: MediatorModel = lambda rows: 0.5 * rows[:, [0]]
    >>> model(np.ones((2, 3))).tolist()
    [[0.5], [0.5]]
    """

    def __call__(self, rows: Any, /) -> Any:
        """One column per mediator, in the order of `mediator_indices`."""
        ...


class Sampler(Protocol):
    """Which mediators might these rows have? Draws them, with the given generator alone.

    The generator is one of numpy where X is an array, and one of torch where it is a tensor.

    >>> from causalfairness.neural import Sampler
    >>> draw: Sampler = lambda rows, chance: rows[:, [0]] + chance.normal(size=(len(rows), 1))
    >>> draw(np.ones((2, 3)), np.random.default_rng(0)).round(2).tolist()
    [[1.13], [0.87]]
    """

    def __call__(self, rows: Any, generator: Any, /) -> Any:
        """One column per mediator, in the order of `mediator_indices`."""
        ...


@dataclass(frozen=True)
class Sampled:
    """Are the mediators drawn anew, rather than moved? Give `mediator_model=Sampled(draw)`.

    For mediators whose noise cannot be read off a row: categories, counts. `draws` of `effects`
    averages over several.

    >>> import causalfairness as cf
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 4_000)
    >>> X = np.column_stack([group, rng.random(4_000) < 0.3 + 0.4 * group])
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
    must not depend on the others. The order is that of `mediator_indices`.

    >>> import causalfairness as cf
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 500)
    >>> first = 2 * group + rng.normal(size=500)
    >>> X = np.column_stack([group, first, 3 * first + rng.normal(size=500)])
    >>> chain = InOrder([lambda X: 2 * X[:, 0], lambda X: 3 * X[:, 1]])
    >>> found = cf.neural.effects(lambda X: X[:, 2], X, protected_index=0,
    ...                           mediator_indices=[1, 2], mediator_model=chain)
    >>> round(found.natural_indirect_effect.value, 6)
    6.0
    """

    models: Sequence[MediatorModel]


@dataclass(frozen=True, eq=False)
class Block:
    """Which rows are to be moved?"""

    rows: Tensor
    change: Change
    mediators: tuple[int, ...]
    number: int
    as_arrays: bool

    def told(self, level: int) -> Tensor:
        """What are the rows with the protected inputs set? A copy."""
        return self.change.told(self.rows, level)

    def observed(self) -> Tensor:
        """What are the mediators in fact?"""
        import torch

        return torch.stack([self.rows[:, index] for index in self.mediators], dim=1)

    def read(self, told: Any, columns: int, who: str) -> Tensor:
        """What did a model say about the mediators? One column each, or it is refused."""
        import torch

        n = len(self.rows)
        if isinstance(told, torch.Tensor) and told.numel() == n * columns and len(told) == n:
            return told.reshape(n, columns).to(device=self.rows.device, dtype=self.rows.dtype)
        found = getattr(told, "shape", type(told).__name__)
        raise MediatorError(
            f"the {who} returned {tuple(found) if not isinstance(found, str) else found} for {n} "
            f"rows; expected {columns} columns of numbers, one for each of the mediators "
            f"{self.mediators}"
        )


class Trial(NamedTuple):
    """Do answers change with the observed mediators of these columns? Known on the device."""

    columns: tuple[int, ...]
    changes: Tensor  # one yes or no

    def check(self) -> None:
        """Is the model one that can be used? Waits for the device."""
        if bool(self.changes):
            raise MediatorError(
                f"the answers about mediators change with the observed mediators {self.columns} "
                "themselves (or with chance that no generator was given for), so the change would "
                "be lost on its way. Predict mediators from the other inputs; where one causes "
                "another, give InOrder([...]) with one model each, or a StructuralCausalModel"
            )


class Mover(Protocol):
    """How do mediators follow?"""

    @property
    def models(self) -> tuple[Any, ...]:
        """Which models are asked?"""
        ...

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What does it rest on?"""
        ...

    def trials(self, block: Block) -> tuple[Trial, ...]:
        """Do the models look at the mediators that they are to predict? Tried on some rows."""
        ...

    def moved(self, block: Block, levels: Sequence[int], draw: int) -> dict[int, Tensor]:
        """What are the mediators at each of these levels? One column each."""
        ...


@dataclass(frozen=True, eq=False)
class AdditiveNoise:
    """What would mediators be, if what the models miss of them stays with the row?

    Each step has a model and the places of the mediators it speaks for.
    """

    steps: tuple[tuple[MediatorModel, tuple[int, ...]], ...]

    @property
    def models(self) -> tuple[Any, ...]:
        """Which models are asked?"""
        return tuple(model for model, _ in self.steps)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What does it rest on?"""
        return (
            "the mediator model is right and taken as given: what it misses of a row's mediators "
            "is added noise that is the same in every world, and standard errors cover the drawing "
            "of rows, not the fitting of the mediator model",
        )

    def trials(self, block: Block) -> tuple[Trial, ...]:
        """Does a model look at the mediators that it is to predict, or at later ones?"""
        return tuple(
            _trial(block, block.mediators[places[0] :], partial(_say, block, model, len(places)))
            for model, places in self.steps
        )

    def moved(self, block: Block, levels: Sequence[int], draw: int) -> dict[int, Tensor]:
        """What are the mediators at each of these levels?"""
        worlds = {level: block.told(level) for level in levels}
        for model, places in self.steps:
            columns = [block.mediators[place] for place in places]
            usual = _say(block, model, len(columns), block.rows)
            for rows in worlds.values():
                change = _say(block, model, len(columns), rows) - usual
                for place, column in enumerate(columns):
                    rows[:, column] += change[:, place]
        return {level: replace(block, rows=rows).observed() for level, rows in worlds.items()}


@dataclass(frozen=True, eq=False)
class Redraw:
    """What would mediators be, if they are drawn anew?"""

    draw: Sampler
    seed: int

    @property
    def models(self) -> tuple[Any, ...]:
        """Which models are asked?"""
        return (self.draw,)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What does it rest on?"""
        return (
            "the sampler draws mediators as they would be, and is taken as given: standard errors "
            "cover the drawing of rows and of mediators, not how the sampler was learned",
        )

    def trials(self, block: Block) -> tuple[Trial, ...]:
        """Does the sampler look at the mediators, or at chance of its own?"""
        return (_trial(block, block.mediators, lambda rows: self._drawn(block, rows, 0)),)

    def moved(self, block: Block, levels: Sequence[int], draw: int) -> dict[int, Tensor]:
        """What are the mediators at each of these levels? The same chance in all of them."""
        return {level: self._drawn(block, block.told(level), draw) for level in levels}

    def _drawn(self, block: Block, rows: Tensor, draw: int) -> Tensor:
        chance = self._generator(block, draw)
        told = consult(self.draw, rows, chance, as_arrays=block.as_arrays)
        width = len(block.mediators)
        return replace(block, rows=rows).read(told, width, "sampler")

    def _generator(self, block: Block, draw: int) -> Any:
        import torch

        sequence = np.random.SeedSequence(self.seed, spawn_key=(draw, block.number))
        if block.as_arrays and not isinstance(self.draw, torch.nn.Module):
            return np.random.default_rng(sequence)
        state = int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
        return torch.Generator(device=block.rows.device).manual_seed(state)


def _say(block: Block, model: MediatorModel, columns: int, rows: Tensor) -> Tensor:
    """What does a mediator model say about rows?"""
    told = consult(model, rows.clone(), as_arrays=block.as_arrays)
    return replace(block, rows=rows).read(told, columns, "mediator model")


def _trial(block: Block, columns: tuple[int, ...], say: Callable[[Tensor], Tensor]) -> Trial:
    """Does the answer stay as it is with the mediators of other rows? Without waiting for it."""
    rows = block.rows[:TRIED].clone()
    other = rows.clone()
    for column in columns:
        other[:, column] = rows[:, column].roll(1)
    one, two = say(rows), say(other)
    return Trial(columns, (one - two).abs().max() > SAME * one.abs().max())
