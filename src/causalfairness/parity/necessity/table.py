"""How are the verdicts shown together? One row per path."""

from __future__ import annotations

from causalfairness.effects.table import as_html, as_text, decimals, format_p_value
from causalfairness.parity.metrics.table import MetricTable

HEADINGS = (
    "path",
    "allowed",
    "outcome",
    "prediction",
    "must be 0",
    "low",
    "high",
    "p zero",
    "p violated",
    "p satisfied",
    "verdict",
)
WORDS = (0, 1, 10)
REPORTED = "reported"  # where no margin was set


class NecessityTable(MetricTable):
    """What was found on each path? One record each.

    `must be 0` is the prediction's effect on a path that is not allowed, and its distance from the
    outcome's on one that is. `p violated` and `p satisfied` are adjusted for the number of paths;
    without a margin there are none, and no verdict.

    >>> table = NecessityTable(())
    >>> len(table), table.to_records()
    (0, [])
    """

    def __str__(self) -> str:
        return as_text([HEADINGS, *self._cells()], words=WORDS)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html([HEADINGS, *self._cells()])

    def _cells(self) -> list[tuple[str, ...]]:
        places = decimals((record["standard_error"] for record in self.records), least=4)
        numbers = ("outcome", "prediction", "difference", "low", "high")
        p_values = ("p_value", "violation_adjusted", "equivalence_adjusted")
        return [
            (
                record["path"],
                "yes" if record["allowed"] else "no",
                *(f"{record[name]:+.{places}f}" for name in numbers),
                *(
                    "-" if record[name] is None else format_p_value(record[name])
                    for name in p_values
                ),
                record["verdict"] or REPORTED,
            )
            for record in self.records
        ]
