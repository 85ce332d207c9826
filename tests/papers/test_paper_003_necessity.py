"""Section 4 of the business-necessity paper: Northpointe's predictions, with only C allowed.

The paper finds the direct and the indirect path violated, and none on the spurious path, because
three intervals there contain all three estimates. The joint test of the difference is sharper.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.estimators import DoublyRobust
from causalfairness.parity import published_business_necessity
from judging import NORTHPOINTE

MODEL = replace(NORTHPOINTE, prediction="northpointe")
LOGISTIC = LogisticRegression(max_iter=2_000)
QUICK = DoublyRobust(outcome=LOGISTIC, group=LOGISTIC, nested=LinearRegression())


@pytest.fixture(scope="module")
def compas():
    data = cf.datasets.load_compas(propublica_filter=False)
    high = np.asarray(data["decile_score"]) > 4
    return data.append_column("northpointe", pa.array(high.astype(int)))


@pytest.fixture(scope="module", params=[2, pytest.param(3, marks=pytest.mark.slow)])
def report(compas, request):
    repeated = DoublyRobust(repeats=request.param)
    court = cf.parity.Declaration("spurious", "the court of the paper's example", "age and sex")
    return cf.check_business_necessity(
        compas, MODEL, allowed=[court], margin=0.01, estimator=repeated
    )


def test_direct_and_indirect_paths_are_violated(report):
    assert (report.margin, report.verdict) == (0.01, "violated")
    assert [report[path].verdict for path in ("direct", "indirect")] == ["violated"] * 2
    assert all(each.rows.used == 7_214 for each in report.diagnostics)


def test_the_spurious_path_is_off_by_about_a_point_and_a_margin_of_one_leaves_it_open(report):
    off = report["spurious"].difference
    assert 100 * off.value == pytest.approx(1.1, abs=0.2)
    assert 1.9 < off.value / off.standard_error < 3.1
    assert report["spurious"].verdict == "undecided"


def test_without_a_margin_the_spurious_path_is_violated_too(report):
    from causalfairness.parity.necessity.rules import EquivalenceRule

    strict = EquivalenceRule(0.0, 0.95).judge([path.difference for path in report])
    assert [each.verdict for each in strict.evidence] == ["violated"] * 3


def test_looked_at_one_by_one_the_intervals_overlap(report):
    """Why the paper sees no violation there."""
    outcome, prediction = report["spurious"].effects[:2]
    assert outcome.interval().high > prediction.interval().low
    apart = np.hypot(outcome.standard_error, prediction.standard_error)
    joint = report["spurious"].difference.standard_error
    assert joint < 0.75 * apart  # as if they came from different people


def test_the_literal_algorithm_fails_all_three_at_its_printed_tolerance(compas):
    found = published_business_necessity(compas, MODEL, tolerance=0, estimator=QUICK)
    assert {path.verdict for path in found} == {"violated"}
