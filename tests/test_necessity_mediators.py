"""Are single mediators told apart as in a world whose path effects are products of coefficients?

m1 = .5 a + .3 c,   m2 = -.4 a + .6 m1,   m3 = .3 a       plus noise
y  = .3 a + .7 m1 + .5 m2 + .2 c,   p = .1 a + .7 m1 + .2 m2 + .4 m3 + .2 c
"""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import NecessityError, OutcomeError, RoleError
from causalfairness.parity import Declaration, published_business_necessity
from causalfairness.scm import Linear

GRAPH = cf.CausalGraph.parse(
    "a <-> c; {a, c} -> m1; {a, m1} -> m2; a -> m3; {a, c, m1, m2} -> y; {a, c, m1, m2, m3} -> p"
)
WITHOUT = cf.CausalGraph.parse(
    "a <-> c; {a, c} -> m1; {a, m1} -> m2; a -> m3; {a, c, m1, m2, m3} -> y"
)
MODEL = cf.StandardFairnessModel(
    protected="a",
    reference="x0",
    comparison="x1",
    confounders=["c"],
    mediators=["m1", "m2", "m3"],
    outcome="y",
    prediction="p",
)
PATHS = {"first": ["m1"], "second": ["m2"]}
TRUTH = {  # (outcome, prediction)
    "direct": (0.3, 0.1),
    "first": (0.5 * (0.7 + 0.5 * 0.6), 0.5 * (0.7 + 0.2 * 0.6)),
    "second": (-0.4 * 0.5, -0.4 * 0.2),
    "other mediators": (0.0, 0.3 * 0.4),
}


def make_people(n, seed):
    rng = np.random.default_rng(seed)
    c = rng.normal(size=n)
    a = rng.random(n) < 1 / (1 + np.exp(-0.6 * c))
    m1 = 0.5 * a + 0.3 * c + rng.normal(size=n)
    m2 = -0.4 * a + 0.6 * m1 + rng.normal(size=n)
    m3 = 0.3 * a + rng.normal(size=n)
    y = 0.3 * a + 0.7 * m1 + 0.5 * m2 + 0.2 * c + rng.normal(size=n)
    p = score(a, c, m1, m2, m3)
    group = np.where(a, "x1", "x0")
    columns = {"a": group, "c": c, "m1": m1, "m2": m2, "m3": m3, "y": y, "p": p}
    return pa.table(columns)


def score(a, c, m1, m2, m3):
    return 0.1 * a + 0.7 * m1 + 0.2 * m2 + 0.4 * m3 + 0.2 * c


def audited(rows):
    names = ("c", "m1", "m2", "m3")
    return score(np.asarray(rows["a"]) == "x1", *(np.asarray(rows[name]) for name in names))


def fitted(data, graph=GRAPH):
    learned = [node for node in graph.nodes if graph.parent_map[node]]
    return cf.StructuralCausalModel.fit(graph, data, dict.fromkeys(learned, Linear()))


PEOPLE = make_people(3_000, seed=0)
SCM = fitted(PEOPLE)


@pytest.fixture(scope="module")
def report():
    return cf.check_business_necessity(
        PEOPLE,
        MODEL,
        scm=SCM,
        paths=PATHS,
        allowed=["first", "spurious"],
        margin=0.05,
        replicates=100,
    )


def test_every_arrow_out_of_the_group_is_on_a_path(report):
    assert [path.name for path in report] == [*TRUTH, "spurious"]
    assert [path.allowed for path in report] == [False, True, False, False, True]
    assert report["other mediators"].through == "through m3"
    assert report["spurious"].through == "with c"


def test_effects_along_mediators_are_products_of_coefficients(report):
    for name, truth in TRUTH.items():
        for effect, value in zip(report[name].effects[:2], truth, strict=True):
            assert abs(effect.value - value) <= 4 * effect.standard_error + 1e-9, name
    nothing = report["other mediators"].outcome
    assert (nothing.value, nothing.standard_error) == (0.0, 0.0)
    direct = report["direct"].prediction  # the score is a sum without noise: its weight is known
    assert direct.value == pytest.approx(0.1, abs=1e-9)


def test_the_difference_knows_that_both_use_the_same_people(report):
    first = report["first"]
    exact = (0.5 * (0.7 + 0.2 * 0.6)) - TRUTH["first"][0]
    assert abs(first.difference.value - exact) < 4 * first.difference.standard_error
    # m1's own slope on a is shared: .5 -> errors nearly cancel
    assert first.difference.standard_error < 0.5 * first.outcome.standard_error


def test_its_standard_error_is_the_spread_over_worlds_drawn_anew():
    def estimate(seed):
        data = make_people(800, seed)
        found = cf.check_business_necessity(
            data, MODEL, scm=fitted(data), paths=PATHS, allowed=["first"], replicates=None
        )
        return found["first"].difference.value

    drawn = np.array([estimate(seed) for seed in range(100, 180)])
    data = make_people(800, 99)
    closed = cf.check_business_necessity(
        data, MODEL, scm=fitted(data), paths=PATHS, allowed=["first"], replicates=150
    )["first"].difference.standard_error
    # an sd of 80 draws has a standard error of 8 %, one of 150 replicates of 6 %
    assert closed / drawn.std(ddof=1) == pytest.approx(1, abs=0.3)


def test_verdicts_follow(report):
    assert report["direct"].verdict == "violated"  # .1 exactly, beyond .05
    assert report["other mediators"].verdict == "violated"  # .12
    assert report["first"].verdict == "violated"  # .41 where .5 is required
    assert report.verdict == "violated"
    assert "through m1) is allowed" in report.sentences()[1]
    assert any("do not add up to the gap" in note for note in report.notes)
    assert json.dumps(report.to_dict(), allow_nan=False)


def test_a_function_becomes_a_node(report):
    data = PEOPLE.drop(["p"])
    scm = fitted(data, WITHOUT)
    found = cf.check_business_necessity(
        data,
        replace(MODEL, prediction=audited),
        scm=scm,
        paths=PATHS,
        allowed=["first", "spurious"],
        margin=0.05,
        replicates=100,
    )
    assert found.what == "prediction as a prediction of y"
    for name in ("direct", "first", "second", "other mediators", "spurious"):
        one, other = found[name].prediction, report[name].prediction
        assert one.value == pytest.approx(other.value, abs=1e-6), name
        assert one.standard_error == pytest.approx(other.standard_error, abs=1e-6), name
    difference = found["first"].difference
    assert difference.standard_error < 0.5 * found["first"].outcome.standard_error


def test_rows_with_missing_values_are_dropped_from_both():
    y, p = PEOPLE["y"].to_pylist(), PEOPLE["p"].to_pylist()
    y[:10], p[5:30] = [None] * 10, [None] * 25
    gaps = PEOPLE.drop(["y", "p"]).append_column("y", pa.array(y)).append_column("p", pa.array(p))
    settings = {"scm": SCM, "paths": PATHS, "replicates": None}
    found = cf.check_business_necessity(gaps, MODEL, missing="drop", **settings)
    plain = cf.check_business_necessity(PEOPLE.slice(30), MODEL, **settings)
    assert found.diagnostics[0].rows.used == 2_970
    for path in found:
        assert path.difference.value == pytest.approx(plain[path.name].difference.value)
        assert path.difference.standard_error == pytest.approx(
            plain[path.name].difference.standard_error
        )
    with pytest.raises(cf.errors.MissingValuesError, match="'y': 10"):
        cf.check_business_necessity(gaps, MODEL, **settings)


def test_without_confounders_nothing_is_spurious():
    plain = cf.CausalGraph.parse("a -> m1; a -> m2; a -> m3; {a, m1, m2, m3} -> {y, p}")
    found = cf.check_business_necessity(
        PEOPLE,
        replace(MODEL, confounders=[]),
        scm=fitted(PEOPLE, plain),
        paths=PATHS,
        margin=0.01,
        replicates=None,
    )
    assert found["spurious"].is_absent
    assert found["spurious"].verdict == "satisfied"


def test_a_declaration_may_name_a_group_of_mediators():
    board = Declaration("record", "the board", "the record predicts")
    found = published_business_necessity(
        PEOPLE, MODEL, scm=SCM, paths={"record": ["m1", "m2", "m3"]}, allowed=[board], tolerance=0.2
    )
    assert [path.name for path in found] == ["direct", "record", "spurious"]
    assert found["record"].declarations == (board,)
    outcome, prediction = (sum(pair) for pair in zip(*list(TRUTH.values())[1:], strict=True))
    record = found["record"]
    assert record.outcome.value == pytest.approx(
        outcome, abs=4 * record.outcome.standard_error + 0.1
    )
    assert record.prediction.value == pytest.approx(prediction, abs=0.15)


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ({}, "paths names groups of mediators"),
        (["m1"], "paths names groups of mediators"),
        ({"direct": ["m1"]}, "cannot be called 'direct'"),
        ({"first": "m1"}, "expected a list of mediators"),
        ({"first": []}, "expected a list of mediators"),
        ({"first": ["c"]}, "'c', which is no mediator of the model; there are m1, m2, m3"),
        ({"one": ["m1"], "two": ["m2", "m1"]}, "'m1' is on two paths, 'one' and 'two'"),
    ],
)
def test_paths_that_make_no_sense_are_refused(paths, message):
    with pytest.raises(NecessityError, match=message):
        cf.check_business_necessity(PEOPLE, MODEL, scm=SCM, paths=paths)


def test_questions_that_contradict_each_other_are_refused():
    ask = cf.check_business_necessity
    with pytest.raises(NecessityError, match=r"scm=\.\.\. was given without paths"):
        ask(PEOPLE, MODEL, scm=SCM)
    with pytest.raises(NecessityError, match="estimator and scm are two ways"):
        ask(PEOPLE, MODEL, scm=SCM, paths=PATHS, estimator=cf.estimators.Strata())
    with pytest.raises(
        NecessityError, match="there is no path 'indirect'; the paths are direct, f"
    ):
        ask(PEOPLE, MODEL, scm=SCM, paths=PATHS, allowed=["indirect"])
    with pytest.raises(NecessityError, match="fitted StructuralCausalModel; found CausalGraph"):
        ask(PEOPLE, MODEL, scm=GRAPH, paths=PATHS)
    with pytest.raises(ValueError, match="replicates must be a whole number"):
        ask(PEOPLE, MODEL, scm=SCM, paths=PATHS, replicates=3)
    chain = cf.CausalGraph.parse(
        "a <-> c; {a, c} -> m1 -> m2; a -> m3; {a, c, m1, m2, m3} -> {y, p}"
    )
    with pytest.raises(
        NecessityError, match="'m2', to which no arrow leads from a: it follows from m1"
    ):
        ask(PEOPLE, MODEL, scm=fitted(PEOPLE, chain), paths=PATHS)
    other = replace(MODEL, confounders=[], mediators=["c", "m1", "m2", "m3"])
    with pytest.raises(RoleError, match="'c' is"):
        ask(PEOPLE, other, scm=SCM, paths=PATHS)
    constant = PEOPLE.drop(["p"]).append_column("p", pa.array(np.ones(3_000)))
    with pytest.raises(OutcomeError, match="'p' has the same value"):
        ask(constant, MODEL, scm=SCM, paths=PATHS)


def test_effects_are_those_of_the_reference_group():
    """A score that pays c in the comparison group only: its direct effect is the mean of c."""
    data = PEOPLE.drop(["p"])

    def paying(rows):
        return np.asarray(rows["c"]) * (np.asarray(rows["a"]) == "x1") + np.asarray(rows["m1"])

    found = cf.check_business_necessity(
        data,
        replace(MODEL, prediction=paying),
        scm=fitted(data, WITHOUT),
        paths=PATHS,
        replicates=None,
    )
    c, reference = np.asarray(data["c"]), np.asarray(data["a"]) == "x0"
    assert found["direct"].prediction.value == pytest.approx(c[reference].mean(), abs=1e-9)
    assert found["direct"].prediction.standard_error == pytest.approx(
        c[reference].std() / np.sqrt(reference.sum()), rel=1e-6
    )
