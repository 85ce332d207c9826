"""How fast are training and sampling, against the same networks' bare passes?

The bare pass of training is the loss and its gradient, that of sampling one call of the denoiser;
both are captured on a GPU as the real ones are, and neither clips, optimizes or averages.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from causalfairness.imaging.configuration import Configuration
from causalfairness.imaging.devices import captured
from causalfairness.imaging.generator import untrained
from causalfairness.imaging.sampler import sample
from causalfairness.imaging.simulator import Simulator
from causalfairness.imaging.training import learner_of


def speed(plan: Configuration, *, device: str, repeats: int = 20, batch: int | None = None) -> Any:
    """How many milliseconds do steps take, and how many times their bare passes is that?

    >>> from causalfairness.imaging.configuration import configuration
    >>> sorted(speed(configuration(32), device="cpu", repeats=1, batch=2))
    ['autoencoder', 'denoiser', 'sampling', 'simulator']
    """
    generator = untrained(plan, seed=0)
    autoencoder, denoiser = generator.autoencoder.to(device), generator.denoiser.to(device)
    paces = plan.autoencoder.pace, plan.denoiser.pace
    many = [batch or pace.batch for pace in paces]
    size, shape = plan.autoencoder.size, plan.autoencoder.latent_shape
    films = torch.rand(many[0], 1, size, size, device=device)
    noise = [torch.randn(count, *shape, device=device) for count in many]
    codes = torch.zeros(many[1], 9, device=device)
    angles = torch.rand(many[1], device=device)
    return {
        "autoencoder": _training(autoencoder, paces[0], (films, noise[0]), repeats),
        "denoiser": _training(denoiser, paces[1], (noise[1], codes, noise[1], angles), repeats),
        "sampling": _sampling(generator, noise[1], codes, max(repeats // 10, 1)),
        "simulator": _drawing(size, 16 * many[0], device, max(repeats // 10, 1)),
    }


def _training(network: Any, pace: Any, batch: tuple[Tensor, ...], repeats: int) -> Any:
    learner = learner_of(network, pace=pace)
    device = batch[0].device

    def bare(*values: Tensor) -> Tensor:
        network.zero_grad(set_to_none=True)
        mixed = device.type == "cuda"
        with torch.autocast(device.type, torch.bfloat16, enabled=mixed, cache_enabled=False):
            loss = network.loss(*values)
        loss.backward()
        return loss.detach()

    def whole(step: Callable[..., Tensor]) -> Callable[[], None]:
        def run() -> None:
            learner.set_rate(0)
            step(*batch)
            learner.average(0)

        return run

    plain, quick = captured(bare, batch), learner.captured_step(batch)
    return _compared(whole(quick), lambda: plain(*batch), repeats, images=len(batch[0]))


def _sampling(generator: Any, noise: Tensor, codes: Tensor, repeats: int) -> Any:
    steps = 10
    grid = generator.configuration.schedule.grid(steps, device=noise.device)
    mixed = noise.is_cuda
    with (
        torch.inference_mode(),
        torch.autocast(noise.device.type, torch.bfloat16, enabled=mixed, cache_enabled=False),
    ):
        generator.denoiser.train(False)
        values = (noise, grid[1].expand(len(noise)), codes)
        bare = captured(generator.denoiser, values)
        velocity = generator.velocity(codes)
        return _compared(
            lambda: sample(velocity, noise, angles=grid),
            lambda: [bare(*values) for _ in range(steps)],
            repeats,
            images=len(noise) / steps,
        )


def _drawing(size: int, count: int, device: str, repeats: int) -> dict[str, float]:
    simulator = Simulator(size=size)
    took = _milliseconds(lambda: simulator.draw(count, seed=0, device=device).images(), repeats)
    return {"ours": took, "images_per_second": 1_000 * count / took}


def _compared(
    ours: Callable[[], Any], bare: Callable[[], Any], repeats: int, *, images: float
) -> dict[str, float]:
    took = {name: _milliseconds(run, repeats) for name, run in (("ours", ours), ("bare", bare))}
    per_second = 1_000 * images / took["ours"]
    return {**took, "ratio": took["ours"] / took["bare"], "images_per_second": per_second}


def _milliseconds(run: Callable[[], Any], repeats: int) -> float:
    for _ in range(2):
        run()
    _wait()
    started = time.perf_counter()
    for _ in range(repeats):
        run()
    _wait()
    return 1_000 * (time.perf_counter() - started) / repeats


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
