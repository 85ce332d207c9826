"""What does the protected input do to a network's output, directly and through mediators?

    mu[i, j, k] = mean over the rows of group k of  network(told i, mediators as they are under j)

for i, j in {reference, comparison} and k either of these groups or everyone, both pooled (methods
§2, §10). Effects are changes from the reference to the comparison. The mediators are moved, by a
model of them; changing the protected input alone, with the observed mediators in place, is the
*controlled* direct effect and has a function of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from causalfairness.effects import Basis, Effect, EffectTable
from causalfairness.errors import GroupNotFoundError, MediatorError, RoleError
from causalfairness.neural.change import OUTSIDE
from causalfairness.neural.grouped import GroupedEffects
from causalfairness.neural.network import Output
from causalfairness.neural.passes import Answers, Codes, World, ask
from causalfairness.neural.question import Asked, Indices, Question, question_of
from causalfairness.neural.result import NetworkEffects

MOST_LEVELS = 20


def effects(
    network: Any,
    X: Any,
    *,
    protected_index: Indices,
    mediator_indices: Sequence[int] | None = None,
    mediator_model: Any = None,
    reference: Any = None,
    comparison: Any = None,
    continuous: bool = False,
    output: Output = None,
    names: Sequence[str] | None = None,
    draws: int = 1,
    batch_size: int | None = None,
    seed: int = 0,
) -> NetworkEffects:
    """What are the total, natural direct and natural indirect effects on a network's output?

    `network` is a `torch.nn.Module`, asked on its own device, or any function of a table; `X` an
    array or a tensor. `mediator_model` says how the mediators follow: a function or module that
    predicts them from rows (what it misses stays with the row), `InOrder`, `Sampled`, or a
    `StructuralCausalModel` with the `names` of the inputs. `reference` and `comparison` are values
    of the protected input, 0 and 1 if not given, tuples where there are several; `continuous` asks
    about all rows, whatever they hold, and so does a `Shift`. Of several outputs, `output` picks
    one, or makes one of them. `draws` averages over drawn mediators.

    >>> import torch
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 1_000)
    >>> X = np.column_stack([group, 2 * group + rng.normal(size=1_000)])
    >>> network = torch.nn.Linear(2, 1, dtype=torch.float64)
    >>> _ = network.weight.data.copy_(torch.tensor([[0.5, 0.25]]))
    >>> found = effects(network, X, protected_index=0, mediator_indices=[1],
    ...                 mediator_model=lambda rows: 2 * rows[:, 0])
    >>> [round(effect.value, 9) for effect in found.table()][:3]
    [1.0, 0.5, 0.5]
    """
    question = question_of(
        network,
        X,
        (reference, comparison),
        protected_index=protected_index,
        mediator_indices=mediator_indices,
        mediator_model=mediator_model,
        continuous=continuous,
        output=output,
        names=names,
        draws=draws,
        batch_size=batch_size,
        seed=seed,
    )
    nested = _nested(question, 1)
    worlds = [*dict.fromkeys(nested)]
    return _result(question, ask(question, worlds), worlds, nested, 1)


def effects_by_level(
    network: Any,
    X: Any,
    *,
    levels: Sequence[Any] | None = None,
    reference: Any = None,
    **asked: Unpack[Asked],
) -> GroupedEffects:
    """What are the effects of every level of a protected input, against the reference?

    `levels=None` takes all values that X holds. The other keywords are those of `effects`.

    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [2.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    >>> found = effects_by_level(lambda X: X[:, 0] ** 2, X, protected_index=0, mediator_indices=[])
    >>> [found[level].total_effect.value for level in (1.0, 2.0)]
    [1.0, 4.0]
    """
    found = question_of(network, X, (reference,), **asked)
    given = _levels_in(found) if levels is None else [*levels]
    question = question_of(network, X, (reference, *given), **asked)
    if not question.change.grouped or not given:
        raise RoleError(
            f"levels are values that rows hold; found {given!r}. Ask effects(...) about a "
            "continuous input"
        )
    nested = {level: _nested(question, at) for at, level in enumerate(given, 1)}
    worlds = [*dict.fromkeys(world for four in nested.values() for world in four)]
    answers = ask(question, worlds)
    by_level = {
        level: _result(question, answers, worlds, four, at)
        for at, (level, four) in enumerate(nested.items(), 1)
    }
    return GroupedEffects(by_level, {}, question.seed)


def path_specific_effects(
    network: Any,
    X: Any,
    *,
    carriers: Mapping[str, Sequence[int]] | None = None,
    reference: Any = None,
    comparison: Any = None,
    level: float = 0.95,
    **asked: Unpack[Asked],
) -> EffectTable:
    """How much of the change reaches the output through which mediators?

    `carriers` names sets of mediators, by their columns; None takes each on its own. A path effect
    is the change of the output where these mediators are as under the comparison, and everything
    else, the protected input included, as under the reference: it counts all that arrives at the
    network through them, also what other mediators passed on to them. `remainder` is what the paths
    do together and not one by one. The other keywords are those of `effects`.

    >>> X = np.array([[0.0, 1.0, 0.0], [1.0, 2.0, 3.0], [0.0, 0.5, 1.0], [1.0, 2.5, 2.0]])
    >>> table = path_specific_effects(
    ...     lambda X: X[:, 0] + X[:, 1] * X[:, 2], X, protected_index=0, mediator_indices=[1, 2],
    ...     mediator_model=lambda rows: np.column_stack([rows[:, 0], 2 * rows[:, 0]]))
    >>> table.names
    ('total_effect', 'direct', 'via input 1', 'via input 2', 'remainder')
    >>> abs(sum(table[name].value for name in table.names[1:]) - table["total_effect"].value) < 1e-9
    True
    """
    question = question_of(network, X, (reference, comparison), **asked)
    paths, width = _paths(question, carriers), len(question.mediators)
    start = World(0, (0,) * width)
    ends = {
        "total_effect": World(1, (1,) * width),
        "direct": World(1, (0,) * width),
        **{
            name: World(0, tuple(int(index in carried) for index in question.mediators))
            for name, carried in paths.items()
        },
    }
    worlds = [*dict.fromkeys((start, *ends.values()))]
    answers = ask(question, worlds)
    found = {
        name: _result(question, answers, worlds, (start, start, end, end), 1).total_effect.named(
            name
        )
        for name, end in ends.items()
    }
    rest = found["total_effect"]
    for name in ("direct", *paths):
        rest = rest - found[name]
    return EffectTable((*found.values(), rest.named("remainder")), level=level)


def controlled_direct_effect(
    network: Any,
    X: Any,
    *,
    protected_index: Indices,
    reference: Any = None,
    comparison: Any = None,
    continuous: bool = False,
    output: Output = None,
    batch_size: int | None = None,
) -> Effect:
    """How does the output change if the protected input alone is set, all else as observed?

        mean over rows of  network(comparison, row) - network(reference, row)

    It is not a total effect: nothing that follows from the protected input moves. Nor is it the
    natural direct effect, which holds mediators at what they are under the reference.

    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [0.0, 2.0], [1.0, 2.0]])
    >>> controlled_direct_effect(lambda X: X[:, 0] * X[:, 1], X, protected_index=0).value
    2.0
    """
    question = question_of(
        network,
        X,
        (reference, comparison),
        protected_index=protected_index,
        mediator_indices=(),
        continuous=continuous,
        output=output,
        batch_size=batch_size,
    )
    told_0, told_1 = World(0, ()), World(1, ())
    worlds = [told_0, told_1]
    nested = (told_0, told_0, told_1, told_1)
    effect = _result(question, ask(question, worlds), worlds, nested, 1).total_effect
    stays = "the observed mediators stay in place: this is a controlled effect, not a total one"
    return replace(effect, name="controlled_direct_effect", assumptions=frozenset({stays}))


Nested = tuple[World, World, World, World]  # (0, 0), (0, 1), (1, 0), (1, 1)


def _nested(question: Question, level: int) -> Nested:
    """The four worlds of a level against the reference."""
    width = len(question.mediators)
    (a, b), (c, d) = ([World(i, (j,) * width) for j in (0, level)] for i in (0, level))
    return a, b, c, d


def _result(
    question: Question,
    answers: Answers,
    worlds: Sequence[World],
    nested: Nested,
    level: int,
) -> NetworkEffects:
    """The answers in four of the worlds, among the two groups or everyone."""
    places = [worlds.index(world) for world in nested]
    outputs = answers.outputs if places == [*range(len(worlds))] else answers.outputs[places]
    return NetworkEffects(
        question.title,
        question.change.named(0),
        question.change.named(level),
        outputs.reshape(2, 2, -1),
        _pair(question, answers.groups, level),
        Basis(answers.identity.fingerprint, "rows", answers.identity.order),
        question.assumptions,
    )


def _pair(question: Question, groups: Codes, level: int) -> Codes:
    """The group of each row: the reference, the level, or neither of them."""
    if not question.change.grouped:
        return groups
    for code in (0, level):
        if not (groups == code).any():
            raise GroupNotFoundError(
                f"no row of {question.title} holds {question.change.named(code)}. Give reference "
                "and comparison as X has them; where the protected input is continuous, "
                "continuous=True asks about all rows"
            )
    if len(question.change.levels) == 2:
        return groups
    pair = np.full_like(groups, OUTSIDE)
    pair[groups == 0], pair[groups == level] = 0, 1
    return pair


def _levels_in(question: Question) -> list[Any]:
    """All values of the protected inputs, but the reference."""
    import torch

    inputs, change = question.inputs, question.change
    blocks = (inputs.block(part, question.who.device) for part in inputs.blocks())
    held = torch.unique(torch.cat([rows[:, list(change.indices)] for rows in blocks]), dim=0)
    reference = torch.tensor(change.levels[0], dtype=torch.float64)
    if held.is_floating_point():
        reference = reference.to(held.dtype)
    found = [tuple(map(float, row)) for row in held.tolist()]
    others = [values for values in found if values != tuple(reference.tolist())]
    if len(others) > MOST_LEVELS or not others:
        raise GroupNotFoundError(
            f"{question.title} holds {len(found)} different values; expected 2 to "
            f"{MOST_LEVELS + 1}. Name some with levels=[...], or ask effects(..., continuous=True)"
        )
    return [values[0] if len(values) == 1 else values for values in others]


def _paths(
    question: Question, carriers: Mapping[str, Sequence[int]] | None
) -> dict[str, tuple[int, ...]]:
    if carriers is None:
        return {f"via {question.input_named(index)}": (index,) for index in question.mediators}
    for name, carried in carriers.items():
        strange = [index for index in carried if index not in question.mediators]
        if strange or not len(carried):
            raise MediatorError(
                f"the path {name!r} runs through {list(carried)}; expected some of the mediators "
                f"{question.mediators}"
            )
    return {f"via {name}": tuple(carried) for name, carried in carriers.items()}
