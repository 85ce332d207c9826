"""How is a result shown to people? First as plain data, then as one HTML, Markdown or JSON file.

`summarise` turns a result into a `Summary`, which holds text and numbers only; `render_html`,
`render_markdown` and `to_json` turn that into text; `write_html`, `write_markdown` and
`write_json` do both and write a file. `causal_picture` draws the assumptions, and the paths of a
gap in them. No verdict is given, and no number is computed here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypedDict, Unpack

from causalfairness.effects import Decomposition
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity import GroupComparison
from causalfairness.report.causal_picture import causal_picture
from causalfairness.report.html import render_html
from causalfairness.report.markdown import render_markdown
from causalfairness.report.summarise import summarise
from causalfairness.report.summary import Summary, to_json
from causalfairness.writing import write_whole

__all__ = [
    "Summary",
    "causal_picture",
    "render_html",
    "render_markdown",
    "summarise",
    "to_json",
    "write_html",
    "write_json",
    "write_markdown",
]

Result = Decomposition | GroupComparison
Place = str | os.PathLike[str]


class About(TypedDict, total=False):
    """What else should the report say? The keywords of `summarise`."""

    model: StandardFairnessModel | None
    level: float
    source: str
    seed: int | None
    date: str


def write_html(result: Result, path: Place, **about: Unpack[About]) -> Path:
    """Where is the report? One HTML file that needs nothing else; keywords as in `summarise`.

    >>> import tempfile
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = cf.report.write_html(found, f"{folder}/report.html", model=world.model)
    ...     print(path.name)
    report.html
    """
    return write_whole(render_html(summarise(result, **about)), path)


def write_markdown(result: Result, path: Place, **about: Unpack[About]) -> Path:
    """Where is the report as Markdown? Keywords as in `summarise`.

    >>> import tempfile
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(cf.report.write_markdown(found, f"{folder}/report.md").name)
    report.md
    """
    return write_whole(render_markdown(summarise(result, **about)), path)


def write_json(result: Result, path: Place, **about: Unpack[About]) -> Path:
    """Where is the report for machines? Keywords as in `summarise`.

    >>> import tempfile
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(cf.report.write_json(found, f"{folder}/report.json").name)
    report.json
    """
    return write_whole(to_json(summarise(result, **about)), path)
