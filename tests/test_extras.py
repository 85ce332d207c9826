"""Is a library that is not installed named, with the extra that brings it?"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from causalfairness.errors import (
    EXTRAS,
    CausalFairnessError,
    NotInstalledError,
    TorchNotInstalledError,
    extra,
)

TESTS = Path(__file__).resolve().parent
DISTRIBUTION = {"PIL": "pillow"}


def test_every_extra_brings_its_libraries_and_all_brings_every_extra():
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    lines = project["optional-dependencies"]
    declared = {name: {re.match(r"[\w-]+", line)[0] for line in lines[name]} for name in lines}
    for name, libraries in EXTRAS.items():
        assert declared[name] == {DISTRIBUTION.get(library, library) for library in libraries}
    core = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    assert not core & {library for libraries in EXTRAS.values() for library in libraries}
    (everything,) = lines["all"]
    assert set(re.search(r"\[(.*)\]", everything)[1].split(",")) == set(EXTRAS)


@pytest.mark.parametrize(
    ("name", "missing", "kind"),
    [
        ("plots", "matplotlib.axes", NotInstalledError),
        ("graphs", "networkx", NotInstalledError),
        ("fast", "numba", NotInstalledError),
        ("torch", "torch", TorchNotInstalledError),
        ("imaging", "monai.networks", TorchNotInstalledError),
    ],
)
def test_a_missing_library_is_named_with_its_extra(name, missing, kind):
    library = missing.partition(".")[0]
    says = rf'this is done with {library}, which is not installed: pip install "causalfairness\['
    with pytest.raises(kind, match=says + name) as raised, extra(name, "this is done with"):
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
    assert isinstance(raised.value, CausalFairnessError)
    assert isinstance(raised.value, ImportError)
    assert isinstance(raised.value.__cause__, ModuleNotFoundError)


def test_other_modules_that_are_missing_are_no_business_of_an_extra():
    for name in ("networkx", "causalfairness.plots.nothing", None):
        with pytest.raises(ModuleNotFoundError) as raised, extra("plots", "drawn with"):
            raise ModuleNotFoundError("gone", name=name)
        assert not isinstance(raised.value, CausalFairnessError)


def test_without_extras_everything_else_works_and_they_are_named():
    libraries = {library for libraries in EXTRAS.values() for library in libraries}
    lines = f"""
import runpy, sys


class Gone:  # scipy looks for torch in sys.modules, and stumbles over None
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name=name)


sys.meta_path.insert(0, Gone)
sys.modules.update(dict.fromkeys({sorted(libraries - {"torch"})}))
runpy.run_path({str(TESTS / "without_extras.py")!r}, run_name="__main__")
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", lines], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "without extras: as promised\n"
