"""How does a score move when only the group is another? One scatter plot per finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from causalfairness.report.page.blocks import Beside, Block, Folded, Points, Section, Sentences

OPEN = 10  # plots that are shown at once
MEANT = (
    "Every point is one image made for one other group: its score as it is, and had the group been "
    "that one. On the line nothing changed. These are generated images: what the generator gets "
    "wrong moves points too, so the tests above do not rest on this picture alone."
)


def scores(record: Mapping[str, Any]) -> Section | None:
    """How do scores move? None where the record holds no scores."""
    plots = record.get("scores", [])
    if not plots:
        return None
    drawn = [_points(plot) for plot in plots]
    blocks: list[Block] = [Sentences((MEANT,), quiet=True), Beside(tuple(drawn[:OPEN]))]
    if len(drawn) > OPEN:
        rest = Beside(tuple(drawn[OPEN:]))
        blocks.append(Folded(f"{len(drawn) - OPEN} more classifiers and findings", (rest,)))
    return Section("scores", "How scores move with the group", tuple(blocks))


def _points(plot: Mapping[str, Any]) -> Points:
    people = plot.get("people")
    return Points(
        title=f"{plot['finding']}, {plot['model']}",
        x_axis="score of the image as it is",
        y_axis="score had the group been another",
        x=tuple(map(float, plot["x"])),
        y=tuple(map(float, plot["y"])),
        caption=f"{people:,} people" if people else "",
    )
