"""How does a record look to people? The command `causalfairness report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from causalfairness.cli import options as o
from causalfairness.cli.decompose import check_goal
from causalfairness.cli.failing import readable
from causalfairness.cli.writing import say_written

PAGES, TEXTS = (".html", ".htm"), (".md", ".markdown")
USUAL = "report.html"
HELP = """How does a record look to people? One HTML page, or Markdown.

Examples:

[bold]causalfairness report[/] record.json

[bold]causalfairness report[/] record.json --html audit.html --markdown audit.md

A record comes from [bold]causalfairness audit[/] FILE --record record.json. Nothing is estimated \
again, and no data is needed. Without --html and --markdown the page is report.html, beside the \
record.

Exit codes: 0 the report is written, 2 wrong use, 3 there is no record that could be shown.
"""

Html = Annotated[Path | None, o.output("Write an HTML page that needs nothing else.")]
Markdown = Annotated[Path | None, o.output("Write Markdown.")]


def report(
    record: o.GivenRecord,
    html: Html = None,
    markdown: Markdown = None,
    debug: o.Debug = False,
) -> None:
    """How does a record look to people?"""
    with readable(debug=debug):
        from causalfairness.audit.record import check_record, stored_record
        from causalfairness.report.imaging import is_imaging_record

        check_goal(html, PAGES, "--html")
        check_goal(markdown, TEXTS, "--markdown")
        found = stored_record(record)
        if not is_imaging_record(found):
            check_record(found, str(record))
        goals = [goal for goal in (html, markdown) if goal is not None]
        for goal in goals or [Path(record).parent / USUAL]:
            say_written(write_report(found, goal))


def write_report(result: Any, goal: Path) -> Path:
    """Where is the report of an audit? HTML, or Markdown where the name ends so."""
    from causalfairness.report import write_html, write_markdown

    return (write_markdown if goal.suffix.lower() in TEXTS else write_html)(result, goal)
