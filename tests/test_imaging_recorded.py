"""Can the recorded tables be made again, and are they those of what was measured?"""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.imaging import __main__ as experiment
from benchmarks.imaging.films import SHOWN, draw_films
from benchmarks.imaging.recorded import PARTS, run_parts
from benchmarks.imaging.tables import tables
from PIL import Image

from causalfairness.imaging.generator import Walk
from causalfairness.imaging.pictures import NONE
from causalfairness.imaging.stages import VARIANTS, Settings

DOCS = Path(__file__).parents[1] / "docs"
ENTRY = {
    "settings": {"count": 1000},
    "composition": [0.0041],
    "reversibility": [0.0142],
    "effectiveness": 0.985,
    "largest_drift": ["edema", -0.0123],
    "truth": {"ratio": 0.181},
    "score": {"ratio": 0.2345},
    "agreement": {"of_auditees": 0.0099},
    "realism": {"distance": 0.0005, "floor": 0.0004},
}


def test_every_recorded_run_can_be_asked_for():
    parse = experiment._parser().parse_args
    asked = [parse(line.split()) for lines in PARTS.values() for line in lines]
    assert {given.stage for given in asked} <= set(experiment._STAGES)
    assert {given.variant for given in asked} == set(VARIANTS)


def test_what_is_audited_was_read_in_the_same_way():
    for part in ("audits", "large_audits"):
        read, audited = (line.split()[2:] for line in PARTS[part])
        assert read == audited


def test_small_films_are_asked_for_by_name_alone():
    parse = experiment._parser().parse_args
    assert "small" not in parse(["--stage", "everything"]).parts
    assert parse(["--stage", "everything", "--parts", "small"]).parts == ["small"]
    small = [parse(line.split()) for line in PARTS["small"]]
    assert {given.size for given in small} == {32}
    trained = {given.variant for given in small if given.stage == "denoiser"}
    assert trained == set(VARIANTS) - {"control"}  # all are trained alike: it would be `all`
    assert len({given.steps for given in small if given.stage == "denoiser"}) == 1
    read, audited = (line.split()[2:] for line in PARTS["small"][-2:])
    assert read == audited


def test_everything_runs_in_order_until_the_time_is_up(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    seen = []

    def run(given):
        seen.append(given)
        now[0] += 100.0

    said = run_parts(run, parts=["generator", "audits"], common=["--x"], seconds=250)
    assert [given[1] for given in seen] == ["autoencoder", "denoiser", "evaluate"]
    assert [given[-3:] for given in seen] == [
        ["--x", "--seconds", left] for left in ("250", "150", "50")
    ]
    assert said.startswith("time was up at `--stage evaluate")
    assert "of generator; give the same command again" in said
    assert run_parts(run, parts=["speed"], seconds=1_000) == "all of it is there: speed"


def test_what_was_cut_at_the_very_end_is_not_called_done(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def run(given):
        now[0] += 100.0

    said = run_parts(run, parts=["guidance"], seconds=100)
    assert said.startswith("time was up at")


def test_everything_is_a_stage_that_says_what_it_ran_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(PARTS, "speed", ("--stage speed --size 32 --repeats 1",))
    where = ["--folder", str(tmp_path), "--device", "cpu"]
    experiment.main(["--stage", "everything", "--parts", "speed", *where])
    assert "all of it is there: speed" in capsys.readouterr().out
    assert set(json.loads((tmp_path / "machine.json").read_text())) == {"device", "torch", "monai"}
    experiment.main(["--stage", "tables", *where])
    shown = capsys.readouterr().out
    assert shown.startswith("### Speed\n\n| size | what | ms |")
    assert "| 32 | simulator |" in shown


@pytest.mark.parametrize(("form", "like"), [("truth", 2), ("nothing", 0)])
def test_a_picture_shows_film_made_true_and_what_is_left(tmp_path, form, like):
    path = draw_films(Settings(tmp_path, size=32), form=form, walk=Walk())
    with Image.open(path) as picture:
        pixels = np.asarray(picture).reshape(SHOWN * 32, 4, 32, 3)
    assert (pixels[:, 1] == pixels[:, like]).all()
    assert (pixels[:, 0] != pixels[:, 2]).any()
    unchanged = (pixels[:, 3] == NONE).all()
    assert unchanged == (form == "truth")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("everything --parts speed,everyone", "no part is named everyone; there are generator, a"),
        ("evaluate --forms truth,lies", "no form is named lies; there are nothing, truth, "),
        ("films --made truth,lies", "no form is named lies; there are nothing, truth, "),
    ],
)
def test_what_nobody_knows_is_named(given, said, capsys):
    with pytest.raises(SystemExit):
        experiment.main(["--stage", *given.split()])
    assert said in capsys.readouterr().err


def test_a_table_shows_what_was_measured(tmp_path):
    found = {"all residual": ENTRY, "all decode": ENTRY | {"effectiveness": 0.5}}
    (tmp_path / "quality-all-128.json").write_text(json.dumps(found))
    (tmp_path / "quality-mine-256.json").write_text(json.dumps({"mine residual": ENTRY}))
    (tmp_path / "quality-group-256.json").write_text(json.dumps({"group residual": ENTRY}))
    for variant, steps in (("all", 40), ("mine", 20), ("group", 40)):
        line = {"step": steps, "loss": 0.1, "seconds": 1.0}
        (tmp_path / f"denoiser-{variant}-256.jsonl").write_text(json.dumps(line))
    shown = tables(tmp_path).splitlines()
    figures = "0.0041 | 0.0142 | {} | -0.012 edema | 0.18x | 0.234x | 0.0099 | 0.0005 (0.0004) |"
    residual = "x + D(z') - D(z) | 1,000 | "
    assert shown[4:8] == [
        f"| 128 | {residual}{figures.format('0.985')}",
        f"| 128 | D(z'), the published form | 1,000 | {figures.format('0.500')}",
        f"| 256 | group alone: {residual}{figures.format('0.985')}",
        f"| 256 | fewer steps, MINE map: {residual}{figures.format('0.985')}",
    ]


@pytest.mark.parametrize("run", ["imaging", "imaging-small", "imaging-strong-arrows"])
def test_the_page_shows_the_recorded_runs(run):
    page = (DOCS / "imaging.md").read_text("utf-8")
    recorded = [part.partition("\n\n") for part in tables(DOCS / "recorded" / run).split("### ")]
    shown = {head: table.strip() for head, _, table in recorded if head}
    assert {"Images", "Training"} <= set(shown)
    for head, table in shown.items():
        assert table in page, head


def test_levels_powers_and_speeds_are_recorded():
    shown = tables(DOCS / "recorded" / "imaging")
    assert all(f"### {head}" in shown for head in ("Images", "Audits", "Power", "Speed"))
