"""Is a record that is broken, of another kind or hostile refused by name, or shown as it is?"""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalfairness import report
from causalfairness.errors import RecordError
from causalfairness.report.page import blocks as b
from causalfairness.report.page import html, markdown
from study_records import answer, every_record, of_kind, section, texts


@pytest.fixture
def every():
    return every_record()


def test_other_things_are_refused_by_name(every):
    with pytest.raises(RecordError, match="no record of an audit"):
        report.study_page({})
    with pytest.raises(RecordError, match=r"schema 'causalfairness.audit/9'"):
        report.study_page({**every, "schema": "causalfairness.audit/9"})
    with pytest.raises(TypeError, match="found a list"):
        report.write_html([], "report.html")
    with pytest.raises(TypeError, match="leave out source"):
        report.write_html(every, "report.html", source="elsewhere")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("answers", 0, "verdict"), "fair", "expected one of violated, undecided, satisfied"),
        (("answers", 0, "kind"), "gossip", "kind 'gossip'"),
        (("answers", 0, "details", "parts"), 5, "details: parts is 5; expected a list"),
        (
            ("answers", 0, "details", "parts", 0, "value"),
            "big",
            "value is 'big'; expected a number",
        ),
        (("assumptions", 0, "status"), "fine", "status is 'fine'"),
        (("settings", "settings", "level"), 7, "expected a level between 0 and 1"),
        (("roles",), None, "roles is None"),
    ],
)
def test_what_is_wrong_with_a_record_is_named(every, place, value, said):
    record = every
    *way, last = place
    at = record
    for step in way:
        at = at[step]
    at[last] = value
    with pytest.raises(RecordError, match=re.escape(said)):
        report.study_page(record)


def test_a_column_of_numbers_takes_numbers_only(every):
    record = every
    table = next(each for each in record["answers"] if each["kind"] == "group_metrics")["table"]
    table["rows"][0][table["columns"].index("low")] = "big"
    with pytest.raises(RecordError, match="low is 'big'; expected a number"):
        report.study_page(record)


def test_a_key_that_is_missing_is_named(every):
    record = every
    del record["answers"][0]["details"]["world_means"]
    with pytest.raises(RecordError, match=r"answers\[0\]: details: world_means is missing"):
        report.study_page(record)


def test_numbers_that_are_not_known_are_said_to_be_so(every):
    record = every
    part = answer(record, "disparity of y")["details"]["parts"][1]
    part |= {"value": None, "low": None, "high": None}
    disparity = section(report.study_page(record), "disparity")
    assert "Not known: the direct part." in [*texts(disparity)]
    drawn = of_kind(disparity, b.Waterfalls)[0].drawings
    assert [one.what for one in drawn] == ["score"]


def places(value, where=()):
    """Every place in plain data, to change what stands there."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield (*where, key)
            yield from places(value[key], (*where, key))
    elif isinstance(value, list):
        for at in range(min(len(value), 3)):
            yield (*where, at)
            yield from places(value[at], (*where, at))


def shorter_record():
    """Every kind of answer, with a few more rows each than are changed and than are shown."""
    record = every_record()
    for each in record["answers"]:
        if each["table"]:
            each["table"]["rows"] = each["table"]["rows"][:20]
    return record


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_no_change_to_a_record_ends_in_a_traceback(data):
    record = shorter_record()
    everywhere = [*places(record)]
    place = data.draw(st.sampled_from(everywhere))
    odd = st.sampled_from(
        [None, True, -1, 10**400, float("nan"), float("inf"), "", "<b>", [], {}, [[]], {"a": []}]
    )
    *way, last = place
    at = record
    for step in way:
        at = at[step]
    if data.draw(st.booleans()):
        at[last] = data.draw(odd)
    else:
        del at[last]
    try:
        page = report.study_page(record)
    except RecordError:
        return
    assert markdown.render_page(page)
    assert html.render_page(page)
