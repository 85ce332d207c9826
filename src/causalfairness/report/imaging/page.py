"""What does an audit of radiographs show? Tests, scores, images and what they rest on.

The record is all there is (`causalfairness.imaging.recording`): nothing is computed again. Parts
that it does not hold, such as pictures, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from causalfairness.errors import RecordError
from causalfairness.report.imaging.dependence import summary, tests
from causalfairness.report.imaging.images import images
from causalfairness.report.imaging.scores import scores
from causalfairness.report.imaging.sources import assumptions, provenance, quality
from causalfairness.report.imaging.words import group_called
from causalfairness.report.page.blocks import Page, Section

SCHEMA = "causalfairness.imaging/1"
NEEDED = ("rows", "sentences", "settings", "assumptions", "notes", "versions")
FOOTER = (
    "Made with causalfairness {version} from the record of the audit. What is said holds under the "
    "assumptions stated above, as far as the generator can be trusted, and under no others."
)
SECTIONS: tuple[Callable[[Mapping[str, Any]], Section | None], ...] = (
    summary,
    tests,
    scores,
    images,
    quality,
    assumptions,
    provenance,
)


def imaging_page(record: Mapping[str, Any]) -> Page:
    """What does an audit of radiographs show?

    >>> row = {"model": "reader", "finding": "edema", "statistic": 0.2, "p_value": 0.42,
    ...        "p_adjusted": 0.42, "rejected": False, "agreement": 0.97}
    >>> record = {"schema": SCHEMA, "title": "Films", "rows": [row], "sentences": ["Nothing."],
    ...           "settings": {"method": "projected", "level": 0.95}, "assumptions": [],
    ...           "notes": [], "versions": {"causalfairness": "1.0"}}
    >>> [section.key for section in imaging_page(record).sections]
    ['summary', 'tests', 'assumptions', 'provenance']
    """
    told = _checked(record)
    found = [make(told) for make in SECTIONS]
    version = told["versions"].get("causalfairness", "")
    data = told.get("data", {})
    about = (
        f"{data['images']:,} images" if "images" in data else "",
        ", ".join(map(group_called, data.get("groups", {}))),
        str(data.get("folder", "")),
    )
    return Page(
        title=str(told.get("title") or "An audit of classifiers of radiographs"),
        kicker="Counterfactual invariance of images",
        sections=tuple(section for section in found if section is not None),
        footer=FOOTER.format(version=version),
        meta=tuple(each for each in about if each),
        generator=f"causalfairness {version}",
    )


def is_imaging_record(record: Any) -> bool:
    """Is this the record of an audit of radiographs?

    >>> is_imaging_record({"schema": "causalfairness.imaging/1"}), is_imaging_record({})
    (True, False)
    """
    return isinstance(record, Mapping) and record.get("schema") == SCHEMA


def _checked(record: Mapping[str, Any]) -> Mapping[str, Any]:
    if not is_imaging_record(record):
        raise RecordError(
            f"this is no record of an audit of radiographs: its schema is "
            f"{record.get('schema')!r}, expected {SCHEMA!r}"
        )
    absent = [name for name in NEEDED if name not in record]
    if absent:
        raise RecordError(
            f"the record of the audit lacks {', '.join(absent)}; write it again with "
            "causalfairness imaging audit --record"
        )
    return record
