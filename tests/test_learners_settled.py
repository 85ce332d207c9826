"""What models miss together: measured by brute force, subtracted, and the end of verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from benchmarks.coverage.learners import World, smooth
from sklearn.dummy import DummyRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import causalfairness as cf
from causalfairness.effects import Basis, Decomposition, Effect
from causalfairness.estimators.cross_fitting import Problem, cross_fit
from causalfairness.estimators.default_learners import Learner, classifiers, regressors
from causalfairness.estimators.joint import estimate_both
from causalfairness.estimators.remainder import (
    Missed,
    WeightedTerm,
    linear_basis,
    remainders,
    smooth_basis,
    standardized,
)
from causalfairness.parity.necessity.rules import EquivalenceRule, PointRule, Rule
from causalfairness.tables import open_table


def by_brute_force(functions: np.ndarray, term: WeightedTerm, cut: float) -> Missed:
    """The formulas as they are written, pair of rows by pair of rows."""
    a, b, v, left = term
    g, t = np.flatnonzero(b), np.flatnonzero(v)
    values, vectors = np.linalg.eigh(sum(b[r] * np.outer(z, z) for r, z in enumerate(functions)))
    kept = values > cut * values.max()
    u = functions @ (vectors[:, kept] / np.sqrt(values[kept]))
    gw = sum(a[r] * u[r] for r in g) - sum(v[r] * u[r] for r in t)
    pairs = sum(a[r] * b[s] * left[s] * (u[r] @ u[s]) for r in g for s in g if r != s)
    across = sum(v[r] * b[s] * left[s] * (u[r] @ u[s]) for r in t for s in g)
    of_y = sum(np.outer(x, x) for x in (b[r] * left[r] * u[r] for r in g))
    centered = [a[r] * u[r] - np.mean(a[g, None] * u[g], axis=0) for r in g]
    centered += [v[r] * u[r] - np.mean(v[t, None] * u[t], axis=0) for r in t]
    of_w = sum(np.outer(x, x) for x in centered)
    gy = sum(b[r] * left[r] * u[r] for r in g)
    trace = np.sum(of_y * of_w)
    variance = trace + max(0, gw @ of_y @ gw - trace) + max(0, gy @ of_w @ gy - trace)
    return Missed(float(pairs - across), float(np.sqrt(variance)))


def a_term(rng: np.random.Generator, n: int = 60) -> tuple[np.ndarray, WeightedTerm]:
    columns = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 2, n), np.ones(n)])
    group, w = rng.random(n) < 0.6, rng.uniform(0.5, 2, n)
    shares = [np.where(group, x, 0) for x in (w * rng.uniform(0.2, 3, n), w)]
    target = np.where(group, 0, w)
    weights = (each / each.sum() for each in (*shares, target))
    return standardized(columns, w), WeightedTerm(*weights, rng.normal(size=n) + columns[:, 0])


@pytest.mark.parametrize("block", [65_536, 7])
@pytest.mark.parametrize("smooth_functions", [False, True])
def test_remainders_are_those_of_the_formulas(
    monkeypatch: pytest.MonkeyPatch, block: int, smooth_functions: bool
) -> None:
    monkeypatch.setattr("causalfairness.estimators.remainder.BLOCK", block)
    columns, term = a_term(np.random.default_rng(1))
    basis, functions, cut = linear_basis(columns), np.column_stack([np.ones(60), columns]), 1e-6
    if smooth_functions:
        found = smooth_basis(columns, smaller=170, seed=3)
        assert found is not None
        gamma = 1 / (2 * 1.6**2 * 4 / 3)
        kernel = Nystroem(gamma=gamma, n_components=17 - 4 - 1, random_state=3).fit(columns)
        basis, functions, cut = found, np.hstack([functions, kernel.transform(columns)]), 1e-4
    measured = remainders(basis, [term], cut)[0]
    assert measured == pytest.approx(by_brute_force(functions, term, cut), rel=1e-8)


def test_remainders_have_no_bias_and_their_standard_errors_hold() -> None:
    """400 draws: the mean of 400 normal numbers has a standard error of .05, their sd .035."""
    found = []
    for rng in np.random.default_rng(0).spawn(400):
        x = rng.normal(size=400)
        first = np.arange(400) < 200
        term = WeightedTerm(
            np.where(first, 1 + 0.3 * x, 0) / np.sum(1 + 0.3 * x[:200]),
            first / 200,
            ~first / 200,
            0.5 * x + rng.normal(size=400),
        )
        found.append(remainders(linear_basis(x[:, None]), [term], 1e-6)[0])
    values, errors = np.array(found).T
    error = values.std()
    assert abs(values.mean() - 0.15) < 3 * error / np.sqrt(400)
    assert 0.85 < np.sqrt(np.mean(errors**2)) / error < 1.25


# --- in a decomposition ---------------------------------------------------------------------------

STRAIGHT = cf.estimators.DoublyRobust(outcome=LinearRegression(), group=LogisticRegression())


@pytest.fixture(scope="module")
def settled() -> Decomposition:
    world = cf.datasets.worlds.linear_gaussian()
    return cf.decompose_disparity(world.draw(1_000, seed=0), world.model, estimator=STRAIGHT)


@pytest.fixture(scope="module")
def waves() -> World:
    """Straight models see nothing of it, and the data show that."""
    found = smooth("deep", 1_500, np.random.default_rng(2))
    guess = found.rows.Y + np.random.default_rng(3).normal(size=1_500)
    model = replace(found.model, prediction="guess")
    return found._replace(rows=found.rows.assign(guess=guess), model=model)


@pytest.fixture(scope="module")
def unsettled(waves: World) -> Decomposition:
    return cf.decompose_disparity(waves.rows, waves.model, estimator=STRAIGHT)


def test_two_models_that_see_too_little_of_the_columns_are_made_up_for() -> None:
    """Without the remainder the direct part is off by more than eight standard errors."""
    world = cf.datasets.worlds.linear_gaussian()
    faint = cf.estimators.DoublyRobust(outcome=Ridge(alpha=8_000), group=LogisticRegression(C=1e-4))
    found = cf.decompose_disparity(world.draw(8_000, seed=1), world.model, estimator=faint)
    off = found.direct.value - world.true_effects()["direct"]
    missed = next(r.value for r in found.diagnostics.remainders if (1, 0, 0) in r.worlds)
    assert abs(off) < 3 * found.direct.standard_error
    assert abs(off + missed) > 8 * found.direct.standard_error


def test_what_is_subtracted_widens_the_part_it_is_subtracted_from(settled: Decomposition) -> None:
    rows = np.linalg.norm(settled.direct.spread)
    own = next(r.error for r in settled.diagnostics.remainders if r.worlds == ((1, 0, 0),))
    blocks = [block for name, block in settled.direct.blocks.items() if "remainder" in name]
    assert np.linalg.norm(blocks) == pytest.approx(own)
    assert settled.direct.standard_error >= np.hypot(rows, own) > rows
    assert len(settled.diagnostics.remainders) == 8


def test_parts_add_up_and_everyone_is_both_groups(settled: Decomposition) -> None:
    parts = settled.direct + settled.indirect + settled.spurious
    assert parts.value == pytest.approx(settled.total.value, abs=1e-12)
    means, share = settled.world_means.values, 0.0
    share = (means[0, 1, 2] - means[0, 1, 0]) / (means[0, 1, 1] - means[0, 1, 0])
    assert means[1, 0, 2] == pytest.approx((1 - share) * means[1, 0, 0] + share * means[1, 0, 1])


def test_outcome_and_prediction_have_coordinates_of_their_own(waves: World) -> None:
    both = estimate_both(open_table(waves.rows), waves.model, STRAIGHT)
    first, second = (
        {name for name in found.world_means.blocks if "remainder" in name}
        for found in (both.outcome, both.prediction)
    )
    assert len(first) == len(second) == 1
    assert not first & second
    copied = waves.rows.assign(guess=waves.rows.Y)
    both = estimate_both(open_table(copied), waves.model, STRAIGHT)
    apart = both.prediction.world_means[1, 0, 0] - both.outcome.world_means[1, 0, 0]
    assert apart.standard_error == 0


def test_models_that_have_settled_say_so(settled: Decomposition) -> None:
    assert settled.settled is True
    assert all(part.settled for part in (settled.direct, settled.indirect, settled.spurious))


def test_models_that_missed_the_waves_say_so(unsettled: Decomposition) -> None:
    assert unsettled.settled is False
    assert unsettled.direct.settled is False
    assert unsettled.spurious.settled is False
    assert unsettled.total.settled is True  # two plain means
    note = unsettled.diagnostics.notes[0]
    assert note.startswith("The models have not caught how the confounders act")
    assert note.endswith("Give better learners (outcome=, group=) or more rows.")
    assert "the direct part by about -" in note
    assert unsettled.direct.value > 0.5 + 3 * unsettled.direct.standard_error  # and it is right


def test_few_rows_cannot_be_checked() -> None:
    world = cf.datasets.worlds.linear_gaussian()
    found = cf.decompose_disparity(world.draw(200, seed=0), world.model, estimator=STRAIGHT)
    assert found.settled is None
    assert "too few to check the models; standard errors may be a quarter" in str(found)
    assert found.direct.settled is None


def test_one_alarm_is_that_of_the_worst() -> None:
    effects = [
        Effect("one", 0.1, np.ones(1), Basis("", "rows"), settled=status)
        for status in (True, None, False)
    ]
    yes, unknown, no = effects
    assert (yes - yes).settled is True
    assert (yes + unknown).settled is None
    assert (unknown - no).settled is False
    assert (-no).settled is (2 * no).settled is False


@pytest.mark.parametrize("rule", [EquivalenceRule(0.01, 0.95), PointRule(0.01)])
def test_nothing_is_judged_that_has_not_settled(rule: Rule, unsettled: Decomposition) -> None:
    judgment = rule.judge([unsettled.total, unsettled.direct])
    assert judgment.verdict is None
    assert {each.verdict for each in judgment.evidence} == {None}
    assert rule.judge([unsettled.total]).verdict == "violated"


def test_business_necessity_gives_no_verdict(waves: World) -> None:
    report = cf.check_business_necessity(
        waves.rows, waves.model, allowed={"spurious"}, margin=0.05, estimator=STRAIGHT
    )
    assert report.settled is False
    assert report.verdict is None
    assert report.sentences()[-1].startswith("No verdict is given: the models have not caught")
    assert "undecided" not in str(report)
    assert json.loads(json.dumps(report.to_dict()))["settled"] is False


def test_an_audit_gives_no_verdict_and_its_record_and_page_say_why(
    waves: World, tmp_path: Path
) -> None:
    roles = {
        "protected": "A", "reference": 0, "comparison": 1, "mediators": ["M"],
        "confounders": [f"C{at}" for at in range(5)], "outcome": "Y",
    }  # fmt: skip
    asked = [{"ask": "disparity", "margin": 0.05, "judge": ["direct"]}]
    audit = cf.Audit(roles=roles, questions=asked, sensitivity={"ask": False})
    result = audit.run(waves.rows[:900])
    (answer,) = result.record["answers"]
    assert answer["status"] == "answered"
    assert answer["verdict"] is answer["judgment"] is None
    assert answer["settled"] is False
    assert "not caught how the confounders act" in answer["notes"][0]
    told = answer["diagnostics"][0]
    assert told["learners"][0]["candidates"][0][0].startswith("linear")
    assert told["remainders"][0]["smooth"] is not None
    assert result.verdict == "undecided"
    assert "models have not settled" in str(result)
    page = cf.report.write_html(result, tmp_path / "page.html").read_text()
    assert "No verdict is given, since models have not caught" in page
    assert "not caught how the confounders act: what they leave" in page
    assert "log loss, compared" in page
    assert "What the models miss together" in page


# --- candidates -----------------------------------------------------------------------------------


class Counting(LinearRegression):  # type: ignore[misc]
    """A straight line that remembers how many rows it was fitted to."""

    fitted: ClassVar[list[int]] = []

    def fit(self, features: Any, target: Any, sample_weight: Any = None) -> Any:
        self.fitted.append(len(target))
        return super().fit(features, target, sample_weight)


def race(n: int, learners: list[Learner], workers: int = 1) -> Any:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(n, 2))
    y = np.sin(2 * x[:, 0]) + 0.2 * rng.normal(size=n)
    fold = rng.permutation(n) % 5
    problem = Problem("E[y | C]", x, y, learners, np.ones(n, dtype=bool))
    return cross_fit([problem], fold, None, workers)[0]


def test_candidates_race_once_and_the_winner_alone_is_fitted_fold_by_fold() -> None:
    Counting.fitted.clear()
    found = race(2_500, [Learner("straight", Counting()), *regressors(2, 0)[2:3]])
    assert found.loss.learner == "splines"
    assert [name for name, _ in found.loss.candidates] == ["straight", "splines"]
    assert Counting.fitted == [2_000]
    Counting.fitted.clear()
    race(2_500, [Learner("straight", Counting()), Learner("mean", DummyRegressor())])
    assert Counting.fitted == [2_000] * 5


def test_of_few_rows_those_that_are_not_clearly_worse_race_in_all_folds() -> None:
    Counting.fitted.clear()
    names = [
        Learner("straight", Counting()),
        Learner("the same", Counting()),
        *regressors(2, 0)[2:3],
    ]
    assert race(1_000, names).loss.learner == "splines"
    assert Counting.fitted == [800] * 2  # dropped after the first fold
    Counting.fitted.clear()
    race(1_000, names[:2])
    assert Counting.fitted == [800] * 10
    Counting.fitted.clear()
    race(200, names)
    assert Counting.fitted == [160] * 10


def test_many_rows_are_raced_on_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("causalfairness.estimators.cross_fitting.MOST_RACED", 2_000)
    Counting.fitted.clear()
    found = race(4_000, [Learner("straight", Counting()), Learner("mean", DummyRegressor())])
    raced, *folds = Counting.fitted
    assert raced == pytest.approx(1_600, abs=60)
    assert folds == [3_200] * 5
    assert np.isfinite(found.unseen).all()


def test_the_choice_is_the_same_for_any_number_of_workers() -> None:
    one, two = (race(600, [*regressors(2, 0)], workers) for workers in (1, 2))
    assert one.loss == two.loss
    assert np.array_equal(one.unseen, two.unseen)


def test_boosting_that_grows_is_not_tried_on_a_handful_of_events() -> None:
    """It sets rows of either answer aside, of which there may be none."""
    rng = np.random.default_rng(0)
    y = np.zeros(300)
    y[rng.choice(300, 3, replace=False)] = 1
    every = np.ones(300, dtype=bool)
    x = rng.normal(size=(300, 2))
    problem = Problem("P(A | C)", x, y, classifiers(2, 0), every)
    found = cross_fit([problem], rng.permutation(300) % 5, None, 1)[0]
    assert "grown" not in dict(found.loss.candidates)
    assert "boosting" in dict(found.loss.candidates)


def test_splines_follow_what_bends_and_grown_trees_what_jumps() -> None:
    names = [each.name for each in regressors(2, 0)]
    assert names[2:] == ["splines", "boosting", "grown", "splines, then grown"]
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3_000, 2))
    jumps = (np.floor(2 * x[:, 0]) + np.floor(2 * x[:, 1])) % 2 + 0.1 * rng.normal(size=3_000)
    fold = rng.permutation(3_000) % 5
    problem = Problem("E[y | C]", x, jumps, regressors(2, 0), np.ones(3_000, dtype=bool))
    found = dict(cross_fit([problem], fold, None, 1)[0].loss.candidates)
    assert found["grown"] < 0.5 * min(found["splines"], found["boosting"])


def test_the_jackknife_counts_where_it_is_the_larger_error() -> None:
    world = cf.datasets.worlds.linear_gaussian()
    data = world.draw(120, seed=3)
    plain, thorough = (
        cf.decompose_disparity(data, world.model, estimator=replace(STRAIGHT, spread=spread))
        for spread in (None, "jackknife")
    )
    for name in ("direct", "indirect", "spurious"):
        one, two = (getattr(found, name) for found in (plain, thorough))
        again = np.linalg.norm(two.blocks["left out"])
        assert one.value == two.value
        assert two.freedom == 19
        assert two.standard_error == pytest.approx(max(one.standard_error, again))
        assert 0.6 < again / one.standard_error < 2.5
    with pytest.raises(ValueError, match="spread must be None or 'jackknife'; found 'bootstrap'"):
        cf.estimators.DoublyRobust(spread="bootstrap")  # type: ignore[arg-type]
