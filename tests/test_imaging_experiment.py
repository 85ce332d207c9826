"""Does the experiment run, stage by stage, wherever torch and MONAI are and nothing else is?"""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from benchmarks.imaging import panel
from benchmarks.imaging.__main__ import main
from benchmarks.imaging.world import CLOSE, belongs, look

from causalfairness.errors import CheckpointError
from causalfairness.imaging.generator import Walk, course
from causalfairness.imaging.simulator import anatomy, drawing, people
from causalfairness.imaging.stages import Settings

FEW = ["--people", "60", "--epochs", "1", "--count", "30", "--walk", "2", "--batch", "30"]
ALONE = """
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec

def find_few(name, path=None, target=None):
    return None if name.partition(".")[0] in MISSING else find(name, path, target)

PathFinder.find_spec = find_few
from benchmarks.imaging.__main__ import main
from causalfairness.imaging.stages import Settings
main(["--stage", "autoencoder", "--size", "32", "--steps", "1", "--device", "cpu", *sys.argv[1:]])
"""
MISSING = (
    *("scipy", "rich", "pandas", "polars", "sklearn", "narwhals", "pyarrow", "duckdb", "joblib"),
    *("matplotlib", "numba", "pydantic", "typer", "PIL", "pydicom"),
)


@pytest.fixture
def two_leanings(monkeypatch):
    """Of each reader two auditees instead of ten: what is measured of one is of any."""
    monkeypatch.setattr(panel, "LEANINGS", (0.0, 3.0))


def test_the_stages_run_one_after_the_other_and_resume(tmp_path, capsys, two_leanings):
    where = ["--size", "32", "--device", "cpu", "--folder", str(tmp_path)]
    learning = ["--stage", "autoencoder", "--steps", "15", *where]  # enough to make images
    main([*learning, "--seconds", "0"])
    assert "1 steps" in capsys.readouterr().out
    main([*learning, "--seconds", "0"])
    assert "2 steps" in capsys.readouterr().out
    main(learning)
    main(["--stage", "denoiser", "--steps", "3", *where])
    main(["--stage", "denoiser", "--variant", "paper", "--steps", "3", *where])
    main(["--stage", "evaluate", "--forms", "nothing,truth,ceiling,residual", *FEW, *where])
    main(["--stage", "pack", "--to", str(tmp_path / "packed"), *where])
    files = {file.name for file in tmp_path.iterdir()}
    assert {"autoencoder-32.pt", "denoiser-all-32.pt", "denoiser-paper-32.pt"} <= files
    assert {"map-32.pt", "denoiser-all-32.jsonl"} <= files
    found = json.loads((tmp_path / "quality-all-32.json").read_text())
    assert found.pop("autoencoder error")["without_noise"] > 0
    assert set(found) == {"all nothing", "all truth", "all ceiling", "all residual"}
    assert found["all nothing"]["score"]["ratio"] == 1.0
    assert found["all truth"]["truth"]["made"] == 0.0
    assert found["all residual"]["composition"][0] < 1e-4  # refined, so nothing moves


def test_what_was_measured_is_not_measured_again(tmp_path, two_leanings):
    path = tmp_path / "quality-all-32.json"
    walk = asdict(Walk(steps=2, refinement=2, batch=30))
    asked = {"count": 30, "strength": 1.0, "seed": 0, "walk": walk, "course": course()}
    known = {"settings": asked, "kept": True}
    path.write_text(json.dumps({"all nothing": known}))
    where = ["--size", "32", "--device", "cpu", "--folder", str(tmp_path)]
    main(["--stage", "evaluate", "--forms", "nothing", *FEW, *where])
    assert json.loads(path.read_text()) == {"all nothing": known}
    path.write_text(json.dumps({"all nothing": known | {"settings": asked | {"course": "-1.0"}}}))
    with pytest.raises(CheckpointError, match="course"):
        main(["--stage", "evaluate", "--forms", "nothing", *FEW, *where])


def test_a_stage_before_its_time_says_what_is_missing(tmp_path):
    with pytest.raises(
        CheckpointError, match=r"there is no checkpoint .*autoencoder-32\.pt; train"
    ):
        main(["--stage", "denoiser", "--size", "32", "--device", "cpu", "--folder", str(tmp_path)])


def test_it_runs_where_only_numpy_torch_monai_and_einops_are(tmp_path):
    code = ALONE.replace("MISSING", str(set(MISSING)))
    done = subprocess.run(
        [sys.executable, "-c", code, "--folder", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert done.returncode == 0, done.stderr
    assert "1 steps" in done.stdout


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (anatomy, "_TISSUE", (0.0, 0.14, -0.15)),
        (anatomy, "_EXPOSURE", (0.0, 0.08, -0.07)),
        (anatomy, "_TEXTURE", (0.0, 0.2, -0.3)),
        (anatomy, "_MARKER", (0.0, -1.1, 1.2)),
        (anatomy, "_calm", lambda normal: 0.9 * normal),
        (drawing, "_fading", lambda away: (-away).exp() * 0.98),
        (people, "_STEEPNESS", 1.0),
    ],
)
def test_films_that_are_drawn_otherwise_look_otherwise(monkeypatch, module, name, value):
    before = look()
    assert look() == before
    monkeypatch.setattr(module, name, value)
    assert max(abs(before[it] - now) for it, now in look().items()) > 20 * CLOSE


def test_networks_of_an_unknown_world_are_not_taken_up(tmp_path):
    (tmp_path / "autoencoder-32.pt").write_bytes(b"older")
    with pytest.raises(CheckpointError, match="does not say with which films they were trained"):
        belongs(Settings(tmp_path, size=32))
    assert not (tmp_path / "world.json").exists()


def test_another_processor_is_no_other_world(tmp_path):
    settings = Settings(tmp_path, size=32)
    path = belongs(settings)
    told = json.loads(path.read_text())
    for change, refused in ((0.5, False), (2.0, True)):
        told["look"]["brightness 1"] = look()["brightness 1"] + change * CLOSE
        path.write_text(json.dumps(told))
        if refused:
            with pytest.raises(CheckpointError, match="look is"):
                belongs(settings)
        else:
            assert json.loads(belongs(settings).read_text()) == told


@pytest.mark.parametrize(
    ("other", "said"), [(("--seed", "1"), "seed is 0, not 1"), ((), "look is")]
)
def test_a_folder_of_another_world_is_refused(tmp_path, monkeypatch, other, said):
    stage = ["--size", "32", "--device", "cpu", "--folder", str(tmp_path), "--steps", "1"]
    main(["--stage", "autoencoder", *stage])
    before = (tmp_path / "world.json").read_bytes()
    if not other:
        monkeypatch.setattr(anatomy, "_TISSUE", (0.0, 0.3, -0.3))
    with pytest.raises(CheckpointError, match=rf"world.json belongs to another .*{said}"):
        main(["--stage", "denoiser", *stage, *other])
    assert not (tmp_path / "denoiser-all-32.pt").exists()
    assert (tmp_path / "world.json").read_bytes() == before
    main(["--stage", "tables", *stage, *other])
