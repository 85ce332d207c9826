"""A decomposition: parts, remainder, and what it says to people."""

import re

import numpy as np
import pytest

import causalfairness as cf
from causalfairness.effects import (
    Basis,
    Decomposition,
    Diagnostics,
    Effect,
    Estimate,
    LearnerLoss,
    Overlap,
    WorldMeans,
)
from causalfairness.effects.contrasts import CONTRASTS
from causalfairness.tables import RowAccount
from forms import compas, lending, loans

BASIS = Basis("3f9a", "rows")
HOSTILE = "<script>alert('x')</script> & \"co\""
PARTS = ("direct", "indirect", "spurious")


def made(
    *,
    direct=0.0,
    indirect=0.0,
    spurious=0.0,
    error=0.0,
    beyond=0.0,
    start=0.5,
    remainder="outside_support",
    convention="sequential",
    **words,
):
    """A decomposition with the given parts, all as uncertain; the paths do not interact."""
    i, j, k = np.meshgrid([0, 1], [0, 1], [0, 1, 0.5], indexing="ij")
    values = start + direct * i + indirect * j + spurious * k
    spreads = error * np.stack([i, j, k, np.zeros_like(k)], axis=-1)
    means = WorldMeans(values, spreads, BASIS, frozenset({"overlap"}))
    raw_gap = means[1, 1, 1] - means[0, 0, 0]
    if beyond:
        raw_gap = raw_gap + Effect("beyond", beyond, np.array([0, 0, 0, error]), BASIS)
    diagnostics = Diagnostics("Strata()", RowAccount(read=10, used=10), Overlap(0.0))
    estimate = Estimate(means, raw_gap, diagnostics, remainder)
    labels = {"what": "hired", "reference": "men", "comparison": "women"} | words
    return Decomposition(convention=convention, estimate=estimate, **labels)


@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
@pytest.mark.parametrize("data", [cf.datasets.load_compas, cf.datasets.load_adult])
def test_parts_add_up_to_the_raw_gap_of_real_data(data, convention):
    frame = data("pandas") if data is cf.datasets.load_adult else data(frame="pandas")
    if data is cf.datasets.load_compas:
        model, outcome, column = compas(), frame.two_year_recid, "race"
    else:
        model = cf.StandardFairnessModel(
            protected="sex",
            reference="Male",
            comparison="Female",
            confounders=["race"],
            mediators=["marital_status"],
            outcome="income",
            outcome_value=">50K",
        )
        outcome, column = frame.income == ">50K", "sex"
    strata = cf.estimators.Strata(empty_cells="restrict")
    found = cf.decompose_disparity(frame, model, convention=convention, estimator=strata)
    means = outcome.groupby(frame[column]).mean()
    gap = means[model.comparison] - means[model.reference]
    assert found.total.value == pytest.approx(gap, abs=1e-12)
    added = found.direct + found.indirect + found.spurious + found.outside_support
    assert added.value == pytest.approx(gap, abs=1e-12)
    assert (added - found.total).standard_error < 1e-12


def test_the_table_holds_total_parts_remainder_and_every_effect():
    found = made(direct=0.1, indirect=0.05, spurious=-0.02, error=0.01, beyond=0.03)
    table = found.table()
    assert table.names == ("total", *PARTS, "outside_support", *CONTRASTS)
    assert len(table.meanings) == len(table)
    expected = {"total": 0.16, "direct": 0.1, "indirect": 0.05, "spurious": -0.02}
    expected |= {"outside_support": 0.03, "total_effect": 0.15, "natural_indirect_effect": 0.05}
    expected |= {"experimental_spurious_1": -0.01, "indirect_10_given_1": -0.05}
    for name, value in expected.items():
        assert table[name].value == pytest.approx(value, abs=1e-12), name
    assert table["direct"].standard_error == pytest.approx(0.01)
    assert table["total"].standard_error == pytest.approx(0.02)  # four errors of equal size
    assert found.summary().names == ("total", *PARTS, "outside_support")
    assert made(direct=0.1).summary().names == ("total", *PARTS)
    assert found.table(level=0.5).interval("direct") == found.direct.interval(0.5)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_remainder_of_rounding_is_no_remainder_whatever_the_outcome_s_scale(scale):
    frame = loans().assign(y=lambda d: scale * (d.y + 0.1 * d.index + 3))
    for convention in ("sequential", "symmetric"):
        found = cf.decompose_disparity(frame, lending(), convention=convention)
        assert found.summary().names == ("total", *PARTS)
        assert (found.outside_support.value, found.outside_support.standard_error) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("roles", "silent"),
    [({"confounders": []}, ["spurious"]), ({"mediators": []}, ["indirect"])],
)
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_a_path_without_columns_is_exactly_zero_and_no_finding(roles, silent, scale):
    frame = loans().assign(y=lambda d: scale * (d.y + 0.1 * d.index))
    for estimator in (None, cf.estimators.DoublyRobust()):
        found = cf.decompose_disparity(frame, lending(**roles), estimator=estimator)
        for name in silent:
            part = getattr(found, name)
            assert (part.value, part.standard_error, part.p_value) == (0.0, 0.0, 1.0)
            (sentence,) = (s for s in found.sentences() if s.startswith(name.capitalize()))
            assert "exactly" in sentence
            assert "consistent with" not in sentence


@pytest.mark.parametrize("remainder", ["outside_support", "misfit"])
def test_the_remainder_goes_by_its_own_name_and_the_other_is_zero(remainder):
    found = made(direct=0.1, error=0.001, beyond=0.05, remainder=remainder)
    other = {"outside_support": "misfit", "misfit": "outside_support"}[remainder]
    assert getattr(found, remainder).value == pytest.approx(0.05)
    assert getattr(found, remainder).name == remainder
    assert (getattr(found, other).value, getattr(found, other).standard_error) == (0.0, 0.0)
    assert getattr(found, other).name == other
    assert found.summary().names[-1] == remainder
    assert found.table().names[4] == remainder
    assert found.sentences()[-1].startswith(remainder.replace("_", " ").capitalize())


# --- in words ------------------------------------------------------------------------------------


def test_sentences_give_the_gap_and_each_part():
    found = made(direct=0.1, indirect=-0.04, spurious=0.001, error=0.01)
    gap, direct, indirect, spurious = found.sentences()
    assert gap.startswith("Gap: mean hired is 0.061 higher for women than for men (+0.027 to +0.0")
    assert "at the 95% level" in gap
    assert direct == (
        "Direct: +0.100 (+0.080 to +0.120) of the gap remains when mediators and confounders are "
        "held alike."
    )
    assert indirect.startswith("Indirect: -0.040 (-0.060 to -0.020) of the gap runs through")
    assert spurious == (
        "Spurious: +0.001 (-0.019 to +0.021), consistent with no spurious part above 0.021 "
        "(95% level), under these assumptions."
    )
    assert " lower for women than for men" in made(direct=-0.1).sentences()[0]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("z", [-3.0, -1.9, 0.0, 1.9, 3.0])
def test_a_part_is_consistent_with_none_exactly_when_its_interval_covers_zero(part, z):
    found = made(**{part: 0.01 * z}, error=0.01)
    low, high = getattr(found, part).interval()
    (sentence,) = (s for s in found.sentences() if s.startswith(part.capitalize()))
    assert (f"consistent with no {part} part above" in sentence) == (low <= 0 <= high)
    assert (f"consistent with no {part} part above" in sentence) == (abs(z) < 1.96)


@pytest.mark.parametrize(("level", "shown"), [(0.95, "95%"), (0.999, "99.9%"), (0.9, "90%")])
def test_the_level_is_shown_as_it_was_asked_for(level, shown):
    for sentence in made(error=0.01).sentences(level)[:2]:
        assert f"{shown} level" in sentence


def every_text():
    for convention in ("sequential", "symmetric"):
        for error, beyond in ((0.0, 0.0), (0.01, 0.0), (0.01, 0.2), (1.0, 0.2)):
            for remainder in ("outside_support", "misfit"):
                found = made(
                    direct=0.1,
                    indirect=-0.1,
                    error=error,
                    beyond=beyond,
                    remainder=remainder,
                    convention=convention,
                )
                yield from (str(found), repr(found), found._repr_html_())
                yield from found.sentences()
                yield from found.table().meanings


def test_nothing_is_ever_called_fair():
    assert not [text for text in every_text() if "fair" in text.lower()]


def test_hostile_labels_are_escaped_in_notebooks():
    found = made(direct=0.1, error=0.01, what=HOSTILE, reference=HOSTILE, comparison=HOSTILE)
    html = found._repr_html_()
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") == 6  # three in the title, three in the first sentence
    assert HOSTILE in str(found)


def test_the_terminal_shows_an_aligned_table_between_title_and_diagnostics():
    lines = str(made(direct=0.1, error=0.01, beyond=0.1)).splitlines()
    assert lines[0] == "hired: women against men (sequential)"
    table = lines[1:7]
    assert len({len(line) for line in table}) == 1
    assert [line.split()[0] for line in table[1:]] == ["total", *PARTS, "outside_support"]
    ends = {tuple(cell.end() for cell in re.finditer(r"\S+( \S+)*", line))[1:] for line in table}
    assert len(ends) == 1  # numbers end where their headings end
    assert lines[-3:] == [
        "estimator: Strata()",
        "rows: 10 rows read, 10 used",
        "overlap: 0.0% of rows outside common support",
    ]


def test_diagnostics_say_all_they_know():
    rows = RowAccount(1000, 800, 150, {"a": 30, "missing": 20}, {"age": 50})
    overlap = Overlap(0.125, 40.4, 90, 0.0312, 20.0, 0.015)
    loss = LearnerLoss("P(A | C)", "boosting", "log loss", 0.61, 0.69)
    text = str(
        Diagnostics("DoublyRobust()", rows, overlap, "of age", (loss,), ("overlap",), ("sparse",))
    )
    assert text.splitlines() == [
        "estimator: DoublyRobust() (chosen because of age)",
        "rows: 1,000 rows read, 800 used, 150 of other groups left aside, 50 dropped for missing "
        "values (a: 30, missing: 20)",
        "overlap: 12.5% of rows outside common support; 90 rows weighted to resemble the other "
        "group count for 40; largest share of one row 3.1%; weights clipped at 20 times the "
        "average (1.50% of rows)",
        "model: P(A | C): boosting, log loss 0.61 (0.69 without a model)",
        "assumes: overlap",
        "assumes: rows were dropped for missing values as if chance had chosen them among people "
        "like them",
        "note: sparse",
    ]
