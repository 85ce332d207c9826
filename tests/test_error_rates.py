"""Error rates: closed forms, how sure one can be, and what predictive values mean."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression

import causalfairness as cf
from causalfairness.errors import EmptyCellsError, MixedBasisError, OverlapError, PredictorError
from causalfairness.estimators import KnownModel, Strata
from causalfairness.parity.error_rate import RATES
from judging import PARTS, fewest_and_most_hits, gap_between_sum_and_total
from odds_world import (
    ALONE,
    C_GIVEN_A,
    CLASSIFIERS,
    LEARNERS,
    M_GIVEN_AC,
    MODEL,
    POPULATION,
    ROUTES,
    SHARE,
    A,
    C,
    M,
    Y,
    by_route,
    chance,
    deaf_to_the_group,
    deaf_to_the_mediator,
    draw,
    everyone,
    hard_to_please,
    listens_to_all,
    predicting,
    true_means,
    true_parts,
)

BALANCED = LogisticRegression(class_weight="balanced")  # tells people apart by group alone


EXACT = [
    *(("listens_to_all", rate) for rate in ("fpr", "fnr", "tpr", "tnr")),
    *(("deaf_to_the_group", rate) for rate in RATES),
    *(("deaf_to_the_mediator", rate) for rate in ("fpr", "fnr", "tpr", "tnr")),
]


@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
@pytest.mark.parametrize(("name", "rate"), EXACT)
def test_counting_the_whole_population_gives_the_closed_form(name, rate, convention):
    classifier = CLASSIFIERS[name]
    found = cf.decompose_error_rates(
        everyone(classifier),
        replace(MODEL, weights="p"),
        rate,
        with_mediators=True,
        estimator=Strata(),
        convention=convention,
    )
    truth = true_means(classifier, rate)
    np.testing.assert_allclose(found.world_means.values, truth, rtol=0, atol=1e-12)
    for part, expected in true_parts(truth, convention).items():
        assert getattr(found, part).value == pytest.approx(expected, abs=1e-12), part
    assert gap_between_sum_and_total(found) < 1e-12
    assert found.audited.value == found.total.value
    assert found.comparison_model is None


@pytest.mark.parametrize("rate", ["fpr", "fnr", "tpr", "tnr"])
def test_a_known_function_of_group_and_confounders_needs_no_learning(rate):
    whole = everyone(deaf_to_the_mediator, copies=6)  # folds need rows, whatever they weigh
    model = replace(ALONE, weights="p", prediction=lambda d: np.asarray(d["a"] != d["c"]))
    found = cf.decompose_error_rates(whole, model, rate)
    assert found.diagnostics.estimator.startswith("KnownModel(")
    assert found.diagnostics.learners == ()
    truth = true_means(deaf_to_the_mediator, rate, mediators=False)
    np.testing.assert_allclose(found.world_means.values, truth, rtol=0, atol=1e-12)
    assert (found.indirect.value, found.indirect.standard_error) == (0.0, 0.0)
    assert gap_between_sum_and_total(found) < 1e-12


def test_the_parts_are_the_sums_of_the_specification():
    """direct = sum_c (f(a1,c) - f(a0,c)) P(c|a0,y), spurious = sum_c f(a1,c) (P(c|a1,y) - ...)."""
    people = draw(deaf_to_the_mediator, 3_000, seed=0)
    model = replace(ALONE, prediction=lambda d: np.asarray(d["a"] != d["c"]))
    for rate, y, sign in (("fpr", 0, 1), ("fnr", 1, -1)):
        found = cf.decompose_error_rates(people, model, rate)
        among = people[people.y == y]
        shares = [
            [(among.c[among.a == a] == c).mean() for c in (0, 1)] for a in (0, 1)
        ]  # P(c | a, y)
        f = np.array([[a != c for c in (0, 1)] for a in (0, 1)], dtype=float)
        direct = (f[1] - f[0]) @ shares[0]
        spurious = f[1] @ (np.array(shares[1]) - shares[0])
        assert found.direct.value == pytest.approx(sign * direct, abs=1e-12)
        assert found.spurious.value == pytest.approx(sign * spurious, abs=1e-12)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("rate", ["fpr", "tpr"])
def test_every_estimator_meets_the_closed_form(route, rate):
    people, truth = draw(listens_to_all, 8_000, seed=1), true_means(listens_to_all, rate)
    found = by_route(route, people, rate)
    for world in product((0, 1), (0, 1), (0, 1)):
        mean = found.world_means[world]
        assert abs(mean.value - truth[world]) < 4 * mean.standard_error + 1e-12, world
    assert gap_between_sum_and_total(found) < 1e-12


@pytest.mark.parametrize(
    "blind", [{"group": DummyClassifier()}, {"nested": DummyRegressor()}], ids=str
)
def test_one_blinded_learner_does_no_harm(blind):
    people, truth = draw(listens_to_all, 8_000, seed=2), true_means(listens_to_all, "fpr")
    sighted = by_route("known", people, "fpr")
    found = cf.decompose_error_rates(
        people,
        MODEL,
        "fpr",
        with_mediators=True,
        estimator=KnownModel(predicting(listens_to_all), **(LEARNERS | blind)),
    )
    for part, expected in true_parts(truth).items():
        error = max(getattr(found, part).standard_error, getattr(sighted, part).standard_error)
        assert abs(getattr(found, part).value - expected) < 4 * error, part


def test_a_model_deaf_to_the_group_has_no_direct_part():
    people = draw(deaf_to_the_group, 2_000, seed=3)
    for estimator in (Strata(), KnownModel(predicting(deaf_to_the_group), **LEARNERS)):
        found = cf.decompose_error_rates(
            people, MODEL, "fpr", with_mediators=True, estimator=estimator
        )
        # decisions alone do not show that a model is deaf
        known = isinstance(estimator, KnownModel)
        assert (found.direct.value, found.direct.correction == 0) == (0.0, known)
        assert (found.direct.standard_error == 0) == known
        assert found.direct.standard_error < 0.001
        assert abs(found.indirect.value) > 3 * found.indirect.standard_error


def test_conditioning_on_the_outcome_ties_mediator_to_group_and_the_result_says_so():
    """Cut group -> mediator: given the outcome they stay related, which is what is assumed away."""
    cut = POPULATION.assign(
        p=chance(SHARE, A)
        * chance(C_GIVEN_A[A], C)
        * chance(M_GIVEN_AC[0, C], M)
        * chance(np.where(A == 1, 0.1 + 0.8 * M, 0.5), Y),  # group 1 alone hears the mediator
        yhat=deaf_to_the_group(A, M, C),
    )
    model = replace(MODEL, weights="p")
    among_all = cf.decompose_disparity(cut, model, of="prediction", estimator=Strata())
    assert among_all.indirect.value == pytest.approx(0, abs=1e-12)
    found = cf.decompose_error_rates(cut, model, "fpr", with_mediators=True, estimator=Strata())
    assert abs(found.indirect.value) > 0.1
    assert found.direct.value == 0
    said = "asking only about people with y = 0 leaves the relation of group and mediators"
    assert any(said in text for text in found.diagnostics.assumptions)
    assert said in str(found)
    assert any(said in text for text in found.indirect.assumptions)


@pytest.mark.parametrize(("rate", "mirror"), [("fnr", "tpr"), ("tnr", "fpr")])
def test_a_complement_is_one_minus_the_rate_and_its_parts_change_sign(rate, mirror):
    people = draw(listens_to_all, 1_000, seed=4)
    one, other = (by_route("counted", people, name) for name in (rate, mirror))
    np.testing.assert_array_equal(one.world_means.values, 1 - other.world_means.values)
    for part in PARTS:
        assert getattr(one, part).value == pytest.approx(-getattr(other, part).value, abs=1e-14)
        assert (getattr(one, part) + getattr(other, part)).standard_error == 0
    assert one.table().names == other.table().names
    assert one.total.name == "total"


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("with_mediators", [True, False])
def test_parts_add_up_for_every_rate_on_real_data(rate, with_mediators):
    model = cf.StandardFairnessModel(
        protected="sex",
        reference="Male",
        comparison="Female",
        confounders=["race", "education_num"],
        mediators=["marital_status"],
        outcome="income",
        outcome_value=">50K",
        prediction="guess",
    )
    data = cf.datasets.load_adult(frame="pandas").iloc[::4]
    rich = (data.education_num >= 13) & (data.age > 30)
    data = data.assign(guess=np.where(rich, ">50K", "<=50K"))
    found = cf.decompose_error_rates(
        data,
        model,
        rate,
        with_mediators=with_mediators,
        comparison_model=None if with_mediators or rate in ("ppv", "npv") else BALANCED,
        estimator=Strata(empty_cells="restrict"),
    )
    assert gap_between_sum_and_total(found) < 1e-12
    asked, truth = RATES[rate], data.income == ">50K"
    if found.comparison_model is None:
        yes = pd.Series(rich if asked.of == "prediction" else truth) != asked.complement
        among = (truth if asked.of == "prediction" else rich) == asked.given
        rates = yes[among].groupby(data.sex[among]).mean()
        assert found.total.value == pytest.approx(rates["Female"] - rates["Male"], abs=1e-12)
    else:
        assert not with_mediators
        assert asked.of == "prediction"


# --- how sure ------------------------------------------------------------------------------------


def count_hits(draws, rows, analyse, truth):
    hits = dict.fromkeys(truth, 0)
    for seed in range(draws):
        found = analyse(draw(listens_to_all, rows, seed=50_000 + seed))
        for part, expected in truth.items():
            low, high = getattr(found, part).interval()
            hits[part] += low <= expected <= high
    return hits


def judge_coverage(draws):
    truth = true_parts(true_means(listens_to_all, "fpr"))
    hits = count_hits(draws, 1_500, lambda people: by_route("counted", people, "fpr"), truth)
    alone = true_parts(true_means(deaf_to_the_mediator, "fpr", mediators=False))
    del alone["indirect"]
    model = replace(ALONE, prediction=lambda d: np.asarray(d["a"] != d["c"]))
    known = count_hits(
        draws, 1_500, lambda people: cf.decompose_error_rates(people, model, "fpr"), alone
    )
    fewest, most = fewest_and_most_hits(draws, len(truth) + len(alone))
    assert all(fewest <= count <= most for count in (*hits.values(), *known.values())), (
        hits,
        known,
    )


def test_intervals_cover_in_a_reduced_run():
    judge_coverage(120)


@pytest.mark.slow
def test_intervals_cover_at_the_nominal_rate():
    judge_coverage(2_000)


def test_two_rates_of_one_table_can_be_subtracted():
    """The equalized-odds gap: how much larger is the gap among y = 1 than among y = 0?"""
    people = draw(deaf_to_the_mediator, 2_000, seed=5)
    model = replace(ALONE, prediction=lambda d: np.asarray(d["a"] != d["c"]))
    fpr, tpr = (cf.decompose_error_rates(people, model, rate) for rate in ("fpr", "tpr"))
    assert len(fpr.total.spread) == len(people)
    assert not fpr.total.spread[people.y == 1].any()
    rng, a, c, y = np.random.default_rng(0), *(people[name].to_numpy() for name in "acy")
    told = [(group != c).astype(float) for group in (0, 1)]

    def by_hand(rows):
        drawn_a, drawn_y = a[rows], y[rows]

        def mean(values, group, outcome):
            return values[rows][(drawn_a == group) & (drawn_y == outcome)].mean()

        direct = {of: mean(told[1], 0, of) - mean(told[0], 0, of) for of in (0, 1)}
        total = {of: mean(told[1], 1, of) - mean(told[0], 0, of) for of in (0, 1)}
        return direct[1] - direct[0], total[1] - total[0]

    replicates = np.array([by_hand(rng.integers(0, len(a), len(a))) for _ in range(1_000)])
    at_hand = by_hand(np.arange(len(a)))
    for at, part in enumerate(("direct", "total")):
        found = getattr(tpr, part) - getattr(fpr, part)
        assert found.value == pytest.approx(at_hand[at], abs=1e-12)
        # a standard deviation of 1,000 replicates is known to about 2.2 %
        assert found.standard_error == pytest.approx(replicates[:, at].std(), rel=0.09)


def test_rates_counted_in_cells_do_not_share_a_basis():
    people = draw(listens_to_all, 1_000, seed=6)
    fpr, tpr = (by_route("counted", people, rate) for rate in ("fpr", "tpr"))
    with pytest.raises(MixedBasisError):
        fpr.total - tpr.total
    whole = cf.decompose_disparity(people, MODEL, of="prediction", estimator=Strata())
    with pytest.raises(MixedBasisError):
        fpr.total - whole.total


def test_rows_share_a_basis_with_the_gap_of_all_predictions():
    people = draw(listens_to_all, 1_000, seed=7)
    fpr = by_route("learned", people, "fpr")
    whole = cf.decompose_disparity(people, MODEL, of="prediction", estimator=ROUTES["learned"][1])
    assert (fpr.total - whole.total).basis == whole.total.basis


def test_weights_count_like_repeated_rows():
    people = draw(listens_to_all, 800, seed=8).assign(w=lambda d: 3 - 2 * d.y + d.index % 3)
    repeated = people.loc[people.index.repeat(people.w)].reset_index(drop=True)
    for rate in ("fpr", "fnr"):
        one = cf.decompose_error_rates(people, replace(MODEL, weights="w"), rate)
        other = cf.decompose_error_rates(repeated, MODEL, rate)
        assert one.comparison_model == other.comparison_model is not None
        unweighted = cf.decompose_error_rates(people, MODEL, rate)
        assert abs(one.total.value - unweighted.total.value) > 0.1  # the comparison model learns so
        for part in PARTS:
            assert getattr(one, part).value == pytest.approx(getattr(other, part).value, abs=1e-12)
        assert one.audited.value == pytest.approx(other.audited.value, abs=1e-12)
        assert one.total.standard_error > other.total.standard_error


def test_the_answer_does_not_depend_on_workers():
    people = draw(listens_to_all, 400, seed=9)
    one, two = (by_route("known", people, "fpr", workers=n, seed=3) for n in (1, 2))
    np.testing.assert_array_equal(one.world_means.values, two.world_means.values)
    np.testing.assert_array_equal(one.total.spread, two.total.spread)


# --- predictive values ---------------------------------------------------------------------------


def test_predictive_values_say_what_selection_did():
    people = draw(deaf_to_the_group, 3_000, seed=19)
    truth = true_means(deaf_to_the_group, "ppv")
    found = cf.decompose_error_rates(people, MODEL, "ppv", with_mediators=True)
    assert found.what == "positive predictive value of yhat among yhat = 1"
    for part, expected in true_parts(truth).items():
        effect = getattr(found, part)
        assert abs(effect.value - expected) < 4 * effect.standard_error, part
    said = "people with yhat = 1 were selected by group, mediators and confounders at once"
    assert any(text.startswith(said) for text in found.diagnostics.assumptions)
    assert "do not say what would happen if the group were changed" in str(found)


@pytest.mark.parametrize(
    ("classifier", "rate"), [(deaf_to_the_group, "ppv"), (hard_to_please, "npv")]
)
def test_predictive_values_without_mediators_hold_them_in_the_direct_part(classifier, rate):
    found = cf.decompose_error_rates(
        everyone(classifier), replace(MODEL, weights="p"), rate, estimator=Strata()
    )
    truth = true_parts(true_means(classifier, rate, mediators=False))
    for part, expected in truth.items():
        assert getattr(found, part).value == pytest.approx(expected, abs=1e-12)
    assert found.lumped == ("m",)
    assert found.diagnostics.notes[0].startswith("m left out: the direct part holds whatever runs")
    indirect = next(text for text in found.sentences() if text.startswith("Indirect"))
    assert indirect == "Indirect: not shown apart; what runs through m is in the direct part."
    clear = replace(found.decomposition, estimate=shrunk(found.decomposition.estimate))
    direct = next(t for t in replace(found, decomposition=clear).sentences() if "Direct" in t)
    assert direct.endswith("of the gap remains when confounders are held alike.")


def shrunk(estimate):
    """The same numbers, known a thousand times as well."""
    means = replace(
        estimate.world_means,
        spreads=estimate.world_means.spreads / 1_000,
        corrections=np.zeros((2, 2, 3)),
        blocks={},
    )
    return replace(estimate, world_means=means, raw_gap=estimate.raw_gap)


def test_people_whom_the_other_group_s_model_would_not_select_have_no_counterpart():
    people = draw(listens_to_all, 2_000, seed=20)
    model = replace(MODEL, prediction=predicting(listens_to_all))
    with pytest.raises(OverlapError, match=r"% of the people with prediction = 1 would have been"):
        cf.decompose_error_rates(people, model, "ppv", with_mediators=True)
    with pytest.raises(EmptyCellsError, match="seen in one group only"):
        cf.decompose_error_rates(people, MODEL, "ppv", with_mediators=True, estimator=Strata())
    restricted = cf.decompose_error_rates(
        people, model, "ppv", with_mediators=True, estimator=Strata(empty_cells="restrict")
    )
    assert restricted.outside_support.value != 0
    assert gap_between_sum_and_total(restricted) < 1e-12
    deaf = replace(MODEL, prediction=predicting(deaf_to_the_group))
    assert cf.decompose_error_rates(people, deaf, "ppv", with_mediators=True).indirect.value
    with pytest.raises(PredictorError, match="of='prediction'"):
        cf.decompose_error_rates(
            people, MODEL, "npv", estimator=KnownModel(predicting(listens_to_all))
        )
