"""What is asked of a network? Who is asked, about which rows, and what changes and follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Required, TypedDict

from causalfairness.errors import MediatorError, RoleError
from causalfairness.neural.change import Change, change_between
from causalfairness.neural.inputs import Inputs, read_inputs
from causalfairness.neural.mediators import (
    AdditiveNoise,
    Block,
    InOrder,
    Mover,
    Redraw,
    Sampled,
    Trial,
)
from causalfairness.neural.network import Output, Respondent, respondent
from causalfairness.neural.structural import is_structural, structural

if TYPE_CHECKING:
    from torch import Tensor

Indices = int | Sequence[int]
NOTHING_FOLLOWS = "no other input follows from the protected input: there are no mediators"
FEWEST = 256  # rows in a batch on the CPU, at least
NUMBERS = 2**18  # numbers in a batch on the CPU, so that layers stay in its caches


class Asked(TypedDict, total=False):
    """Which keywords does every question about a network have? See `effects`."""

    protected_index: Required[Indices]
    mediator_indices: Sequence[int] | None
    mediator_model: Any
    continuous: bool
    output: Output
    names: Sequence[str] | None
    draws: int
    batch_size: int | None
    seed: int


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a network? Made by `question_of`."""

    who: Respondent
    inputs: Inputs
    change: Change
    mediators: tuple[int, ...]
    mover: Mover | None
    names: tuple[str, ...]
    draws: int
    batch_size: int
    seed: int

    @property
    def models(self) -> tuple[Any, ...]:
        """Which models are asked?"""
        return (self.who.network, *(() if self.mover is None else self.mover.models))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What does the answer rest on, beyond the data?"""
        return (NOTHING_FOLLOWS,) if self.mover is None else self.mover.assumptions

    def trials(self, block: Block) -> tuple[Trial, ...]:
        """Can the models of the mediators be used? Tried on some rows of a block."""
        return () if self.mover is None else self.mover.trials(block)

    def moved(
        self, block: Block, own: Tensor, levels: Sequence[int], draw: int
    ) -> dict[int, Tensor]:
        """What are the mediators at each level? A row that holds the level keeps its own."""
        import torch

        if self.mover is None or not levels:
            return {}
        observed = block.observed()
        found = self.mover.moved(block, levels, draw)
        return {
            level: torch.where((own == level)[:, None], observed, mediators)
            for level, mediators in found.items()
        }

    def input_named(self, index: int) -> str:
        """How is an input called?"""
        return self.names[index] if self.names else f"input {index}"

    @property
    def title(self) -> str:
        """What is changed, in words?"""
        which = ", ".join(map(self.input_named, self.change.indices))
        return f"{self.who.name}: {which}"


def question_of(
    network: Any,
    X: Any,
    levels: Sequence[Any],
    *,
    protected_index: Indices,
    mediator_indices: Sequence[int] | None = None,
    mediator_model: Any = None,
    continuous: bool = False,
    output: Output = None,
    names: Sequence[str] | None = None,
    draws: int = 1,
    batch_size: int | None = None,
    seed: int = 0,
) -> Question:
    """What is asked? Everything that can be refused before the network is asked, is."""
    inputs = read_inputs(X)
    who = respondent(network, inputs, output=output)
    protected = _indices([protected_index] if isinstance(protected_index, int) else protected_index)
    asked = None if mediator_indices is None else _indices(mediator_indices)
    _check_places(protected, asked or (), inputs.width)
    change = change_between(protected, levels, continuous)
    if names is not None and len(names) != inputs.width:
        raise RoleError(f"names has {len(names)} names for {inputs.width} inputs; give one each")
    mover, mediators = _mover(mediator_model, asked, names, inputs.width, protected, seed)
    repeats, count = isinstance(mover, AdditiveNoise) or mover is None, _count(draws, "draws")
    return Question(
        who,
        inputs,
        change,
        mediators,
        mover if mediators else None,
        tuple(map(str, names or ())),
        draws=1 if repeats else count,
        batch_size=_batch(batch_size, who, inputs),
        seed=seed,
    )


def _mover(
    model: Any,
    asked: tuple[int, ...] | None,
    names: Sequence[str] | None,
    width: int,
    protected: tuple[int, ...],
    seed: int,
) -> tuple[Mover | None, tuple[int, ...]]:
    """How do the mediators follow, and which are they?"""
    if is_structural(model):
        return structural(model, names, width, protected, asked, seed)
    if asked is None:
        raise MediatorError(
            "mediator_indices is missing: say which inputs follow from the protected one, "
            "[] if none does"
        )
    if model is None and asked:
        raise MediatorError(
            f"nothing says how the mediators {asked} follow the protected input: give "
            "mediator_model, a model that predicts them, Sampled(...) or a StructuralCausalModel. "
            "Changing the protected input alone, with the observed mediators in place, is "
            "controlled_direct_effect and not a total effect"
        )
    if model is None:
        return None, ()
    if not asked:
        raise MediatorError("there is a mediator_model and mediator_indices is empty; name them")
    if isinstance(model, Sampled):
        return Redraw(model.draw, seed), asked
    if isinstance(model, InOrder):
        if len(model.models) != len(asked):
            raise MediatorError(
                f"InOrder has {len(model.models)} models for {len(asked)} mediators; give one each"
            )
        return AdditiveNoise(tuple((m, (at,)) for at, m in enumerate(model.models))), asked
    if not callable(model):
        raise MediatorError(
            f"mediator_model is {type(model).__name__}; expected a torch.nn.Module or a function "
            "of rows, InOrder(...), Sampled(...) or a StructuralCausalModel"
        )
    return AdditiveNoise(((model, tuple(range(len(asked)))),)), asked


def _indices(given: Any) -> tuple[int, ...]:
    try:
        found = tuple(given)
    except TypeError:
        found = (given,)
    if not all(hasattr(index, "__index__") and not isinstance(index, bool) for index in found):
        raise RoleError(
            f"inputs are named by their column in X, whole numbers from 0; found {found!r}"
        )
    return tuple(int(index) for index in found)


def _check_places(protected: tuple[int, ...], mediators: tuple[int, ...], width: int) -> None:
    if not protected:
        raise RoleError("protected_index is empty; name the column of the protected input")
    for role, places in (("protected_index", protected), ("mediator_indices", mediators)):
        for at, place in enumerate(places):
            if not 0 <= place < width:
                raise RoleError(f"{role} names column {place}; X has the columns 0 to {width - 1}")
            if place in places[:at]:
                raise RoleError(f"{role} names column {place} twice")
    both = sorted(set(protected) & set(mediators))
    if both:
        raise RoleError(f"column {both[0]} is both protected and a mediator; it can be one of them")


def _count(given: Any, name: str) -> int:
    if not hasattr(given, "__index__") or isinstance(given, bool) or int(given) < 1:
        raise ValueError(f"{name} must be a whole number, at least 1; found {given!r}")
    return int(given)


def _batch(given: int | None, who: Respondent, inputs: Inputs) -> int:
    """How many rows is the network given at once? On other devices than the CPU, whole blocks."""
    if given is not None:
        return _count(given, "batch_size")
    whole = len(inputs)
    return max(FEWEST, NUMBERS // inputs.width) if who.device.type == "cpu" else whole
