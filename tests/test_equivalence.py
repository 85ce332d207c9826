"""Do the two tests with a margin reject as often as they promise, and never both at once?"""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from causalfairness.inference import (
    equivalence_p_value,
    minimum_effect_p_value,
    two_sided_p_value,
)

MARGINS = (0.0, 0.3, 1.0, 3.0)  # in standard errors


def reach(p_value, margin, level=0.05):
    """The size of an estimate, of standard error 1, at which the test begins to reject."""
    return brentq(lambda d: p_value(d, 1.0, margin) - level, 0.0, 50.0)


@pytest.mark.parametrize("margin", MARGINS)
def test_at_the_margin_the_minimum_effect_test_rejects_one_time_in_twenty(margin):
    size = reach(minimum_effect_p_value, margin)
    rejected = norm.sf(size, loc=margin) + norm.cdf(-size, loc=margin)
    assert rejected == pytest.approx(0.05, abs=1e-9)
    inside = norm.sf(size, loc=margin / 2) + norm.cdf(-size, loc=margin / 2)
    assert inside <= 0.05 + 1e-9


def test_at_the_margin_the_equivalence_test_rejects_at_most_one_time_in_twenty():
    for margin in (1.7, 2.5, 6.0):
        size = reach(equivalence_p_value, margin)
        for truth in (margin, -margin, 1.5 * margin):
            rejected = norm.cdf(size, loc=truth) - norm.cdf(-size, loc=truth)
            assert rejected <= 0.05 + 1e-9
    rejected = norm.cdf(size, loc=margin) - norm.cdf(-size, loc=margin)
    assert rejected == pytest.approx(0.05, abs=1e-6)  # the last margin is far out


def test_it_is_the_larger_of_two_one_sided_tests():
    for value in (-0.02, 0.004, 0.013):
        sides = norm.cdf((value - 0.01) / 0.005), norm.sf((value + 0.01) / 0.005)
        assert equivalence_p_value(value, 0.005, 0.01) == pytest.approx(max(sides), rel=1e-12)


def test_without_a_margin_it_is_the_ordinary_test_and_nothing_is_equivalent():
    for value in (-2.0, 0.0, 0.7, 40.0):
        plain = two_sided_p_value(value, 1.0)
        assert minimum_effect_p_value(value, 1.0, 0.0) == pytest.approx(plain, rel=1e-12)
        assert equivalence_p_value(value, 1.0, 0.0) >= 0.5
    assert equivalence_p_value(0.0, 0.0, 0.0) == 1.0


def test_no_estimate_rejects_both_below_one_half():
    values, errors = np.linspace(-0.1, 0.1, 81), (0.0, 1e-4, 0.01, 0.2)
    for margin in (0.0, 0.01, 0.05):
        for value in values:
            for error in errors:
                both = (
                    minimum_effect_p_value(value, error, margin),
                    equivalence_p_value(value, error, margin),
                )
                assert max(both) >= 0.5
                assert all(0 <= p <= 1 for p in both)


def test_an_estimate_without_uncertainty_is_read_off():
    assert (minimum_effect_p_value(0.2, 0.0, 0.1), equivalence_p_value(0.2, 0.0, 0.1)) == (0, 1)
    assert (minimum_effect_p_value(-0.05, 0.0, 0.1), equivalence_p_value(-0.05, 0.0, 0.1)) == (1, 0)
    for rounding in (0.0, 1e-16, -1e-16):  # at the margin itself, whatever rounding makes of it
        at = 0.1 + rounding
        assert (minimum_effect_p_value(at, 0.0, 0.1), equivalence_p_value(at, 1e-18, 0.1)) == (1, 1)


@pytest.mark.parametrize("margin", [-0.01, float("nan"), float("inf"), "1", None, True])
def test_a_margin_is_a_number_from_zero_up(margin):
    for p_value in (minimum_effect_p_value, equivalence_p_value):
        with pytest.raises(ValueError, match="how far from zero an effect may be"):
            p_value(0.1, 0.1, margin)
