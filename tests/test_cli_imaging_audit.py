"""Does `imaging audit` find what is there, resume, refuse bad input, and write a whole report?"""

import base64
import csv
import io
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from causalfairness.cli import app
from causalfairness.cli.imaging import audit as audit_command
from causalfairness.imaging import folder_audit, making
from causalfairness.imaging.analytic import fit_gaussian
from causalfairness.imaging.auditing import audit
from causalfairness.imaging.classifiers import training
from causalfairness.imaging.folder_audit import audit_folder
from causalfairness.imaging.keeping import kept_generator
from causalfairness.imaging.parents import FINDINGS
from causalfairness.imaging.pictures import examples
from causalfairness.imaging.readers import PlainFolder
from causalfairness.imaging.simulator import Simulator

torch.set_num_threads(1)

FIVE = "Cardiomegaly, Edema, Consolidation, Atelectasis, Pleural Effusion"
MODELS = '''
import torch


def leaning(images):
    """Reads soft tissue and exposure, which follow the group, and calls it five findings."""
    return images.mean((1, 2, 3))[:, None] + torch.linspace(0, 0.1, 5)


def blind(images):
    """A number for each image that has nothing to do with what is on it."""
    key = (images.double().sum((1, 2, 3)) * 7e5).sin()
    return torch.stack([torch.sin(9e3 * (place + 1) * key) for place in range(5)], 1)


def alone(images):
    return images.mean((1, 2, 3))


def broken(images):
    return images[:, 7]


def silent(images):
    return torch.full((len(images), 5), float("nan"))


def short(images):
    return torch.zeros(3, 5)


def wordy(images):
    return ["high"] * len(images)


def leaving(images):
    raise SystemExit(0)


def lost(images):
    raise FileNotFoundError(2, "No such file or directory", "weights.bin")


from causalfairness.imaging import small_network

word = "not a function"
ready, training = small_network().eval(), small_network()
'''


def run(*given, code=0):
    done = CliRunner().invoke(app, ["imaging", *map(str, given)], env={"COLUMNS": "100"})
    assert code is None or done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


def flat(text):
    return " ".join(text.replace("│", " ").split())


@dataclass(frozen=True)
class Home:
    """Films, a generator that was fitted to them, and classifiers in a module."""

    place: Path

    def audit(self, *more, data="films", generator="made", code=0):
        given = ("--data", self.place / data, "--generator", self.place / generator)
        return run("audit", *given, "--device", "cpu", *more, code=code)

    def asked(self, name, *more, **where):
        return self.audit("--classifier", f"film_readers:{name}", "--trust", *more, **where)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    place = tmp_path_factory.mktemp("imaging")
    run("simulate", place / "films", "--people", 900, "--size", 32, "--strength", 2)
    given = ("--data", place / "films", "--size", 32, "--to", place / "made")
    run("train", *given, "--generator", "gaussian")
    (place / "film_readers.py").write_text(MODELS, "utf-8")
    return Home(place)


@pytest.fixture(autouse=True)
def beside_the_models(home, monkeypatch):
    monkeypatch.chdir(home.place)
    yield
    sys.modules.pop("film_readers", None)


# --- the whole way --------------------------------------------------------------------------------


def test_simulate_train_audit_report(tmp_path, monkeypatch):
    """Every step with a network, as small as it can be."""
    monkeypatch.setattr(making, "CHECKED", 4)
    films, made = tmp_path / "films", tmp_path / "made"
    run("simulate", films, "--people", 700, "--size", 32, "--strength", 2)
    run("train", "--data", films, "--size", 32, "--to", made, "--steps", 12, "--device", "cpu")
    given = ("--data", films, "--generator", made, "--train-classifier", "small", "--epochs", 2)
    goals = ("--record", tmp_path / "record.json", "--report", tmp_path / "report.html")
    asked = (*given, *goals, "--dossiers", 4, "--device", "cpu", "--walk", 4)
    done = CliRunner().invoke(app, ["imaging", "audit", *map(str, asked)])
    assert done.exit_code in (0, 1), done.output
    record = json.loads((tmp_path / "record.json").read_text("utf-8"))
    assert [row["finding"] for row in record["rows"]][:2] == ["cardiomegaly", "edema"]
    assert record["generator"]["kind"] == "diffusion"
    assert record["settings"]["walk"] == 4
    assert record["quality"]["composition"] < 0.02
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("data:image/png;base64,") == 4 * (1 + 3 + 3)


def test_dependence_that_is_there_is_found_and_none_where_there_is_none(home):
    done = home.asked("leaning", code=1)
    assert "The scores of film_readers:leaning depend on the group beyond age, sex" in flat(
        done.stdout
    )
    record = json.loads(home.asked("leaning", "--json", code=1).stdout)
    assert all(row["rejected"] and row["statistic"] > 5 for row in record["rows"])
    assert all(row["agreement"] < 0.8 for row in record["rows"])
    none = flat(home.asked("blind", "--finding", FIVE).stdout)
    assert "are consistent with no dependence on the group" in none
    assert "True only if - nothing but age, sex, scanner and findings makes images" in none
    assert "Notes - equal opportunity was not asked for cardiomegaly: 7 people of group 2" in none


def test_notes_stand_under_their_own_heading(home):
    said = home.asked("alone", code=1).stdout
    head, notes = flat(said).split("Notes")
    assert "True only if" in head
    assert "equal opportunity was not asked" not in head
    assert "equal opportunity was not asked" in notes
    record = json.loads(home.asked("alone", "--json", code=1).stdout)
    assert {row["opportunity_n"] for row in record["rows"]} == {None}
    assert {row["opportunity_p_value"] for row in record["rows"]} == {None}


def test_the_record_is_written_though_nobody_reads_what_is_printed(home, tmp_path, monkeypatch):
    def closed(*_, **__):
        raise BrokenPipeError

    monkeypatch.setattr(audit_command, "_show", closed)
    goals = ("--record", tmp_path / "r.json", "--report", tmp_path / "r.html")
    given = ("--classifier", "film_readers:leaning", "--trust", *goals)
    CliRunner().invoke(app, _words(home, *given))
    assert len(json.loads((tmp_path / "r.json").read_text("utf-8"))["rows"]) == 5
    assert (tmp_path / "r.html").exists()


# --- whose films are audited ----------------------------------------------------------------------


def test_people_that_the_generator_learned_from_are_not_audited(home):
    done = home.asked("leaning", "--part", "train", code=3)
    assert "The generator learned from 706 of the 706 films" in flat(done.stderr)
    assert "Audit another part, such as 'test'" in flat(done.stderr)


def test_other_films_may_be_audited_whatever_their_part_is_called(home, tmp_path):
    run("simulate", tmp_path / "new", "--people", 200, "--size", 32, "--strength", 2, "--seed", 5)
    reader = ("--classifier", "film_readers:leaning", "--trust")
    home.audit(*reader, "--part", "train", data=tmp_path / "new", code=1)


def test_the_split_is_that_of_the_generator_whatever_the_seed_of_the_audit(home, tmp_path):
    films, made = tmp_path / "films", tmp_path / "made"
    shutil.copytree(home.place / "films", films)
    rows = _table(films)
    _write_table(films, [{k: v for k, v in row.items() if k != "split"} for row in rows])
    given = ("--data", films, "--size", 32, "--to", made, "--generator", "gaussian")
    run("train", *given, "--seed", 3)
    learned = set(PlainFolder(films, size=32).split(seed=3)["train"].patients)
    expected = PlainFolder(films, size=32).split(seed=3)["test"]
    readers = {"bright": lambda images: images.mean((1, 2, 3))}
    for seed in (0, 8):
        audited = audit_folder(films, made, classifiers=readers, seed=seed).audit
        assert np.array_equal(audited.generated.own, expected.parents.group.numpy())
        assert audited.generated.original[:, 0, 0] == pytest.approx(
            expected.images().mean((1, 2, 3)).double().numpy()
        )
    assert not learned & set(expected.patients)


def test_one_film_of_each_person_is_audited_and_the_others_are_counted(home, tmp_path):
    films = tmp_path / "films"
    shutil.copytree(home.place / "films", films)
    rows = _table(films)
    people = [row for row in rows if row["split"] == "test"]
    more = [row | {"image": f"again-{number}.png"} for number, row in enumerate(people[:25])]
    for row, old in zip(more, people, strict=False):
        shutil.copy(films / old["image"], films / row["image"])
    _write_table(films, [*rows, *more])
    readers = {"bright": lambda images: images.mean((1, 2, 3))}
    found = audit_folder(films, home.place / "made", classifiers=readers)
    data = found.record["data"]
    assert data["images"] == data["people"] == len(people)
    assert data["left_out"] == {"further films of a person": 25}
    before = audit_folder(home.place / "films", home.place / "made", classifiers=readers)
    assert np.array_equal(found.audit.log_p_value, before.audit.log_p_value)
    assert before.record["data"]["left_out"] == {}


def _table(folder):
    with (folder / "radiographs.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _write_table(folder, rows):
    with (folder / "radiographs.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


# --- what is written ------------------------------------------------------------------------------


def test_the_record_is_that_of_the_library(home, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(home.place)
    from film_readers import leaning

    home.asked("leaning", "--record", tmp_path / "r.json", "--title", "Films", code=1)
    found = audit_folder(
        home.place / "films",
        home.place / "made",
        classifiers={"film_readers:leaning": leaning},
        title="Films",
    )
    assert json.loads((tmp_path / "r.json").read_text("utf-8")) == found.record
    data = found.record["data"]
    assert data["part"] == "test"
    assert sum(data["groups"].values()) == data["images"] == data["people"]
    assert data["folder"] == "films"  # and not where it lies


def test_a_trained_network_is_trained_once_and_scores_are_kept(home, tmp_path, monkeypatch):
    given = ("--train-classifier", "small", "--epochs", 1, "--folder", tmp_path / "kept")
    first = CliRunner().invoke(app, _words(home, *given, "--json"))
    assert first.exit_code in (0, 1), first.output
    kept = {path.name for path in (tmp_path / "kept").rglob("*.pt")}
    assert "classifier-small.pt" in kept
    assert len(kept) > 1
    monkeypatch.setattr(training, "fit_classifier", lambda *_, **__: pytest.fail("trained again"))
    again = CliRunner().invoke(app, _words(home, *given, "--json"))
    assert json.loads(again.stdout) == json.loads(first.stdout)
    other = home.audit(*given[:2], "--epochs", 2, *given[4:], code=3)
    assert "belongs to another configuration: epochs is 1, not 2" in flat(other.stderr)


def plain_rounds(image, guess, *, rounds):
    for _ in range(rounds):
        guess = image(guess)
    return guess


@pytest.mark.parametrize(
    ("where", "other"),
    [
        ("causalfairness.imaging.sampler.SPREAD", (0.01, 50.0)),
        ("causalfairness.imaging.sampler._fixed_point", plain_rounds),
        ("causalfairness.imaging.generator.Walk.refinement", 3),
    ],
)
def test_scores_of_walks_that_went_elsewhere_are_refused(home, tmp_path, monkeypatch, where, other):
    home.asked("leaning", "--folder", tmp_path / "kept", code=1)
    monkeypatch.setattr(where, other)
    refused = home.asked("leaning", "--folder", tmp_path / "kept", code=3)
    assert "belongs to another configuration: stamp" in flat(refused.stderr)


def _words(home, *more):
    given = ("imaging", "audit", "--data", home.place / "films", "--generator", home.place / "made")
    return [*map(str, (*given, "--device", "cpu", *more))]


def test_an_audit_that_is_stopped_leaves_no_report_and_goes_on(home, tmp_path, monkeypatch):
    goals = ("--folder", tmp_path / "kept", "--record", tmp_path / "r.json", "--batch", 16)
    with monkeypatch.context() as patched:
        patched.setattr(folder_audit, "record_of", _stopped)
        home.asked("leaning", *goals, code=70)
    assert not (tmp_path / "r.json").exists()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.pt")}
    assert len(before) > 2
    home.asked("leaning", *goals, code=1)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    home.asked("leaning", "--record", tmp_path / "whole.json", "--batch", 16, code=1)
    assert (tmp_path / "r.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def _stopped(*_, **__):
    raise AssertionError("the machine went away")


# --- what it is made of ---------------------------------------------------------------------------


def test_a_generator_learns_from_the_part_train_alone(home):
    train = PlainFolder(home.place / "films", size=32).published_split()["train"]
    expected = fit_gaussian(train.images(), train.parents, components=40)
    found = kept_generator(home.place / "made").generator
    assert torch.equal(found.center, expected.center)
    assert all(torch.equal(found.coefficients[a], expected.coefficients[a]) for a in range(3))


class Brighter:
    """Group 1 is brighter by 0.09, group 2 darker."""

    def counterfactual(self, images, parents, *, group):
        return images + torch.tensor([0.0, 0.09, -0.09])[group].reshape(-1, 1, 1, 1)


def test_pictures_show_brighter_in_red_and_darker_in_blue():
    films = Simulator(size=32).draw(20, seed=0)
    found = examples(
        films.images(), films.parents, generator=Brighter(), groups=("a", "b", "c"), count=5
    )
    assert found["factor"] == 10  # 20 times 0.09 is off the scale
    assert [person["group"] for person in found["people"]] == ["a", "b", "c", "a", "b"]
    same, more, less = (colors(file) for file in found["people"][0]["differences"])
    assert len(np.unique(same)) == 1
    assert (more[..., 0] > more[..., 2]).all()
    assert (less[..., 0] < less[..., 2]).all()
    row = int((films.parents.group == 0).nonzero()[0])
    shown = colors(found["people"][0]["factual"]) / 255
    assert np.abs(shown - films.images()[row, 0].numpy()).max() <= 0.5001 / 255


def colors(file):
    with Image.open(io.BytesIO(base64.b64decode(file))) as picture:
        return np.asarray(picture).astype(float)


def test_nobody_is_shown_unless_asked_for(home, tmp_path):
    """Neither scores nor images: a page of a hospital's films would show its patients."""
    page = tmp_path / "r.html"
    asked = ("leaning", "--json", "--finding", FIVE, "--report", page)
    record = json.loads(home.asked(*asked, code=1).stdout)
    assert record["scores"] == []
    assert record["pictures"] == {}
    assert "nothing is said about single people" in page.read_text("utf-8")
    assert "data:image/png" not in page.read_text("utf-8")
    shown = json.loads(home.asked(*asked, "--dossiers", 3, "--listed", 5, code=1).stdout)
    assert len(shown["pictures"]["people"]) == 3
    assert {plot["people"] for plot in shown["scores"]} == {5}
    assert "scores of 5; images, group and age of 3" in page.read_text("utf-8")


def test_the_order_of_a_table_of_films_does_not_matter(home, tmp_path):
    """Nor that of the films in an array: folds and draws belong to people."""
    turned = copied(home, tmp_path / "films", lambda row: row)
    head, *rows = (turned / "radiographs.csv").read_text("utf-8").splitlines()
    (turned / "radiographs.csv").write_text("\n".join([head, *rows[::-1]]) + "\n", "utf-8")
    asked = ("leaning", "--json", "--method", "randomization", "--draws", 99, "--finding", FIVE)
    plain = json.loads(home.asked(*asked, code=1).stdout)
    other = json.loads(home.asked(*asked, data=turned, code=1).stdout)
    assert other == plain
    films = Simulator(size=16).draw(150, seed=3)
    rows = torch.randperm(150, generator=torch.Generator().manual_seed(0))
    images, parents = films.images(), films.parents
    generator, asked = Brighter(), {"method": "randomization", "draws": 99}
    first = audit(alone, images, parents, generator=generator, **asked)
    again = audit(alone, images[rows], parents.take(rows), generator=generator, **asked)
    assert again.table().to_records() == [
        pytest.approx(row, abs=1e-9) for row in first.table().to_records()
    ]


def alone(images):
    return images.mean((1, 2, 3))


def test_findings_of_a_small_group_are_not_told():
    shares = folder_audit._shares(("a", "b", "c"), (90, 3, 12), (0.2, 1.0, float("nan")))
    assert shares == {"a": 0.2, "b": None, "c": None}


def test_points_are_those_of_other_groups(home):
    asked = ("leaning", "--json", "--finding", FIVE, "--listed", 10_000)
    record = json.loads(home.asked(*asked, code=1).stdout)
    plot = record["scores"][0]
    assert len(plot["x"]) == len(plot["y"]) == 2 * record["data"]["images"]
    assert np.abs(np.subtract(plot["x"], plot["y"])).min() > 0  # not the own group
    assert all(
        area is not None for area in next(iter(record["classifiers"].values()))["auc"].values()
    )


# --- whom the generator learned from --------------------------------------------------------------


def copied(home, place, change):
    """The same films in a folder whose table says something else."""
    place.mkdir()
    (place / "images").symlink_to(home.place / "films/images")
    rows = list(csv.reader(io.StringIO((home.place / "films/radiographs.csv").read_text())))
    with (place / "radiographs.csv").open("w", newline="") as file:
        csv.writer(file).writerows([rows[0], *(change(list(row)) for row in rows[1:])])
    return place


def swapped(row):
    row[2] = {"train": "test", "test": "train"}.get(row[2], row[2])
    return row


def relabeled(row):
    row[-1] = "1"
    return row


def renamed(row):
    row[1] = f"someone-{row[1]}"
    return swapped(row)


@pytest.mark.parametrize(
    ("change", "part"), [(swapped, "test"), (relabeled, "train"), (renamed, "test")]
)
def test_those_whom_the_generator_learned_from_are_known_again(home, tmp_path, change, part):
    data = copied(home, tmp_path / "films", change)
    said = home.asked("leaning", "--part", part, data=data, code=3).stderr
    with (home.place / "films/radiographs.csv").open() as file:
        count = sum(row["split"] == "train" for row in csv.DictReader(file))
    assert f"The generator learned from {count} of the {count} films" in flat(said)


def test_other_people_of_the_same_films_may_be_audited(home, tmp_path):
    data = copied(home, tmp_path / "films", relabeled)
    home.asked("leaning", data=data, code=1)


def test_another_film_of_somebody_it_learned_from_is_refused(home, tmp_path):
    rows = {}
    with (home.place / "films/radiographs.csv").open() as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["split"], []).append(row)
    learned, tested = rows["train"][0], rows["test"][0]

    def same_person(row):
        if row[0] == tested["image"]:
            return [row[0], learned["person"], "test", learned["group"], *row[4:]]
        return row if row[1] != learned["person"] else [row[0], "another", *row[2:]]

    data = copied(home, tmp_path / "films", same_person)
    said = flat(home.asked("leaning", data=data, code=3).stderr)
    assert "learned from other films of 1 of the people who were to be audited, such as" in said
    assert repr(learned["person"]) in said


def test_people_of_another_collection_may_have_the_same_names(home, tmp_path):
    run("simulate", tmp_path / "films", "--people", 900, "--size", 32, "--strength", 2, "--seed", 1)
    said = flat(home.asked("leaning", data=tmp_path / "films", code=1).stdout)
    assert "have names that people have from whom the generator learned, in another folder" in said


def test_names_of_the_same_collection_are_those_of_the_same_people(home, tmp_path):
    run("simulate", tmp_path / "films", "--people", 900, "--size", 32, "--strength", 2, "--seed", 1)
    origin = {"origin": {"collection": "Here"}, "left out": {}}
    (tmp_path / "films/origin.json").write_text(json.dumps(origin))
    shutil.copytree(home.place / "made", tmp_path / "made")
    told = json.loads((tmp_path / "made/learned.json").read_text())
    (tmp_path / "made/learned.json").write_text(json.dumps(told | {"collection": "Here"}))
    where = {"data": tmp_path / "films", "generator": tmp_path / "made"}
    said = flat(home.asked("leaning", **where, code=3).stderr)
    assert "learned from other films of" in said
    assert not set(told["people"]) & {f"s{row:05d}" for row in range(900)}  # keys, no names


def test_a_generator_that_does_not_say_whom_it_learned_from_is_refused(home, tmp_path):
    shutil.copytree(home.place / "made", tmp_path / "made")
    (tmp_path / "made/learned.json").unlink()
    said = flat(home.asked("leaning", generator=tmp_path / "made", code=3).stderr)
    assert "learned.json does not say whom the generator learned from" in said


def test_a_list_of_those_learned_from_that_is_damaged_is_refused(home, tmp_path):
    shutil.copytree(home.place / "made", tmp_path / "made")
    (tmp_path / "made/learned.json").write_text('{"films": []}')
    said = flat(home.asked("leaning", generator=tmp_path / "made", code=3).stderr)
    assert "learned.json does not say whom the generator learned from" in said


# --- what is said ---------------------------------------------------------------------------------


def test_who_is_left_out_and_which_group_is_missing_is_said(home, tmp_path):
    data = copied(
        home, tmp_path / "films", lambda row: [*row[:3], "9" if row[3] == "2" else row[3], *row[4:]]
    )
    said = flat(home.asked("leaning", data=data, code=1).stdout)
    assert "left out:" in said
    assert "group outside the groups" in said
    assert "the generator knows the group 2; nobody audited is of it" in said


def test_groups_that_the_generator_does_not_know_are_named(home, tmp_path):
    data = copied(home, tmp_path / "films", lambda row: [*row[:3], f"g{row[3]}", *row[4:]])
    said = flat(home.asked("leaning", data=data, code=3).stderr)
    assert "is of the groups '0', '1', '2'; it has the groups 'g0', 'g1', 'g2'" in said


def test_outputs_that_nobody_named_are_not_compared_with_labels(home):
    said = flat(home.asked("leaning", code=1).stdout)
    assert "output 1" in said
    assert "Name what the outputs are (--finding), as the images do: cardiomegaly, edema" in said
    named = json.loads(home.asked("leaning", "--finding", FIVE, "--json", code=1).stdout)
    assert [row["finding"] for row in named["rows"]] == list(FINDINGS)
    some = ("--finding", "edema,nodule", "--finding", "Edema of the leg, a, b")
    some = json.loads(home.asked("leaning", *some, "--json", code=1).stdout)
    assert list(next(iter(some["classifiers"].values()))["auc"]) == ["edema"]
    said = home.asked("leaning", "--finding", "edema", code=3).stderr
    assert "1 findings are named (edema); classifiers return 5" in flat(said)


def test_a_named_network_is_asked_as_it_is(home):
    record = json.loads(home.asked("ready", "--json", code=None).stdout)
    assert [row["finding"] for row in record["rows"]] == list(FINDINGS)
    said = flat(home.asked("training", code=3).stderr)
    assert "film_readers:training is a network in training mode" in said


def test_scores_of_another_generator_are_told_apart_in_few_words(home, tmp_path):
    home.asked("leaning", "--folder", tmp_path / "kept", code=1)
    shutil.copytree(home.place / "made", tmp_path / "other")
    about = json.loads((tmp_path / "other/generator.json").read_text())
    (tmp_path / "other/generator.json").write_text(json.dumps(about | {"composition": 0.5}))
    more = ("--folder", tmp_path / "kept")
    said = flat(home.asked("leaning", *more, generator=tmp_path / "other", code=3).stderr)
    assert "belongs to another configuration: stamp is gaussian generator" in said
    assert len(said) < 400


# --- bad input ------------------------------------------------------------------------------------


def test_a_function_is_not_run_without_trust(home, tmp_path):
    goal = tmp_path / "r.json"
    given = ("--classifier", "film_readers:leaning", "--record", goal)
    assert "say so with --trust" in flat(home.audit(*given, code=3).stderr)
    assert "film_readers" not in sys.modules
    assert not goal.exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", "the classifier 'film_readers:broken' failed on images of the shape (64, 1, 32"),
        ("silent", "returned a score that is not a number"),
        ("short", "returned the shape (3, 5) for 64 images"),
        ("wordy", "film_readers:wordy returned list, no numbers"),
        ("lost", "the classifier 'film_readers:lost' failed on images of the shape (64, 1, 32"),
        (
            "leaving",
            "the classifier 'film_readers:leaving' failed on images of the shape (64, 1, 32",
        ),
        ("word", "is a str, no function"),
        ("absent", "cannot be loaded: AttributeError"),
    ],
)
def test_a_classifier_that_fails_is_named(home, tmp_path, name, said):
    goal = tmp_path / "report.html"
    assert said in flat(home.asked(name, "--report", goal, code=3).stderr)
    assert not goal.exists()


def test_what_cannot_be_audited_is_refused(home, tmp_path):
    assert "name what is audited" in flat(home.audit(code=2).stderr)
    assert "there is no network 'tall'" in home.audit("--train-classifier", "tall", code=3).stderr
    nobody = home.asked("leaning", "--part", "holdout", code=3)
    assert "Nobody is in the part 'holdout'" in flat(nobody.stderr)
    goal = home.asked("leaning", "--report", tmp_path / "report.pdf", code=2)
    assert "expected .html" in flat(goal.stderr)
    (tmp_path / "folder").mkdir()
    given = ("--data", home.place / "films", "--generator", tmp_path / "folder")
    none = run("audit", *given, "--train-classifier", "small", code=3)
    assert "there is no generator in" in flat(none.stderr)


def test_a_generator_of_another_configuration_is_refused(home, tmp_path):
    made = home.place / "other"
    made.mkdir()
    for path in (home.place / "made").glob("*.pt"):
        (made / path.name).write_bytes(path.read_bytes())
    about = json.loads((home.place / "made/generator.json").read_text("utf-8"))
    (made / "generator.json").write_text(json.dumps(about | {"components": 7}), "utf-8")
    done = home.audit("--train-classifier", "small", generator="other", code=3)
    assert "components is 40, not 7" in flat(done.stderr)
    (made / "generator.json").write_text("{}", "utf-8")
    done = home.audit("--train-classifier", "small", generator="other", code=3)
    assert "does not say what the generator is" in flat(done.stderr)


def test_films_of_another_size_are_refused_or_resized_when_told(home, tmp_path):
    run("simulate", tmp_path / "large", "--people", 900, "--size", 48, "--strength", 2)
    given = ("--data", tmp_path / "large", "--generator", home.place / "made", "--device", "cpu")
    reader = ("--classifier", "film_readers:leaning", "--trust")
    done = run("audit", *given, *reader, code=3)
    assert "has 48 x 48 pixels; expected 32 x 32" in flat(done.stderr)
    run("audit", *given, *reader, "--resize", code=1)
