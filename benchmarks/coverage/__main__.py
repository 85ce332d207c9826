"""Draws every cell of the table of trust and writes it into `docs/coverage.md`.

Rows of a cell are kept in `docs/recorded/coverage`, with a digest of the library and of the cell's
module: what has not changed is not drawn again, so that a run that was stopped goes on. `--only`
names modules, `--seconds` ends the run after so many, `--stale` keeps rows of older code.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from joblib import Parallel, delayed

from benchmarks.coverage.cell import Cell, Outcome
from benchmarks.coverage.table import Row, rows_of, write_pages

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DOCS = ROOT / "docs"
KEPT = DOCS / "recorded" / "coverage"
SHARED = ("__init__", "__main__", "cell", "table")
FIRST_SEED = 20_000


class Named(NamedTuple):
    """A cell, and the module that lists it."""

    module: str
    cell: Cell

    @property
    def key(self) -> str:
        """By what its rows are found again."""
        return f"{self.cell.call} in {self.cell.world}"


def cells() -> list[Named]:
    """All cells, by module."""
    names = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in SHARED)
    modules = ((name, import_module(f"benchmarks.coverage.{name}")) for name in names)
    return [Named(name, cell) for name, module in modules for cell in module.CELLS]


def drawn(cell: Cell, draws: int, workers: int, first: int = FIRST_SEED) -> list[Row]:
    """The rows of so many draws of a cell."""
    done = Parallel(n_jobs=workers)(
        delayed(_timed)(cell, seed) for seed in range(first, first + draws)
    )
    outcomes, seconds = zip(*done, strict=True)
    return rows_of(cell, outcomes, sum(seconds))


def _timed(cell: Cell, seed: int) -> tuple[Outcome, float]:
    start = time.process_time()
    return cell.draw(seed), time.process_time() - start


def kept(place: Path = KEPT) -> dict[str, dict[str, list[Row]]]:
    """Rows that were recorded, by module and key."""
    found = {}
    for path in sorted(place.glob("*.json")):
        told = json.loads(path.read_text("utf-8"))
        found[path.stem] = {
            key: [Row(*values) for values in each["rows"]] for key, each in told.items()
        }
    return found


def missing(told: dict[str, dict[str, list[Row]]]) -> list[str]:
    """Cells without rows."""
    return [each.key for each in cells() if each.key not in told.get(each.module, {})]


@cache
def digest(module: str) -> str:
    """What a cell's rows depend on: the library, its module, and how cells are drawn."""
    files = sorted((ROOT / "src" / "causalfairness").rglob("*.py"))
    files += [HERE / f"{name}.py" for name in (module, "cell", "table")]
    found = hashlib.sha256()
    for path in files:
        found.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:16]


def run(
    wanted: Sequence[Named], *, workers: int, seconds: float, stale: bool, place: Path = KEPT
) -> Iterator[Named]:
    """Draw what is not recorded with today's code, cell by cell; each is recorded when done."""
    place.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    for each in wanted:
        path = place / f"{each.module}.json"
        told = json.loads(path.read_text("utf-8")) if path.exists() else {}
        of = {"code": digest(each.module), "draws": each.cell.draws}
        old = told.get(each.key, {})
        if old and (stale or {name: old[name] for name in of} == of):
            continue
        if time.monotonic() > end:
            return
        yield each
        told[each.key] = {**of, "rows": drawn(each.cell, each.cell.draws, workers)}
        listed = {other.key for other in cells() if other.module == each.module}
        told = {key: told[key] for key in sorted(told) if key in listed}
        path.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def main() -> None:
    """Draw, record, write the pages; say before each cell how long it will take."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--only", nargs="*", help="modules, such as rare or invariance")
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--seconds", type=float, default=float("inf"))
    asked.add_argument("--stale", action="store_true", help="keep rows of older code")
    given = asked.parse_args()
    wanted = [each for each in cells() if not given.only or each.module in given.only]
    choices = {"workers": given.workers, "seconds": given.seconds, "stale": given.stale}
    for each in run(wanted, **choices):
        cost = [_timed(each.cell, seed)[1] for seed in (0, 1)][1]  # the first imports libraries
        length = f"about {cost * each.cell.draws:,.0f} CPU seconds"
        print(f"{each.module}: {each.key}, {each.cell.draws} draws, {length}", flush=True)
    told = kept()
    rows = {name: [row for key in told[name] for row in told[name][key]] for name in told}
    for path in write_pages(rows, DOCS, missing(told)):
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
