"""All groups against the reference: intervals that hold together, groups that are refused."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import norm
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.errors import GroupNotFoundError, OutcomeError, OverlapError, RoleError
from causalfairness.estimators import DoublyRobust, Strata
from causalfairness.inference import holm
from forms import compas, every_form, lending, loans

LINEAR = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression())
RACES = ["African-American", "Hispanic", "Other"]
PARTS = ("total", "direct", "indirect", "spurious")


def many_groups(rows=2000):
    frame = loans(rows)
    frame.loc[frame.index % 4 == 3, "group"] = "d"
    return frame


def test_each_group_gets_the_answer_it_would_get_alone():
    data, model = cf.datasets.load_compas(frame="pandas"), compas(mediators=[])
    found = cf.compare_groups(data, model, groups=RACES)
    assert list(found.by_group) == RACES
    assert found.refused == {}
    for race in RACES:
        alone = cf.decompose_disparity(data, model.for_groups(comparison=race), estimator=Strata())
        for part in PARTS:
            effect, expected = getattr(found[race], part), getattr(alone, part)
            assert effect.value == expected.value
            assert effect.standard_error == expected.standard_error
            assert found.table()[f"{race}: {part}"].value == expected.value


def test_all_groups_are_found_whatever_the_model_compares(tmp_path):
    frame = many_groups()
    frame.loc[0, "group"] = None
    expected = cf.compare_groups(frame, lending(), missing="drop")
    assert set(expected.by_group) == {"b", "c", "d"}
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name, data in every_form(table, tmp_path).items():
        found = cf.compare_groups(data, lending(comparison=None), missing="drop")
        assert list(found.by_group) == list(expected.by_group), name
        assert found.table().to_records() == [
            pytest.approx(record, abs=1e-12) for record in expected.table().to_records()
        ], name


@pytest.mark.parametrize("estimator", [Strata(), LINEAR], ids=["cells", "rows"])
def test_intervals_hold_together_and_p_values_are_adjusted(estimator):
    found = cf.compare_groups(many_groups(), lending(), estimator=estimator)
    table = found.table(level=0.9)
    assert len(table) == 3 * len(PARTS)
    assert norm.ppf(0.95) < table.reach < norm.ppf(1 - 0.05 / len(table))
    for effect in table:
        low, high = table.interval(effect.name)
        one_low, one_high = effect.interval(0.9)
        assert low < one_low < one_high < high
    adjusted = [record["p_adjusted"] for record in table.to_records()]
    assert adjusted == holm([effect.p_value for effect in table]).tolist()
    assert max(record["p_value"] for record in table.to_records()) <= max(adjusted)
    assert table.reach == found.table(level=0.9).reach  # no chance in it
    assert table.reach < found.table(level=0.99).reach


def test_intervals_that_hold_together_do_so_as_often_as_they_say():
    """Three groups that do not differ at all: all three intervals must cover 0, in 90 % of tables.

    Total and direct part are one here and the others are none, so the reach is that of three.
    """
    rng, repeats, reach, covered = np.random.default_rng(0), 400, None, 0
    group, model = np.repeat(list("abcd"), 60), lending(confounders=[], mediators=[])
    for _ in range(repeats):
        frame = pd.DataFrame({"group": group, "y": rng.normal(size=240)})
        found = cf.compare_groups(frame, model, estimator=Strata())
        reach = reach or found.table(level=0.9).reach  # depends on the sizes of groups alone
        totals = [one.total for one in found.by_group.values()]
        covered += all(abs(total.value) <= reach * total.standard_error for total in totals)
    assert abs(covered / repeats - 0.9) < 4 * np.sqrt(0.9 * 0.1 / repeats)


def test_the_answer_does_not_depend_on_the_number_of_workers():
    one, two = (
        cf.compare_groups(many_groups(300), lending(), estimator=LINEAR, workers=workers, seed=3)
        for workers in (1, 2)
    )
    assert one.table().to_records() == two.table().to_records()
    other = cf.compare_groups(many_groups(300), lending(), estimator=LINEAR, seed=4)
    assert other.table()["b: direct"].value != one.table()["b: direct"].value


def test_intersectional_groups_are_tuples_however_they_are_given():
    data = cf.datasets.load_compas(frame="pandas")
    model = compas(
        protected=["race", "sex"],
        reference=("Caucasian", "Male"),
        comparison=None,
        confounders=[],
    )
    pairs = [("African-American", "Male"), ("African-American", "Female")]
    found = cf.compare_groups(data, model, groups=pairs)
    assert list(found.by_group) == pairs
    assert found.table().names[4] == "African-American, Female: total"
    as_lists = cf.compare_groups(data, model, groups=[list(pair) for pair in pairs])
    assert list(as_lists.by_group) == pairs
    everyone = cf.compare_groups(data, model, estimator=Strata())
    assert len(everyone.by_group) + len(everyone.refused) == 11
    assert ("Caucasian", "Male") not in everyone.by_group


def test_numbered_groups_are_found_as_whole_numbers():
    frame = many_groups().assign(group=lambda d: d.group.map({"a": 0.0, "b": 1.0, "c": 2.0}))
    found = cf.compare_groups(frame.dropna(), lending(reference=0))
    assert list(found.by_group) == [1, 2]
    assert found[1].comparison == "1"
    assert found[1.0] is found[1]


def test_the_largest_and_the_smallest_gap_are_found_by_size():
    frame = pd.DataFrame({"group": np.repeat(list("abcd"), 40), "y": np.tile([0.0, 1.0], 80)})
    frame["y"] += frame.group.map({"a": 0.0, "b": 0.3, "c": -0.7, "d": 0.1})
    found = cf.compare_groups(frame, lending(confounders=[], mediators=[]))
    assert found.largest().comparison == "c"
    assert found.smallest().comparison == "d"


# --- groups that cannot be compared --------------------------------------------------------------


def with_odd_groups():
    frame = many_groups().astype({"c": float})
    frame.loc[frame.group == "d", "c"] = np.nan  # all of them will be dropped
    frame.loc[0, "group"] = "alone"
    return frame


@pytest.mark.parametrize("estimator", [Strata(), LINEAR], ids=["cells", "rows"])
def test_groups_that_cannot_be_compared_are_refused_with_the_reason(estimator):
    found = cf.compare_groups(with_odd_groups(), lending(), missing="drop", estimator=estimator)
    assert set(found.by_group) == {"b", "c"}
    assert set(found.refused) == {"alone", "d"}
    assert found.refused["d"].startswith("every row of the comparison group 'd' was dropped")
    assert "comparison group has 1 row" in found.refused["alone"]
    assert "not compared: d: every row" in str(found)
    assert "not compared: d: every row" in found._repr_html_()
    with pytest.raises(KeyError, match="'d' was not compared: every row"):
        found["d"]
    with pytest.raises(KeyError, match="no group 'z'; there are 'b', 'c'"):
        found["z"]


def test_refusals_are_escaped_in_notebooks():
    frame = many_groups()
    frame.loc[0, "group"] = "<b>alone</b>"
    html = cf.compare_groups(frame, lending(), estimator=Strata())._repr_html_()
    assert "&lt;b&gt;alone&lt;/b&gt;" in html
    assert "<b>" not in html


def test_a_group_that_was_asked_for_by_name_must_be_there():
    for estimator in (None, Strata(), LINEAR):
        with pytest.raises(GroupNotFoundError, match=r"^the comparison group 'z' has no rows"):
            cf.compare_groups(many_groups(), lending(), groups=["b", "z"], estimator=estimator)
    with pytest.raises(GroupNotFoundError, match="every row of the comparison group 'd'"):
        cf.compare_groups(
            with_odd_groups(), lending(), groups=["d"], missing="drop", estimator=Strata()
        )
    with pytest.raises(GroupNotFoundError, match="the reference group 'z' has no rows"):
        cf.compare_groups(many_groups(), lending(reference="z"))


def test_a_group_with_the_reference_s_constant_outcome_is_refused_alone():
    frame = many_groups()
    frame.loc[frame.group.isin(["a", "d"]), "y"] = 1
    found = cf.compare_groups(frame, lending(), estimator=Strata())
    assert set(found.by_group) == {"b", "c"}
    assert "there is no gap to explain" in found.refused["d"]


def test_a_comparison_of_nobody_is_refused_for_the_reason_of_the_first():
    frame = many_groups()
    with pytest.raises(OutcomeError, match=r"no group can be compared\. column 'y' has the same"):
        cf.compare_groups(frame.assign(y=1), lending(), estimator=Strata())
    apart = frame.assign(m=lambda d: d.group.map({"a": 0, "b": 1, "c": 1, "d": 1}))
    with pytest.raises(OverlapError, match=r"no group can be compared\. 4 combinations"):
        cf.compare_groups(apart, lending(), estimator=Strata())
    with pytest.raises(GroupNotFoundError, match="everyone else, but 'group' has no other"):
        cf.compare_groups(frame.query("group == 'a'"), lending())


def test_groups_are_a_list_of_groups():
    with pytest.raises(RoleError, match=r"got the text 'b'; write \['b'\]"):
        cf.compare_groups(many_groups(), lending(), groups="b")
    with pytest.raises(RoleError, match="groups is empty; name at least one"):
        cf.compare_groups(many_groups(), lending(), groups=[])
    with pytest.raises(RoleError, match="same group, 'a'"):
        cf.compare_groups(many_groups(), lending(), groups=["a"])
    with pytest.raises(RoleError, match="needs a reference group"):
        cf.compare_groups(many_groups(), lending(reference=None))


def test_people_outside_the_support_of_a_pair_get_a_row_of_their_own():
    frame = many_groups()
    frame.loc[(frame.group == "b") & (frame.m == 1), "m"] = 2
    found = cf.compare_groups(frame, lending(), estimator=Strata(empty_cells="restrict"))
    assert "b: outside_support" in found.table().names
    assert found.table()["b: outside_support"].value != 0
    assert found.table()["c: outside_support"].value == 0
