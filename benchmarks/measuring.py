"""How long does work take, and how much memory does it need at its peak?"""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Finding(NamedTuple):
    """What was measured, and what was it held to?"""

    name: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None


def best_of(work: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The shortest wall time of each piece of work; rounds are interleaved to share the weather."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, run in work.items():
            started = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - started)
    return {name: min(found) for name, found in times.items()}


def cpu_seconds(run: Callable[[], Any]) -> float:
    """CPU time of this process, over all its threads."""
    started = time.process_time()
    run()
    return time.process_time() - started


def peak_megabytes(run: Callable[..., Any], *arguments: Any) -> float:
    """The largest memory of a fresh process that does the work."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report_peak, args=(sender, run, arguments))
    process.start()
    peak = json.loads(receiver.recv())
    process.join()
    return float(peak)


def _report_peak(sender: Any, run: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    run(*arguments)
    sender.send(json.dumps(_high_water_kilobytes() / 1024))


def _high_water_kilobytes() -> float:
    """Since this program began; the resource module would count the parent's memory too."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1])
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
