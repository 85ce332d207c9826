"""Are source distribution and wheel fit to be published? `make release` builds and checks both.

    python tools/release.py

Builds them into `dist`, checks what an index would read of them, installs each into an empty
environment without extras and asks a question there. Stops at the first check that fails, and
prints at the end what is left to do by hand: nothing is tagged or uploaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
DIST = PROJECT / "dist"
COMMAND = ["-W", "error", "-m", "causalfairness.cli"]
QUESTION = (
    "decompose dataset:compas --protected sex --reference Male --comparison Female "
    "--confounders age_cat --mediators c_charge_degree --outcome two_year_recid "
    "--report report.html"
)
CHECKS = (  # what Python must do where a distribution was installed
    [*COMMAND, "--help"],
    [*COMMAND, *QUESTION.split()],
)
BY_HAND = """\
Both are in {dist}, and fit to be published. Left to do by hand:

  1. In CHANGELOG.md give {version} its date in place of "(unreleased)", and in CITATION.cff add
     date-released.
  2. In README.md and docs/getting-started.md take out that {version} is not published yet.
  3. See that `make test-all` and `make docs` pass, and commit.
  4. Run `make release` again, so that both are built from that commit.
  5. git tag --annotate v{version} --message "{version}", and push the tag.
  6. python -m twine upload dist/*, and install it once from there.
  7. Open the part of the next version in CHANGELOG.md; what {version} deprecated may go there."""


class ReleaseError(Exception):
    """A check failed, and the message says which."""


def main() -> int:
    """Are both fit to be published? Exit status 1 where one is not."""
    try:
        version = agreed_version()
        shutil.rmtree(DIST, ignore_errors=True)
        run([sys.executable, "-m", "build", "--outdir", str(DIST)], PROJECT)
        built = [str(each) for each in sorted(DIST.iterdir())]
        run([sys.executable, "-m", "twine", "check", "--strict", *built], PROJECT)
        for each in built:
            check_installed(each, version)
    except ReleaseError as refusal:
        print(refusal, file=sys.stderr)
        return 1
    print(BY_HAND.format(dist=DIST.name, version=version))
    return 0


def agreed_version() -> str:
    """Which version is released? All places that name it must agree."""
    places = {
        "src/causalfairness/__init__.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (\S+)$",
        "CHANGELOG.md": r"^## (\S+)",
    }
    found = {"pyproject.toml": tomllib.loads(text_of("pyproject.toml"))["project"]["version"]}
    for place, pattern in places.items():
        named = re.search(pattern, text_of(place), re.MULTILINE)
        found[place] = named[1] if named else "none"
    if len({*found.values()}) > 1:
        listed = ", ".join(f"{version} in {place}" for place, version in found.items())
        raise ReleaseError(f"the version is {listed}; write the same in all of them")
    return str(found["pyproject.toml"])


def check_installed(built: str, version: str) -> None:
    """Does this distribution work where nothing but its dependencies is installed?"""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        python = empty_environment(here / "env")
        run([*pip_of(python), "install", "--quiet", "--no-compile", built], here)
        run([*pip_of(python), "check"], here)
        for check in CHECKS:
            run([python, *check], here)
        found = run([python, *COMMAND, "--version"], here).split()[-1]
        if found != version:
            raise ReleaseError(f"{Path(built).name} calls itself {found}; expected {version}")
        if not (here / "report.html").is_file():
            raise ReleaseError(f"{Path(built).name} wrote no report")
    print(f"{Path(built).name}: works in an empty environment without extras")


def empty_environment(folder: Path) -> str:
    """Which Python has nothing installed, not even pip?"""
    venv.create(folder)
    return str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")


def pip_of(python: str) -> list[str]:
    """Which command is the pip that is here, at work on another Python?"""
    return [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]


def run(command: list[str], folder: Path) -> str:
    """What does this command print? Run with nothing of this environment but settings of pip."""
    hidden = ("PYTHON", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def text_of(place: str) -> str:
    """What does this file of the project hold?"""
    return (PROJECT / place).read_text("utf-8")


if __name__ == "__main__":
    sys.exit(main())
