"""How are several results written next to each other? One line per effect, one column each."""

from __future__ import annotations

from collections.abc import Mapping

from causalfairness.effects.table import EffectTable, as_text, decimals


def in_columns(tables: Mapping[str, EffectTable]) -> str:
    """What does each table say about each effect? The value, and its standard error.

    >>> import numpy as np
    >>> from causalfairness.effects import Basis, Effect
    >>> gap = EffectTable((Effect("gap", 0.2, np.array([0.05]), Basis("", "rows")),))
    >>> print(in_columns({"one": gap, "other": gap}))
    (std. error)               one             other
    gap           +0.2000 (0.0500)  +0.2000 (0.0500)
    """
    names = dict.fromkeys(name for table in tables.values() for name in table.names)
    places = decimals((e.standard_error for table in tables.values() for e in table), least=4)
    lines = [["(std. error)", *tables]]
    for name in names:
        cells = (
            f"{table[name].value:+.{places}f} ({table[name].standard_error:.{places}f})"
            if name in table.names
            else "-"
            for table in tables.values()
        )
        lines.append([name, *cells])
    return as_text(lines)
