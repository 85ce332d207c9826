"""Does the page of an imaging audit show what its record holds, and nothing else?"""

import base64
import json

import pytest
from typer.testing import CliRunner

from causalfairness import report
from causalfairness.cli import app
from causalfairness.errors import RecordError
from causalfairness.report.imaging import imaging_page, is_imaging_record
from causalfairness.report.page.blocks import Beside, Folded, Images, Pairs, Part, Points, Table
from causalfairness.report.page.html import render_page as as_html
from causalfairness.report.page.markdown import render_page as as_markdown

HOSTILE = "<script>alert(1)</script>"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()


def row(model="reader", finding="edema", **more):
    told = {
        "model": model,
        "finding": finding,
        "statistic": 3.5,
        "log_p_value": -8.3,
        "p_value": 0.0002,
        "p_adjusted": 0.0004,
        "rejected": True,
        "effect": 0.0016,
        "upper": 0.0025,
        "agreement": 0.81,
        "parity_p_value": 0.3,
        "opportunity_p_value": None,
        "opportunity_n": None,
        "n": 200,
    }
    return told | more


def record(**more):
    told = {
        "schema": "causalfairness.imaging/1",
        "title": "Films of a clinic",
        "data": {
            "folder": "films",
            "fingerprint": "2f1c",
            "part": "test",
            "images": 200,
            "people": 180,
            "groups": {"White": 120, "Black": 80},
            "findings": [
                {"finding": "edema", "shares": {"White": 0.2, "Black": None}, "p_value": 0.04}
            ],
        },
        "generator": {"kind": "gaussian", "size": 64, "images": "77aa", "seed": 0},
        "classifiers": {"reader": {"kind": "given", "auc": {"edema": 0.83}}},
        "settings": {"method": "projected audit", "level": 0.95, "seed": 4},
        "rows": [row(), row(finding="effusion", rejected=False, effect=-0.001)],
        "scores": [
            {"model": "reader", "finding": "edema", "people": 2, "x": [0.1, 0.2], "y": [0.3, 0.4]}
        ],
        "pictures": {
            "groups": ["White", "Black"],
            "factor": 5,
            "people": [
                {
                    "group": "Black",
                    "age": 61.2,
                    "findings": ["edema"],
                    "factual": PNG,
                    "counterfactuals": [PNG, PNG],
                    "differences": [PNG, PNG],
                }
            ],
        },
        "quality": {"composition": 0.004, "reversibility": 0.011},
        "sentences": ["The scores of reader for edema depend on the group."],
        "assumptions": ["people are independent draws"],
        "notes": ["equal opportunity was not asked"],
        "versions": {"causalfairness": "9.9", "torch": "2.13"},
    }
    return told | more


def section(page, key):
    (found,) = (each for each in page.sections if each.key == key)
    return found


def blocks_of(page, key, kind):
    """All blocks of a kind in a section, however deep."""
    found, waiting = [], list(section(page, key).blocks)
    while waiting:
        block = waiting.pop(0)
        if isinstance(block, kind):
            found.append(block)
        if isinstance(block, Beside | Folded | Part):
            waiting += block.blocks
    return found


def test_the_page_has_its_sections_in_order():
    page = imaging_page(record())
    assert [each.key for each in page.sections] == [
        *("summary", "tests", "scores", "images", "quality", "assumptions", "provenance")
    ]
    assert page.title == "Films of a clinic"
    assert page.meta == ("200 images", "White, Black", "films")


def test_the_summary_counts_what_was_found():
    said = section(imaging_page(record()), "summary").blocks[0].lines
    assert said[0].startswith("1 of 2 tests find that a score depends on the group, at the 95%")
    assert said[0].endswith("level, allowing for their number (Benjamini-Hochberg).")
    assert said[1] == "The scores of reader for edema depend on the group."


def test_the_table_shows_tests_as_they_are_and_effects_by_their_roots():
    tests, others = blocks_of(imaging_page(record()), "tests", Table)
    keys = [column.key for column in tests.columns]
    cells = [dict(zip(keys, line, strict=True)) for line in tests.rows]
    assert cells[0]["statistic"] == 3.5
    assert cells[0]["p_adjusted"] == 0.0004
    assert cells[0]["moved"] == pytest.approx(0.04)
    assert cells[0]["bound"] == pytest.approx(0.05)
    assert cells[0]["agreement"] == 0.81
    assert [each["rejected"] for each in cells] == [True, False]
    assert cells[1]["moved"] == 0.0  # a variance that was estimated below 0
    keys = [column.key for column in others.columns]  # equal opportunity was not asked
    assert not {"opportunity_p_value", "opportunity_n"} & set(keys)


def test_scores_and_pictures_are_those_of_the_record():
    page = imaging_page(record())
    (points,) = blocks_of(page, "scores", Points)
    assert (points.x, points.y) == ((0.1, 0.2), (0.3, 0.4))
    worlds, changes = blocks_of(page, "images", Images)
    assert worlds.columns == ("as it is", "as White", "as Black")
    assert changes.columns == ("change to White", "change to Black")
    assert "5 times as strong" in changes.caption
    assert worlds.row_names == ("Black, 61 years",)
    assert worlds.rows[0][0] == base64.b64decode(PNG)


def test_films_that_were_left_out_are_counted():
    without = {name: value for name, value in record()["data"].items() if name != "left_out"}
    left_out = {"group not stated": 3, "further films of a person": 1_200}
    page = imaging_page(record(data=without | {"left_out": left_out}))
    (told,) = (block for block in section(page, "provenance").blocks if isinstance(block, Pairs))
    said = "3 group not stated, 1,200 further films of a person"
    assert dict(told.lines)["left out"] == said
    plain = imaging_page(record(data=without))
    (told,) = (block for block in section(plain, "provenance").blocks if isinstance(block, Pairs))
    assert "left out" not in dict(told.lines)


def test_many_plots_are_folded():
    plots = [record()["scores"][0] | {"finding": str(number)} for number in range(12)]
    page = imaging_page(record(scores=plots))
    (folded,) = blocks_of(page, "scores", Folded)
    assert folded.title == "2 more classifiers and findings"
    assert len(blocks_of(page, "scores", Points)) == 12


def test_what_a_record_does_not_hold_is_left_out():
    few = {name: value for name, value in record().items() if name not in ("pictures", "scores")}
    page = imaging_page(few | {"quality": {}, "data": {}, "classifiers": {}, "generator": {}})
    assert [each.key for each in page.sections] == [
        *("summary", "tests", "assumptions", "provenance")
    ]


@pytest.mark.parametrize("render", [as_html, as_markdown], ids=["html", "markdown"])
def test_the_page_can_be_written(render):
    text = render(imaging_page(record()))
    for said in ("Films of a clinic", "effusion", "81.0%", "equal opportunity was not asked"):
        assert said in text


def test_names_that_somebody_else_chose_do_no_harm():
    hostile = record(
        title=HOSTILE,
        rows=[row(model=HOSTILE, finding=HOSTILE)],
        sentences=[HOSTILE],
        notes=[HOSTILE],
        scores=[record()["scores"][0] | {"model": HOSTILE}],
    )
    hostile["data"] = hostile["data"] | {"groups": {HOSTILE: 3}, "folder": HOSTILE}
    hostile["pictures"] = hostile["pictures"] | {"groups": [HOSTILE, "Black"]}
    page = as_html(imaging_page(hostile))
    assert "alert(1)" in page
    assert HOSTILE not in page


def test_another_record_is_refused():
    assert is_imaging_record(record())
    assert not is_imaging_record({"schema": "causalfairness.audit/1"})
    with pytest.raises(RecordError, match=r"its schema is 'causalfairness\.audit/1'"):
        imaging_page({"schema": "causalfairness.audit/1"})
    with pytest.raises(RecordError, match="lacks rows, notes"):
        imaging_page({k: v for k, v in record().items() if k not in ("rows", "notes")})


def test_one_door_writes_every_record(tmp_path):
    kept = tmp_path / "record.json"
    kept.write_text(json.dumps(record()), "utf-8")
    done = CliRunner().invoke(app, ["report", str(kept), "--html", str(tmp_path / "a.html")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "a.html").read_text("utf-8")
    assert page == report.render_html(record()) == as_html(imaging_page(record()))
    assert "Films of a clinic" in report.render_markdown(record())
    report.write_json(record(), tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text("utf-8")) == json.loads(kept.read_text())
