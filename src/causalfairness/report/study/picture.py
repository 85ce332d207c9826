"""Which picture of causes do the answers rest on? Drawn, with paths colored by what was found.

The drawing is made of the record's roles or graph alone. Where the names in it cannot be drawn, the
roles are still said in words.
"""

from __future__ import annotations

from typing import Any

from causalfairness.errors import CausalFairnessError, RecordError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.report.causal_picture import causal_picture
from causalfairness.report.page.blocks import (
    Beside,
    Block,
    Folded,
    Pairs,
    Picture,
    Section,
    Sentences,
)
from causalfairness.report.study.reading import Reading
from causalfairness.report.study.rows import rows_of
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import full_stop
from causalfairness.report.summary import Row

GIVEN = (
    "The audit gives these arrows. Nothing here shows them to be true: the answers rest on them."
)
ROLES = (
    "The audit says which column plays which part, and that makes this picture of causes. Nothing "
    "here shows it to be true: the answers rest on it."
)
CALLED = {
    "protected": "protected attribute",
    "confounders": "confounders",
    "mediators": "mediators",
    "outcome": "outcome",
    "outcome_value": "counts as 1",
    "prediction": "prediction",
    "decision": "decision made of it",
    "weights": "weights of people",
    "left_out": "left out",
}
MEANT = {
    "confounders": "not caused by the protected attribute, and may share causes with it",
    "mediators": "may be caused by the protected attribute and by confounders",
    "left_out": "neither confounder nor mediator",
}


def picture(reading: Reading) -> Section:
    """What is assumed to cause what, and along which path does the gap run?"""
    drawn = [_drawn(reading, "outcome"), _drawn(reading, "prediction")]
    pictures = [each for each in drawn if isinstance(each, Picture)]
    refused = [each for each in drawn if isinstance(each, Sentences)]
    given = reading.told["graph"]["given"].value is True
    whole = reading.names.whole(reading.told["graph"]["text"].exact)
    blocks: list[Block] = [Sentences((GIVEN if given else ROLES,))]
    blocks += [Beside(tuple(pictures))] if len(pictures) > 1 else pictures
    blocks += refused
    blocks.append(Pairs(tuple(_roles(reading.roles))))
    blocks.append(Folded("The graph as text", (Sentences((whole,)),)))
    return Section("picture", "What is assumed to cause what", tuple(blocks))


def _roles(roles: Told) -> list[tuple[str, str]]:
    found = [("compared", f"{roles['comparison'].shown} with {roles['reference'].shown}")]
    for key, called in CALLED.items():
        said = roles.get(key).shown if roles.get(key) else ""
        if said:
            found.append((called, f"{said} ({MEANT[key]})" if key in MEANT else said))
    return found


def _drawn(reading: Reading, of: str) -> Picture | Sentences | None:
    """One drawing; None of what there is not, and words where a drawing is refused."""
    target = reading.roles.get(of).value
    if target is None:
        return None
    rows, about = _found(reading, of)
    whom = "with the effects of this audit" if rows else "for which no effect was estimated"
    try:
        svg = _svg(reading, of, rows)
    except RecordError:
        raise
    except CausalFairnessError as reason:
        return Sentences((full_stop(f"no picture of the {of}: {reading.names.cut(str(reason))}"),))
    shown = about or reading.roles[of].shown
    words = f"Causal picture of {shown}: {_words(reading.roles, shown)}"
    return Picture(svg, words, f"The {of}, {shown}, {whom}")


def _words(roles: Told, target: str) -> str:
    parts = [f"{roles['protected'].shown} may act on {target} directly"]
    if roles["mediators"]:
        parts.append(f"through {roles['mediators'].shown}")
    if roles["confounders"]:
        parts.append(f"and come along with {roles['confounders'].shown}")
    return ", ".join(parts) + "."


def _found(reading: Reading, of: str) -> tuple[tuple[Row, ...], str]:
    """The parts of the gap between the two main groups, and what it is a gap of."""
    outcome = reading.roles.get("outcome").value
    for answer in reading.main_gaps:
        what = answer["details"]["what"]
        if ("outcome" if what.value == outcome else "prediction") == of:
            return rows_of(answer["details"]["parts"]), what.text
    return (), ""


def _svg(reading: Reading, of: str, rows: tuple[Row, ...]) -> str:
    told = reading.told
    if told["graph"]["given"].value is True:
        graph = CausalGraph.parse(told["graph"]["text"].exact)
        target = told["roles"][of].exact
        if target in graph.nodes:
            protected = [each.exact for each in told["roles"]["protected"]]
            return causal_picture(
                graph, protected=protected, outcome=target, effects=rows, level=reading.level
            )
    kind: Any = of
    return causal_picture(_model(told["roles"]), of=kind, effects=rows, level=reading.level)


def _model(roles: Told) -> StandardFairnessModel:
    """The roles alone; who is compared does not matter for a drawing."""
    protected = [each.exact for each in roles["protected"]]
    return StandardFairnessModel(
        protected=protected,
        reference=tuple("reference" for _ in protected),
        comparison=tuple("comparison" for _ in protected),
        confounders=[each.exact for each in roles["confounders"]],
        mediators=[each.exact for each in roles["mediators"]],
        outcome=roles["outcome"].value,
        prediction=roles["prediction"].value,
    )
