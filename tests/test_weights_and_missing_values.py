"""Is what a `cf.Table` says of weights and missing values heeded by whatever takes data?

Every public function, method and kind of audit question is asked the same question of a small
table. A row of weight 2 must say what two rows say, or weights are refused by name; a missing value
is refused by its column, or its row is left out and counted. A question that is not asked here
fails the first test.
"""

import inspect
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness import adaptation, individuals, invariance, parity, scm, sensitivity
from causalfairness.audit.questions import Question
from causalfairness.errors import CausalFairnessError, LearnerError, MissingValuesError, WeightError

GRAPH = cf.CausalGraph.parse("g <-> c; {g, c} -> m; {g, c, m} -> y")
LINES = {"m": scm.Linear(), "y": scm.Linear()}
MODEL = cf.StandardFairnessModel(
    protected="g", reference="a", comparison="b", confounders=["c"], mediators=["m"], outcome="y",
    prediction="p",
)  # fmt: skip
OF_Y = replace(MODEL, prediction=None)
BOTH = replace(
    OF_Y, protected=["g", "s"], reference=("a", "u"), comparison=("b", "v"), confounders=["c"]
)
SITUATION = {
    "protected": "g", "comparison": "b", "features": ["c", "m"], "decision": "y", "favorable": 1,
    "k": 5,
}  # fmt: skip
TO_A = {"g": "a"}
GROUPS = ("protected", "reference", "comparison")


@cache
def people():
    rng = np.random.default_rng(5)
    n = 240
    g, s, c = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    m = rng.integers(0, 2, n) + (rng.random(n) < 0.2 + 0.4 * g + 0.2 * c)
    y = (rng.random(n) < 0.2 + 0.1 * g + 0.2 * m).astype(int)
    p = (rng.random(n) < 0.3 + 0.2 * g + 0.1 * m).astype(int)
    weight = np.where(m + y > 1, 2.0, 1.0)
    return pd.DataFrame(
        {"g": np.array(["a", "b"])[g], "s": np.array(["u", "v"])[s], "c": c.astype(float),
         "m": m.astype(float), "y": y, "p": p, "w": weight}
    )  # fmt: skip


def doubled(data):
    return data.loc[data.index.repeat(data["w"].astype(int))].reset_index(drop=True).assign(w=1.0)


def score(rows):
    return np.asarray(rows["m"]) + 0.5 * (np.asarray(rows["g"]) == "b")


@cache
def fitted():
    return cf.StructuralCausalModel.fit(GRAPH, people(), LINES)


@cache
def adapter():
    return cf.FairAdapter(
        GRAPH, protected="g", reference="a", outcome="y", learner=adaptation.LinearQuantiles()
    )


@cache
def adapted():
    return adapter().fit(people())


def predictor():
    return cf.FairPredictor(adapter(), LinearRegression())


@cache
def predicted():
    return predictor().fit(people())


def class_of(table, **roles):
    chosen = LogisticRegression().fit(people()[["c", "m"]], people()["y"])
    groups = {"protected": "g", "reference": "a", "comparison": "b"} | roles
    return cf.CausalFairnessDecomposition(
        table, "y", **groups, confounders=["c"], mediators=["m"], predictor=chosen,
        estimator=STRATA,
    )  # fmt: skip


def said(found):
    """The estimates of an answer, in their order; errors and intervals are no part of it."""
    rows = found.table().to_records() if hasattr(found, "table") else found.to_records()
    keys = ("value", "outcome", "prediction", "selection_rate", "tpr", "fpr")
    return [row[key] for row in rows for key in keys if isinstance(row.get(key), float)]


def lines(model):
    fit = model.equations.fitted
    return [number for node in ("m", "y") for number in (fit[node].intercept, *fit[node].slopes)]


def shifts(found):
    groups = [(g.fact, g.otherwise, g.shift.value, *g.quantiles) for g in found]
    return np.array(groups).ravel()


def declined(test):
    return np.concatenate([test.counts.control_negative, test.counts.test_negative]).ravel()


def moved(frame):
    return np.asarray(frame["m"], dtype=float)


def plain(table):
    return table.data if isinstance(table, cf.Table) else table


def narrow(table, *columns):
    if not isinstance(table, cf.Table):
        return table[[*columns]]
    more = [] if table.weights is None else [table.weights]
    return replace(table, data=table.data[[*columns, *more]])


STRATA = cf.estimators.Strata()
QUICK = {"estimator": LinearRegression(), "learner": adaptation.LinearQuantiles()}
FUNCTIONS = {
    "check_business_necessity": lambda t: said(
        cf.check_business_necessity(t, MODEL, margin=0.1, estimator=STRATA)
    ),
    "published_business_necessity": lambda t: said(
        parity.published_business_necessity(t, MODEL, tolerance=0.1, estimator=STRATA)
    ),
    "compare_attributes": lambda t: said(cf.compare_attributes(t, BOTH, estimator=STRATA)),
    "compare_estimators": lambda t: said(
        cf.compare_estimators(t, OF_Y, [STRATA]).by_estimator["Strata"]
    ),
    "compare_graphs": lambda t: said(
        cf.compare_graphs(score, t, {"g": GRAPH}, TO_A, mechanisms=LINES)
    ),
    "compare_groups": lambda t: said(cf.compare_groups(t, OF_Y, estimator=STRATA)),
    "counterfactual_fairness": lambda t: shifts(
        cf.counterfactual_fairness(score, t, fitted(), TO_A)
    ),
    "counterfactual_situation_test": lambda t: declined(
        cf.counterfactual_situation_test(t, plain(t), **SITUATION)
    ),
    "published_situation_test": lambda t: declined(
        individuals.published_situation_test(t, **SITUATION)
    ),
    "situation_test": lambda t: declined(cf.situation_test(t, **SITUATION)),
    "decompose_disparity": lambda t: said(cf.decompose_disparity(t, OF_Y, estimator=STRATA)),
    "decompose_error_rates": lambda t: said(cf.decompose_error_rates(t, MODEL, "fpr")),
    "decompose_predictive_parity": lambda t: (
        cf.decompose_predictive_parity(t, MODEL, counterfactual=fitted(), replicates=20).ppm.values
    ),
    "frontier": lambda t: [
        number
        for point in cf.frontier(t, OF_Y, GRAPH, repetitions=2, bins=2, **QUICK)
        for values in point.values.values()
        for number in values
    ],
    "audit_coordinates": lambda t: said(
        parity.audit_coordinates(
            t, OF_Y, GRAPH, folds=2, effects=cf.estimators.Regression(replicates=20), **QUICK
        )
    ),
    "group_metrics": lambda t: said(cf.group_metrics(t, MODEL)),
    "screen": lambda t: [
        row["rate"]
        for row in parity.screens.screen(
            t, "four_fifths", columns={"sex": "g"}, selected="y", favorable=1
        )
        .table()
        .to_records()
    ],
    "benchmark_confounders": lambda t: said(
        sensitivity.benchmark_confounders(t, OF_Y, estimator=STRATA).found
    ),
    "invariance_test": lambda t: (
        cf.invariance_test(people()["p"], people()["g"], narrow(t, "c", "m")).effect
    ),
    "demographic_parity_test": lambda t: (
        invariance.demographic_parity_test(narrow(t, "c"), people()["g"]).effect
    ),
}
METHODS = {
    "StructuralCausalModel.fit": lambda t: lines(cf.StructuralCausalModel.fit(GRAPH, t, LINES)),
    "StructuralCausalModel.path_effect": lambda t: [fitted().path_effect(t, OF_Y).value],
    "StructuralCausalModel.counterfactual": lambda t: moved(fitted().counterfactual(t, do=TO_A)),
    "StructuralCausalModel.intervene": lambda t: moved(fitted().intervene(t, do=TO_A)),
    "StructuralCausalModel.encode": lambda t: fitted().encode(t)["m"],
    "StructuralCausalModel.individual_path_effects": lambda t: fitted().individual_path_effects(
        t, OF_Y
    ),
    "Structural": lambda t: said(
        cf.decompose_disparity(
            t, OF_Y, estimator=cf.estimators.Structural(GRAPH, LINES, replicates=None)
        )
    ),
    "FairAdapter.fit": lambda t: moved(adapter().fit(t).transform(people())),
    "FairAdapter.transform": lambda t: moved(adapted().transform(t)),
    "FairAdapter.twins": lambda t: moved(adapted().twins(t)),
    "FairAdapter.goodness": lambda t: [each.distance for each in adapted().goodness(t)],
    "FairAdapter.weights": lambda t: adapted().weights(t),
    "FairPredictor.fit": lambda t: predictor().fit(t).predict(people()),
    "FairPredictor.predict": lambda t: predicted().predict(t),
    "FairPredictor.adapted_features": lambda t: moved(predicted().adapted_features(t)),
    "FairPredictor.score": lambda t: [predicted().score(t)],
    "analyse_mean_difference": lambda t: said(class_of(t).analyse_mean_difference(of="outcome")),
    "analyse_equalized_odds": lambda t: said(class_of(t).analyse_equalized_odds()["fpr"]),
    "analyse_intersections": lambda t: said(
        class_of(t, **{role: getattr(BOTH, role) for role in GROUPS}).analyse_intersections(
            of="outcome"
        )
    ),
    "analyse_counterfactual_fairness": lambda t: shifts(
        class_of(t).analyse_counterfactual_fairness(mechanisms={"m": scm.Linear()})
    ),
}
QUESTIONS = FUNCTIONS | METHODS
NO_ROWS = {"compare_situations", "sensitivity_to_confounding", "nearest_neighbors"}
ARRAYS = {"equal_opportunity_test", "expected_counterfactual_agreement"}  # read like their brothers
LEARNED_ALIKE = {"FairPredictor.predict_proba", "FairPredictor.decision_function", "Audit.run"}

WITHOUT_WEIGHTS = {
    "counterfactual_situation_test", "published_situation_test", "situation_test", "frontier",
    "audit_coordinates", "screen", "invariance_test", "demographic_parity_test",
    *(name for name in METHODS if name.startswith("Fair")),
}  # fmt: skip
BY_ROW = {
    f"StructuralCausalModel.{name}"
    for name in ("counterfactual", "intervene", "encode", "individual_path_effects")
}
TOGETHER = BY_ROW | {
    name for name in METHODS if name.startswith("Fair") and not name.endswith(".fit")
} | {"invariance_test", "demographic_parity_test"}  # fmt: skip
MEASURED = {"group_metrics": "y", "screen": "y", "decompose_predictive_parity": "y"}


def test_every_public_question_is_asked_here():
    modules = (cf, parity, parity.screens, individuals, invariance, sensitivity)
    names = {
        name
        for module in modules
        for name in module.__all__
        if inspect.isfunction(asked := getattr(module, name))
        and {"data", "predictions", "found"} & {*inspect.signature(asked).parameters}
    }
    names |= {
        f"{one.__name__}.{name}"
        for one in (cf.StructuralCausalModel, cf.FairAdapter, cf.FairPredictor, cf.Audit)
        for name, method in inspect.getmembers(one, callable)
        if name[0] != "_" and name[:4] != "set_" and "data" in inspect.signature(method).parameters
    }
    names |= {name for name in dir(cf.CausalFairnessDecomposition) if name.startswith("analyse_")}
    assert names - NO_ROWS - ARRAYS - LEARNED_ALIKE == {*QUESTIONS} - {"Structural"}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_row_of_weight_two_says_what_two_rows_say_or_weights_are_refused(name):
    ask, data = QUESTIONS[name], people()
    weighted = cf.Table(data, weights="w")
    if name in WITHOUT_WEIGHTS:
        with pytest.raises(CausalFairnessError, match="rows count by 'w', which"):
            ask(weighted)
        return
    found, plain_answer = (np.asarray(ask(table), float) for table in (weighted, data))
    if name in BY_ROW:
        assert np.array_equal(found, plain_answer)  # other rows have no say in a row's answer
        return
    repeated = np.asarray(ask(cf.Table(doubled(data), weights="w")), float)
    assert found == pytest.approx(repeated, abs=1e-9)
    if name != "StructuralCausalModel.path_effect":  # of a linear model: the same for everybody
        assert np.abs(found - plain_answer).max() > 1e-3


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_missing_value_is_refused_by_its_column_or_its_row_left_out(name):
    ask, column = QUESTIONS[name], MEASURED.get(name, "c")
    holed = people().astype({"y": float})
    holed.loc[7, column] = np.nan
    with pytest.raises(MissingValuesError, match=f"missing values in '{column}'"):
        ask(cf.Table(holed))
    if name in TOGETHER:
        with pytest.raises(MissingValuesError, match=f"'{column}', and rows go together one for"):
            ask(cf.Table(holed, missing="drop"))
    else:
        complete = holed.drop(index=7).reset_index(drop=True)
        dropped = np.asarray(ask(cf.Table(holed, missing="drop")), float)
        assert dropped == pytest.approx(np.asarray(ask(complete), float), abs=1e-12)
    try:
        assert len(ask(cf.Table(holed, missing="category")))
    except CausalFairnessError as refusal:
        assert column in str(refusal)  # noqa: PT017


EVERY_KIND = [
    {"ask": "disparity"},
    {"ask": "disparity", "of": "prediction"},
    {"ask": "error_rates", "rates": ["fpr"]},
    {"ask": "group_metrics"},
    {"ask": "predictive_parity", "bins": 2, "replicates": 20, "counterfactual": True},
    {"ask": "necessity", "allowed": ["spurious"], "margin": 0.1},
    {"ask": "counterfactual_fairness"},
    {"ask": "situations", "k": [5]},
    {"ask": "invariance", "features": ["c"]},
    {"ask": "screens", "rule": "four_fifths", "columns": {"sex": "g"}, "selected": "y",
     "favorable": 1},
]  # fmt: skip
REFUSED_IN_AUDITS = ("situations", "invariance", "screen")


def audited(questions, weights):
    roles = {
        "protected": "g", "reference": "a", "comparison": "b", "confounders": ["c"],
        "mediators": ["m"], "outcome": "y", "prediction": "p",
    }  # fmt: skip
    audit = cf.Audit(
        roles=roles | ({"weights": weights} if weights else {}),
        questions=questions,
        estimator={"method": "strata"},
    )
    return audit.run(people())


def test_every_kind_of_question_of_an_audit_counts_by_weights_or_says_that_it_cannot():
    assert {each["ask"] for each in EVERY_KIND} == {
        kind.model_fields["ask"].default for kind in Question.__origin__.__args__
    }
    weighted = audited(EVERY_KIND, "w")
    refused = weighted.unanswered
    assert len(refused) == len(REFUSED_IN_AUDITS)
    for title, reason in refused.items():
        assert title.startswith(REFUSED_IN_AUDITS)
        assert "rows count by 'w', which" in reason
    even = audited(EVERY_KIND[: -len(refused)], None)
    for told in even.record["answers"]:
        assert weighted[told["title"]]["table"] != told["table"], told["title"]


def test_standard_errors_of_shifts_are_those_of_weighted_rows_whatever_the_scale():
    data = people()
    ask = lambda rows: cf.counterfactual_fairness(  # noqa: E731
        score, cf.Table(rows, weights="w"), fitted(), TO_A, replicates=0
    )
    found, scaled = ask(data), ask(data.assign(w=1_000 * data["w"]))
    inside = (data["g"] == "b").to_numpy()
    w, shift = data["w"].to_numpy()[inside], found.shift[inside]
    mean = np.average(shift, weights=w)
    error = np.linalg.norm(w * (shift - mean)) / w.sum()
    for one in (found, scaled):
        assert one["b"].shift.value == pytest.approx(mean, abs=1e-12)
        assert one["b"].shift.standard_error == pytest.approx(error, abs=1e-12)
        assert one["b"].record()["q50"] == found["b"].record()["q50"]
    assert found.table()["b"].standard_error == pytest.approx(error, abs=1e-12)
    assert "the mechanisms were fitted without them" in str(found)


def test_flips_count_by_weights_and_their_intervals_by_the_effective_size():
    data = people()
    decide = lambda rows: (score(rows) > 1).astype(int)  # noqa: E731
    weighted = cf.Table(data, weights="w")
    found = cf.counterfactual_fairness(decide, weighted, fitted(), TO_A, replicates=0)["b"]
    was, would = decide(data), decide(fitted().counterfactual(data, do=TO_A))
    inside = (data["g"] == "b").to_numpy()
    w = data["w"].to_numpy()[inside]
    assert found.lowered == pytest.approx(
        np.average(((was == 1) & (would == 0))[inside], weights=w)
    )
    size = w.sum() ** 2 / (w**2).sum()
    from causalfairness.inference import wilson_interval

    assert found.flips()[0] == pytest.approx(wilson_interval(found.lowered * size, size, 0.95))


def test_refitted_mechanisms_have_the_weights_too():
    weighted = cf.Table(people(), weights="w")
    chosen = cf.StructuralCausalModel.fit(GRAPH, weighted, LINES)
    ask = lambda table: cf.counterfactual_fairness(  # noqa: E731
        score, table, chosen, TO_A, replicates=20
    )
    found, even = ask(weighted), ask(people())
    assert "where mechanisms are fitted too" in str(found)
    assert found["b"].shift.standard_error != pytest.approx(even["b"].shift.standard_error)
    scaled = ask(cf.Table(people().assign(w=7 * people()["w"]), weights="w"))
    assert scaled["b"].shift.standard_error == pytest.approx(found["b"].shift.standard_error)


@pytest.mark.parametrize(
    ("mechanism", "digits"),
    [
        (scm.Linear(), 1e-9),
        (scm.LogNormal(), 1e-9),
        (scm.Additive(LinearRegression()), 1e-9),
        (scm.Poisson(), 1e-6),
        (scm.NegativeBinomial(), 1e-6),
        (
            scm.Categorical(),
            1e-3,
        ),  # its penalty is on the whole, and two rows weigh more against it
        (scm.Categorical(LogisticRegression(C=1e6)), 1e-3),
    ],
)
def test_every_mechanism_is_fitted_with_weights(mechanism, digits):
    data = people().assign(m=lambda rows: rows["m"] + isinstance(mechanism, scm.LogNormal))
    graph = cf.CausalGraph.parse("{g, c} -> m")
    means = [
        np.asarray(
            equations.fitted["m"].predict(equations.causes("m", model.encode(data), len(data)))
        )
        for table in (cf.Table(data, weights="w"), doubled(data), data)
        for model in [cf.StructuralCausalModel.fit(graph, table, {"m": mechanism})]
        for equations in [model.equations]
    ]
    assert np.abs(means[0] - means[1]).max() < digits
    assert np.abs(means[0] - means[2]).max() > 5 * digits


def test_new_people_are_drawn_as_often_as_rows_count():
    graph = cf.CausalGraph.parse("c -> m")
    data = people().assign(w=np.where(people()["c"] == 1, 9.0, 1.0))
    drawn = cf.StructuralCausalModel.fit(graph, cf.Table(data, weights="w"), {"m": LINES["m"]})
    share = np.average(data["c"] == 1, weights=data["w"])
    many = 20_000
    error = np.sqrt(share * (1 - share) / many)
    assert abs(np.mean(drawn.sample(many)["c"] == 1) - share) < 4 * error


def test_a_learner_that_cannot_take_weights_is_refused():
    from sklearn.neighbors import KNeighborsRegressor

    with pytest.raises(LearnerError, match="KNeighborsRegressor takes no sample_weight"):
        cf.StructuralCausalModel.fit(
            GRAPH, cf.Table(people(), weights="w"), {"m": KNeighborsRegressor()}
        )


def test_rows_that_count_for_nothing_are_left_out():
    idle = people().assign(w=np.where(np.arange(240) % 5 == 0, 0.0, 1.0))
    used = idle[idle["w"] > 0]
    found = cf.counterfactual_fairness(score, cf.Table(idle, weights="w"), fitted(), TO_A)
    assert shifts(found)[:3] == pytest.approx(
        shifts(cf.counterfactual_fairness(score, used, fitted(), TO_A))[:3]
    )
    assert found.account.aside == {"weight 0": 48}
    with pytest.raises(WeightError, match="no row has 'g', 'c', 'm', 'y', 'w' and counts"):
        cf.StructuralCausalModel.fit(GRAPH, cf.Table(people().assign(w=0.0), weights="w"))


def test_answers_about_people_say_which_rows_they_are_about():
    holed = people().astype({"y": float})
    holed.loc[[0, 7], "c"] = np.nan
    table = cf.Table(holed, missing="drop")
    found = cf.counterfactual_fairness(score, table, fitted(), TO_A)
    assert (found.account.read, found.account.used) == (240, 238)
    assert found.kept.tolist() == [row for row in range(240) if row not in (0, 7)]
    assert "240 rows read, 238 used, 2 dropped for missing values (c: 2)" in str(found)
    worst = found.most_affected(5)
    assert worst["m"].tolist() == holed["m"].iloc[worst["row"]].tolist()

    test = cf.situation_test(table, **SITUATION)
    rows = test.table().to_pandas()["row"]
    assert rows.tolist() == np.flatnonzero((holed["g"] == "b") & holed["c"].notna()).tolist()
    row = int(rows.iloc[-1])
    told = test.dossier(row)
    assert told.person == f"row {row}"
    assert told.fact.values == (holed["c"][row], holed["m"][row])
    with pytest.raises(cf.errors.SituationError, match="row 7 was left out: it has missing values"):
        test.dossier(7)
    beside = cf.counterfactual_situation_test(table, plain(table), **SITUATION)
    assert beside.dossier(row).otherwise.values == told.fact.values
    both = cf.compare_situations({"one": test, "other": beside})
    assert {*both.rows} == {*rows}
    report = adapter().fit(table).report_
    assert "2 dropped for missing values (c: 2)" in str(report)
    assert "2 dropped for missing values (c: 2)" in str(
        cf.frontier(table, OF_Y, GRAPH, repetitions=2, bins=2, **QUICK).rows
    )


def test_what_is_a_code_is_one_wherever_it_is_read():
    codes = people().assign(c=100 + 3 * people()["c"].astype(int) + people().index % 3)
    words = codes.assign(c=codes["c"].astype(str))
    asked = cf.Table(codes, categorical=["c"])
    model = cf.StructuralCausalModel.fit(GRAPH, asked, LINES)
    assert lines_of(model) == pytest.approx(
        lines_of(cf.StructuralCausalModel.fit(GRAPH, words, LINES))
    )
    for name in ("situation_test", "invariance_test", "FairAdapter.fit"):
        ask = QUESTIONS[name] if name != "FairAdapter.fit" else lambda t: moved(
            adapter().fit(t).transform(t)
        )  # fmt: skip
        assert ask(asked) == pytest.approx(ask(words)), name
    found = cf.counterfactual_fairness(score, asked, model, {"c": {"100": "103"}})
    assert found.changed.tolist() == (codes["c"] == 100).tolist()


def lines_of(model):
    return [
        number
        for fit in (model.equations.fitted["m"], model.equations.fitted["y"])
        for slope in fit.slopes
        for number in np.atleast_1d(slope)
    ]


def test_a_shift_is_on_the_scale_of_the_mean_difference_however_labels_are_written():
    data = people()
    found = []
    for labels, values in (((0, 1), (None, 1)), (("no", "yes"), (None, "yes"))):
        y = np.array(labels)[data["y"].to_numpy()]
        chosen = LogisticRegression().fit(data[["c", "m"]], y)
        for value in values:
            asked = cf.CausalFairnessDecomposition(
                data[["g", "c", "m"]], y, protected="g", reference="a", comparison="b",
                confounders=["c"], mediators=["m"], predictor=chosen, outcome_value=value,
                estimator=STRATA,
            )  # fmt: skip
            answer = asked.analyse_counterfactual_fairness(mechanisms={"m": scm.Linear()})
            again = asked.analyse_counterfactual_fairness(
                mechanisms={"m": scm.Linear()}, refit=True
            )
            found.append((answer["b"].shift.value, again["b"].shift.value))
            assert answer.scale == again.scale == "decisions (0 or 1)"
            assert "note: shifts are differences of decisions (0 or 1)" in str(answer)
            assert {*np.unique(answer.shift)} <= {-1.0, 0.0, 1.0}
    assert found == [found[0]] * 4
    by_score = cf.counterfactual_fairness(chosen, data, fitted(), TO_A)
    assert by_score.scale == "the probability of yes"
    by_number = cf.counterfactual_fairness(score, data, fitted(), TO_A)
    assert by_number.scale == "the numbers that the model gives"
