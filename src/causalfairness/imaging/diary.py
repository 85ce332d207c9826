"""How does the loss fall? A log of JSON lines, one every so many steps."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from causalfairness.errors import TrainingError

EVERY = 50  # steps between two lines


@dataclass(frozen=True, eq=False)
class Diary:
    """How does the loss fall? Losses wait on their device until a line is due.

    >>> import tempfile
    >>> diary = opened(Path(tempfile.mkdtemp()) / "log.jsonl", after=0)
    >>> for step in range(100):
    ...     diary.add(step, torch.tensor(float(step)))
    >>> diary.losses()
    ((50, 24.5), (100, 74.5))
    """

    path: Path
    started: float
    waiting: list[Tensor] = field(default_factory=list)

    def add(self, step: int, loss: Tensor) -> None:
        """What was the loss of this step?"""
        self.waiting.append(loss.clone())
        if due(step):
            self.write(step + 1)

    def write(self, step: int) -> None:
        """What was the mean loss since the line before? Refused if it is not a number."""
        if not self.waiting:
            return
        loss = float(torch.stack(self.waiting).mean())
        if not math.isfinite(loss):
            raise TrainingError(
                f"the loss is {loss} at step {step}; the last checkpoint is still there. Use a "
                "smaller learning rate, and look at the images for values that are not numbers"
            )
        self.waiting.clear()
        line = {"step": step, "loss": loss, "seconds": round(time.monotonic() - self.started, 2)}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def losses(self) -> tuple[tuple[int, float], ...]:
        """What were the losses? (step, mean since the line before)."""
        return tuple((line["step"], line["loss"]) for line in _lines(self.path))


def opened(path: Path, *, after: int) -> Diary:
    """Where does the log go on? Lines later than the checkpoint are of steps that come again.

    >>> import tempfile
    >>> opened(Path(tempfile.mkdtemp()) / "log.jsonl", after=0).losses()
    ()
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = [line for line in _lines(path) if line["step"] <= after]
    beside = path.with_suffix(".writing")
    beside.write_text("".join(json.dumps(line) + "\n" for line in kept), "utf-8")
    beside.replace(path)
    return Diary(path, time.monotonic())


def due(step: int) -> bool:
    """Is a line due after this step?

    >>> [step for step in range(200) if due(step)]
    [49, 99, 149, 199]
    """
    return (step + 1) % EVERY == 0


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    lines = path.read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]  # not a line cut short
