"""What is written down about an audit of radiographs? Plain data that a report is made of.

The layout is versioned by `SCHEMA`. Nothing in it depends on the clock or on where the files lie:
the same images, generator and settings give the same record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from causalfairness.writing import write_whole

SCHEMA = "causalfairness.imaging/1"
LIBRARIES = ("causalfairness", "numpy", "scipy", "torch", "monai")
DIGITS = 5  # of a score
KEPT = ("agreement_of", "thresholds", "quality", "sentences", "assumptions", "notes")


def record_of(
    audit: Any,
    *,
    listed: int = 0,
    title: str = "",
    data: Mapping[str, Any] | None = None,
    generator: Mapping[str, Any] | None = None,
    classifiers: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    pictures: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What is written down about this `ImagingAudit`? JSON can hold it.

    `data`, `generator`, `classifiers` and `settings` say what it was made of, `pictures` are those
    of `pictures.examples`. Scores of single people are those of the `listed` first ones.

    >>> from causalfairness.imaging.auditing import audit
    >>> from causalfairness.imaging.counterfactuals import DoNothing
    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(60, seed=0)
    >>> found = audit(lambda x: x.mean((1, 2, 3)), films, generator=DoNothing())
    >>> record = record_of(found, title="Nothing is done")
    >>> record["schema"], len(record["rows"]), record["quality"]["composition"]
    ('causalfairness.imaging/1', 1, 0.0)
    """
    found = audit.to_dict()
    return {
        "schema": SCHEMA,
        "title": title,
        "data": dict(data or {}),
        "generator": dict(generator or {}),
        "classifiers": dict(classifiers or {}),
        "settings": {"method": found["method"], "level": found["level"], **(settings or {})},
        "rows": [_plain(row) for row in found["rows"]],
        "scores": _scores(audit.generated, listed) if listed else [],
        "pictures": dict(pictures or {}),
        "versions": {name: version(name) for name in LIBRARIES},
        **{name: found[name] for name in KEPT},
    }


def write_record(record: Mapping[str, Any], path: Path | str) -> Path:
    """Where is the record? Written whole or not at all.

    >>> import tempfile
    >>> write_record({"schema": SCHEMA}, f"{tempfile.mkdtemp()}/record.json").name
    'record.json'
    """
    return write_whole(json.dumps(record, indent=1, allow_nan=False) + "\n", path)


def _scores(generated: Any, listed: int) -> list[dict[str, Any]]:
    """Points of original against counterfactual scores, for each classifier and finding."""
    first = slice(listed)
    own, codes = generated.own[first], np.arange(len(generated.groups))
    other = codes[:, None] != own  # (groups, people)
    plots = []
    for model, name in enumerate(generated.models):
        for place, finding in enumerate(generated.findings):
            now = np.broadcast_to(generated.original[first, model, place], other.shape)
            then = generated.counterfactual[:, first, model, place]
            points = {"x": now[other], "y": then[other]}
            drawn = {axis: np.round(them, DIGITS).tolist() for axis, them in points.items()}
            plots.append({"model": name, "finding": finding, "people": len(own), **drawn})
    return plots


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row that JSON can hold; what was not asked is None."""
    unasked = () if row["opportunity_n"] else ("opportunity_p_value", "opportunity_n")
    return {name: None if name in unasked else value for name, value in row.items()}
