"""Effects of a network, against the bare forward passes that they take: on the CPU, and on a GPU.

A network of three layers of 256, on 32 inputs of which four are mediators that a linear model
moves. Effects take four passes over all rows; the same four passes without anything around them are
what they are held against, in the same run and in turns. numpy and torch are all it needs:
`PYTHONPATH=src python -m benchmarks.neural --device cuda`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

from benchmarks.measuring import Finding, cpu_seconds

ROWS = {"small": 20_000, "standard": 200_000, "large": 10**6}
WIDTH, HIDDEN, LAYERS = 32, 256, 3
MEDIATORS = (1, 2, 3, 4)
PASSES = 4
ROUNDS = {"cpu": 3, "cuda": 15}


def measure(size: str) -> Iterator[Finding]:
    """Effects beside bare passes on the CPU, and on a GPU where there is one."""
    if find_spec("torch") is None:
        yield Finding("effects of a network: torch is not installed, not measured", 0, "")
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # threads that wait for each other on a busy machine would count
    yield from beside_passes("cpu", ROWS[size])
    torch.set_num_threads(threads)
    if torch.cuda.is_available():
        yield from beside_passes("cuda", ROWS[size])


def beside_passes(device: str, rows: int) -> Iterator[Finding]:
    """How long do effects take, in bare forward passes?"""
    from causalfairness import neural

    network, mediator, X = _setting(device, rows)

    def ask(table: Any) -> Any:
        return neural.effects(
            network,
            table,
            protected_index=0,
            mediator_indices=MEDIATORS,
            mediator_model=mediator,
        )

    work = {
        "bare": lambda: _passes(network, X, rows),
        "bare in batches": lambda: _passes(network, X, 2**17 if device == "cuda" else 2**13),
        "ours": lambda: ask(X),
        "with its table": lambda: ask(X).table(),
    }
    if device == "cuda":
        held = X.cpu()
        work["from the CPU"] = lambda: ask(held)
    wall, busy = _times(work, device)
    yield from _told(f"{device}, {rows:,} rows", rows, wall, wall if device == "cuda" else busy)


def _told(
    name: str, rows: int, wall: dict[str, float], times: dict[str, float]
) -> Iterator[Finding]:
    bare = min(times["bare"], times["bare in batches"])
    clock = "ms" if wall is times else "CPU ms"
    yield Finding(f"{PASSES} forward passes, {name}", 1e3 * bare, clock)
    yield Finding(f"effects of a network, {name}", 1e3 * times["ours"], clock)
    yield Finding(f"rows a second, {name}", rows / wall["ours"], "rows/s")
    ratio = times["ours"] / bare
    yield Finding(f"effects / passes, {name}", ratio, "x", "<= 1.3", ratio <= 1.3)
    table = times["with its table"] / bare
    yield Finding(f"effects and their whole table / passes, {name}", table, "x")
    if "from the CPU" in times:
        moved = times["from the CPU"] / bare
        yield Finding(f"effects of rows on the CPU / passes, {name}", moved, "x")


def _setting(device: str, rows: int) -> tuple[Any, Any, Any]:
    """A network, a model of its mediators, and rows, on a device."""
    import torch

    torch.manual_seed(0)
    layers: list[Any] = [torch.nn.Linear(WIDTH, HIDDEN), torch.nn.ReLU()]
    for _ in range(LAYERS - 1):
        layers += [torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers, torch.nn.Linear(HIDDEN, 1)).to(device)
    mediator = torch.nn.Linear(WIDTH, len(MEDIATORS)).to(device)
    with torch.no_grad():
        mediator.weight[:, list(MEDIATORS)] = 0.0
    X = torch.randn(rows, WIDTH)
    X[:, 0] = (X[:, 0] > 0.2).float()
    return network, mediator, X.to(device)


def _passes(network: Any, X: Any, batch: int) -> Any:
    """The network's own forward passes, and nothing else."""
    import torch

    with torch.inference_mode():
        answers = [
            network(X[start : start + batch])
            for _ in range(PASSES)
            for start in range(0, len(X), batch)
        ]
    return answers[-1]


def _times(
    work: dict[str, Callable[[], Any]], device: str
) -> tuple[dict[str, float], dict[str, float]]:
    """The least wall and CPU time of each, in turns, after one round that warms up."""
    import torch

    wall, busy = ({name: float("inf") for name in work} for _ in range(2))
    for turn in range(ROUNDS[device] + 1):
        for name, run in work.items():
            started = time.perf_counter()
            used = cpu_seconds(run)
            if device == "cuda":
                torch.cuda.synchronize()
            if turn:
                wall[name] = min(wall[name], time.perf_counter() - started)
                busy[name] = min(busy[name], used)
    return wall, busy


def agreement(rows: int = 20_000) -> Iterator[Finding]:
    """Do a GPU and the CPU say the same about the same rows, whatever moves the mediators?"""
    import torch

    from causalfairness import neural

    network, mediator, X = _setting("cpu", rows)
    asked = {"protected_index": 0, "mediator_indices": MEDIATORS}

    def draw(rows: Any, chance: Any) -> Any:
        noise = torch.randn(len(rows), len(MEDIATORS), generator=chance, device=rows.device)
        return noise + rows[:, :1]

    for name, model, most in (
        ("module", mediator, 1e-5),
        ("function of arrays", lambda table: table[:, [0, 0, 5, 6]], 1e-5),
        ("sampler", neural.Sampled(draw), 0.02),
    ):
        table = X.numpy() if "arrays" in name else X
        here = neural.effects(network.cpu(), table, mediator_model=model, **asked)
        network.cuda()
        there = neural.effects(network, table, mediator_model=model, **asked)
        gaps = [abs((a - b).value) for a, b in zip(here.table(), there.table(), strict=True)]
        gap = max(gaps)  # effects subtract only if both digests of the rows agree
        yield Finding(f"{name}, largest gap of cuda and cpu", gap, "", f"<= {most:g}", gap <= most)


def main() -> None:
    """Print what was measured, on one device or on both, and how the two compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=sorted(ROUNDS), default="cpu")
    parser.add_argument("--rows", type=int, default=10**6)
    asked = parser.parse_args()
    import torch

    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    if asked.device == "cuda":
        print(torch.cuda.get_device_name())
    devices = ("cpu", "cuda") if asked.device == "cuda" else ("cpu",)
    found = [finding for device in devices for finding in beside_passes(device, asked.rows)]
    speeds = [finding.value for finding in found if finding.unit == "rows/s"]
    if len(speeds) > 1:
        gain = speeds[1] / speeds[0]
        found.append(Finding("rows a second, cuda / cpu", gain, "x", ">= 10", gain >= 10))
        found += agreement()
    for finding in found:
        mark = "" if finding.met is None else ("met" if finding.met else "MISSED")
        print(
            f"{finding.name:<68} {finding.value:>12.4g} {finding.unit:<7} {finding.target} {mark}"
        )


if __name__ == "__main__":
    main()
