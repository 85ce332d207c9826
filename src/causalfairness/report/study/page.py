"""What does the record of a study show? A page of sections, in the order in which people ask.

The record is all there is: nothing is estimated again, and no number is computed. Sections about
questions that were not asked are left out; a question without an answer is shown with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from causalfairness.report.page.blocks import Page, Section
from causalfairness.report.study.assumptions import assumptions
from causalfairness.report.study.diagnostics import diagnostics
from causalfairness.report.study.gaps import disparity, error_rates
from causalfairness.report.study.groups import groups
from causalfairness.report.study.individuals import individuals
from causalfairness.report.study.picture import picture
from causalfairness.report.study.predictive import invariance, predictive
from causalfairness.report.study.provenance import provenance
from causalfairness.report.study.reading import Reading
from causalfairness.report.study.summary import summary
from causalfairness.report.study.words import counted

SECTIONS: tuple[Callable[[Reading], Section | None], ...] = (
    summary,
    picture,
    disparity,
    groups,
    error_rates,
    predictive,
    individuals,
    invariance,
    diagnostics,
    assumptions,
    provenance,
)
FOOTER = (
    "Made with causalfairness {version} from the record of the audit. Verdicts hold under the "
    "assumptions stated above, at the margins that the audit sets, and under no others."
)


def page_of(record: Mapping[str, Any]) -> Page:
    """What does this record show? Sections of blocks, for any format.

    A record that is not whole, or of another layout, is refused with a `RecordError` that says
    where.
    """
    reading = Reading.of(record)
    found = [make(reading) for make in SECTIONS]
    version = reading.told["versions"]["causalfairness"].text
    return Page(
        title=_title(reading),
        kicker="Causal audit",
        sections=tuple(section for section in found if section is not None),
        footer=FOOTER.format(version=version),
        meta=_meta(reading),
        generator=f"causalfairness {version}",
    )


def _title(reading: Reading) -> str:
    about = reading.roles.get("prediction") or reading.roles.get("outcome")
    return reading.told.get("title", "").text or f"An audit of {about.shown}"


def _meta(reading: Reading) -> tuple[str, ...]:
    told, roles = reading.told, reading.roles
    day = told.get("timings", {}).get("started", "").text.partition("T")[0]
    found = (
        f"{roles['comparison'].shown} against {roles['reference'].shown}",
        counted(told["data"]["rows"].count, "record"),
        told["data"]["source"].text,
        day,
    )
    return tuple(each for each in found if each)
