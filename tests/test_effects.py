"""Effects: numbers that know their uncertainty, and every sum that can be made of world means."""

import math
import re
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from causalfairness.effects import Basis, Effect, EffectTable, WorldMeans
from causalfairness.effects.contrasts import CONTRASTS, EXPLAINED, PARTS
from causalfairness.effects.world_means import ALL_WORLDS, pool
from causalfairness.errors import MixedBasisError

repeatable = settings(max_examples=60, deadline=None, derandomize=True)
BASIS = Basis("3f9a", "rows", order="17")
numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))


def effect(value, spread, name="gap", basis=BASIS):
    return Effect(name, value, np.asarray(spread, dtype=float), basis, frozenset({f"{name} holds"}))


spreads = arrays(float, (2, 5), elements=numbers)


# --- algebra -------------------------------------------------------------------------------------


@repeatable
@given(numbers, numbers, spreads, numbers, numbers)
def test_sums_have_the_standard_error_that_the_joint_covariance_says(x, y, both, a, b):
    one, other = effect(x, both[0], "one"), effect(y, both[1], "other")
    covariance = both @ both.T
    weights = {
        (1, 1): one + other,
        (1, -1): one - other,
        (-1, 0): -one,
        (a, b): a * one + other * b,
        (0.5, -0.25): one / 2 - other / 4,
    }
    for w, made in weights.items():
        w = np.array(w)
        assert made.value == pytest.approx(w @ [x, y], rel=1e-12, abs=1e-9)
        size = np.abs(w) @ np.sqrt(np.diag(covariance))
        expected = math.sqrt(max(w @ covariance @ w, 0.0))
        assert made.standard_error == pytest.approx(expected, abs=1e-7 * size + 1e-12)
    assert one.covariance(other) == pytest.approx(covariance[0, 1], rel=1e-12, abs=1e-12)
    assert one.covariance(one) == pytest.approx(one.standard_error**2, rel=1e-12)


@repeatable
@given(numbers, spreads)
def test_an_effect_less_itself_is_nothing_for_sure(x, both):
    nothing = effect(x, both[0]) - effect(x, both[0])
    assert (nothing.value, nothing.standard_error, nothing.p_value) == (0.0, 0.0, 1.0)


def test_names_and_assumptions_follow_the_sum():
    one, other = effect(1.0, [1, 0], "one"), effect(2.0, [0, 1], "other")
    assert (one + other).name == "one + other"
    assert (one - other).name == "one - other"
    assert (-one).name == "-one"
    assert (2 * one).name == (one * 2.0).name == "2 * one"
    assert (one / 4).name == "one / 4"
    assert (one - other).named("rest").name == "rest"
    assert (one - other).assumptions == {"one holds", "other holds"}
    assert (one - other).basis == BASIS
    assert (np.float64(3) * one).value == (one * np.int64(3)).value == 3.0


def test_effects_of_other_data_order_unit_draws_or_length_do_not_combine():
    here = effect(1.0, [1, 0], "here")
    elsewhere = {
        "data": Basis("aaaa", "rows", order="17"),
        "order": Basis("3f9a", "rows", order="18"),
        "unit": Basis("3f9a", "cells", order="17"),
        "draws": Basis("3f9a", "rows", order="17", seed="1/5"),
    }
    others = {name: effect(1.0, [0, 1], "there", basis) for name, basis in elsewhere.items()}
    others["length"] = effect(1.0, [0, 1, 0], "there")
    for name, there in others.items():
        for combine in (Effect.__add__, Effect.__sub__, Effect.covariance):
            with pytest.raises(MixedBasisError) as caught:
                combine(here, there)
            assert "'here' (data 3f9a, rows, order 17)" in str(caught.value), name
            assert f"'there' ({there.basis})" in str(caught.value), name
            assert "compare their intervals instead" in str(caught.value), name


@pytest.mark.parametrize("other", [1.0, "gap", None, [1.0]])
def test_an_effect_adds_to_effects_only_and_scales_by_numbers_only(other):
    gap = effect(0.2, [0.1])
    for combine in (lambda: gap + other, lambda: gap - other):
        with pytest.raises(TypeError, match="unsupported operand"):
            combine()
    if other != 1.0:
        for combine in (lambda: gap * other, lambda: other * gap, lambda: gap / other):
            with pytest.raises(TypeError):
                combine()
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = gap * gap
    with pytest.raises(ZeroDivisionError):
        _ = gap / 0


def test_an_effect_introduces_itself():
    gap = effect(0.2, [0.03, -0.04])
    assert str(gap) == repr(gap) == "gap = 0.2000 (95% interval 0.1020 to 0.2980)"
    assert gap.interval(0.9).low == pytest.approx(0.2 - 1.6448536 * 0.05)
    assert gap.p_value == pytest.approx(6.334e-5, rel=1e-3)


# --- tables --------------------------------------------------------------------------------------


def small_table(**options):
    rows = (effect(0.2, [0.05, 0], "gap"), effect(-0.01, [0, 0.1], "<b>rest</b> & more"))
    return EffectTable(rows, ("the whole", "what is left"), **options)


def test_a_table_finds_effects_by_name_and_lists_the_names_otherwise():
    table = small_table()
    assert (len(table), table.names) == (2, ("gap", "<b>rest</b> & more"))
    assert table["gap"].value == 0.2
    assert [row.name for row in table] == list(table.names)
    with pytest.raises(KeyError, match="no effect is named 'gab'; there are gap, <b>rest"):
        table["gab"]


def test_records_and_frames_hold_the_same_numbers():
    table = small_table(level=0.9)
    records = table.to_records()
    assert records[0]["name"] == "gap"
    assert (records[0]["low"], records[0]["high"]) == table["gap"].interval(0.9)
    assert records[1]["p_value"] == table["<b>rest</b> & more"].p_value
    assert records[1]["meaning"] == "what is left"
    frame = table.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame.to_dict("records") == records
    frame = table.to_polars()
    assert isinstance(frame, pl.DataFrame)
    assert frame.to_dicts() == records


def test_simultaneous_tables_reach_further_and_show_adjusted_p_values():
    table = small_table(reach=3.0, adjusted=(0.5, 0.75))
    assert table.interval("gap") == pytest.approx((0.2 - 0.15, 0.2 + 0.15))
    records = table.to_records()
    assert (records[0]["low"], records[0]["high"]) == table.interval("gap")
    assert [record["p_adjusted"] for record in records] == [0.5, 0.75]
    assert records[0]["p_value"] == table["gap"].p_value
    heading, *rows = str(table).splitlines()
    assert heading.endswith("p (adjusted)")
    assert [row.split()[-1] for row in rows] == ["0.500", "0.750"]


def test_rows_of_the_same_name_keep_their_own_intervals():
    table = EffectTable((effect(1.0, [0.1]), effect(5.0, [0.2])), reach=2.0)
    assert [round(record["low"], 12) for record in table.to_records()] == [0.8, 4.6]


def test_an_empty_table_is_a_table():
    table = EffectTable(())
    assert (len(table), table.to_records(), len(table.to_pandas())) == (0, [], 0)
    assert table.to_polars().is_empty()
    assert str(table).split() == ["effect", "value", "std.", "error", "low", "high", "p"]


def test_text_is_aligned_and_html_is_escaped():
    lines = str(small_table()).splitlines()
    assert len({len(line) for line in lines}) == 1
    ends = {tuple(cell.end() for cell in re.finditer(r"\S+( \S+)*", line))[1:] for line in lines}
    assert len(ends) == 1  # numbers end where their headings end
    html = small_table()._repr_html_()
    assert "&lt;b&gt;rest&lt;/b&gt; &amp; more" in html
    assert "<b>" not in html
    assert html.count("<tr>") == 3


# --- world means ---------------------------------------------------------------------------------


def world_means(values, depth=12):
    """Arbitrary means whose spreads tell them apart: one coordinate each."""
    eye = np.eye(12)[:, :depth].reshape(2, 2, 3, depth)
    return WorldMeans(np.asarray(values, dtype=float), eye, BASIS, frozenset({"overlap"}))


def test_world_means_are_found_by_what_each_path_is_told():
    means = world_means(np.arange(12.0).reshape(2, 2, 3))
    for position, (i, j, k) in enumerate(ALL_WORLDS):
        mean = means[i, j, k]
        assert (mean.value, mean.name) == (float(position), f"mu[{i}, {j}, {k}]")
        assert mean.spread.tolist() == np.eye(12)[position].tolist()
        assert mean.assumptions == {"overlap"}
    assert means[np.int64(1), 0, "everyone"].value == 8.0
    assert len(str(means).splitlines()) == 13


@pytest.mark.parametrize(
    "world",
    [(2, 0, 0), (0, -1, 0), (0, 0, 2), (0, 0, "all"), (0, 0, None), (0, 0), 0, (0, 0, 0, 0), "010"],
)
def test_a_world_that_does_not_exist_is_refused_with_those_that_do(world):
    means = world_means(np.zeros((2, 2, 3)))
    said = r"direct path \(0 or 1\).*among whom \(0, 1 or 'everyone'\); found "
    with pytest.raises(KeyError, match=said):
        means[world]
    with pytest.raises(KeyError, match=said):
        means.combine({world: 1.0}, "nothing")


def test_what_rounding_leaves_over_of_large_means_is_zero():
    values = np.full((2, 2, 3), 3e9)
    values[1, 1, 1] += 4e-7
    spread = np.full((2, 2, 3, 4), 2e6)
    spread[1, 1, 1, 0] += 1e-10
    means = WorldMeans(values, spread, BASIS)
    nothing = means.combine(EXPLAINED.terms, "total")
    assert (nothing.value, nothing.standard_error, nothing.p_value) == (0.0, 0.0, 1.0)
    spread[1, 1, 1, 0] += 1.0  # uncertain by a little: that is no rounding
    uncertain = WorldMeans(values, spread, BASIS).combine(EXPLAINED.terms, "total")
    assert uncertain.value > 0
    assert uncertain.standard_error == pytest.approx(1.0)


def test_everyone_is_the_mixture_of_both_groups_with_the_uncertainty_of_the_mixture():
    rng = np.random.default_rng(0)
    within, spread = rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2, 2, 3))
    share_spread = rng.normal(size=3)
    values, spreads = pool(within, spread, 0.4, share_spread)
    assert np.array_equal(values[..., :2], within)
    assert np.array_equal(spreads[..., :2, :], spread)
    for i, j in product((0, 1), repeat=2):
        a0, a1 = within[i, j]
        assert values[i, j, 2] == pytest.approx(0.6 * a0 + 0.4 * a1)
        step = 1e-6  # move means and share along the spreads: a derivative
        moved = [w + step * s for w, s in zip(within[i, j], spread[i, j], strict=True)]
        share = 0.4 + step * share_spread
        slope = ((1 - share) * moved[0] + share * moved[1] - values[i, j, 2]) / step
        np.testing.assert_allclose(spreads[i, j, 2], slope, atol=1e-5)


# --- contrasts -----------------------------------------------------------------------------------

E = "everyone"
METHODS = {  # the table of effects, written out: what is added, what is taken away
    "spurious_01": [((0, 0, 1), 1), ((0, 0, 0), -1)],
    "spurious_10": [((1, 1, 0), 1), ((1, 1, 1), -1)],
    "direct_01_given_0": [((1, 0, 0), 1), ((0, 0, 0), -1)],
    "direct_01_given_1": [((1, 0, 1), 1), ((0, 0, 1), -1)],
    "direct_10_given_0": [((0, 1, 0), 1), ((1, 1, 0), -1)],
    "direct_10_given_1": [((0, 1, 1), 1), ((1, 1, 1), -1)],
    "direct_10_given_everyone": [((0, 1, E), 1), ((1, 1, E), -1)],
    "indirect_01_given_0": [((0, 1, 0), 1), ((0, 0, 0), -1)],
    "indirect_01_given_1": [((0, 1, 1), 1), ((0, 0, 1), -1)],
    "indirect_10_given_0": [((1, 0, 0), 1), ((1, 1, 0), -1)],
    "indirect_10_given_1": [((1, 0, 1), 1), ((1, 1, 1), -1)],
    "indirect_10_given_everyone": [((1, 0, E), 1), ((1, 1, E), -1)],
    "treatment_given_0": [((1, 1, 0), 1), ((0, 0, 0), -1)],
    "treatment_given_1": [((1, 1, 1), 1), ((0, 0, 1), -1)],
    "total_effect": [((1, 1, E), 1), ((0, 0, E), -1)],
    "natural_direct_effect": [((1, 0, E), 1), ((0, 0, E), -1)],
    "natural_indirect_effect": [((0, 1, E), 1), ((0, 0, E), -1)],
    "experimental_spurious_0": [((0, 0, 0), 1), ((0, 0, E), -1)],
    "experimental_spurious_1": [((1, 1, 1), 1), ((1, 1, E), -1)],
    "direct_symmetric_given_0": [
        ((1, 0, 0), 0.5),
        ((0, 0, 0), -0.5),
        ((0, 1, 0), -0.5),
        ((1, 1, 0), 0.5),
    ],
    "direct_symmetric_given_1": [
        ((1, 0, 1), 0.5),
        ((0, 0, 1), -0.5),
        ((0, 1, 1), -0.5),
        ((1, 1, 1), 0.5),
    ],
    "direct_symmetric_given_everyone": [
        ((1, 0, E), 0.5),
        ((0, 0, E), -0.5),
        ((0, 1, E), -0.5),
        ((1, 1, E), 0.5),
    ],
    "indirect_symmetric_given_0": [
        ((0, 1, 0), 0.5),
        ((0, 0, 0), -0.5),
        ((1, 0, 0), -0.5),
        ((1, 1, 0), 0.5),
    ],
    "indirect_symmetric_given_1": [
        ((0, 1, 1), 0.5),
        ((0, 0, 1), -0.5),
        ((1, 0, 1), -0.5),
        ((1, 1, 1), 0.5),
    ],
    "indirect_symmetric_given_everyone": [
        ((0, 1, E), 0.5),
        ((0, 0, E), -0.5),
        ((1, 0, E), -0.5),
        ((1, 1, E), 0.5),
    ],
}
CONVENTIONS = {
    "sequential": {
        "direct": [((1, 0, 0), 1), ((0, 0, 0), -1)],
        "indirect": [((1, 1, 0), 1), ((1, 0, 0), -1)],
        "spurious": [((1, 1, 1), 1), ((1, 1, 0), -1)],
    },
    "symmetric": {
        "direct": METHODS["direct_symmetric_given_1"],
        "indirect": METHODS["indirect_symmetric_given_1"],
        "spurious": METHODS["spurious_01"],
    },
}
mean_tables = arrays(float, (2, 2, 3), elements=numbers)


def test_every_effect_of_the_methods_is_there_with_its_formula():
    assert set(CONTRASTS) == set(METHODS)
    for name, terms in METHODS.items():
        assert CONTRASTS[name].terms == dict(terms), name
        assert CONTRASTS[name].meaning, name
    assert EXPLAINED.terms == {(1, 1, 1): 1, (0, 0, 0): -1}
    assert CONTRASTS["total_effect"].formula == "mu[1,1,*] - mu[0,0,*]"
    assert (
        CONTRASTS["direct_symmetric_given_1"].formula
        == "0.5 mu[1,0,1] - 0.5 mu[0,0,1] - 0.5 mu[0,1,1] + 0.5 mu[1,1,1]"
    )


def test_both_conventions_are_made_of_the_effects_their_papers_name():
    assert set(PARTS) == set(CONVENTIONS)
    for convention, parts in CONVENTIONS.items():
        assert list(PARTS[convention]) == ["direct", "indirect", "spurious"]
        for name, terms in parts.items():
            assert PARTS[convention][name].terms == dict(terms), (convention, name)


@repeatable
@given(mean_tables)
def test_both_conventions_telescope_to_the_total_for_any_means(values):
    means = world_means(values)
    total = means.combine(EXPLAINED.terms, "total")
    for convention, parts in PARTS.items():
        direct, indirect, spurious = (means.combine(c.terms, name) for name, c in parts.items())
        rest = total - (direct + indirect + spurious)
        assert abs(rest.value) <= 1e-12 * np.abs(values).max(), convention
        assert rest.standard_error < 1e-12, convention


@repeatable
@given(mean_tables)
def test_the_sequential_parts_are_minus_the_backward_effects(values):
    means = world_means(values)
    parts = {name: means.combine(c.terms, name) for name, c in PARTS["sequential"].items()}
    names = {"indirect": "indirect_10_given_0", "spurious": "spurious_10"}
    for part, backward in names.items():
        found = parts[part] + means.combine(CONTRASTS[backward].terms, backward)
        assert (found.value, found.standard_error) == (0.0, 0.0), part


@pytest.mark.parametrize("among", [0, "everyone"])
def test_symmetric_parts_add_up_only_among_the_comparison_group(among):
    values = np.arange(12.0).reshape(2, 2, 3) ** 2
    means = world_means(values)
    names = (f"direct_symmetric_given_{among}", f"indirect_symmetric_given_{among}", "spurious_01")
    added = sum(means.combine(CONTRASTS[name].terms, name).value for name in names)
    assert abs(added - means.combine(EXPLAINED.terms, "total").value) > 1
