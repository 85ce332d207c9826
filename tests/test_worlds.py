"""Worlds with known answers: their truths against brute force, their arrows, their overlap."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from causalfairness.datasets.loan import (
    make_loan_application,
    make_loan_application_counterfactual,
)
from causalfairness.datasets.worlds import ARROWS, WORLDS, linear_gaussian, med, nomed, sparse_cells
from causalfairness.datasets.worlds.published import Med
from causalfairness.datasets.worlds.world import EVERYONE
from causalfairness.errors import DatasetError

WORLD = {name: make() for name, make in WORLDS.items()}
CUT = {
    (name, arrow): world.without(arrow) for name, world in WORLD.items() for arrow in ARROWS
}  # made once: the truth of a world is integrated once
PUBLISHED = {"nomed", "med"}
BIG = 100_000  # 4 standard errors: a quarter of the smallest part, 0.9 of it among 8 % of people

every_world = pytest.mark.parametrize("world", WORLD.values(), ids=WORLD)
every_cut = pytest.mark.parametrize(("name", "arrow"), CUT)
big_draws = pytest.mark.parametrize("n", [BIG, pytest.param(4 * BIG, marks=pytest.mark.slow)])


def columns(table):
    return {name: np.asarray(table[name]) for name in table.column_names}


def in_comparison(world, rows):
    return rows["group"] == world.model.comparison


def mean_and_error(values):
    return values.mean(), values.std() / np.sqrt(len(values))


# ---------------------------------------------------------------- truths


@big_draws
@every_world
def test_means_match_brute_force_simulation(world, n):
    noise = world.noise(n, seed=1)
    c = world.equations.confounders(noise.confounders)
    group = noise.group < world.equations.group_probability(c)
    told = [np.full(n, float(a)) for a in (0, 1)]
    truth = world.true_means()
    for i, j in product((0, 1), repeat=2):
        m = world.equations.mediators(told[j], c, noise.mediators)
        y = world.equations.outcome(told[i], c, m, noise.outcome)
        for k, rows in enumerate((~group, group, np.full(n, True))):
            found, error = mean_and_error(y[rows])
            assert abs(found - truth[i, j, k]) < 4 * error, (i, j, k)


@big_draws
@every_world
def test_group_means_and_share_match_a_big_draw(world, n):
    rows = columns(world.draw(n, seed=2))
    green, y = in_comparison(world, rows), rows[world.model.outcome]
    share, error = mean_and_error(green.astype(float))
    assert abs(share - world.share) < 4 * error
    for k in (0, 1):
        found, error = mean_and_error(y[green == k])
        assert abs(found - world.true_means()[k, k, k]) < 4 * error
    found, error = mean_and_error(y)
    mixture = np.array([1 - world.share, world.share])
    everyone = sum(mixture[k] * world.true_means()[k, k, k] for k in (0, 1))
    assert abs(found - everyone) < 4 * error


@every_world
def test_everyone_is_the_mixture_of_the_groups(world):
    mu = world.true_means()
    mixture = (1 - world.share) * mu[:, :, 0] + world.share * mu[:, :, 1]
    np.testing.assert_allclose(mu[:, :, EVERYONE], mixture, atol=1e-12)


@every_world
@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
def test_parts_add_up_to_the_total(world, convention):
    parts = world.true_effects(convention)
    total = parts.pop("total")
    assert total == pytest.approx(sum(parts.values()), abs=1e-12)


@every_world
def test_no_part_is_too_small_to_notice_a_wrong_sign(world):
    if world.name in PUBLISHED:
        return
    outcome = columns(world.draw(20_000, seed=3))[world.model.outcome]
    for part, value in world.true_effects().items():
        assert abs(value) > 0.05 * outcome.std(), part


def test_linear_gaussian_parts_are_products_of_coefficients():
    parts = linear_gaussian(direct=-0.2, indirect=1.5, spurious=0.0).true_effects()
    assert parts["direct"] == pytest.approx(-0.2, abs=1e-12)
    assert parts["indirect"] == pytest.approx(1.5 * 0.8, abs=1e-12)
    assert parts["spurious"] == pytest.approx(0.0, abs=1e-12)


def test_nomed_and_med_match_the_printed_truths():
    # reference/numbers.json, known_worlds: DE_01 given 0, IE_10 given 0, SE_10 and TV; the
    # sequential indirect and spurious parts are minus IE_10 and minus SE_10
    printed = {"direct": 0.6667, "indirect": 0.0, "spurious": 0.4752, "total": 1.1419}
    assert nomed().true_effects() == pytest.approx(printed, abs=0.5e-4)
    printed = {"direct": 0.733, "indirect": 0.219, "spurious": 0.007, "total": 0.959}
    assert med().true_effects() == pytest.approx(printed, abs=0.5e-3)


def test_nomed_direct_part_is_two_thirds_and_mediators_do_not_matter():
    mu = nomed().true_means()
    assert nomed().model.mediators == ()
    assert mu[1, 0, 0] - mu[0, 0, 0] == pytest.approx(2 / 3, abs=1e-12)
    np.testing.assert_array_equal(mu[:, 0], mu[:, 1])


@pytest.mark.slow
def test_med_truth_does_not_depend_on_the_nodes(monkeypatch):
    from causalfairness.datasets.worlds import published
    from causalfairness.datasets.worlds.quadrature import kinked_normal_rule, product_rule

    coarse = med().true_means()
    monkeypatch.setattr(published, "NODES", 12)
    fine_grid = product_rule([kinked_normal_rule(20)] * 3)
    monkeypatch.setattr(Med, "confounder_grid", lambda self: fine_grid)
    np.testing.assert_allclose(coarse, med().true_means(), atol=1e-6)


# ---------------------------------------------------------------- what estimators try to learn


@every_world
def test_regressions_and_nested_means_average_to_the_truth(world):
    rows = columns(world.draw(50_000, seed=4))
    group = in_comparison(world, rows).astype(int)
    told = [world.outcome_given_all(rows, told=a) for a in (0, 1)]
    residual, error = mean_and_error(rows[world.model.outcome] - np.where(group, told[1], told[0]))
    assert abs(residual) < 4 * error
    for i, j in product((0, 1), repeat=2):
        nested = world.nested_given_confounders(rows, direct=i, indirect=j)
        for k in (0, 1):
            found, error = mean_and_error(nested[group == k])
            assert abs(found - world.true_means()[i, j, k]) < 4 * error + 1e-12, (i, j, k)
        gap, error = mean_and_error((told[i] - nested)[group == j])
        assert abs(gap) < 4 * error + 1e-12, (i, j)


@every_world
def test_propensities_turn_one_group_into_the_other(world):
    rows = columns(world.draw(100_000, seed=5))
    green = in_comparison(world, rows)
    for p in (world.group_given_confounders(rows), world.group_given_all(rows)):
        for part in np.array_split(np.argsort(p, kind="stable"), 10):
            found, error = mean_and_error(green[part] - p[part])
            assert abs(found) < 4 * error


@every_cut
def test_a_cut_world_knows_its_own_regressions(name, arrow):
    cut = CUT[name, arrow]
    rows = columns(cut.draw(20_000, seed=6))
    green = in_comparison(cut, rows)
    told = [cut.outcome_given_all(rows, told=a) for a in (0, 1)]
    nested = [cut.nested_given_confounders(rows, direct=a, indirect=a) for a in (0, 1)]
    expected = np.where(green, told[1], told[0])
    for gap in (
        rows[cut.model.outcome] - expected,
        expected - np.where(green, nested[1], nested[0]),
        green - cut.group_given_confounders(rows),
        green - cut.group_given_all(rows),
    ):
        found, error = mean_and_error(gap)
        assert abs(found) < 4 * error + 1e-12


# ---------------------------------------------------------------- arrows


@every_cut
@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
def test_a_cut_arrow_has_exactly_no_effect(name, arrow, convention):
    world, cut = WORLD[name], CUT[name, arrow]
    assert cut.true_effects(convention)[arrow] == 0.0
    assert cut.name == f"{world.name} without {arrow}"
    assert world.cut == frozenset()


@every_cut
def test_the_truth_of_a_cut_world_matches_a_big_draw(name, arrow):
    world, cut = WORLD[name], CUT[name, arrow]
    rows = columns(cut.draw(100_000, seed=7))
    green, y = in_comparison(cut, rows), rows[cut.model.outcome]
    for k in (0, 1):
        found, error = mean_and_error(y[green == k])
        assert abs(found - cut.true_means()[k, k, k]) < 4 * error
    share, error = mean_and_error(green.astype(float))
    assert abs(share - world.share) < 4 * error


@every_world
def test_without_any_arrow_nothing_is_left(world):
    for arrow in ARROWS:
        world = world.without(arrow)
    assert set(world.true_effects().values()) == {0.0}


def test_cutting_leaves_the_other_paths_alone():
    whole, cut = linear_gaussian(), linear_gaussian().without("indirect")
    rows, fewer = columns(whole.draw(500, seed=8)), columns(cut.draw(500, seed=8))
    green = in_comparison(whole, rows)
    np.testing.assert_array_equal(rows["c1"], fewer["c1"])
    np.testing.assert_allclose((rows["m1"] - fewer["m1"])[green], 0.6)
    np.testing.assert_array_equal(rows["y"][~green], fewer["y"][~green])


# ---------------------------------------------------------------- counterfactuals and seeds


@every_world
def test_counterfactuals_keep_what_the_group_does_not_cause(world):
    observed, otherwise = map(columns, world.draw_with_counterfactuals(2_000, seed=9))
    told = {
        label: columns(world.counterfactual(2_000, seed=9, do=label)) for label in ("blue", "green")
    }
    green = in_comparison(world, observed)
    assert np.array_equal(in_comparison(world, otherwise), ~green)
    for name in observed:
        same = np.where(green, told["green"][name], told["blue"][name])
        other = np.where(green, told["blue"][name], told["green"][name])
        np.testing.assert_array_equal(observed[name], same)
        np.testing.assert_array_equal(otherwise[name], other)
    for name in world.model.confounders:
        np.testing.assert_array_equal(observed[name], otherwise[name])
    for name in (*world.model.mediators, world.model.outcome):
        assert not np.array_equal(observed[name], otherwise[name])


@every_world
def test_counterfactuals_average_to_the_effect_on_a_group(world):
    observed, otherwise = map(columns, world.draw_with_counterfactuals(100_000, seed=10))
    green, mu = in_comparison(world, observed), world.true_means()
    gain = otherwise[world.model.outcome] - observed[world.model.outcome]
    found, error = mean_and_error(gain[~green].astype(float))
    assert abs(found - (mu[1, 1, 0] - mu[0, 0, 0])) < 4 * error + 1e-12
    found, error = mean_and_error(gain[green].astype(float))
    assert abs(found - (mu[0, 0, 1] - mu[1, 1, 1])) < 4 * error + 1e-12


@every_world
def test_a_seed_fixes_the_rows_and_a_longer_draw_continues_it(world):
    rows = world.draw(100, seed=11)
    assert rows.equals(world.draw(100, seed=11))
    assert rows.equals(world.draw(250, seed=11).slice(0, 100))
    assert rows.equals(world.draw_with_counterfactuals(100, seed=11)[0])
    assert not rows.equals(world.draw(100, seed=12))


@every_world
def test_every_kind_of_table_holds_the_same_rows(world):
    arrow, pandas, polars = (
        world.draw(50, seed=13, frame=frame) for frame in ("pyarrow", "pandas", "polars")
    )
    names = [
        "group",
        *world.model.confounders,
        *world.model.mediators,
        world.model.outcome,
    ]
    assert arrow.column_names == list(pandas.columns) == polars.columns == names
    for name in names:
        assert arrow[name].to_pylist() == pandas[name].tolist() == polars[name].to_list()
        whole = isinstance(arrow[name][0].as_py(), int)
        assert whole == (name in world.whole_numbers)


# ---------------------------------------------------------------- overlap


@every_world
def test_groups_have_counterparts(world):
    rows = columns(world.draw(100_000, seed=14))
    green = in_comparison(world, rows)
    p_all, p_c = world.group_given_all(rows), world.group_given_confounders(rows)
    floor = 0.15 if world.name == "med" else 0.25
    for own, own_c, members in ((p_all, p_c, green), (1 - p_all, 1 - p_c, ~green)):
        odds, odds_c = (1 - own) / own, (1 - own_c) / own_c
        for weights in (odds, odds / odds_c, odds_c):
            weights = weights[members]
            effective = weights.sum() ** 2 / np.sum(weights**2)
            assert effective > floor * members.sum()


def test_group_shares_are_unequal():
    for name, world in WORLD.items():
        if name == "rare_group":
            assert world.share == pytest.approx(0.08, abs=0.01)
        elif name in PUBLISHED:
            assert world.share == pytest.approx(0.5, abs=1e-9)
        else:
            assert 0.56 < world.share < 0.64, name


def cell_counts(world, n, seed):
    """Rows per group (first axis) and combination of mediators and confounders."""
    rows = columns(world.draw(n, seed=seed))
    roles = (*world.model.confounders, *world.model.mediators)
    sizes = [int(rows[name].max()) + 1 for name in roles]
    cells = np.ravel_multi_index([rows[name] for name in roles], sizes)
    group = in_comparison(world, rows).astype(int)
    counts = np.bincount(group * np.prod(sizes) + cells, minlength=2 * np.prod(sizes))
    return counts.reshape(2, -1)


def test_sparse_cells_are_sparse_but_hardly_ever_one_sided():
    draws = [cell_counts(sparse_cells(), 2_000, seed) for seed in range(200)]
    assert all(counts.shape == (2, 90) for counts in draws)
    assert np.mean([counts.mean() for counts in draws]) == pytest.approx(11.1, abs=0.05)
    one_sided = sum(np.any((counts == 0).any(axis=0)) for counts in draws)
    assert one_sided <= binom.ppf(1 - 1e-4, len(draws), 0.02)
    tiny = [np.sum((counts > 0) & (counts < 3)) for counts in draws]
    assert 0.4 < np.mean(tiny) < 1.2


def test_binary_cells_have_plenty_of_rows():
    assert min(cell_counts(WORLD["binary"], 2_000, seed).min() for seed in range(100)) > 20


# ---------------------------------------------------------------- refusals


def test_unknown_words_are_refused_with_what_to_say_instead():
    world = linear_gaussian()
    with pytest.raises(DatasetError, match="'pyarrow', 'pandas', 'polars'"):
        world.draw(5, seed=0, frame="excel")
    with pytest.raises(DatasetError, match="cut 'direct'"):
        world.without("sideways")
    with pytest.raises(DatasetError, match="no group 'red'; say do='blue'"):
        world.counterfactual(5, seed=0, do="red")
    with pytest.raises(DatasetError, match="ask for 'sequential'"):
        world.true_effects("random")


# ---------------------------------------------------------------- loan applications


def test_loan_rejections_match_the_paper():
    # paper 001, §4.1: 60.9 % of the women and 39.2 % of the men among about 5,000 are rejected,
    # and 38.7 % of the women had they been men
    facts = columns(make_loan_application(BIG, seed=15))
    otherwise = columns(make_loan_application_counterfactual(BIG, seed=15, do="Male"))
    women = facts["gender"] == "Female"
    assert women.mean() == pytest.approx(0.45, abs=4 * np.sqrt(0.45 * 0.55 / BIG))
    for approved, printed, size in (
        (facts["approved"][women], 0.609, 1_712),
        (otherwise["approved"][women], 0.387, 1_712),
        (facts["approved"][~women], 0.392, 3_281),
    ):
        error = np.sqrt(printed * (1 - printed) / size)
        assert abs(1 - approved.mean() - printed) < 2 * error


def test_loan_counterfactuals_change_only_the_other_gender():
    facts = columns(make_loan_application(5_000, seed=16, share_female=0.343))
    women = facts["gender"] == "Female"
    assert women.mean() == pytest.approx(0.343, abs=4 * np.sqrt(0.343 * 0.657 / 5_000))
    for do, unchanged in (("Male", ~women), ("Female", women)):
        otherwise = columns(
            make_loan_application_counterfactual(5_000, seed=16, share_female=0.343, do=do)
        )
        assert set(otherwise["gender"]) == {do}
        for name in facts:
            np.testing.assert_array_equal(facts[name][unchanged], otherwise[name][unchanged])
        lower, higher = (facts, otherwise) if do == "Male" else (otherwise, facts)
        assert (lower["annual_salary"] <= higher["annual_salary"]).all()
        assert (lower["account_balance"] <= higher["account_balance"]).all()
        assert (lower["approved"] <= higher["approved"]).all()


def test_loan_decision_follows_the_bank_and_the_seed():
    facts = make_loan_application(1_000, seed=17)
    rows = columns(facts)
    rule = rows["annual_salary"] + 5 * rows["account_balance"] > 225_000
    np.testing.assert_array_equal(rows["approved"], rule)
    assert facts.equals(make_loan_application(1_000, seed=17))
    assert not facts.equals(make_loan_application(1_000, seed=18))


def test_loan_refusals_say_what_to_do():
    with pytest.raises(DatasetError, match="say do='Male'"):
        make_loan_application_counterfactual(5, seed=0, do="Nobody")
    with pytest.raises(DatasetError, match="between 0 and 1"):
        make_loan_application(5, seed=0, share_female=1.5)
