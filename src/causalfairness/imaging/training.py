"""How does a network learn, in stages that may be stopped and go on as if they never were?

All chance of a step comes from the seed and the number of the step, so a checkpoint needs weights,
their running average, the optimizer's memory and the step, and nothing else: a run that was killed
and resumed ends with the same numbers as one that was not (bit for bit on a CPU). The learning rate
follows the step, not the clock.

Learning is AdamW on clipped gradients; on a GPU in bfloat16, with the whole step captured
(`devices`).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from causalfairness.errors import TrainingError
from causalfairness.imaging import checkpoints
from causalfairness.imaging.configuration import Pace
from causalfairness.imaging.devices import captured
from causalfairness.progress import track
from causalfairness.writing import write_whole

Batch = Callable[[int], tuple[Tensor, ...]]
SAVE_EVERY = 120.0  # seconds between two checkpoints
LOG_EVERY = 50  # steps between two lines of the log


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """How did the training go? The network, with its averaged weights, and its losses.

    >>> print(TrainingRun(nn.Linear(1, 1), 200, ((100, 0.5), (200, 0.25)), seconds=1.5))
    200 steps, 1.5 s in this run: loss from 0.5 to 0.25
    """

    network: Any
    step: int
    losses: tuple[tuple[int, float], ...]  # (step, mean loss since the line before)
    seconds: float

    def __str__(self) -> str:
        told = f"{self.step} steps, {self.seconds:.1f} s in this run"
        if not self.losses:
            return told
        return f"{told}: loss from {self.losses[0][1]:.4g} to {self.losses[-1][1]:.4g}"


def train(
    network: nn.Module,
    batch: Batch,
    *,
    path: Path,
    plan: Any,
    pace: Pace,
    seconds: float = math.inf,
    steps: int | None = None,
    what: str = "training",
) -> TrainingRun:
    """How does this network learn? Goes on from the checkpoint at `path` if there is one.

    `network.loss(*batch(step))` is made small. Stops after `steps` (the pace's, unless given) or
    `seconds`, whichever comes first, and writes the checkpoint; `path` with the ending .jsonl is
    the log, of JSON lines. The weights that come back are the averaged ones.

    >>> import tempfile
    >>> class Mean(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.guess = nn.Parameter(torch.zeros(()))
    ...     def loss(self, values):
    ...         return ((values - self.guess) ** 2).mean()
    >>> pace = Pace(batch=8, steps=200, rate=0.1, warmup=1, average=0.9)
    >>> path = Path(tempfile.mkdtemp()) / "mean.pt"
    >>> run = train(Mean(), lambda step: (torch.ones(8),), path=path, plan=pace, pace=pace)
    >>> run.step, round(float(run.network.guess.detach()), 2)
    (200, 1.0)
    """
    started = time.monotonic()
    learner = learner_of(network, pace=pace)
    first = 0
    if path.exists():
        device = learner.averaged[0].device
        first = learner.restore(checkpoints.load(path, plan=plan, device=device))
    log = opened_diary(path.with_suffix(".jsonl"), after=first)
    last = pace.steps if steps is None else steps
    done = first
    for done in _steps(learner, batch, range(first, last), log, what):
        over = time.monotonic() - started > seconds
        if over or done == last or _save_is_due(done, path):
            log.write(done)
            checkpoints.save(path, learner.content(step=done), plan=plan)
        if over:
            break
    return TrainingRun(learner.finished(), done, log.losses(), time.monotonic() - started)


def chance(seed: int, step: int, *, stream: int, device: torch.device | str = "cpu") -> Any:
    """Where does the chance of one step come from? Its own generator, whoever asks and when.

    >>> first, again = (chance(0, 7, stream=1) for _ in range(2))
    >>> bool((torch.rand(3, generator=first) == torch.rand(3, generator=again)).all())
    True
    """
    words = np.random.SeedSequence((seed, stream, step)).generate_state(2, np.uint32)
    return torch.Generator(device=device).manual_seed((int(words[0]) << 31) ^ int(words[1]))


def averaged_weights(
    network: nn.Module, path: Path, *, plan: Any, device: torch.device | str = "cpu"
) -> Any:
    """Which network was trained here? Sets the averaged weights of a checkpoint, of any pace.

    >>> averaged_weights(nn.Linear(1, 1), Path("nowhere.pt"), plan=None)
    Traceback (most recent call last):
    ...
    causalfairness.errors.CheckpointError: there is no checkpoint nowhere.pt; train first
    """
    content = checkpoints.load(path, plan=plan, device=device, but=("pace",))
    network.to(device)
    with torch.no_grad():
        torch._foreach_copy_(list(network.parameters()), content["averaged"])
    return network.train(False)


@dataclass(frozen=True, eq=False)
class Diary:
    """How does the loss fall? Losses wait on their device until a line is due.

    >>> import tempfile
    >>> diary = opened_diary(Path(tempfile.mkdtemp()) / "log.jsonl", after=0)
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
        if _line_is_due(step):
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


def opened_diary(path: Path, *, after: int) -> Diary:
    """Where does the log go on? Lines later than the checkpoint are of steps that come again.

    >>> import tempfile
    >>> opened_diary(Path(tempfile.mkdtemp()) / "log.jsonl", after=0).losses()
    ()
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = [line for line in _lines(path) if line["step"] <= after]
    write_whole("".join(json.dumps(line) + "\n" for line in kept), path)
    return Diary(path, time.monotonic())


def _steps(learner: Learner, batch: Batch, steps: range, log: Diary, what: str) -> Any:
    """Takes one step after the other, and says after each how many there have been."""
    if not steps:
        return
    move = learner.captured_step(batch(steps[0]))
    for step in track(steps, total=len(steps), what=what):
        learner.set_rate(step)
        log.add(step, move(*batch(step)))
        learner.average(step)
        yield step + 1


def _save_is_due(done: int, path: Path) -> bool:
    """Is the last checkpoint old? Asked only where the log has just waited for the device."""
    if not _line_is_due(done - 1):
        return False
    return not path.exists() or time.time() - path.stat().st_mtime > SAVE_EVERY


def _line_is_due(step: int) -> bool:
    """Whether a line of the log follows this step."""
    return (step + 1) % LOG_EVERY == 0


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    lines = path.read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]  # not a line cut short


@dataclass(frozen=True, eq=False)
class Learner:
    """What changes when a network learns? Everything that a checkpoint has to hold.

    >>> learner = learner_of(nn.Linear(1, 1), pace=Pace(batch=1, steps=1, rate=0.1))
    >>> sorted(learner.content(step=0))
    ['averaged', 'network', 'optimizer', 'step']
    """

    network: Any
    optimizer: Any
    averaged: list[Tensor]  # of the parameters, in their order
    pace: Pace

    def step(self, *batch: Tensor) -> Tensor:
        """What is the loss on this batch? Learns from it."""
        device = self.averaged[0].device
        self.optimizer.zero_grad(set_to_none=True)
        mixed = device.type == "cuda"
        with torch.autocast(device.type, torch.bfloat16, enabled=mixed, cache_enabled=False):
            loss = self.network.loss(*batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), self.pace.clip)
        self.optimizer.step()
        return loss.detach()

    def captured_step(self, example: tuple[Tensor, ...]) -> Callable[..., Tensor]:
        """Which function learns from batches shaped like the example, launched at once on a GPU?

        Where the step cannot be captured, the plain one is taken.
        """
        weights, memory = _cloned(self.network), _cloned_memory(self.optimizer)
        try:
            step = captured(self.step, example)
        except RuntimeError:
            step = self.step
        with torch.no_grad():
            torch._foreach_copy_(list(self.network.parameters()), weights)
            for place, values in self.optimizer.state.items():
                for name, value in values.items():
                    value.copy_(memory[place][name]) if memory else value.zero_()
        return step

    def set_rate(self, step: int) -> None:
        """How large are the changes of this step?"""
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(self.pace.rate_at(step))
            else:
                group["lr"] = self.pace.rate_at(step)

    def average(self, step: int) -> None:
        """What have the weights been lately? Moves the average towards those of this step."""
        with torch.no_grad():
            weights = list(self.network.parameters())
            torch._foreach_lerp_(self.averaged, weights, 1 - self.pace.average_at(step))

    def content(self, *, step: int) -> dict[str, Any]:
        """What does a checkpoint have to hold after so many steps?"""
        states = {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}
        return {**states, "averaged": self.averaged, "step": step}

    def restore(self, content: Mapping[str, Any]) -> int:
        """After how many steps was this checkpoint written? Goes back to there."""
        rates = [group["lr"] for group in self.optimizer.param_groups]
        self.network.load_state_dict(content["network"])
        self.optimizer.load_state_dict(content["optimizer"])
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        torch._foreach_copy_(self.averaged, content["averaged"])
        return int(content["step"])

    def finished(self) -> Any:
        """Which network has been learned? The same one, with the averaged weights."""
        with torch.no_grad():
            torch._foreach_copy_(list(self.network.parameters()), self.averaged)
        return self.network.train(False)


def learner_of(network: nn.Module, *, pace: Pace) -> Learner:
    """Who learns? A network with a fresh optimizer and its weights as the first average.

    >>> network = nn.Linear(1, 1)
    >>> learner = learner_of(network, pace=Pace(batch=1, steps=1, rate=0.1))
    >>> bool(learner.averaged[0] == network.weight)
    True
    """
    weights = list(network.train().parameters())
    on_gpu = weights[0].is_cuda
    rate = torch.tensor(pace.rate, device=weights[0].device) if on_gpu else pace.rate
    optimizer = torch.optim.AdamW(
        weights, lr=rate, weight_decay=0.01, fused=on_gpu, capturable=on_gpu
    )
    return Learner(network, optimizer, _cloned(network), pace)


def _cloned(network: nn.Module) -> list[Tensor]:
    return [weight.detach().clone() for weight in network.parameters()]


def _cloned_memory(optimizer: Any) -> dict[Any, dict[str, Tensor]]:
    return {
        place: {name: value.clone() for name, value in values.items()}
        for place, values in optimizer.state.items()
    }
