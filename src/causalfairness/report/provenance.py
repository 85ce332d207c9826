"""Which data, program and settings do the numbers come from? Nothing here reads the clock."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from causalfairness.effects import Decomposition
from causalfairness.report.summary import Provenance

LIBRARIES = ("numpy", "scipy", "scikit-learn", "narwhals", "pyarrow", "duckdb")


def trace(
    found: Sequence[Decomposition], *, source: str, seed: int | None, date: str
) -> Provenance:
    """Where do these results come from?"""
    basis = found[0].total.basis
    drawn = basis.seed.partition("/")[0]
    return Provenance(
        package=_version("causalfairness"),
        python=platform.python_version(),
        libraries={name: _version(name) for name in LIBRARIES},
        source=source,
        fingerprint=basis.fingerprint,
        estimator=found[0].diagnostics.estimator,
        seed=drawn if seed is None else str(seed),
        date=date,
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
