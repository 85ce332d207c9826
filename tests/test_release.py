"""Does `make release` check what is promised, stop where a check fails, and publish nothing?

What the checks ask of an installed distribution is run for real with the wheel of `test_project`.
"""

import re
import sys
from pathlib import Path

import pytest
from tools import release

import causalfairness as cf

VERSION = cf.__version__
PLACES = ("pyproject.toml", "src/causalfairness/__init__.py", "CITATION.cff", "CHANGELOG.md")


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """The commands of a release, which are written down and not run; what they would leave is."""
    said = []

    def run(command, folder):
        said.append(command)
        if "build" in command:
            release.DIST.mkdir()
            for name in ("causalfairness.whl", "causalfairness.tar.gz"):
                (release.DIST / name).touch()
        if "decompose" in command:
            (folder / "report.html").touch()
        return f"causalfairness {VERSION}"

    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    monkeypatch.setattr(release, "run", run)
    monkeypatch.setattr(release.venv, "create", lambda folder: said.append(["venv", folder]))
    return said


def test_the_makefile_calls_it():
    makefile = (release.PROJECT / "Makefile").read_text("utf-8")
    assert re.search(r"^release:.*\n\t\S*/bin/python tools/release\.py$", makefile, re.MULTILINE)


def test_every_place_names_the_same_version():
    assert release.agreed_version() == VERSION


@pytest.mark.parametrize("place", PLACES)
def test_a_place_that_names_another_version_is_refused(place, monkeypatch, tmp_path, capsys):
    for each in PLACES:
        goal = tmp_path / each
        goal.parent.mkdir(parents=True, exist_ok=True)
        text = release.text_of(each)
        goal.write_text(text.replace(VERSION, "9.9.9") if each == place else text, "utf-8")
    monkeypatch.setattr(release, "PROJECT", tmp_path)
    assert release.main() == 1
    assert f"9.9.9 in {place}" in capsys.readouterr().err


def test_both_are_built_checked_and_asked_in_environments_of_their_own(commands, capsys):
    assert release.main() == 0
    build, check, *asked = commands
    assert build[1:] == ["-m", "build", "--outdir", str(release.DIST)]  # source, and a wheel of it
    built = [str(release.DIST / name) for name in ("causalfairness.tar.gz", "causalfairness.whl")]
    assert check[1:] == ["-m", "twine", "check", "--strict", *built]
    each = len(asked) // 2
    for name, (made, install, agree, *checks, version) in zip(
        built, (asked[:each], asked[each:]), strict=True
    ):
        assert made[0] == "venv"
        assert install[-1] == name  # and no extra
        assert install[:-4] == agree[:-1] == release.pip_of(checks[0][0])
        assert agree[-1] == "check"
        assert [command[1:] for command in checks] == [list(check) for check in release.CHECKS]
        assert version[-1] == "--version"
        assert {command[0] for command in (*checks, version)}.isdisjoint({sys.executable})
    assert asked[0][1] != asked[each][1]
    printed = capsys.readouterr().out
    assert printed.count("works in an empty environment without extras") == 2
    for left in ("CHANGELOG.md", "CITATION.cff", f"git tag --annotate v{VERSION}", "twine upload"):
        assert left in printed


def test_nothing_is_tagged_or_uploaded_and_no_host_is_named(commands):
    release.main()
    assert not {"git", "upload", "tag"} & {
        word for command in commands for word in map(str, command)
    }
    text = Path(release.__file__).read_text("utf-8")
    assert not re.search(r"https?://|\bpypi\b|\w\.(org|com|io)\b", text, re.IGNORECASE)


def test_a_check_that_fails_stops_it(commands, monkeypatch, capsys):
    def fail(command, folder):
        raise release.ReleaseError("it does not build")

    monkeypatch.setattr(release, "run", fail)
    assert release.main() == 1
    assert capsys.readouterr().err == "it does not build\n"


def test_what_a_failed_command_said_is_shown(tmp_path):
    with pytest.raises(release.ReleaseError, match=r"failed:\nout\nerr"):
        release.run([sys.executable, "-c", "print('out'); exit('err')"], tmp_path)


@pytest.mark.parametrize("wrong", ["version", "report"])
def test_a_distribution_that_does_not_do_what_it_should_is_refused(wrong, commands, monkeypatch):
    run = release.run

    def poorly(command, folder):
        said = run(command, folder)
        if wrong == "report":
            (folder / "report.html").unlink(missing_ok=True)
        return "causalfairness 0.0" if wrong == "version" else said

    monkeypatch.setattr(release, "run", poorly)
    with pytest.raises(release.ReleaseError, match=r"calls itself 0\.0|wrote no report"):
        release.check_installed("some.whl", VERSION)
