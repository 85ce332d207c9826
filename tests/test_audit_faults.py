"""Does every call that opens, writes or moves a file fail by name, and leave no half file?

The calls are not listed: a first run counts them, and then each of them fails in turn, in the
middle of what it writes. The run after it finds the record of a run that was never disturbed.
"""

import builtins
import errno
import io
import json
import os

import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

from audit_studies import PREDICTED, people, without_timings
from causalfairness.cli import app

ANSWERED, NO_ANSWER = 0, 3
STUDY = {
    "data": "people.parquet",
    "roles": PREDICTED,
    "questions": [{"ask": "disparity", "judge": []}, {"ask": "group_metrics"}],
    "sensitivity": {"ask": False},
}


class Faults:
    """Counts calls about files of one folder, and lets one of them fail."""

    def __init__(self, home, at=None):
        self.home, self.at, self.count = str(home), at, 0

    def step(self, path):
        if not isinstance(path, int) and not os.fspath(path).startswith(self.home):
            return
        self.count += 1
        if self.count == self.at:
            code = (errno.ENOSPC, errno.EACCES, errno.EIO)[self.at % 3]
            raise OSError(code, os.strerror(code), path)

    def before(self, real, which=0):
        def call(*args, **more):
            self.step(args[which])
            return real(*args, **more)

        return call

    def opened(self, path, mode="r", *args, **more):
        self.step(path)
        file = REAL_OPEN(path, mode, *args, **more)
        return file if isinstance(path, int) or not {*mode} & {*"wax+"} else Written(file, self)


REAL_OPEN = builtins.open


class Written:
    """A file that is written to; half of a text may be in it when it fails."""

    def __init__(self, file, faults):
        self.file, self.faults = file, faults

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, content):
        self.file.write(content[: len(content) // 2])
        self.file.flush()
        self.faults.step(self.file.name)
        return self.file.write(content[len(content) // 2 :])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return without_timings(audited(home_in(tmp_path_factory.mktemp("undisturbed"))))


def home_in(place):
    parquet.write_table(people(240), place / "people.parquet")
    (place / "audit.json").write_text(json.dumps(STUDY), "utf-8")
    return place


def run(home):
    words = ["audit", home / "audit.json", "--folder", home / "kept"]
    words += ["--record", home / "record.json", "--report", home / "report.html"]
    return CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "100"})


def audited(home):
    done = run(home)
    assert done.exit_code == ANSWERED, done.output
    return json.loads((home / "record.json").read_text("utf-8"))


def disturbed(home, faults, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", faults.opened)
        patch.setattr(io, "open", faults.opened)
        for name in ("fsync", "mkdir", "scandir", "listdir"):
            patch.setattr(os, name, faults.before(getattr(os, name)))
        for name in ("replace", "rename"):
            patch.setattr(os, name, faults.before(getattr(os, name), which=1))
        return run(home)


def check_whole(home):
    """Every file is whole, and nothing else lies about."""
    for path in home.rglob("*"):
        if path.suffix == ".json":
            json.loads(path.read_text("utf-8"))
        elif path.suffix == ".html":
            assert path.read_text("utf-8").rstrip().endswith("</html>")
        else:
            assert path.is_dir() or path.name == "people.parquet", path.name


@pytest.mark.parametrize("again", [False, True])
def test_each_call_about_a_file_fails_by_name_and_the_next_run_ends_the_same(
    again, undisturbed, tmp_path, monkeypatch
):
    failed, at = 0, 0
    while True:
        at += 1
        (tmp_path / str(at)).mkdir()
        home = home_in(tmp_path / str(at))
        if again:  # what is kept is read, and the record and the page are there already
            audited(home)
            old = (home / "record.json").read_bytes()
        faults = Faults(home, at)
        done = disturbed(home, faults, monkeypatch)
        if faults.count < at:
            break
        said = " ".join(done.output.split())
        if done.exit_code != ANSWERED:  # a kept answer that cannot be read is asked again
            failed += 1
            assert done.exit_code == NO_ANSWER, said
            assert "error:" in said
            assert "defect" not in said
            assert "Traceback" not in said
            assert str(home) in "".join(done.output.split()) or "people.parquet" in said
        check_whole(home)
        if again and "record.json' is not written" in said:
            assert (home / "record.json").read_bytes() == old
        assert without_timings(audited(home)) == undisturbed
        check_whole(home)
    assert failed >= (8 if again else 16)
