"""Do the scripts of the gallery run, make their pictures, and leave nothing behind?

Each runs in an empty folder, with warnings as errors. The picture of the README is that of the
first script. The scripts that take longest run with fewer repetitions, and as they are in the slow
tests.
"""

import ast
import contextlib
import re
import warnings
import xml.etree.ElementTree as ElementTree

import matplotlib
import pytest

from causalfairness import plots
from snippets import PROJECT, README, check_same

SCRIPTS = sorted((PROJECT / "docs" / "examples").glob("plot_*.py"))
PICTURES = PROJECT / "docs" / "pictures"
LINES = '"DoublyRobust": DoublyRobust(outcome=LinearRegression(), **plain),'
LEAST = {  # pictures of each script
    "plot_compas_revisited": 2,
    "plot_estimators_compared": 2,
    "plot_five_minutes": 2,
    "plot_frontier": 3,
    "plot_groups": 3,
    "plot_imaging": 2,
    "plot_invariance": 1,
    "plot_predictive_parity": 3,
    "plot_sensitivity": 2,
}
SHORTER = {  # what is repeated less often: in the text of the script, and in the short run
    "plot_estimators_compared": {'"DoublyRobust": DoublyRobust(),': LINES},
    "plot_frontier": {"repetitions=3": "repetitions=2"},
    "plot_invariance": {"size=(8, 20)": "size=(8, 4)"},
    "plot_predictive_parity": {
        "range(10)": "range(2)",
        "range(20)": "range(4)",
        "replicates=200": "replicates=40",
        "3_500, 5_000, 7_500, 10_000": "5_000",
    },
}
every_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
LENGTHS = [
    pytest.param(
        script, whole, id=f"{script.stem}{'-whole' * whole}", marks=[pytest.mark.slow] * whole
    )
    for script in SCRIPTS
    for whole in [False, True][: 1 + (script.stem in SHORTER)]
]


@pytest.fixture
def pyplot():
    """A fresh pyplot that needs no screen."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


def run(script, folder, whole):
    """The names of a script that was run, with fewer repetitions unless `whole`."""
    text = script.read_text("utf-8")
    for long, short in {} if whole else SHORTER.get(script.stem, {}).items():
        assert long in text
        text = text.replace(long, short)
    names = {"__name__": "gallery"}
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(text, str(script), "exec"), names)
    return names


def caption_of(picture):
    """What a picture says to those who cannot see it."""
    found = ElementTree.parse(picture).getroot().find("{http://www.w3.org/2000/svg}desc")
    return found.text


@pytest.mark.parametrize(("script", "whole"), LENGTHS)
def test_a_script_runs_and_makes_its_pictures(script, whole, tmp_path, monkeypatch, pyplot, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "here").mkdir()
    names = run(script, tmp_path / "here", whole)
    assert len(pyplot.get_fignums()) >= LEAST[script.stem]
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    assert capsys.readouterr().out
    assert not list((tmp_path / "here").iterdir())
    if script.stem == "plot_five_minutes":
        for picture in PICTURES.glob("compas-waterfall*.svg"):
            said = plots.waterfall_caption(names["found"])
            check_same(said, caption_of(picture), f"{picture.name}, drawn again,")


@every_script
def test_a_script_opens_with_the_question_it_answers(script):
    tree = ast.parse(script.read_text("utf-8"))
    title, underline = ast.get_docstring(tree).splitlines()[:2]
    assert "?" in title
    assert underline == "=" * len(title)


def test_the_gallery_shows_every_script():
    shown = re.findall(r'^ +"(plot_\w+)\.py",$', (PROJECT / "docs/conf.py").read_text(), re.M)
    assert sorted(shown) == [script.stem for script in SCRIPTS] == sorted(LEAST)


def test_the_picture_of_the_readme_exists_and_says_what_it_shows():
    shown = re.findall(r'(?:src|srcset)="([^"]+)"', README.read_text("utf-8"))
    assert len(shown) == 2
    for picture in shown:
        assert "two_year_recid" in caption_of(PROJECT / picture)
