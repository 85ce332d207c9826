"""Are verdicts given as methods §6 says, and are they wrong no more often than they may be?

False verdicts are looked for where they are likeliest: with every path exactly at the margin.
"""

import numpy as np
import pytest
from scipy.stats import binom, norm

import causalfairness as cf
from causalfairness.effects import Basis, Effect
from causalfairness.estimators import Strata
from causalfairness.parity.necessity.rules import EquivalenceRule, PointRule
from necessity_worlds import MODEL, draw, predicting

BASIS = Basis("", "rows")
MOST_WRONG = 0.055


def effects(values, errors):
    spreads = np.diag(np.broadcast_to(errors, len(values)))
    return [Effect("path", float(v), s, BASIS) for v, s in zip(values, spreads, strict=True)]


def at_p_values(p_values, rule):
    """Effects whose unadjusted equivalence p-values are these."""
    from scipy.special import ndtri

    return effects([rule.margin + 0.01 * ndtri(p) for p in p_values], 0.01)


def test_violated_undecided_and_satisfied_are_told_apart():
    found = EquivalenceRule(0.05, 0.95).judge(effects([0.2, 0.06, -0.01], [0.01, 0.02, 0.005]))
    assert [each.verdict for each in found.evidence] == ["violated", "undecided", "satisfied"]
    assert found.verdict == "violated"


def test_violations_are_adjusted_for_the_number_of_paths():
    rule = EquivalenceRule(0.0, 0.95)
    two, three = (rule.judge(effects([2.2, 2.2, 0.1][:n], 1.0)) for n in (1, 3))
    assert two.verdict == "violated"
    assert three.verdict == "undecided"
    first = three.evidence[0]
    assert first.violation_adjusted == pytest.approx(3 * first.violation)


def test_all_paths_may_be_satisfied_together_where_none_stands_out_alone():
    rule = EquivalenceRule(0.05, 0.95)
    found = rule.judge(at_p_values([0.04, 0.04, 0.04], rule))
    assert [each.verdict for each in found.evidence] == ["undecided"] * 3
    assert found.verdict == "satisfied"
    assert rule.judge(at_p_values([0.001, 0.001, 0.06], rule)).verdict == "undecided"
    alone = rule.judge(at_p_values([0.001, 0.2, 0.3], rule)).evidence[0]
    assert alone.verdict == "satisfied"
    assert alone.equivalence_adjusted == pytest.approx(0.003)


def test_a_margin_that_nobody_could_meet_says_how_many_people_would_do():
    """Two halves of 512 people, both with a share of one half: the standard error is 4.4 points."""
    rule, error = EquivalenceRule(0.01, 0.95), np.sqrt(0.25 / 256 * 2)
    (said,) = rule.judge(effects([0.0], error), [512]).evidence
    assert (said.verdict, said.people, said.people_needed) == ("undecided", 512, 85_639)
    words = "with 512 people a margin of 1 point is out of reach; about 86,000 would do"
    assert said.out_of_reach("1 point") == words
    (enough,) = rule.judge(effects([0.0], error * np.sqrt(512 / 85_639)), [85_639]).evidence
    assert enough.verdict == "satisfied"
    assert enough.people_needed is None


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_a_margin_is_out_of_reach_where_an_effect_of_zero_would_be_undecided(level):
    rule = EquivalenceRule(0.05, level)
    for error in 0.05 / norm.ppf(level) * np.array([0.999, 1.001]):
        (at_zero,) = rule.judge(effects([0.0], error), [100]).evidence
        (beside,) = rule.judge(effects([0.02], error), [100]).evidence
        assert (at_zero.verdict == "undecided") is (beside.people_needed is not None)
    (far,) = rule.judge(effects([0.9], 0.1), [100]).evidence
    assert far.verdict == "violated"
    assert far.out_of_reach("x") == ""  # what is shown needs no more people
    (exact,) = EquivalenceRule(0.0, level).judge(effects([0.0], 0.1), [100]).evidence
    assert exact.people_needed is None
    (alone,) = rule.judge(effects([0.0], 0.1)).evidence
    assert alone.people_needed is None  # nobody said how many people there are


@pytest.mark.parametrize("level", [0.51, 0.9, 0.95, 0.999])
def test_never_two_verdicts_at_once(level):
    rng = np.random.default_rng(0)
    for margin in (0.0, 0.02, 0.1):
        rule = EquivalenceRule(margin, level)
        for _ in range(200):
            found = rule.judge(effects(rng.normal(0, 0.1, 3), rng.exponential(0.03, 3)))
            error = 1 - level
            for each in found.evidence:
                assert not (each.violation <= error and each.equivalence <= error)
            if found.verdict == "satisfied":
                assert all(each.verdict != "violated" for each in found.evidence)
                assert margin > 0


def test_a_margin_of_zero_satisfies_nothing_not_even_what_is_exactly_zero():
    found = EquivalenceRule(0.0, 0.95).judge(effects([0.0, 0.0], [0.0, 1e-9]))
    assert found.verdict == "undecided"


def test_what_is_exactly_zero_satisfies_any_margin():
    found = EquivalenceRule(1e-6, 0.95).judge(effects([0.0], 0.0))
    assert found.verdict == "satisfied"
    assert found.evidence[0].equivalence == 0.0


def test_the_published_rule_looks_at_estimates_only():
    found = PointRule(0.01).judge(effects([0.0101, 0.01], 5.0))
    assert [each.verdict for each in found.evidence] == ["violated", "satisfied"]
    assert found.verdict == "violated"
    assert found.evidence[0].violation is None
    assert PointRule(0.0).judge(effects([1e-9], 1.0)).verdict == "violated"


@pytest.mark.parametrize("level", [0.5, 0.3, 1.0, 0.0, 1.2])
def test_a_level_below_one_half_is_refused(level):
    with pytest.raises(ValueError, match=r"level must lie between 0\.5 and 1"):
        EquivalenceRule(0.01, level)


def wrong(judgments):
    """How often anything was called violated, any single path satisfied, and all of them."""
    violated = [found.verdict == "violated" for found in judgments]
    single = [any(e.verdict == "satisfied" for e in found.evidence) for found in judgments]
    overall = [found.verdict == "satisfied" for found in judgments]
    return {"violated": sum(violated), "single": sum(single), "satisfied": sum(overall)}


def normal_judgments(truth, draws, margin=0.05, error=0.012, seed=0):
    """Verdicts on correlated normal estimates around these truths."""
    rule, rng = EquivalenceRule(margin, 0.95), np.random.default_rng(seed)
    factor = np.linalg.cholesky(np.array([[1, -0.4, 0.1], [-0.4, 1, -0.2], [0.1, -0.2, 1]]))
    noise = error * rng.standard_normal((draws, 3)) @ factor.T
    return [rule.judge(effects(row, error)) for row in np.asarray(truth) + noise]


def test_normal_estimates_at_the_margin_are_rarely_misjudged():
    draws = 4_000
    found = wrong(normal_judgments([0.05, -0.05, 0.05], draws))
    most = binom.ppf(0.9999, draws, 0.05)  # honest rates of 5 % exceed it once in 10,000 runs
    assert max(found.values()) <= most
    assert found["violated"] > 0.02 * draws  # and the test is no dead one
    one = wrong(normal_judgments([0.05, 0.0, 0.0], draws, seed=1))
    assert one["satisfied"] <= most  # one path at the margin: all three are not within it
    assert one["satisfied"] > 0.03 * draws


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.004, 0.012, 0.04])
@pytest.mark.parametrize("truth", [(0.05, -0.05, 0.05), (0.05, 0.0, 0.0), (0.0, 0.0, -0.05)])
def test_normal_estimates_are_misjudged_in_at_most_55_of_1000_draws(truth, error):
    draws = 60_000  # the standard error of a rate of 5 % is 0.0009
    found = wrong(normal_judgments(truth, draws, error=error))
    assert found["violated"] <= MOST_WRONG * draws
    assert found["satisfied"] <= MOST_WRONG * draws
    if 0.0 not in truth:  # otherwise some paths are satisfied in truth
        assert found["single"] <= MOST_WRONG * draws


def counted(truth, draws, n, margin, seed):
    """Verdicts on tables of n people, by counting."""
    rng, strata = np.random.default_rng(seed), Strata()
    people = (draw(predicting(**truth), n, rng) for _ in range(draws))
    return [
        cf.check_business_necessity(
            rows, MODEL, allowed={"spurious"}, margin=margin, estimator=strata
        )
        for rows in people
    ]


def rates(reports):
    violated = sum(found.verdict == "violated" for found in reports)
    satisfied = sum(found.verdict == "satisfied" for found in reports)
    return violated, satisfied


AT_THE_MARGIN = {"direct": 0.05, "indirect": -0.05, "spurious": 0.05}


def test_tables_at_the_margin_are_rarely_misjudged():
    """The standard error of a rate of 5 % is 1 %; one of 10 % is seen in three of four runs."""
    draws = 500
    violated, satisfied = rates(counted(AT_THE_MARGIN, draws, 3_000, 0.05, seed=0))
    most = binom.ppf(0.9999, draws, 0.05)  # 45 of 500
    assert violated <= most
    assert satisfied <= most


def test_tables_far_from_the_margin_are_judged_right():
    nothing = counted({}, 30, 8_000, 0.1, seed=1)
    assert rates(nothing)[1] >= 29  # more than five standard errors within the margin
    far = counted({"direct": 0.2, "spurious": 0.0}, 30, 3_000, 0.05, seed=2)
    assert rates(far) == (30, 0)
    assert {found["direct"].verdict for found in far} == {"violated"}


@pytest.mark.slow
@pytest.mark.parametrize("truth", [AT_THE_MARGIN, {"direct": 0.05}, {"spurious": -0.05}])
def test_tables_are_misjudged_in_at_most_55_of_1000_draws(truth):
    draws = 4_000  # the standard error of a rate of 5 % is 0.0034
    violated, satisfied = rates(counted(truth, draws, 3_000, 0.05, seed=3))
    assert violated <= MOST_WRONG * draws
    assert satisfied <= MOST_WRONG * draws
