"""What is asked of a network, and what does it answer in each world, row by row?

A world says what the network is told directly and, for every mediator, at which level it hears it.
Rows are read once, block by block: identified, sorted into groups, their mediators moved, and then
one pass of the network for each world. Everything stays on the network's device until the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Required, TypedDict

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MediatorError, MissingValuesError, PredictorError, RoleError
from causalfairness.neural.change import MISSING, OUTSIDE, Change, change_between, written
from causalfairness.neural.fit import Outputs, Sure, sure_of
from causalfairness.neural.mediators import (
    InOrder,
    Mover,
    Sampled,
    additive,
    fitted,
    redrawn,
    structural,
)
from causalfairness.neural.network import (
    Output,
    answer,
    at_rest,
    basis_of,
    blocks,
    by_content,
    digest,
    home_of,
    on_device,
    read_inputs,
)
from causalfairness.neural.result import NetworkEffects
from causalfairness.progress import track

if TYPE_CHECKING:
    from torch import Tensor

    from causalfairness.scm import StructuralCausalModel

Indices = int | Sequence[int]
World = tuple[int, tuple[int, ...]]  # what the network is told, and the level of each mediator
NOTHING_FOLLOWS = "no other input follows from the protected input: there are no mediators"
NO_MEDIATORS = Mover((), (NOTHING_FOLLOWS,), lambda rows, block, draw: [])
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
    replicates: int | None
    seed: int


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a network? Made by `question_of`."""

    network: Any
    output: Output
    table: Tensor
    as_array: bool  # functions are given arrays
    names: Sequence[str]
    title: str
    change: Change
    mover: Mover
    draws: int
    batch_size: int | None
    replicates: int | None
    seed: int


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
    replicates: int | None = None,
    seed: int = 0,
) -> Question:
    """What is asked? Everything that can be refused before the network is asked, is."""
    table, as_array = read_inputs(X)
    width = table.shape[1]
    if not callable(network):
        raise PredictorError(
            f"the network is {type(network).__name__}, which cannot be called; expected a module "
            "of torch, or a function of a table of inputs"
        )
    protected = _columns(protected_index, "protected_index", width)
    mediators = mediator_indices
    if mediators is not None:
        mediators = _columns(mediators, "mediator_indices", width)
    if not protected:
        raise RoleError("protected_index is empty; name the column of the protected input")
    for index in set(protected) & set(mediators or ()):
        raise RoleError(f"column {index} is both protected and a mediator; it can be one of them")
    if names is not None and len(names) != width:
        raise RoleError(f"names has {len(names)} names for {width} inputs; give one each")
    change = change_between(protected, levels, continuous)
    called = [f"input {at}" for at in range(width)] if names is None else [*map(str, names)]
    is_model = hasattr(mediator_model, "equations")  # whose library may not be loaded
    if not is_model and (models := _unfitted(mediator_model, mediators)) and mediators:
        chain = isinstance(mediator_model, InOrder)
        mediator_model = fitted(models, mediators, table, called, in_order=chain, seed=seed)
        names, is_model = called, True
    if is_model:
        mover = structural(mediator_model, names, change, mediators, seed)
    else:
        mover = _mover(mediator_model, mediators, change, as_array, seed)
    mover = mover if mover.mediators else NO_MEDIATORS
    draws = _count(draws, "draws")
    who = getattr(network, "__name__", type(network).__name__)
    title = ", ".join(called[index] for index in protected)
    return Question(
        network,
        output,
        table,
        as_array,
        called,
        f"{'the network' if who == '<lambda>' else who}: {title}",
        change,
        mover,
        draws if mover.chance else 1,
        None if batch_size is None else _count(batch_size, "batch_size"),
        replicates,
        seed,
    )


def _unfitted(model: Any, mediators: tuple[int, ...] | None) -> list[Any]:
    """What is still to be fitted, once for each mediator; nothing where all is given."""
    models = [*model.models] if isinstance(model, InOrder) else [model] * len(mediators or ())
    to_fit = all(hasattr(each, "fit") for each in models)
    return models if to_fit and len(models) == len(mediators or ()) else []


def _mover(
    model: Any, mediators: tuple[int, ...] | None, change: Change, as_array: bool, seed: int
) -> Mover:
    """How the mediators follow, where no structural model says it."""
    if mediators is None:
        raise MediatorError(
            "mediator_indices is missing: say which inputs follow from the protected one, or []"
        )
    if model is None and mediators:
        raise MediatorError(
            f"nothing says how the mediators {mediators} follow: give mediator_model, a model that "
            "predicts them, Sampled(...) or a StructuralCausalModel. Changing the protected input "
            "alone, with observed mediators, is controlled_direct_effect and not a total effect"
        )
    if model is None:
        return NO_MEDIATORS
    if not mediators:
        raise MediatorError("there is a mediator_model and mediator_indices is empty; name them")
    if isinstance(model, Sampled):
        return redrawn(model.draw, mediators, change, as_array, seed)
    if isinstance(model, InOrder):
        if len(model.models) != len(mediators):
            raise MediatorError(
                f"InOrder has {len(model.models)} models for {len(mediators)} mediators"
            )
        steps = [(one, (column,)) for one, column in zip(model.models, mediators, strict=True)]
        return additive(steps, change, as_array)
    if not callable(model):
        raise MediatorError(
            f"mediator_model is {type(model).__name__}; expected a torch.nn.Module or a function "
            "of rows, InOrder(...), Sampled(...) or a StructuralCausalModel"
        )
    return additive([(model, mediators)], change, as_array)


def _columns(given: Any, role: str, width: int) -> tuple[int, ...]:
    """The columns of X that were given, each of them once."""
    found = tuple(given) if hasattr(given, "__iter__") else (given,)
    if not all(hasattr(index, "__index__") and not isinstance(index, bool) for index in found):
        raise RoleError(f"inputs are named by column of X, whole numbers from 0; found {found!r}")
    for at, index in enumerate(found):
        if not 0 <= index < width:
            raise RoleError(f"{role} names column {index}; X has the columns 0 to {width - 1}")
        if index in found[:at]:
            raise RoleError(f"{role} names column {index} twice")
    return tuple(map(int, found))


def _count(given: Any, name: str) -> int:
    if not hasattr(given, "__index__") or isinstance(given, bool) or int(given) < 1:
        raise ValueError(f"{name} must be a whole number, at least 1; found {given!r}")
    return int(given)


def ask(question: Question, asked: Sequence[Sequence[World]]) -> list[NetworkEffects]:
    """What do the answers in four worlds say, (0, 0), (0, 1), (1, 0), (1, 1), each time?"""
    worlds = [*dict.fromkeys(world for four in asked for world in four)]
    found = _outputs(question, worlds)

    change, mediators, scm = question.change, question.mover.mediators, question.mover.model

    def by(model: StructuralCausalModel) -> NDArray[Any]:
        mover = structural(model, question.names, change, mediators, question.seed)
        return _outputs(replace(question, mover=mover), worlds).by_row

    sure = Sure(found.basis, scm is None and bool(mediators))
    if scm is not None:
        moved = [question.names[index] for index in mediators]
        columns = dict(zip(question.names, question.table.double().cpu().numpy().T, strict=True))
        asked_of = (scm, moved, columns, found, by)
        sure = sure_of(*asked_of, replicates=question.replicates, seed=question.seed)
    title, assumptions = question.title, (*question.mover.assumptions, *sure.said)
    reference, comparison = map(written, change.levels)
    results = []
    for four in asked:
        places = [worlds.index(world) for world in four]
        told = found.by_row if places == [*range(len(worlds))] else found.by_row[places]
        results.append(
            NetworkEffects(
                *(title, reference, comparison, told.reshape(2, 2, -1), found.group),
                *(sure.basis, assumptions, sure.of(places)),
            )
        )
    for group in (0, 1) if change.grouped else ():
        results[0].rows_among(group)
    return results


def _outputs(question: Question, worlds: Sequence[World]) -> Outputs:
    """The answer about each row in each world, and the row's group."""
    import torch

    table, change, chance = question.table, question.change, question.mover.chance
    place = by_content(table) if chance else torch.arange(len(table), device=table.device)
    table = table[place] if chance else table  # draws belong to what rows hold
    device, dtype = home_of(question.network)
    device, dtype = device or table.device, dtype or (table[:0] * 1.0).dtype
    exact = dtype == torch.float64 or not isinstance(question.network, torch.nn.Module)
    stored = torch.float64 if exact or question.draws > 1 else torch.float32
    outputs = torch.zeros((len(worlds), len(table)), dtype=stored, device=device)
    groups = torch.empty(len(table), dtype=torch.int8, device=device)
    sums = torch.zeros(3, dtype=torch.int64, device=device)
    fails: list[Tensor] = []
    parts = blocks(table)
    with at_rest([question.network, *(trial.model for trial in question.mover.trials)]):
        for number, part in track(enumerate(parts), total=len(parts), what="asking the network"):
            given = on_device(table[part], device)
            sums += digest(given, place[part])
            groups[part] = change.groups(given)
            rows = given.to(dtype)
            fails = fails or [trial.fails(rows) for trial in question.mover.trials]
            _answer(question, worlds, rows, number, groups[part], outputs[:, part])
        _check(question, outputs, groups, fails)
        outputs.masked_fill_(groups == OUTSIDE, 0.0)
        found, held = (  # through memory that a GPU can write to at speed
            torch.empty(part.shape, dtype=part.dtype, pin_memory=part.is_cuda).copy_(part).numpy()
            for part in (outputs, groups)
        )
    if chance:
        back = place.argsort().cpu().numpy()
        found, held = found[:, back], held[back]
    return Outputs(found, held, basis_of(table, sums))


def _answer(
    question: Question,
    worlds: Sequence[World],
    block: Tensor,
    number: int,
    groups: Tensor,
    into: Tensor,
) -> None:
    """The answers about one block of rows, averaged over the draws."""
    import torch

    mover = question.mover
    whole = block.device.type != "cpu"
    size = question.batch_size or (len(block) if whole else max(FEWEST, NUMBERS // block.shape[1]))
    for draw in range(question.draws):
        moved = mover.move(block, number, draw)
        for line, (told, heard) in enumerate(worlds):
            rows = question.change.told(block, told)
            for place, (column, level) in enumerate(zip(mover.mediators, heard, strict=True)):
                own = groups == level  # who holds the level already keeps its mediators
                rows[:, column] = torch.where(own, block[:, column], moved[level][place])
            for start in range(0, len(rows), size):
                batch = slice(start, start + size)
                said = answer(question.network, rows[batch], question.output, question.as_array)
                into[line, batch] += said / question.draws


def _check(question: Question, outputs: Tensor, groups: Tensor, fails: Sequence[Tensor]) -> None:
    """Are all answers numbers, and can they be used? The one place that waits for the device."""
    strange = ~outputs.isfinite().all(dim=0) & (groups != OUTSIDE)
    if bool((groups == MISSING).any()):
        which = ", ".join(question.names[index] for index in question.change.indices)
        raise MissingValuesError(
            f"the protected input ({which}) is missing in some rows, so they belong to no group; "
            "leave these rows out of X, or fill them in and say so"
        )
    for trial, failed in zip(question.mover.trials, fails, strict=True):
        if bool(failed):
            raise MediatorError(
                f"the answers about mediators change with the observed mediators {trial.columns} "
                "themselves (or with chance that no generator was given for), so the change would "
                "be lost on its way. Predict mediators from the other inputs; where one causes "
                "another, give InOrder([...]) with one model each, or a StructuralCausalModel"
            )
    if bool(strange.any()):
        row = int(strange.nonzero()[0, 0])
        raise PredictorError(
            f"the network's answer is not a finite number for {int(strange.sum()):,} rows, the "
            f"first of them row {row}. Check X for missing values in such rows, and what the "
            "mediator model makes of them"
        ).about(f"its answers there: {np.asarray(outputs[:, row].cpu()).tolist()}")
