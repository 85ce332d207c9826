"""What went wrong, in one paragraph? Errors become words on stderr and an exit code."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

from causalfairness.errors import CausalFairnessError

NO_ANSWER, DEFECT = 3, 70
LONGEST = 4_000  # characters of a message
SPELLED = {  # how the library's words are said on the command line
    "Strata(empty_cells='restrict')": "--estimator strata --empty-cells restrict",
    "DoublyRobust()": "--estimator doubly-robust",
    "missing='drop'": "--missing drop",
    "missing='category'": "--missing category",
    "of='prediction'": "--of prediction",
    "interval='newcombe'": "--interval newcombe",
    "with ids=": "with --ids",
    "with do=": "with --do",
    ", or give predict=, the model that decides": "",
    "outcome_value=...": "--outcome-value",
    "favorable=...": "--favorable",
    "(resize=True)": "(--resize)",
    " (numbers without quotes, words with)": "",
    "method='projected'": "--method projected",
    "(findings=...)": "(--finding)",
}


@contextmanager
def readable(*, debug: bool) -> Iterator[None]:
    """Did it work? If not, says why in words and ends with the exit code for it.

    >>> with readable(debug=False):
    ...     print("fine")
    fine
    """
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
        raise
    except CausalFairnessError as error:
        _explain(str(error), debug=debug)
        raise typer.Exit(NO_ANSWER) from None
    except OSError as error:
        named = f"{error.filename!r}: " if error.filename else ""
        _explain(f"{named}{error.strerror or error}. Check the path and its rights", debug=debug)
        raise typer.Exit(NO_ANSWER) from None
    except Exception as error:
        hint = "" if debug else " Run it again with --debug to see where, and please report it."
        _explain(
            f"this is a defect of the program: {type(error).__name__}: {error}.{hint}", debug=debug
        )
        raise typer.Exit(DEFECT) from None


def spelled(text: str) -> str:
    """How is this said on the command line, where arguments are options?

    >>> spelled("use method='projected'")
    'use --method projected'
    >>> spelled("if it is no copy: accept=['score']")
    "if it is no copy: --accept 'score'"
    """
    for words, option in SPELLED.items():
        text = text.replace(words, option)
    return re.sub(r"\b(accept|categorical|numeric)=\[('.*?')\]", r"--\1 \2", text)


def _explain(message: str, *, debug: bool) -> None:
    from causalfairness.report.legible import legible_lines, shortened

    if debug:
        sys.stderr.write(legible_lines(traceback.format_exc()))
    text = shortened(legible_lines(spelled(message.strip())), LONGEST)
    page = Console(stderr=True, highlight=False)
    page.print(Text.assemble(("error: ", "bold red"), (text, "red")), soft_wrap=True)
