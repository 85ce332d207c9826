"""Does the report say what was asked, declared and found, and refuse what makes no sense?"""

import json
import re
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import causalfairness as cf
from causalfairness.errors import NecessityError, OutcomeError, RoleError
from causalfairness.estimators import Strata
from causalfairness.parity import Declaration, published_business_necessity
from necessity_worlds import MODEL, OUTCOME, draw, predicting

FAR = {"direct": 0.12, "indirect": -0.1, "spurious": 0.0}
PEOPLE = draw(predicting(**FAR), 8_000, np.random.default_rng(0))
COURT = Declaration("spurious", "the district court", "age is relevant to risk", date(2023, 5, 1))


@pytest.fixture(scope="module")
def report():
    return cf.check_business_necessity(PEOPLE, MODEL, allowed=[COURT], margin=0.03)


def test_every_effect_is_near_the_truth_of_its_world(report):
    truth = predicting(**FAR).effects
    for path in report:
        assert abs(path.outcome.value - OUTCOME.effects[path.name]) < (
            4 * path.outcome.standard_error
        )
        assert abs(path.prediction.value - truth[path.name]) < 4 * path.prediction.standard_error
    spurious = report["spurious"]
    assert abs(spurious.difference.value) < 4 * spurious.difference.standard_error


def test_what_must_vanish_depends_on_what_is_allowed(report):
    assert [path.allowed for path in report] == [False, False, True]
    for path in report:
        wanted = path.prediction.value - (path.outcome.value if path.allowed else 0.0)
        assert path.difference.value == pytest.approx(wanted, abs=1e-15)
    everything = cf.check_business_necessity(
        PEOPLE, MODEL, allowed=("direct", "indirect", "spurious"), margin=0.03
    )
    direct = everything["direct"]
    assert direct.difference.value == pytest.approx(direct.prediction.value - direct.outcome.value)
    nothing = cf.check_business_necessity(PEOPLE, MODEL, allowed=(), margin=0.03)
    assert not any(path.allowed for path in nothing)
    assert nothing.ledger.lines() == ("no path is allowed: nothing was declared necessary",)


def test_verdicts_and_their_overall(report):
    assert [path.verdict for path in report] == ["violated", "violated", "satisfied"]
    assert report.verdict == "violated"
    assert report["direct"].difference.p_value < 0.05


def test_the_same_data_may_be_undecided():
    few = cf.check_business_necessity(PEOPLE.take(np.arange(0, 8_000, 20)), MODEL, margin=0.03)
    assert few.verdict == "undecided"
    assert "do not settle" in few.sentences()[-1]
    assert "leave open whether it is within 3 points of zero" in few.sentences()[0]


def test_a_prediction_that_is_a_copy_of_the_outcome_satisfies_what_is_allowed():
    copied = PEOPLE.drop(["p"]).append_column("p", PEOPLE["y"])
    paths = ("direct", "indirect", "spurious")
    found = cf.check_business_necessity(copied, MODEL, allowed=paths, margin=1e-4)
    assert found.verdict == "satisfied"
    assert "along every path" in found.sentences()[-1]
    never = cf.check_business_necessity(copied, MODEL, allowed=paths, margin=0)
    assert never.verdict == "undecided"
    assert any("never satisfied" in note for note in never.notes)


def test_a_path_that_does_not_exist_is_said_not_to():
    model = replace(MODEL, mediators=[])
    found = cf.check_business_necessity(PEOPLE, model, margin=0.03)
    indirect = found["indirect"]
    assert indirect.is_absent
    assert indirect.verdict == "satisfied"
    assert indirect.evidence.equivalence == 0.0
    assert indirect.difference.p_value == 1.0
    assert "there is nothing that it could lead through" in found.sentences()[1]
    assert "Nothing runs this way" in found.sentences()[1]
    assert cf.check_business_necessity(PEOPLE, model, margin=0)["indirect"].verdict == "undecided"


# Words ---------------------------------------------------------------------------------------


def test_sentences_name_path_permission_size_groups_and_verdict(report):
    direct, indirect, spurious, overall = report.sentences()
    number = r"[+-]\d+\.\d points \([+-]\d+\.\d to [+-]\d+\.\d\)"
    assert re.match(
        rf"The direct path is not allowed\. The prediction's effect along it is {number}, higher "
        r"for 1 than for 0\. It is further from zero than 3 points, beyond what chance explains "
        r"\(p <0\.001\): violated\.",
        direct,
    )
    assert "(through m) is not allowed" in indirect
    assert "lower for 1 than for 0" in indirect
    assert "(with c) is allowed, declared necessary by the district court (2023-05-01): age" in (
        spurious
    )
    assert re.search(rf"the outcome's {number}: a difference of {number}", spurious)
    assert "closer to the outcome's than 3 points" in spurious
    assert overall == (
        "Overall, at the 95% level with a margin of 3 points, under the stated assumptions: "
        "violated, along direct and indirect."
    )
    assert "fair" not in str(report).lower()


def test_the_record_says_which_value_of_the_outcome_counts(report):
    words = pa.array(np.where(np.asarray(PEOPLE[MODEL.outcome]) == 1, "again", "never"))
    at = PEOPLE.column_names.index(MODEL.outcome)
    told = PEOPLE.set_column(at, MODEL.outcome, words)
    model = replace(MODEL, outcome_value="again")
    found = cf.check_business_necessity(told, model, allowed=[COURT], margin=0.03)
    assert found.to_dict()["what"] == f"{report.what} = again"
    assert [path.difference.value for path in found] == pytest.approx(
        [path.difference.value for path in report]
    )


def test_numbers_that_are_no_shares_are_written_as_they_are():
    wide = PEOPLE.drop(["p"]).append_column("p", pa.array(20.0 * np.asarray(PEOPLE["p"])))
    found = cf.check_business_necessity(wide, MODEL, margin=0.5)
    assert not found.in_points
    assert "points" not in " ".join(found.sentences())
    assert "further from zero than 0.5" in found.sentences()[0]


def test_nothing_is_allowed_unless_it_is_said():
    found = cf.check_business_necessity(PEOPLE, MODEL)
    assert found.ledger.allowed == ()
    assert not any(path.allowed for path in found)


def test_without_a_margin_effects_are_reported_and_nothing_is_judged(report):
    found = cf.check_business_necessity(PEOPLE, MODEL, allowed=[COURT])
    assert (found.margin, found.verdict) == (None, None)
    for path, judged in zip(found, report, strict=True):
        assert path.difference.value == judged.difference.value
        assert path.difference.standard_error == judged.difference.standard_error
        assert set(path.evidence) == {None}
    plain = json.loads(json.dumps(found.to_dict()))
    assert (plain["margin"], plain["verdict"], plain["paths"][0]["verdict"]) == (None,) * 3
    assert [row[-1] for row in found.table()._cells()] == ["reported"] * 3
    said = " ".join(found.sentences())
    assert said.endswith("No margin was set: effects are reported, and nothing is judged.")
    for word in ("violated", "satisfied", "undecided", "margin of"):
        assert word not in said
    assert str(found).splitlines()[0].endswith(": reported")
    caption = cf.plots.necessity(found, Figure().subplots())
    assert "reported" in {text.get_text() for text in caption.texts}


def test_the_published_algorithm_has_no_tolerance_of_its_own():
    with pytest.raises(TypeError, match="tolerance"):
        published_business_necessity(PEOPLE, MODEL)


def test_the_report_prints_its_ledger_rows_and_assumptions(report):
    text = str(report)
    assert "ledger: spurious: declared necessary by the district court (2023-05-01): age is" in text
    assert "8,000 rows read, 8,000 used" in text
    assert "assumes: " in text
    assert text.splitlines()[1].split()[:3] == ["path", "allowed", "outcome"]
    assert "<table>" in report._repr_html_()
    unnamed = cf.check_business_necessity(PEOPLE, MODEL, allowed={"spurious"})
    assert "nobody is named who declared it necessary" in str(unnamed)


# Records -------------------------------------------------------------------------------------


def test_the_record_is_plain_data(report):
    record = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert record["declarations"] == [
        {
            "path": "spurious",
            "by": "the district court",
            "because": "age is relevant to risk",
            "on": "2023-05-01",
        }
    ]
    assert (record["margin"], record["level"], record["verdict"]) == (0.03, 0.95, "violated")
    assert [path["verdict"] for path in record["paths"]] == ["violated", "violated", "satisfied"]
    assert record["paths"][0]["difference"] == report["direct"].difference.value
    assert record["sentences"] == list(report.sentences())


def test_the_table_goes_to_data_frames(report):
    table = report.table()
    assert len(table) == len(report) == 3
    assert list(table.to_pandas()["path"]) == ["direct", "indirect", "spurious"]
    assert table.to_polars()["verdict"].to_list() == [path.verdict for path in report]
    low, high = report["direct"].difference.interval(0.95)
    assert (table.to_records()[0]["low"], table.to_records()[0]["high"]) == (low, high)
    assert report.effects().names[0] == "outcome: direct"
    with pytest.raises(KeyError, match="no path is named 'total'"):
        report["total"]


def test_several_may_declare_one_path_and_all_are_kept():
    board = Declaration("spurious", "the board", "so does the insurance", "2021")
    found = cf.check_business_necessity(PEOPLE, MODEL, allowed={COURT, board, "direct"})
    assert found.ledger.allowed == ("direct", "spurious")
    assert found.ledger.declarations == (board, COURT)
    assert len(found.ledger.lines()) == 3
    assert found["spurious"].declarations == (board, COURT)


def test_the_published_algorithm_has_its_own_name_and_the_same_report():
    found = published_business_necessity(PEOPLE, MODEL, tolerance=0.03, allowed=[COURT])
    assert [path.verdict for path in found] == ["violated", "violated", "satisfied"]
    assert found.table().to_records()[0]["violation"] is None
    assert "As estimated, that is more than 3 points from zero: violated." in found.sentences()[0]
    assert "by the estimates alone with a tolerance of 3 points" in found.sentences()[-1]
    assert any(note.startswith("replication setting") for note in found.notes)
    assert json.dumps(found.to_dict(), allow_nan=False)
    literal = published_business_necessity(PEOPLE, MODEL, tolerance=0)
    assert {path.verdict for path in literal} == {"violated"}
    assert " - " in str(found.table()).splitlines()[1]


# Refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"allowed": ["spurios"]}, NecessityError, "there is no path 'spurios'; the paths are dir"),
        (
            {"allowed": "spurious"},
            NecessityError,
            r"allowed is a collection of paths.*\['spurious'",
        ),
        ({"allowed": [3]}, NecessityError, "allowed holds 3; expected names of paths"),
        ({"allowed": None}, NecessityError, "allowed is a collection of paths, found None"),
        ({"margin": -0.01}, ValueError, "margin is how far from zero"),
        ({"level": 0.4}, ValueError, r"level must lie between 0\.5 and 1"),
        ({"paths": {"x": ["m"]}}, NecessityError, r"paths=\.\.\. was given without scm"),
    ],
)
def test_questions_that_make_no_sense_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        cf.check_business_necessity(PEOPLE, MODEL, **settings)


def test_a_model_without_prediction_and_one_that_never_varies_are_refused():
    with pytest.raises(RoleError, match="the model names no prediction"):
        cf.check_business_necessity(PEOPLE, replace(MODEL, prediction=None))
    with pytest.raises(RoleError, match="the model names no outcome"):
        cf.check_business_necessity(PEOPLE, replace(MODEL, outcome=None))
    constant = PEOPLE.drop(["p"]).append_column("p", pa.array(np.ones(8_000)))
    for estimator in (None, Strata(), cf.estimators.DoublyRobust()):
        with pytest.raises(OutcomeError, match="'p' has the same value"):
            cf.check_business_necessity(constant, MODEL, estimator=estimator)
    with pytest.raises(OutcomeError, match="the model predicts 1 for everyone"):
        cf.check_business_necessity(PEOPLE, replace(MODEL, prediction=lambda r: np.ones(len(r))))
    with pytest.raises(ValueError, match="margin is how far from zero"):
        published_business_necessity(PEOPLE, MODEL, tolerance=-1)


@pytest.mark.parametrize("field", ["path", "by", "because"])
def test_a_declaration_says_something(field):
    words = {"path": "direct", "by": "the board", "because": "the law"}
    for nothing in ("", "  ", None, 3):
        with pytest.raises(NecessityError, match=f"{field} is {nothing!r}"):
            Declaration(**{**words, field: nothing})
    with pytest.raises(NecessityError, match="does not say when"):
        Declaration(**words, on=2023)


# Picture -------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", [cf.plots.LIGHT, cf.plots.DARK], ids=["light", "dark"])
def test_the_picture_shows_bands_effects_and_verdicts(report, theme):
    ax = cf.plots.necessity(report, Figure(layout="constrained").subplots(), theme=theme)
    shown = [text.get_text() for text in ax.texts if text.get_visible()]
    assert shown == ["violated", "violated", "satisfied"]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["direct\nnot allowed", "indirect\nnot allowed", "spurious\nallowed"]
    bands = [band.get_paths()[0].get_extents() for band in ax.collections]
    goals = [0.0, 0.0, report["spurious"].outcome.value]
    for band, goal in zip(bands, goals, strict=True):
        assert (band.x0, band.x1) == pytest.approx((goal - 0.03, goal + 0.03))
    dots = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert [dot.get_xdata()[0] for dot in dots] == [path.prediction.value for path in report]
    squares = [line for line in ax.lines if line.get_marker() == "s" and len(line.get_xdata())]
    assert [each.get_xdata()[0] for each in squares] == [path.outcome.value for path in report]
    assert cf.plots.necessity_caption(report).startswith(report.sentences()[0])
