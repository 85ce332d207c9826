"""Run all benchmarks and print what was measured: `make bench`, or `make bench SIZE=large`."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from benchmarks import (
    adaptation,
    counterfactuals,
    counting,
    invariance,
    learning,
    mixing,
    neighbors,
    neural,
)


def main() -> None:
    """Print one row per finding; a missed target is marked, never hidden."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=sorted(counting.ROWS), default="standard")
    size = parser.parse_args().size
    table = Table("measured", "value", "target", "", title=f"causalfairness benchmarks ({size})")
    for source in (
        counting,
        learning,
        counterfactuals,
        adaptation,
        mixing,
        neighbors,
        invariance,
        neural,
    ):
        for found in source.measure(size):
            mark = "" if found.met is None else ("met" if found.met else "[bold]MISSED[/bold]")
            table.add_row(found.name, f"{found.value:.3g} {found.unit}", found.target, mark)
    Console().print(table)


if __name__ == "__main__":
    main()
