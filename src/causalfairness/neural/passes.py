"""What does the network answer in each world, row by row?

A world says what the network is told directly and, for every mediator, at which level it hears it.
Rows are read once, block by block: identified, sorted into groups, their mediators moved, and then
one pass of the network for each world. Everything stays on the network's device until the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MissingValuesError, PredictorError
from causalfairness.neural.change import OUTSIDE
from causalfairness.neural.identity import Digest, TableIdentity
from causalfairness.neural.mediators import Block, Trial
from causalfairness.neural.network import at_rest
from causalfairness.neural.question import Question
from causalfairness.progress import track

if TYPE_CHECKING:
    from torch import Tensor

Codes = NDArray[np.int8]


class World(NamedTuple):
    """What is the network told, and at which level does each mediator speak?"""

    told: int
    heard: tuple[int, ...]


class Answers(NamedTuple):
    """What did the network say? One line of outputs for each world, one group code per row."""

    outputs: NDArray[Any]
    groups: Codes
    identity: TableIdentity


def ask(question: Question, worlds: Sequence[World]) -> Answers:
    """What does the network answer in each of these worlds?"""
    import torch

    inputs, who = question.inputs, question.who
    single = who.is_module and who.dtype != torch.float64 and question.draws == 1
    stored = torch.float32 if single else torch.float64
    outputs = torch.zeros((len(worlds), len(inputs)), dtype=stored, device=who.device)
    groups = torch.empty(len(inputs), dtype=torch.int8, device=who.device)
    missing = torch.zeros((), dtype=torch.bool, device=who.device)
    places = torch.tensor(question.mediators, dtype=torch.int64, device=who.device)
    digest = Digest.of(inputs.width, who.device)
    parts = [*inputs.blocks()]
    trials: tuple[Trial, ...] = ()
    with at_rest(question.models):
        for number, part in track(enumerate(parts), total=len(parts), what="asking the network"):
            given = inputs.block(part, who.device)
            digest.add(given, part.start)
            groups[part] = question.change.groups(given)
            missing |= question.change.missing(given)
            block = Block(
                given.to(who.dtype), question.change, question.mediators, number, who.as_arrays
            )
            if number == 0:
                trials = question.trials(block)
            _answer(question, worlds, block, groups[part], places, outputs[:, part])
        _check(outputs, groups, missing, trials, question)
        outputs.masked_fill_(groups == OUTSIDE, 0.0)
        identity = digest.identity(len(inputs))
        return Answers(_at_home(outputs), _at_home(groups), identity)


def _answer(
    question: Question,
    worlds: Sequence[World],
    block: Block,
    groups: Tensor,
    places: Tensor,
    into: Tensor,
) -> None:
    """The answers about one block of rows, averaged over the draws."""
    levels = sorted({level for world in worlds for level in world.heard})
    for draw in range(question.draws):
        moved = question.moved(block, groups, levels, draw)
        for start in range(0, len(block.rows), question.batch_size):
            batch = slice(start, start + question.batch_size)
            for line, world in enumerate(worlds):
                rows = question.change.told(block.rows[batch], world.told)
                if world.heard:
                    rows.index_copy_(1, places, _heard(moved, world.heard, batch))
                into[line, batch] += question.who.answer(rows) / question.draws


def _heard(moved: dict[int, Tensor], heard: tuple[int, ...], batch: slice) -> Tensor:
    """The mediators of a world, each at its level."""
    import torch

    if len(set(heard)) == 1:
        return moved[heard[0]][batch]
    return torch.stack([moved[level][batch, at] for at, level in enumerate(heard)], dim=1)


def _at_home(numbers: Tensor) -> NDArray[Any]:
    """The same numbers as an array; from a GPU through memory that it can write to at speed."""
    import torch

    if numbers.device.type != "cuda":
        return np.asarray(numbers.cpu().numpy())
    home = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
    return np.asarray(home.copy_(numbers).numpy())


def _check(
    outputs: Tensor,
    groups: Tensor,
    missing: Tensor,
    trials: Sequence[Trial],
    question: Question,
) -> None:
    """Are all answers numbers, and can they be used? The one place that waits for the device."""
    strange = ~outputs.isfinite().all(dim=0) & (groups != OUTSIDE)
    if bool(missing):
        which = ", ".join(map(question.input_named, question.change.indices))
        raise MissingValuesError(
            f"the protected input ({which}) is missing in some rows, so they belong to no group; "
            "leave these rows out of X, or fill them in and say so"
        )
    for trial in trials:
        trial.check()
    if bool(strange.any()):
        row = int(strange.nonzero()[0, 0])
        raise PredictorError(
            f"the network's answer is not a finite number for {int(strange.sum()):,} rows, the "
            f"first of them row {row}: {np.asarray(outputs[:, row].cpu()).tolist()}. Check X for "
            "missing values in such rows, and what the mediator model makes of them"
        )
