"""How are templates read, and what may they use? As for every page: all text is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from causalfairness.effects.table import format_p_value
from causalfairness.report.legible import LONGEST, legible, shortened
from causalfairness.report.numbers import percent, written

LONGEST_TITLE = 300  # characters of a full name shown on hovering
LONGEST_LABEL = 30  # characters of a name in a drawing


@cache
def environment() -> Environment:
    """Which templates are there?

    >>> environment().from_string("{{ name }}").render(name="<b>")
    '&lt;b&gt;'
    """
    made = Environment(
        loader=PackageLoader("causalfairness.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "legible": legible,
        "shortened": shortened,
        "p_value": format_p_value,
        "percent": percent,
        "written": written,
    }
    made.globals |= {
        "LONGEST": LONGEST,
        "LONGEST_LABEL": LONGEST_LABEL,
        "LONGEST_TITLE": LONGEST_TITLE,
    }
    return made
