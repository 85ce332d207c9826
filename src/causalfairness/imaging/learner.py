"""What changes when a network learns? Its weights, their running average, the optimizer's memory.

AdamW on clipped gradients; on a GPU in bfloat16, with the whole step captured (`devices`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from causalfairness.imaging.configuration import Pace
from causalfairness.imaging.devices import captured


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
