"""How is a result shown to people? First as plain data, then as one HTML, Markdown or JSON file.

A single result (`Decomposition`, `GroupComparison`) becomes a `Summary`, and a whole study (an
`AuditResult`, or its record) a page of blocks; both hold text and numbers only. `render_html`,
`render_markdown` and `to_json` turn that into text; `write_html`, `write_markdown` and
`write_json` write a file. `causal_picture` draws the assumptions, and the paths of a gap in them.
No verdict is made, and no number is computed here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from causalfairness.effects import Decomposition
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity import GroupComparison
from causalfairness.report import html, markdown
from causalfairness.report.causal_picture import causal_picture
from causalfairness.report.imaging import imaging_page, is_imaging_record
from causalfairness.report.summarise import summarise
from causalfairness.report.summary import Summary, to_json
from causalfairness.writing import write_whole

if TYPE_CHECKING:
    from causalfairness.audit import AuditResult
    from causalfairness.report.page.blocks import Page

__all__ = [
    "Summary",
    "causal_picture",
    "render_html",
    "render_markdown",
    "study_page",
    "summarise",
    "to_json",
    "write_html",
    "write_json",
    "write_markdown",
]

Result = Decomposition | GroupComparison
Study: TypeAlias = "AuditResult | Mapping[str, Any]"  # an audit, or the record of one
Place = str | os.PathLike[str]


class About(TypedDict, total=False):
    """What else should the report say? The keywords of `summarise`."""

    model: StandardFairnessModel | None
    level: float
    source: str
    seed: int | None
    date: str


def render_html(shown: Summary | Study) -> str:
    """How does a summary, or a whole study, look in a browser, on paper and on a phone?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> page = cf.report.render_html(cf.report.summarise(found))
    >>> page.startswith("<!DOCTYPE html>"), "<script" in page
    (True, False)
    """
    if isinstance(shown, Summary):
        return html.render_html(shown)
    from causalfairness.report.page.html import render_page

    return render_page(study_page(shown))


def render_markdown(shown: Summary | Study) -> str:
    """How does a summary, or a whole study, look as Markdown?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> print(cf.report.render_markdown(cf.report.summarise(found)).splitlines()[0])
    # Why does y differ between blue and green?
    """
    if isinstance(shown, Summary):
        return markdown.render_markdown(shown)
    from causalfairness.report.page.markdown import render_page

    return render_page(study_page(shown))


def study_page(study: Study) -> Page:
    """What does a whole study show? Sections of blocks, from its record alone.

    The record of an audit, or of an audit of radiographs. One that is not whole, or of another
    layout, is refused with a `RecordError`.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> result = cf.Audit(roles={
    ...     "protected": "group", "reference": "blue", "comparison": "green",
    ...     "confounders": ["c1", "c2"], "mediators": ["m1"], "outcome": "y"},
    ...     questions=[{"ask": "disparity"}]).run(world.draw(1_000, seed=0))
    >>> [section.key for section in cf.report.study_page(result).sections]
    ['summary', 'picture', 'disparity', 'diagnostics', 'assumptions', 'provenance']
    """
    from causalfairness.report.study.page import page_of

    record = _record(study)
    return imaging_page(record) if is_imaging_record(record) else page_of(record)


def write_html(result: Result | Study, path: Place, **about: Unpack[About]) -> Path:
    """Where is the report? One HTML file that needs nothing else; keywords as in `summarise`.

    Of a whole study everything is in its record: it takes no keywords.

    >>> import tempfile
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = cf.report.write_html(found, f"{folder}/report.html", model=world.model)
    ...     print(path.name)
    report.html
    """
    return write_whole(render_html(_shown(result, about)), path)


def write_markdown(result: Result | Study, path: Place, **about: Unpack[About]) -> Path:
    """Where is the report as Markdown? Keywords as in `summarise`; none for a whole study.

    >>> import tempfile
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(cf.report.write_markdown(found, f"{folder}/report.md").name)
    report.md
    """
    return write_whole(render_markdown(_shown(result, about)), path)


def write_json(result: Result | Study, path: Place, **about: Unpack[About]) -> Path:
    """Where is the report for machines? Keywords as in `summarise`; of a study, its record.

    >>> import tempfile
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(cf.report.write_json(found, f"{folder}/report.json").name)
    report.json
    """
    from causalfairness.audit.plain import written

    shown = _shown(result, about)
    return write_whole(to_json(shown) if isinstance(shown, Summary) else written(shown), path)


def _shown(result: Result | Study, about: About) -> Summary | Mapping[str, Any]:
    """Plain data about a result: a summary, or the record of a study."""
    if isinstance(result, Decomposition | GroupComparison):
        return summarise(result, **about)
    record = _record(result)
    if about:
        raise TypeError(
            f"the report of an audit is made of its record alone; leave out {', '.join(about)}"
        )
    return record


def _record(study: Study) -> dict[str, Any]:
    """The record of a study, as it is or from its result."""
    if isinstance(study, Mapping) and is_imaging_record(study):
        return dict(study)
    from causalfairness.audit import AuditResult
    from causalfairness.audit.record import check_record

    if isinstance(study, AuditResult | Mapping):
        return check_record(study.record if isinstance(study, AuditResult) else study, "this")
    raise TypeError(
        "a report is made of a Decomposition, a GroupComparison, an AuditResult or the record of "
        f"a study; found a {type(study).__name__}"
    )
