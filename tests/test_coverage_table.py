"""The table of trust: its arithmetic, its pages, and a reduced form of its draws.

In the reduced form few draws are taken of the cells that see a plausible mistake, and all counts
are held together against one familywise binomial bound at 1 %.
"""

from pathlib import Path

import pytest
from benchmarks.coverage.__main__ import Named, cells, drawn, kept, missing, run
from benchmarks.coverage.cell import Cell, Estimated, Tested
from benchmarks.coverage.table import BEGIN, END, rows_of, table, write_pages, written_into
from scipy.stats import binom

import causalfairness as cf

DOCS = Path(__file__).resolve().parents[1] / "docs"
CELLS = cells()
QUICK = [each for each in CELLS if each.cell.quick]


def interval(value, error=0.1, truth=0.0, settled=True):
    return Estimated(value, error, value - 2 * error, value + 2 * error, truth, settled)


def cell(**more):
    return Cell("call", "world", lambda seed: {}, draws=4, **more)


def test_coverage_bias_and_errors_are_counted():
    told = [interval(0.1), interval(-0.1), interval(0.3), interval(0.1)]
    (row,) = rows_of(cell(), [{"part": each} for each in told], 8.0)
    assert (row.coverage, row.draws, row.seconds, row.refused) == (0.75, 4, 2.0, 0.0)
    assert row.bias == pytest.approx(0.1 / 0.0266667**0.5, abs=1e-4)
    assert row.ratio == pytest.approx(0.1 / 0.0266667**0.5, abs=1e-4)
    assert row.error == pytest.approx((0.95 * 0.05 / 4) ** 0.5)


def test_answers_that_warn_of_themselves_are_no_intervals_that_miss():
    told = [interval(0.1), interval(9.0, settled=False), interval(0.1, settled=None)]
    (row,) = rows_of(cell(), [*({"part": each} for each in told), {}], 1.0)
    assert (row.coverage, row.warned, row.refused) == (1.0, pytest.approx(1 / 3), 0.25)


@pytest.mark.parametrize(("hits", "short"), [(95, False), (90, False), (88, True)])
def test_a_coverage_is_short_where_chance_does_that_once_in_a_hundred(hits, short):
    told = [{"part": interval(0.1 if at < hits else 9.0)} for at in range(100)]
    assert rows_of(cell(), told, 1.0)[0].short is short


@pytest.mark.parametrize(
    ("found", "there", "short"), [(5, False, False), (12, False, True), (12, True, False)]
)
def test_a_level_is_short_and_a_power_never_is(found, there, short):
    told = [{"test": Tested(at < found, there)} for at in range(100)]
    (row,) = rows_of(cell(), told, 1.0)
    assert row.short is short
    assert (row.power if there else row.level) == found / 100


def test_rows_stand_between_the_marks_of_their_page(tmp_path):
    (row,) = rows_of(cell(page="own"), [{"part": interval(9.0)}] * 60, 1.0)
    page = f"above\n{BEGIN}\nold\n{END}\nbelow"
    for name in ("coverage", "own"):
        (tmp_path / f"{name}.md").write_text(page, "utf-8")
    assert len(write_pages({"module": [row]}, tmp_path)) == 2
    assert write_pages({"module": [row]}, tmp_path) == []
    for name in ("coverage", "own"):
        text = (tmp_path / f"{name}.md").read_text("utf-8")
        assert "0.000, short" in text
        assert text.startswith("above")
        assert text.endswith("below")
        assert "old" not in text


def counted(seed):
    DRAWN.append(seed)
    return {"part": interval(0.1)}


DRAWN = []


def test_a_run_that_was_stopped_goes_on(tmp_path):
    wanted = [Named("bundled", Cell("call", world, counted, draws=3)) for world in ("a", "b")]
    choices = {"workers": 1, "stale": False, "place": tmp_path}
    assert [each.cell.world for each in run(wanted, seconds=-1, **choices)] == []
    ran = run(wanted, seconds=99, **choices)
    next(ran)
    ran.close()  # before anything of it was drawn
    assert DRAWN == []
    assert len([*run(wanted[:1], seconds=99, **choices)]) == 1
    assert len(DRAWN) == 3


def test_every_estimator_and_question_has_a_cell():
    called = " ".join(each.cell.call for each in CELLS)
    estimators = {*cf.estimators.__all__} - {"Estimator", "choose_estimator", "Mixture"}
    questions = {
        *("decompose_disparity", "decompose_error_rates", "group_metrics"),
        *("check_business_necessity", "counterfactual_fairness", "path_effect"),
        *("decompose_predictive_parity", "neural.effects", "invariance_test"),
        *("situation_test", "FairAdapter"),
    }
    assert sorted(name for name in estimators | questions if name not in called) == []


def test_pages_show_what_was_recorded():
    rows = [row for _, told in sorted(kept().items()) for key in told for row in told[key]]
    assert rows
    for name in {row.page for row in rows} | {"coverage"}:
        text = (DOCS / f"{name}.md").read_text("utf-8")
        own = [row for row in rows if name in ("coverage", row.page)]
        assert BEGIN in text, name
        left = missing(kept()) if name == "coverage" else ()
        assert written_into(text, own, left) == text, f"`make coverage` writes {name}.md anew"
    assert table(rows).count("short") == sum(row.short for row in rows)


def test_what_was_recorded_are_cells_that_there_are():
    told = {(module, key) for module, rows in kept().items() for key in rows}
    assert told <= {(each.module, each.key) for each in CELLS}


@pytest.mark.parametrize("named", QUICK, ids=lambda named: named.key)
def test_intervals_and_tests_hold_in_a_reduced_run(named):
    tail = 0.01 / (3 * len(QUICK))
    for row in drawn(named.cell, named.cell.quick, workers=1):
        judged = round(row.draws * (1 - row.refused) * (1 - row.warned))
        if row.coverage is not None:
            assert round(row.coverage * judged) >= binom.ppf(tail, judged, named.cell.level), row
        if row.level is not None:
            most = binom.ppf(1 - tail, judged, 1 - named.cell.level)
            assert round(row.level * judged) <= most, row
        if row.power is not None:
            assert row.power >= 0.5, row
