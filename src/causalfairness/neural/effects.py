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
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from causalfairness.effects import Effect, EffectTable
from causalfairness.errors import GroupNotFoundError, MediatorError, RoleError
from causalfairness.neural.question import Asked, Question, World, ask, question_of
from causalfairness.neural.result import GroupedEffects, NetworkEffects

MOST_LEVELS = 20


def effects(
    network: Any,
    X: Any,
    *,
    reference: Any = None,
    comparison: Any = None,
    **asked: Unpack[Asked],
) -> NetworkEffects:
    """What are the total, natural direct and natural indirect effects on a network's output?

    `network` is a `torch.nn.Module`, asked on its own device, or any function of a table; `X` an
    array or a tensor. `protected_index` and `mediator_indices` are columns of it. `mediator_model`
    says how the mediators follow: a function or module that predicts them from rows (what it misses
    stays with the row), `InOrder`, `Sampled`, a `StructuralCausalModel` with the `names` of the
    inputs, or what is still to be fitted to X: a mechanism such as `scm.Linear()`, a scikit-learn
    regressor. Of the last two standard errors know that they were fitted (exactly where all of them
    are lines, else by `replicates`, 100 for up to 10,000 rows and 30 for up to 50,000); those that
    follow from functions are of rows alone.

    `reference` and `comparison` are values of the protected input, 0 and 1 if not given, tuples
    where there are several; `continuous=True` asks about all rows, whatever they hold, and so does
    a `Shift`. Of several outputs, `output` picks one, or makes one of them. `draws` (1) averages
    over mediators drawn from a `seed` (0); `batch_size` does not change the answer.

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
    question = question_of(network, X, (reference, comparison), **asked)
    width = len(question.mover.mediators)
    return ask(question, [[(i, (j,) * width) for i in (0, 1) for j in (0, 1)]])[0]


def effects_by_level(
    network: Any,
    X: Any,
    *,
    levels: Sequence[Any] | None = None,
    reference: Any = None,
    **asked: Unpack[Asked],
) -> GroupedEffects:
    """What are the effects of every level of a protected input, against the reference?

    `levels=None` takes all values that X holds; levels may also be a `Shift` each. The other
    keywords are those of `effects`.

    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [2.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    >>> found = effects_by_level(lambda X: X[:, 0] ** 2, X, protected_index=0, mediator_indices=[])
    >>> [found[level].total_effect.value for level in (1.0, 2.0)]
    [1.0, 4.0]
    """
    if levels is None:
        levels = _levels_in(question_of(network, X, (reference,), **asked))
    if not len(levels):
        raise RoleError("levels is empty; name some, or leave it out to have all that X holds")
    found = {at: effects(network, X, reference=reference, comparison=at, **asked) for at in levels}
    return GroupedEffects(found, {}, asked.get("seed", 0))


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
    mediators = question.mover.mediators
    if carriers is None:
        carriers = {question.names[index]: (index,) for index in mediators}
    width = len(mediators)
    start = (0, (0,) * width)
    ends: dict[str, World] = {"total_effect": (1, (1,) * width), "direct": (1, (0,) * width)}
    for name, carried in carriers.items():
        if not len(carried) or not set(carried) <= set(mediators):
            raise MediatorError(
                f"the path {name!r} runs through {list(carried)}; expected some of the mediators "
                f"{mediators}"
            )
        ends[f"via {name}"] = (0, tuple(int(index in carried) for index in mediators))
    found = ask(question, [(start, start, end, end) for end in ends.values()])
    changes = [one.total_effect.named(name) for name, one in zip(ends, found, strict=True)]
    rest = changes[0]
    for change in changes[1:]:
        rest = rest - change
    return EffectTable((*changes, rest.named("remainder")), level=level)


def controlled_direct_effect(
    network: Any,
    X: Any,
    *,
    reference: Any = None,
    comparison: Any = None,
    **asked: Unpack[Asked],
) -> Effect:
    """How does the output change if the protected input alone is set, all else as observed?

        mean over rows of  network(comparison, row) - network(reference, row)

    It is not a total effect: nothing that follows from the protected input moves. Nor is it the
    natural direct effect, which holds mediators at what they are under the reference. The other
    keywords are those of `effects`; mediators stay in place, whatever moves them there.

    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [0.0, 2.0], [1.0, 2.0]])
    >>> controlled_direct_effect(lambda X: X[:, 0] * X[:, 1], X, protected_index=0).value
    2.0
    """
    alone: Asked = {**asked, "mediator_indices": (), "mediator_model": None}
    found = effects(network, X, reference=reference, comparison=comparison, **alone)
    stays = "the observed mediators stay in place: this is a controlled effect, not a total one"
    name, assumptions = "controlled_direct_effect", frozenset({stays})
    return replace(found.total_effect, name=name, assumptions=assumptions)


class CausalFairnessMetrics:
    """What are a network's total, direct, indirect and path-specific effects, by these names?

    Direct and indirect are the natural effects, with mediators that were moved. The keywords are
    those of `effects`; the network is asked once, when the first of these three is asked for.

    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [0.0, 2.0], [1.0, 2.0]])
    >>> metrics = CausalFairnessMetrics(lambda X: X[:, 0] + X[:, 1], X, protected_index=0,
    ...     mediator_indices=[1], mediator_model=lambda rows: 2 * rows[:, 0])
    >>> metrics.total_effect().value, metrics.direct_effect().value
    (3.0, 1.0)
    >>> metrics.indirect_effect().value, metrics.controlled_direct_effect().value
    (2.0, 1.0)
    """

    def __init__(self, network: Any, X: Any, **asked: Any) -> None:
        self.network, self.X, self.asked = network, X, asked

    @cached_property
    def effects(self) -> NetworkEffects:
        """What was found, with all worlds?"""
        return effects(self.network, self.X, **self.asked)

    def total_effect(self) -> Effect:
        """How much does the output change, with all that follows?"""
        return self.effects.total_effect

    def direct_effect(self) -> Effect:
        """How much does it change, with the mediators as they are under the reference?"""
        return self.effects.natural_direct_effect

    def indirect_effect(self) -> Effect:
        """How much does it change through the mediators alone?"""
        return self.effects.natural_indirect_effect

    def path_specific_effects(
        self, carriers: Mapping[str, Sequence[int]] | None = None
    ) -> EffectTable:
        """How much of the change reaches the output through which mediators?"""
        return path_specific_effects(self.network, self.X, carriers=carriers, **self.asked)

    def controlled_direct_effect(self) -> Effect:
        """How does the output change if the protected input alone is set, all else as observed?"""
        return controlled_direct_effect(self.network, self.X, **self.asked)


def _levels_in(question: Question) -> list[Any]:
    """All values of the protected inputs, but the reference."""
    table, change = question.table, question.change
    held = table[change.groups(table) != 0][:, list(change.indices)]
    others = np.unique(held.double().cpu().numpy(), axis=0).tolist()
    if not 0 < len(others) <= MOST_LEVELS:
        raise GroupNotFoundError(
            f"{question.title} holds {len(others)} values beside the reference; expected 1 to "
            f"{MOST_LEVELS}. Name some with levels=[...], or ask effects(..., continuous=True)"
        )
    return [values[0] if len(values) == 1 else tuple(values) for values in others]
