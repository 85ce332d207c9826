"""Which protected inputs, groups and networks can be asked about, and do their answers agree?"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import causalfairness as cf
from causalfairness.errors import GroupNotFoundError, MissingValuesError, MixedBasisError
from causalfairness.neural import Shift
from neural_world import A, C, M, N, deep_network, draw, linear_network, predict_mediators

ASKED = {"protected_index": A, "mediator_indices": [M, N], "mediator_model": predict_mediators}


# --- the tensor of methods §2 ---------------------------------------------------------------------


def test_world_means_are_those_of_the_section_on_world_means():
    X, network = draw(600), deep_network()
    found = cf.neural.effects(network, X, **ASKED)
    with torch.no_grad():
        own = network.eval()(torch.as_tensor(X)).numpy()[:, 0]
    for k in (0, 1):
        plain = own[X[:, A] == k].mean()
        assert found.world_means[k, k, k].value == pytest.approx(plain, abs=1e-12)
    means = found.world_means
    assert found.total_effect.value == pytest.approx(
        (means[1, 1, "everyone"] - means[0, 0, "everyone"]).value, abs=1e-12
    )
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert means[i, j, 1].value == found.mean(i, j, 1).value
        assert means[i, j, "everyone"].value == pytest.approx(found.outputs[i, j].mean(), rel=1e-12)


@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
def test_the_gap_between_the_groups_outputs_is_decomposed(convention):
    X, network = draw(600), deep_network()
    parts = cf.neural.effects(network, X, **ASKED).decompose(convention)
    with torch.no_grad():
        own = network.eval()(torch.as_tensor(X)).numpy()[:, 0]
    gap = own[X[:, A] == 1].mean() - own[X[:, A] == 0].mean()
    assert parts.total.value == pytest.approx(gap, abs=1e-12)
    whole = parts.direct + parts.indirect + parts.spurious
    assert whole.value == pytest.approx(gap, abs=1e-12)
    assert "neural.effects" in str(parts)


def test_effects_of_two_networks_on_the_same_rows_can_be_subtracted():
    X = draw(300)
    one = cf.neural.effects(deep_network(0), X, **ASKED)
    other = cf.neural.effects(
        deep_network(1, dtype=torch.float32), torch.as_tensor(X), **ASKED, batch_size=7
    )
    difference = one.total_effect - other.total_effect
    assert difference.standard_error > 0
    turned = cf.neural.effects(deep_network(1), X[::-1], **ASKED)
    with pytest.raises(MixedBasisError):
        one.total_effect - turned.total_effect
    changed = X.copy()
    changed[17, C] += 1e-9
    with pytest.raises(MixedBasisError):
        one.total_effect - cf.neural.effects(deep_network(1), changed, **ASKED).total_effect


# --- protected inputs -----------------------------------------------------------------------------


def test_every_level_is_held_against_the_reference():
    rng = np.random.default_rng(0)
    level = rng.choice([0.0, 0.1, 3.0], 900)
    X = np.column_stack([level, 2 * level + rng.normal(size=900)]).astype(np.float32)
    network = torch.nn.Linear(2, 1)
    asked = {
        "protected_index": 0,
        "mediator_indices": [1],
        "mediator_model": lambda rows: 2 * rows[:, 0],
    }
    found = cf.neural.effects_by_level(network, X, reference=0.1, **asked)
    assert [*found.by_group] == [0.0, 3.0]
    for at, to in found.by_group.items():
        alone = cf.neural.effects(network, X, reference=0.1, comparison=at, **asked)
        assert to.total_effect.value == alone.total_effect.value
        assert (to.group == -1).sum() == (X[:, 0] == (0.0 if at else 3.0)).sum()
    direct, mediated = network.weight[0].tolist()
    assert found[3.0].total_effect.value == pytest.approx((direct + 2 * mediated) * 2.9, rel=1e-4)
    assert len(found.table()) == 6
    assert "p (adjusted)" in str(found)
    with pytest.raises(KeyError, match=r"7: there are 0.0, 3.0"):
        found[7]


def test_levels_may_be_shifts_or_values_that_everyone_is_set_to():
    X, network = draw(200), deep_network()
    shifts = [Shift(-1.0), Shift(2.0)]
    found = cf.neural.effects_by_level(network, X, levels=shifts, **ASKED)
    for shift in shifts:
        alone = cf.neural.effects(network, X, comparison=shift, **ASKED)
        assert found[shift].total_effect.value == alone.total_effect.value
    assert found.table().names[0] == "as it is -1: total_effect"
    everyone = cf.neural.effects_by_level(network, X, levels=[2.0], continuous=True, **ASKED)
    alone = cf.neural.effects(network, X, comparison=2.0, continuous=True, **ASKED)
    assert everyone[2.0].total_effect.value == alone.total_effect.value


def test_rows_of_other_groups_are_left_aside_and_said_so():
    X = draw(300)
    X[:50, A] = 2.0
    X[:50, C] = np.nan  # whatever they hold
    found = cf.neural.effects(linear_network(), X, **ASKED)
    assert "250 used, 50 of other groups left aside" in str(found)
    rest = cf.neural.effects(linear_network(), X[50:], **ASKED)
    assert found.total_effect.value == pytest.approx(rest.total_effect.value, abs=1e-12)
    assert found.total_effect.spread[:50].tolist() == [0.0] * 50
    assert found.diagnostics.rows.outside == 50


def test_a_block_of_indicators_is_one_protected_input():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 3, 600)
    X = np.column_stack([np.eye(3)[level], level + rng.normal(size=600)])
    network = torch.nn.Linear(4, 1, dtype=torch.float64)
    asked = {
        "protected_index": [0, 1, 2],
        "mediator_indices": [3],
        "mediator_model": lambda rows: rows[:, 1] + 2 * rows[:, 2],
    }
    first, second, third = map(tuple, np.eye(3))
    weight = network.weight[0].tolist()
    found = cf.neural.effects(network, X, reference=first, comparison=third, **asked)
    expected = [weight[2] - weight[0] + 2 * weight[3], weight[2] - weight[0], 2 * weight[3]]
    assert [effect.value for effect in found.table()][:3] == pytest.approx(expected)
    assert (found.group == -1).sum() == (level == 1).sum()
    levels = cf.neural.effects_by_level(network, X, reference=first, **asked)
    assert {*levels.by_group} == {second, third}
    assert levels[third].total_effect.value == found.total_effect.value


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ({"comparison": Shift(0.5)}, 0.5),
        ({"reference": Shift(-1.0), "comparison": Shift(1.0)}, 2.0),
        ({"reference": 1.0, "comparison": 4.0, "continuous": True}, 3.0),
    ],
)
def test_a_continuous_input_is_changed_for_everyone(question, step):
    rng = np.random.default_rng(0)
    dose = rng.normal(size=500)
    X = np.column_stack([dose, 2 * dose + rng.normal(size=500)])
    network = torch.nn.Linear(2, 1, dtype=torch.float64)
    found = cf.neural.effects(
        network,
        X,
        protected_index=0,
        mediator_indices=[1],
        mediator_model=lambda rows: 2 * rows[:, 0],
        **question,
    )
    direct, mediated = network.weight[0].tolist()
    expected = [step * (direct + 2 * mediated), step * direct, step * 2 * mediated]
    assert [effect.value for effect in found.table()] == pytest.approx(expected)
    assert found.mean(1, 1).value - found.mean(0, 0).value == pytest.approx(expected[0])
    with pytest.raises(GroupNotFoundError, match="continuous there is only everyone"):
        found.world_means  # noqa: B018
    controlled = cf.neural.controlled_direct_effect(network, X, protected_index=0, **question)
    assert controlled.value == pytest.approx(step * direct)


def test_a_shift_starts_from_the_rows_as_they_are():
    X, network = draw(200), deep_network()
    found = cf.neural.effects(network, X, comparison=Shift(1.0), **ASKED)
    with torch.no_grad():
        own = network.eval()(torch.as_tensor(X)).mean().item()
    assert found.mean(0, 0).value == pytest.approx(own, abs=1e-12)


# --- groups ---------------------------------------------------------------------------------------


def test_effects_within_groups_and_their_intersections():
    X, network = draw(800), deep_network()
    rng = np.random.default_rng(5)
    sex, region = rng.choice(["F", "M"], 800), torch.as_tensor(rng.integers(0, 3, 800))
    found = cf.neural.effects(network, X, **ASKED)
    by_row = found.outputs[1, 1] - found.outputs[0, 0]
    by_sex, by_both = found.within(sex), found.within(sex, region)
    assert {*by_sex.by_group} == {"F", "M"}
    assert len(by_both) == 6
    inside = (sex == "F") & (region.numpy() == 2)
    effect = by_both["F", 2].total_effect
    assert effect.value == pytest.approx(by_row[inside].mean(), rel=1e-12)
    expected = by_row[inside].std() / np.sqrt(inside.sum())
    assert effect.standard_error == pytest.approx(expected, rel=1e-12)
    assert by_both.table()["F, 2: total_effect"].value == effect.value
    shares = {label: (sex == label).mean() for label in ("F", "M")}
    pooled = sum(by_sex[label].total_effect.value * share for label, share in shares.items())
    assert pooled == pytest.approx(found.total_effect.value, rel=1e-12)
    assert by_sex.table().reach > 1.96
    assert by_sex["F"].total_effect.covariance(by_sex["M"].total_effect) == 0


def test_a_group_of_one_row_is_left_out_and_said_so():
    found = cf.neural.effects(linear_network(), draw(50), **ASKED)
    labels = ["many"] * 49 + ["one"]
    by_group = found.within(labels)
    assert "left out: one: too few rows for a standard error (1)" in str(by_group)
    with pytest.raises(KeyError, match="too few rows"):
        by_group["one"]
    with pytest.raises(GroupNotFoundError, match=r"\(3,\) for 50 rows"):
        found.within(["a", "b", "c"])
    with pytest.raises(cf.errors.TooFewRowsError, match="larger groups"):
        found.within(range(50))


def test_labels_may_come_from_any_frame_and_missing_ones_are_refused():
    found = cf.neural.effects(lambda X: X[:, M], draw(6), **ASKED)
    words = ["b", "a", "b", "a", "b", "a"]
    spelled = {"a", "b"}
    for labels in (pd.Series(words, dtype=object), pd.Categorical(words), pl.Series(words)):
        assert set(found.within(labels).by_group) == spelled
    dates = np.array(["2024-01-01", "2025-01-01"] * 3, dtype="datetime64[D]")
    assert len(found.within(dates)) == 2
    for missing in (None, np.nan, pd.NA):
        with pytest.raises(MissingValuesError, match="labels are missing for 1 of 6 rows"):
            found.within(np.array([*words[:5], missing], dtype=object))
    with pytest.raises(MissingValuesError, match="2 of 6"):
        found.within([1.0, 1.0, 1.0, 1.0, np.nan, np.nan])
    dates[4:] = np.datetime64("NaT")
    with pytest.raises(MissingValuesError, match="2 of 6"):
        found.within(dates)


def test_within_one_group_of_the_protected_input_the_effects_are_those_given_it():
    X = draw(300)
    found = cf.neural.effects(deep_network(), X, **ASKED)
    by_group = found.within(X[:, A])
    given = found.table()["treatment_given_1"]
    assert by_group[1.0].total_effect.value == given.value
    assert by_group[1.0].table().names[-1] == "indirect_01_given_1"
    assert "treatment_given_0" not in by_group[1.0].table().names


# --- outputs --------------------------------------------------------------------------------------


def test_one_of_several_outputs_is_asked_about():
    X, network = draw(200), deep_network(outputs=3)
    second = cf.neural.effects(network, X, output=np.int64(1), **ASKED)
    picked = cf.neural.effects(network, X, output=lambda y: y[:, 1], **ASKED)
    assert second.total_effect.value == picked.total_effect.value
    chance = cf.neural.effects(network, X, output=lambda y: y.softmax(-1)[:, 1], **ASKED)
    assert 0 < chance.outputs.min() <= chance.outputs.max() < 1
    column = cf.neural.effects(lambda rows: pd.Series(rows[:, M]), X, **ASKED)
    assert column.total_effect.value == pytest.approx(0.8)


def test_metrics_by_the_names_of_the_paper():
    X, network = draw(300), deep_network()
    metrics = cf.neural.CausalFairnessMetrics(network, X, **ASKED)
    found = cf.neural.effects(network, X, **ASKED)
    assert metrics.total_effect().value == found.total_effect.value
    assert metrics.direct_effect().value == found.natural_direct_effect.value
    assert metrics.indirect_effect().value == found.natural_indirect_effect.value
    assert metrics.total_effect().value != metrics.direct_effect().value
    assert metrics.path_specific_effects({"test": [M]}).names[2] == "via test"
    controlled = cf.neural.controlled_direct_effect(network, X, protected_index=A)
    assert metrics.controlled_direct_effect().value == controlled.value


def test_results_print_what_they_rest_on():
    found = cf.neural.effects(linear_network(), draw(100), names=["group", "m", "n", "c"], **ASKED)
    text = str(found)
    assert text.startswith("Linear: group = 1 against 0")
    assert "assumes: the mediator model is right and taken as given" in text
    assert "<h4>Linear: group = 1 against 0</h4>" in found._repr_html_()
    assert "<table>" in found.within(["x"] * 100)._repr_html_()
    assert found.table().to_records()[0]["meaning"] == "TE, everyone"
