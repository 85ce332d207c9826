"""What is told of an error that nobody foresaw: its kind and its words, without anything private.

Numbers, quoted values, paths and words that stand in the data are left out, since they may be about
people or about the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from causalfairness.errors import CausalFairnessError
from causalfairness.tables.columns import Column

WORD = re.compile(r"\w+")
OPENING = "a defect of the program stopped this, and nothing else"
PRIVATE = re.compile(
    r"""'[^']*'|"[^"]*"|(?:[A-Za-z]:)?[\w.~-]*[/\\][^\s:,;]*|(?<![A-Za-z_])[-+]?\d[\w.+-]*"""
)


def said_by(error: Exception, columns: Iterable[Column] = ()) -> str:
    """Return the words of the library's own errors, and what may be told of any other.

    Parameters
    ----------
    error
        What stopped a question.
    columns
        The data, whose labels are nobody's business.

    Returns
    -------
    str
        One sentence or more.

    Examples
    --------
    >>> said_by(ValueError("'Smith' is not in people/list.csv, row 12"))
    'a defect of the program stopped this, and nothing else: ValueError: ... is not in ..., row ...'
    """
    if isinstance(error, CausalFairnessError):
        return str(error)
    known = {word for each in columns for label in each.labels for word in WORD.findall(str(label))}
    text = PRIVATE.sub("...", str(error).strip().partition("\n")[0])
    text = WORD.sub(lambda word: "..." if word[0] in known else word[0], text)
    return f"{OPENING}: {type(error).__name__}: {text or 'it says no more'}"
