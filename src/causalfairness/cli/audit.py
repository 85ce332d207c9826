"""What are the answers of a whole study? The command `causalfairness audit`.

Exit codes: 0 where all that was judged is satisfied, or nothing was to be judged; 1 where something
is violated; 4 where something is undecided, or was to be judged and could not be answered; 3 where
the study cannot be carried out, or no question was answered; 70 where a defect of the program
stopped a question, whatever the others say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli.decompose import check_goal
from causalfairness.cli.failing import DEFECT, NO_ANSWER, readable
from causalfairness.cli.findings import print_findings
from causalfairness.cli.lines import bullet, width_of
from causalfairness.cli.report import PAGES, TEXTS, write_report
from causalfairness.cli.writing import print_answer, say_written

SATISFIED, VIOLATED, UNDECIDED = 0, 1, 4
CODES = {"violated": VIOLATED, "undecided": UNDECIDED, "satisfied": SATISFIED, None: SATISFIED}
HELP = """What are the answers of a whole study? Runs an audit file.

Examples:

[bold]causalfairness audit[/] audit.toml --folder answers --record record.json --report report.html

[bold]causalfairness audit[/] compas

A file comes from [bold]causalfairness init[/]; [bold]compas[/] is a bundled one, unless a file of \
that name is there. With --folder, \
finished questions are kept there, and an interrupted run takes up where it stopped.

Exit codes: 0 all satisfied, or nothing to judge; 1 something violated; 4 something undecided; \
2 wrong use; 3 the study cannot be carried out; 70 a defect of the program stopped a question.
"""

AuditFile = Annotated[
    str,
    o.argument("FILE", "Audit file, TOML or JSON; or the name of a bundled one, as compas."),
]
Data = Annotated[str | None, o.plain("Data in place of that of the audit file.", metavar="FILE")]
Trust = Annotated[bool, o.plain("Run the function or saved model that the audit names.", "--trust")]
Folder = Annotated[
    Path | None, o.output("Keep finished questions here, and do not ask them again.")
]
Report = Annotated[Path | None, o.output("Write the report to this .html or .md file.", "--report")]
Check = Annotated[
    bool, o.plain("Only say whether file and data fit, and what is asked.", "--check")
]


def audit(
    file: AuditFile,
    data: Data = None,
    trust: Trust = False,
    folder: Folder = None,
    record: o.RecordFile = None,
    report: Report = None,
    check: Check = False,
    workers: o.Workers = 1,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """What are the answers of a whole study?"""
    with readable(debug=debug):
        _check_free(record, (".json",), "--record")
        _check_free(report, (*PAGES, *TEXTS), "--report")
        from causalfairness.audit import Audit

        study = Audit.from_file(file)
        if check:
            _print_questions(study, data, trust)
            return
        result = study.run(data, trust=trust, workers=workers, folder=folder)
        if as_json:
            print_answer(json.dumps(result.record, indent=1, sort_keys=True) + "\n")
        else:
            print_findings(result.record, str(result).splitlines()[0], Console(highlight=False))
        if record is not None:
            say_written(result.to_json(record))
        if report is not None:
            say_written(write_report(result, report))
        unanswered = len(result.unanswered) == len(result.record["answers"])
        code = NO_ANSWER if unanswered else CODES[result.verdict]
        code = DEFECT if result.defects else code
    raise typer.Exit(code)


def _check_free(goal: Path | None, known: Sequence[str], option: str) -> None:
    """An audit takes a while: what would stop it from being written is said before it runs."""
    check_goal(goal, known, option)
    if goal is not None and goal.is_dir():
        raise typer.BadParameter(f"{goal.name!r} is a folder; name a file", param_hint=option)


def _print_questions(study: Any, data: str | None, trust: bool) -> None:
    from causalfairness.audit.study import prepare
    from causalfairness.audit.units import units_of

    found = prepare(study, data, trust=trust, workers=1)
    page = Console(highlight=False)
    page.print(Text(f"{found.rows:,} rows, {len(found.columns)} columns; these would be asked:"))
    page.print(*(bullet(unit.title) for unit in units_of(found)), sep="\n", width=width_of(page))
