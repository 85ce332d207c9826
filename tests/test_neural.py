"""Are the effects of a network those of the world it is asked about?"""

import numpy as np
import pytest
import torch

import causalfairness as cf
from judging import fewest_and_most_hits
from neural_world import (
    M_TO_N,
    NAMES,
    TO_M,
    TO_N,
    A,
    C,
    M,
    N,
    deep_network,
    draw,
    linear_network,
    mediators,
    predict_mediators,
    simulated_effects,
)

MAIN = ("total_effect", "natural_direct_effect", "natural_indirect_effect")
VIA_M = TO_M * 0.5
VIA_N = -1.2 * (TO_N + M_TO_N * TO_M)
ASKED = {"protected_index": A, "mediator_indices": [M, N], "mediator_model": predict_mediators}
GRAPH = cf.CausalGraph.parse("a <-> c; {a, c} -> m; {a, m, c} -> n")


@pytest.fixture(scope="module")
def simulated():
    """Total, direct and indirect effect of the deep network by brute force, with their errors."""
    return simulated_effects(deep_network(), 200_000)


def values(found):
    return [getattr(found, name).value for name in MAIN]


# --- known answers ----------------------------------------------------------------------------


def test_a_linear_network_in_a_linear_world_has_the_closed_form():
    found = cf.neural.effects(linear_network(), draw(2_000), **ASKED)
    expected = [0.7 + VIA_M + VIA_N, 0.7, VIA_M + VIA_N]
    assert values(found) == pytest.approx(expected, abs=1e-6)
    assert found.total_effect.standard_error < 1e-6


def test_models_in_order_say_the_same_as_one_model_of_all_mediators():
    X = draw(2_000)
    chain = cf.neural.InOrder(
        [
            lambda rows: TO_M * rows[:, A] + 0.5 * rows[:, C],
            lambda rows: TO_N * rows[:, A] + M_TO_N * rows[:, M] + 0.2 * rows[:, C],
        ]
    )
    asked = {**ASKED, "mediator_model": chain}
    found = cf.neural.effects(deep_network(), X, **asked)
    assert values(found) == pytest.approx(values(cf.neural.effects(deep_network(), X, **ASKED)))


def test_a_structural_model_moves_the_mediators_by_its_own_mechanisms():
    import pandas

    X = draw(3_000)
    frame = pandas.DataFrame(X, columns=NAMES)
    scm = cf.StructuralCausalModel.fit(GRAPH, frame, {"m": cf.scm.Linear(), "n": cf.scm.Linear()})
    network = deep_network()
    found = cf.neural.effects(
        network, X, protected_index=A, mediator_model=scm, names=NAMES, draws=2
    )
    worlds = [scm.counterfactual(frame, do={"a": value})[[*NAMES]].to_numpy() for value in (0, 1)]
    worlds[1][:, A] = 0.0  # told the reference, with the mediators of the comparison
    with torch.no_grad():
        start, moved = (network.eval()(torch.as_tensor(world)).mean().item() for world in worlds)
    assert found.natural_indirect_effect.value == pytest.approx(moved - start, abs=1e-9)
    assert "intervals are over people and over the slopes that were fitted to 3,000 rows" in str(
        found
    )


def test_a_protected_input_that_follows_another_by_the_graph_is_set_and_not_moved():
    import pandas

    X = draw(500)
    frame = pandas.DataFrame(X, columns=NAMES)
    scm = cf.StructuralCausalModel.fit(GRAPH, frame, {"m": cf.scm.Linear(), "n": cf.scm.Linear()})
    asked = {"protected_index": [A, M], "mediator_model": scm, "names": NAMES, "continuous": True}
    ends = {"reference": (0.0, 0.0), "comparison": (1.0, 1.0)}
    found = cf.neural.effects(linear_network(), X, **asked, **ends)
    assert found.natural_direct_effect.value == pytest.approx(0.7 + 0.5, abs=1e-9)


def test_a_network_agrees_with_a_brute_force_simulation(simulated):
    found = cf.neural.effects(deep_network(), draw_at_random(6_000), **ASKED)
    for name, (truth, error) in zip(MAIN, simulated, strict=True):
        effect = getattr(found, name)
        assert abs(effect.value - truth) < 4 * np.hypot(effect.standard_error, error), name
        assert effect.standard_error > 0


def draw_at_random(rows, seed=0):
    """The same world with a group that is tossed, as the simulation has it."""
    rng = np.random.default_rng(seed)
    c, *noise = rng.normal(size=(3, rows))
    a = (rng.random(rows) < 0.4).astype(float)
    return np.column_stack([a, *mediators(a, c, *noise), c])


def test_a_sampler_agrees_with_the_simulation(simulated):
    network = deep_network()

    def sample(rows, chance):
        noise = chance.normal(size=(2, len(rows)))
        return np.column_stack(mediators(rows[:, A], rows[:, C], *noise))

    asked = {**ASKED, "mediator_model": cf.neural.Sampled(sample), "draws": 4}
    X = draw_at_random(6_000)
    found = cf.neural.effects(network, X, **asked)
    for name, (truth, error) in zip(MAIN, simulated, strict=True):
        effect = getattr(found, name)
        assert abs(effect.value - truth) < 4 * np.hypot(effect.standard_error, error), name
    again = cf.neural.effects(network, X, **asked, batch_size=100)
    assert values(again) == pytest.approx(values(found), rel=1e-12)
    other = cf.neural.effects(network, X, **asked, seed=1)
    assert other.natural_indirect_effect.value != found.natural_indirect_effect.value


def test_a_sampler_of_tensors_has_a_generator_of_torch():
    def sample(rows, chance):
        noise = torch.randn(2, len(rows), generator=chance, dtype=rows.dtype)
        return torch.stack(mediators(rows[:, A], rows[:, C], *noise), 1)

    asked = {**ASKED, "mediator_model": cf.neural.Sampled(sample)}
    X = torch.as_tensor(draw(4_000))
    effect = cf.neural.effects(linear_network(), X, **asked).natural_indirect_effect
    assert abs(effect.value - VIA_M - VIA_N) < 4 * effect.standard_error


# --- arrows cut, and a wrong model --------------------------------------------------------------


def test_without_an_arrow_to_the_mediators_nothing_is_indirect():
    asked = {**ASKED, "mediator_model": lambda rows: rows[:, [C, C]]}
    found = cf.neural.effects(deep_network(dtype=torch.float32), draw(1_000), **asked)
    assert (found.natural_indirect_effect.value, found.natural_indirect_effect.p_value) == (0, 1)
    assert found.total_effect.value == found.natural_direct_effect.value != 0


def test_without_an_arrow_to_the_output_nothing_is_direct():
    found = cf.neural.effects(linear_network(a=0.0), draw(1_000), **ASKED)
    assert (found.natural_direct_effect.value, found.natural_direct_effect.standard_error) == (0, 0)
    assert found.total_effect.value == found.natural_indirect_effect.value != 0


def test_a_wrong_mediator_model_leaves_the_direct_effect_within_a_group_alone():
    network, X = deep_network(), draw(2_000)
    right = cf.neural.effects(network, X, **ASKED)
    asked = {**ASKED, "mediator_model": lambda rows: 3 * predict_mediators(rows) - 1}
    wrong = cf.neural.effects(network, X, **asked)
    name = "direct_01_given_0"  # told of the group whose own mediators are in place
    assert wrong.table()[name].value == right.table()[name].value
    off = wrong.natural_indirect_effect - right.natural_indirect_effect
    assert off.p_value < 1e-6


# --- what the observed mediators say ------------------------------------------------------------


def test_flipping_the_protected_input_alone_is_the_controlled_effect():
    """As in paper 002: what its code calls total and direct effect is one and the same number."""
    network, X = deep_network().eval(), draw(3_000)
    low, high = (torch.as_tensor(X).clone() for _ in range(2))
    low[:, A], high[:, A] = 0.0, 1.0
    with torch.no_grad():
        flipped = (network(high) - network(low)).mean().item()
        high[:, [M, N]] = low[:, [M, N]]  # "mediators from the A = 0 world"
        held = (network(high) - network(low)).mean().item()
    assert held == flipped
    controlled = cf.neural.controlled_direct_effect(network, X, protected_index=A)
    assert controlled.value == pytest.approx(flipped, abs=1e-12)
    assert controlled.name == "controlled_direct_effect"
    found = cf.neural.effects(network, X, **ASKED)
    assert (found.total_effect - controlled).p_value < 1e-6


def test_the_controlled_effect_is_not_the_natural_one_where_mediators_matter_for_it():
    X = draw(3_000)
    found = cf.neural.effects(lambda X: X[:, A] * X[:, M], X, **ASKED)
    controlled = cf.neural.controlled_direct_effect(
        lambda X: X[:, A] * X[:, M], X, protected_index=A
    )
    moved = (X[:, M] - TO_M * X[:, A]).mean()  # the mediator of everyone, under the reference
    assert found.natural_direct_effect.value == pytest.approx(moved, abs=1e-12)
    assert controlled.value == pytest.approx(X[:, M].mean(), abs=1e-12)
    assert controlled.value - moved == pytest.approx(TO_M * X[:, A].mean())


def test_the_controlled_effect_pools_the_direct_effects_of_each_group_on_its_own_mediators():
    X = draw(1_000)
    share = X[:, A].mean()
    means = cf.neural.effects(deep_network(), X, **ASKED).world_means
    pooled = (means[1, 0, 0] - means[0, 0, 0]) * (1 - share)
    pooled = pooled + (means[1, 1, 1] - means[0, 1, 1]) * share
    controlled = cf.neural.controlled_direct_effect(deep_network(), X, protected_index=A)
    assert controlled.value == pytest.approx(pooled.value, abs=1e-12)


# --- paths --------------------------------------------------------------------------------------


def test_paths_of_a_linear_network_have_the_closed_form():
    table = cf.neural.path_specific_effects(linear_network(), draw(500), names=NAMES, **ASKED)
    assert table["direct"].value == pytest.approx(0.7, abs=1e-9)
    assert table["via m"].value == pytest.approx(VIA_M, abs=1e-9)
    assert table["via n"].value == pytest.approx(VIA_N, abs=1e-9)
    assert table["remainder"].value == pytest.approx(0, abs=1e-9)


def test_paths_and_their_remainder_add_up_to_the_total_effect():
    X, network = draw(500), deep_network()
    carriers = {"test": [M], "both": [M, N]}
    table = cf.neural.path_specific_effects(network, X, carriers=carriers, **ASKED)
    found = cf.neural.effects(network, X, **ASKED)
    assert table["total_effect"].value == found.total_effect.value
    assert table["direct"].value == found.natural_direct_effect.value
    assert table["via both"].value == found.natural_indirect_effect.value
    parts = sum(table[name].value for name in table.names[1:])
    assert parts == pytest.approx(found.total_effect.value, abs=1e-12)
    assert (table["via both"] - found.natural_indirect_effect).standard_error == 0


# --- standard errors ----------------------------------------------------------------------------


def hits(draws, rows, simulated):
    """How often the 95 % intervals of the three effects cover what a simulation says."""
    network, found = deep_network(), np.zeros(3)
    for seed in range(draws):
        effects = cf.neural.effects(network, draw_at_random(rows, seed), **ASKED)
        for at, (name, (truth, _)) in enumerate(zip(MAIN, simulated, strict=True)):
            low, high = getattr(effects, name).interval()
            found[at] += low <= truth <= high
    return found


def test_intervals_cover_as_often_as_they_say(simulated):
    fewest, most = fewest_and_most_hits(200, 3)
    assert all(fewest <= count <= most for count in hits(200, 300, simulated))


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say_in_many_draws(simulated):
    fewest, most = fewest_and_most_hits(2_000, 3)
    assert all(fewest <= count <= most for count in hits(2_000, 600, simulated))


def test_standard_errors_are_those_of_a_mean_over_rows():
    X, network = draw(400), deep_network()
    found = cf.neural.effects(network, X, **ASKED)
    by_row = found.outputs[1, 1] - found.outputs[0, 0]
    expected = by_row.std() / np.sqrt(len(X))
    assert found.total_effect.standard_error == pytest.approx(expected, rel=1e-12)
    among = by_row[X[:, A] == 1]
    effect = found.table()["treatment_given_1"]
    assert effect.value == pytest.approx(among.mean(), rel=1e-12)
    assert effect.standard_error == pytest.approx(among.std() / np.sqrt(len(among)), rel=1e-12)
