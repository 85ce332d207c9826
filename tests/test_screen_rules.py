"""Rules of statistical screens are data: dated, with their source, and checked when read."""

import json
from datetime import date

import pyarrow as pa
import pytest

from causalfairness.errors import RoleError, RuleError
from causalfairness.parity import screens

AUDIT = "nyc_local_law_144"


def screened(rule, **asked):
    """Half of 100 men and 42 of 100 women are selected."""
    hired = [*([1] * 42 + [0] * 58), *([1] * 50 + [0] * 50)]
    data = pa.table({"sex": ["F"] * 100 + ["M"] * 100, "hired": hired})
    asked = asked or {"selected": "hired", "favorable": 1}
    return screens.screen(data, rule, columns={"sex": "sex"}, **asked)


def test_every_bundled_rule_is_dated_and_names_its_source():
    assert screens.bundled_rules() == ("four_fifths", AUDIT)
    for name in screens.bundled_rules():
        rule = screens.read_rule(name)
        assert date(1964, 1, 1) < rule.source.date <= rule.version
        assert rule.source.title
        assert rule.source.citation
        assert json.loads(json.dumps(rule.to_dict()))["version"] == rule.version.isoformat()
    audit, fifths = screens.read_rule(AUDIT), screens.read_rule("four_fifths")
    assert (audit.share_below, audit.ratio_below) == (0.02, None)
    assert (fifths.share_below, fifths.ratio_below) == (None, 0.8)
    for rule, says in ((audit, "6 RCNY § 5-301(d): "), (fifths, "29 CFR 1607.4(D): ")):
        assert rule.notes[0].startswith(says)  # where the number is from


OWN = """
name = "Own screen"
version = 2024-02-29
jurisdiction = "a works council"
measures = ["selection rate"]
by = [["sex"]]
ratio_below = 0.9
[source]
title = "Agreement"
citation = "section 3"
date = 2024-01-01
[categories]
sex = []
"""


def test_a_rule_of_your_own_is_read_from_a_file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN, "utf-8")
    for rule in (path, str(path), screens.read_rule(path)):
        found = screened(rule)
        assert found.flagged == (("sex", "F"),)
        assert found.rule.name == "Own screen"
    with pytest.raises(RoleError, match="Own screen measures the selection rate, and not the"):
        screened(path, score="hired", favorable="higher")


def test_a_rule_of_your_own_is_made_of_another_one():
    rule = screens.Rule(**{**dict(screens.read_rule("four_fifths")), "ratio_below": 0.9})
    assert screened(rule).flagged == (("sex", "F"),)
    assert rule.to_dict()["ratio_below"] == 0.9


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('name = "Own screen"', "", ["name: is missing; expected text"]),
        ("version = 2024-02-29", 'version = "2024"', ["version: found '2024'; expected a date"]),
        ("2024-01-01", "2024-01-01T10:00:00", ["source.date: found datetime", "expected a date"]),
        ('["selection rate"]', '["rate"]', ["measures: found ['rate']", "'scoring rate'"]),
        (
            '[["sex"]]',
            '[["race"], ["race", "age"]]',
            ["categories: 'race', 'age' of by is missing; expected a list of the values"],
        ),
        (
            "sex = []",
            "sex = [1]",
            ["categories.sex[0]: found 1; expected a table of lists of texts"],
        ),
        ("sex = []", 'sex = ["a", "a"]', ["categories.sex: 'a' is named twice"]),
        ("0.9", "90", ["ratio_below: found 90; expected a number between 0 and 1"]),
        (
            "ratio_below",
            "ratio_belw",
            ["ratio_belw: is no key here; did you mean ratio_below?"],
        ),
        (
            "[source]",
            "[sourse]",
            ["source: is missing", "sourse: is no key here; did you mean source?"],
        ),
        ('name = "Own screen"', "name = 1\nby_sex = 2", ["name: found 1", "by_sex: is no key"]),
    ],
)
def test_all_that_is_wrong_with_a_rule_file_is_said_at_once(tmp_path, before, after, says):
    assert before in OWN
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(before, after), "utf-8")
    with pytest.raises(RuleError) as error:
        screens.read_rule(path)
    assert "own.toml" in str(error.value)
    for words in says:
        assert words in str(error.value)


def test_a_file_that_is_not_toml_or_not_there_is_refused(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("name = 'x'\nversion = nothing", "utf-8")
    with pytest.raises(RuleError, match=r"is not TOML: .*line 2"):
        screens.read_rule(path)
    with pytest.raises(RuleError, match="cannot be read"):
        screens.read_rule(tmp_path / "none.toml")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RuleError, match="cannot be read"):
        screens.read_rule(path)
    with pytest.raises(RuleError, match="no rule is named"):
        screened("eighty_percent")
    with pytest.raises(RuleError, match="no rule is named '5'; there are four_fifths"):
        screened(5)
