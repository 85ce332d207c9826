"""Do `imaging simulate` and `imaging train` write what they say, whole, and go on after a kill?"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from causalfairness.cli import app
from causalfairness.errors import EXTRAS
from causalfairness.imaging import checkpoints, making, training
from causalfairness.imaging.keeping import kept_generator
from causalfairness.imaging.readers import PlainFolder
from causalfairness.imaging.simulator import Simulator

torch.set_num_threads(1)  # the last bit of a sum depends on how many share it

PATIENCE = 240  # seconds
STEPS, LOGGED = 32, 10  # of every network, and how many of them make a line of the log
COMMAND = f"""
from causalfairness.imaging import training
training.LOG_EVERY = {LOGGED}
from causalfairness.cli import main
main()
"""


def run(*given, code=0):
    done = CliRunner().invoke(app, ["imaging", *map(str, given)], env={"COLUMNS": "100"})
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


def flat(text):
    return " ".join(text.replace("│", " ").split())


def start(*given):
    """The command in a process of its own, which can be killed."""
    command = [sys.executable, "-c", COMMAND, "imaging", *map(str, given)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, **quiet)


def kill_when(process, there):
    patience = time.monotonic() + PATIENCE
    while process.poll() is None and not there() and time.monotonic() < patience:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was finished before it could be killed"


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module", autouse=True)
def short():
    """A checkpoint and a line of the log for every ten steps, not 50, so that few steps are enough;
    and composition is measured on four people, not 16: the way to the noise takes seconds.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(training, "LOG_EVERY", LOGGED)
        patched.setattr(making, "CHECKED", 4)
        yield


@dataclass(frozen=True)
class Home:
    """Simulated films and a folder for what is made of them."""

    films: Path
    place: Path


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    place = tmp_path_factory.mktemp("imaging")
    run("simulate", place / "films", "--people", 120, "--size", 32, "--counterfactuals")
    return Home(place / "films", place)


def changed_table(home, place, old, new):
    """A copy of the films whose table says something else."""
    place.mkdir()
    for path in home.films.iterdir():
        (place / path.name).symlink_to(path)
    (place / "radiographs.csv").unlink()
    text = (home.films / "radiographs.csv").read_text("utf-8")
    assert old in text
    (place / "radiographs.csv").write_text(text.replace(old, new, 1), "utf-8")
    return place


def train(data, to, *more, code=0):
    given = ("--data", data, "--to", to, "--size", 32, "--device", "cpu")
    return run("train", *given, *more, code=code)


# --- simulate -------------------------------------------------------------------------------------


def test_what_is_written_is_what_was_simulated(home):
    films, drawn = PlainFolder(home.films, size=32), Simulator(size=32).draw(120, seed=0)
    assert (films.images() - drawn.images()).abs().max() <= 0.5001 / 65_535  # 16 bits
    for name in ("group", "age", "sex", "scanner", "findings"):
        assert torch.equal(getattr(films.parents, name), getattr(drawn.parents, name)), name
    assert films.groups == ("0", "1", "2")
    assert {*films.part} == {"train", "validate", "test"}
    assert len(set(films.patients)) == 120
    with Image.open(home.films / "images/00000.png") as picture:
        assert picture.mode == "I;16"


def test_counterfactual_files_are_the_true_ones(home):
    truth = Simulator(size=32).draw(120, seed=0).told(group=2).images()[7, 0]
    with Image.open(home.films / "counterfactuals/2/00007.png") as picture:
        stored = torch.from_numpy(np.asarray(picture, dtype=np.float32)) / 65_535
    assert (stored - truth).abs().max() <= 0.5001 / 65_535


def test_a_simulation_that_was_killed_ends_with_the_same_bytes(tmp_path):
    given = ("--people", 500, "--size", 64, "--seed", 3)
    process = start("simulate", tmp_path / "killed", *given)
    kill_when(process, lambda: (tmp_path / "killed/images/00130.png").exists())
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").rglob("0*.png")}
    assert not (tmp_path / "killed/radiographs.csv").exists()
    unfinished = run("train", "--data", tmp_path / "killed", "--to", tmp_path / "made", code=3)
    assert "There is no file" in unfinished.stderr
    done = run("simulate", tmp_path / "killed", *given)
    assert f"{500 - len(before)} films drawn, {len(before)} were there" in done.stdout
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())  # not drawn again
    run("simulate", tmp_path / "whole", *given)
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")


def test_a_folder_belongs_to_one_simulation(home, tmp_path):
    before = files_of(home.films)
    done = run("simulate", home.films, "--people", 120, "--size", 32, "--strength", 2, code=3)
    assert "strength is 1.0, not 2.0" in done.stderr
    assert "counterfactuals is True, not False" in done.stderr
    assert files_of(home.films) == before
    (tmp_path / "note.txt").write_text("mine")
    assert "holds other files" in run("simulate", tmp_path, code=3).stderr
    assert files_of(tmp_path) == {"note.txt": b"mine"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--size", 4), "16 to 2048 pixels"),
        (("--severity", -1), "severity=-1.0: expected a number from 0 up"),
        (("--strength", "inf"), "strength=inf"),
    ],
)
def test_a_world_that_cannot_be_drawn_is_refused(tmp_path, given, said):
    assert said in run("simulate", tmp_path / "films", *given, code=3).stderr
    assert not (tmp_path / "films").exists()


# --- train ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(home):
    """A small diffusion model, trained without a break."""
    done = train(home.films, home.place / "whole", "--steps", STEPS)
    return home.place / "whole", done.stdout


def test_training_learns_and_says_how_well(whole):
    folder, said = whole
    about = json.loads((folder / "generator.json").read_text("utf-8"))
    for network in ("autoencoder", "denoiser-all"):
        lines = (folder / f"training/{network}-32.jsonl").read_text("utf-8").splitlines()
        losses = [json.loads(line)["loss"] for line in lines]
        assert losses[-1] < 0.9 * losses[0]
    assert f"autoencoder: {STEPS} steps" in said
    assert "diffusion: composition" in said
    assert 0 <= about["composition"] < 0.001
    assert {path.name for path in folder.glob("*.pt")} == {"autoencoder-0.pt", "denoiser-0.pt"}


def test_training_that_was_killed_ends_with_the_same_generator(home, whole, tmp_path):
    given = ("--data", home.films, "--size", 32, "--device", "cpu", "--steps", STEPS)
    process = start("train", "--to", tmp_path / "made", *given)
    kill_when(process, lambda: (tmp_path / "made/training/denoiser-all-32.pt").exists())
    assert not (tmp_path / "made/generator.json").exists()
    assert "no generator" in audit_of(home, tmp_path / "made", code=3).stderr
    train(home.films, tmp_path / "made", "--steps", STEPS)
    check_same_generator(tmp_path / "made", whole[0])
    assert not list((tmp_path / "made").rglob("*.part"))


def audit_of(home, generator, code):
    given = ("--data", home.films, "--generator", generator, "--train-classifier", "small")
    return run("audit", *given, "--device", "cpu", code=code)


def check_same_generator(one, other):
    notes = [json.loads((folder / "generator.json").read_text("utf-8")) for folder in (one, other)]
    assert notes[0] == notes[1]
    for part in ("autoencoder", "denoiser"):
        plan = kept_generator(one).generator.configuration
        weights = [checkpoints.unpack(folder, name=part, plan=plan) for folder in (one, other)]
        assert weights[0].keys() == weights[1].keys()
        assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_time_that_is_up_is_no_end(home, tmp_path):
    given = ("--generator", "vae", "--steps", 3)
    done = train(home.films, tmp_path / "made", *given, "--seconds", 0, code=4)
    assert "1 steps" in done.stdout
    assert "call it again to go on" in done.stdout
    assert not (tmp_path / "made/generator.json").exists()
    train(home.films, tmp_path / "made", *given)
    train(home.films, tmp_path / "at once", *given)
    notes = [(tmp_path / name / "generator.json").read_bytes() for name in ("made", "at once")]
    assert notes[0] == notes[1]
    films = PlainFolder(home.films, size=32).take(slice(5))
    images = [
        kept_generator(tmp_path / name).generator.counterfactual(
            films.images(), films.parents, group=1
        )
        for name in ("made", "at once")
    ]
    assert torch.equal(*images)


def test_groups_have_names_and_may_be_more_than_three(home, tmp_path):
    data = tmp_path / "films"
    data.mkdir()
    (data / "images").symlink_to(home.films / "images")
    head, *lines = (home.films / "radiographs.csv").read_text("utf-8").splitlines()
    cells = [line.split(",") for line in lines]
    for row, line in enumerate(cells):
        line[3] = f"clinic {row % 5}"
    text = "\n".join([head, *map(",".join, cells)]) + "\n"
    (data / "radiographs.csv").write_text(text, "utf-8")
    train(data, tmp_path / "made", "--generator", "vae", "--steps", 2)
    kept = kept_generator(tmp_path / "made")
    assert kept.groups == tuple(f"clinic {number}" for number in range(5))
    films = PlainFolder(data, size=32, groups=kept.groups).take(slice(5))
    assert kept.generator.counterfactual(films.images(), films.parents, group=4).shape[0] == 5


def test_simulated_images_need_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = train("simulated", "made", "--generator", "gaussian")
    assert done.stdout.strip() == "gaussian: composition 0"
    assert kept_generator("made").groups == ("0", "1", "2")


def test_a_folder_belongs_to_one_training(home, whole, tmp_path):
    other = train(home.films, whole[0], "--steps", STEPS + 1, code=3).stderr
    assert f"belongs to another configuration: steps is {STEPS}, not {STEPS + 1}" in flat(other)
    assert (
        "kind is diffusion, not vae"
        in train(home.films, whole[0], "--steps", STEPS, "--generator", "vae", code=3).stderr
    )
    data = changed_table(home, tmp_path / "films", "train", "validate")
    assert "images is" in train(data, whole[0], "--steps", STEPS, code=3).stderr


# --- bad input ------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there_is_named(tmp_path):
    done = run("train", "--data", tmp_path / "nowhere", "--to", tmp_path / "made", code=2)
    assert "there is no folder" in flat(done.stderr)
    (tmp_path / "file").write_text("")
    assert "is a file" in flat(train("simulated", tmp_path / "file", code=2).stderr)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("images/00003.png", "images/none.png", "There is no image"),
        ("s00003,train,", "s00003,train,9", "LEFT OUT"),
        (",train,0,", ",train,,", "LEFT OUT"),
        ("s00001", "s00000", "about s00000"),
        (",0\n", ",2\n", "is '2'; expected 1, 0, -1 or nothing"),
        (",1,1,", ",1,Toshiba,", "The scanner of images/"),
        ("image,", "picture,", "has no column 'image'"),
    ],
)
def test_a_table_that_is_wrong_is_refused_in_words(home, tmp_path, old, new, said):
    data = changed_table(home, tmp_path / "films", old, new)
    if said == "LEFT OUT":
        films = PlainFolder(data, size=32, groups=("0", "1", "2"))
        assert films.account.kept == 119
        return
    assert said in flat(train(data, tmp_path / "made", "--generator", "gaussian", code=3).stderr)
    assert not (tmp_path / "made").exists()


def test_an_image_that_is_damaged_or_of_another_size_is_refused(home, tmp_path):
    data = changed_table(home, tmp_path / "films", "images/00003.png", "odd.png")
    (data / "odd.png").write_bytes((home.films / "images/00003.png").read_bytes()[:200])
    said = train(data, tmp_path / "made", "--generator", "gaussian", code=3).stderr
    assert "cannot be decoded" in flat(said)
    Image.new("L", (40, 32)).save(data / "odd.png")
    said = train(data, tmp_path / "made", "--generator", "gaussian", code=3).stderr
    assert "has 32 x 40 pixels; expected 32 x 32" in flat(said)
    assert "(--resize)" in said
    assert not (tmp_path / "made/generator.json").exists()
    assert PlainFolder(data, size=32, resize=True).images(slice(4)).shape == (4, 1, 32, 32)


def test_a_folder_where_nothing_was_learned_may_be_begun_again(home, tmp_path):
    data = changed_table(home, tmp_path / "films", "image,", "image,")
    few = (data / "radiographs.csv").read_text().splitlines()
    (data / "radiographs.csv").write_text("\n".join([few[0], *few[1:40]]))
    said = train(data, tmp_path / "made", "--generator", "gaussian", code=3).stderr
    assert "images; expected at least" in flat(said)
    run("simulate", tmp_path / "more", "--people", 700, "--size", 32)
    train(tmp_path / "more", tmp_path / "made", "--generator", "gaussian")
    train(home.films, tmp_path / "made", "--generator", "gaussian", code=3)


def test_a_generator_of_one_group_is_refused(home, tmp_path):
    rows = (home.films / "radiographs.csv").read_text().splitlines()
    alone = [row for row in rows[1:] if row.split(",")[3] == "1"]
    data = changed_table(home, tmp_path / "films", "image,", "image,")
    (data / "radiographs.csv").write_text("\n".join([rows[0], *alone]))
    said = flat(train(data, tmp_path / "made", "--generator", "vae", code=3).stderr)
    assert "Only 1 is in 'train', of the groups 1; a generator learns what a group looks" in said
    assert not (tmp_path / "made").exists()


def test_a_size_without_a_plan_and_a_device_that_is_not_there_are_refused(home, tmp_path):
    given = ("--data", home.films, "--to", tmp_path / "made")
    assert "no plan for images of 48 x 48" in run("train", *given, "--size", 48, code=3).stderr
    done = run("train", *given, "--size", 32, "--device", "abacus", code=3)
    assert "there is no device 'abacus'" in flat(done.stderr)
    assert not (tmp_path / "made").exists()


def test_without_the_extra_its_name_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "causalfairness.imaging.simulator", None)
    monkeypatch.setitem(EXTRAS, "imaging", ("causalfairness",))  # stands for torch, which is here
    done = run("simulate", tmp_path / "films", code=3)
    assert 'pip install "causalfairness[imaging]"' in flat(done.stderr)


@pytest.mark.parametrize("command", ["simulate", "chexpert", "mimic", "train", "audit"])
def test_help_shows_an_example_and_the_exit_codes(command):
    said = flat(run(command, "--help").stdout)
    assert f"causalfairness imaging {command} " in said
    assert "Exit codes: 0" in said
