"""Does training learn, stop, resume and refuse as it says? With networks of seconds on a CPU."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from causalfairness.errors import CheckpointError, TrainingError
from causalfairness.imaging import checkpoints, training
from causalfairness.imaging.configuration import AutoencoderPlan, Pace, configuration
from causalfairness.imaging.latent_networks import Autoencoder
from causalfairness.imaging.parents import Parents
from causalfairness.imaging.simulator import Simulator
from causalfairness.imaging.streams import (
    autoencoder_batches,
    denoiser_batches,
    simulated,
    stored,
)
from causalfairness.imaging.training import averaged_weights, train

torch.set_num_threads(1)  # the last bit of a sum depends on how many share it

PACE = Pace(batch=4, steps=120, rate=1e-2, warmup=5, average=0.9)
PLAN = AutoencoderPlan(16, 2, (4, 8), 1, 4, PACE)
SMALL = replace(configuration(32), autoencoder=PLAN)


def fresh():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Autoencoder(PLAN)


def batches(seed=0):
    return autoencoder_batches(simulated(Simulator(size=16), seed=seed), SMALL, seed=seed)


def learn(path, batch=None, **given):
    return train(fresh(), batch or batches(), path=path, plan=PLAN, pace=PACE, **given)


def weights(network):
    return torch.cat([weight.detach().flatten() for weight in network.parameters()])


def step_of(path):
    return checkpoints.load(path, plan=PLAN)["step"]


# --- learning -----------------------------------------------------------------------------------


def test_the_loss_falls(tmp_path):
    run = learn(tmp_path / "net.pt")
    assert run.step == 120
    assert run.losses[-1][1] < 0.6 * run.losses[0][1]
    assert [step for step, _ in run.losses] == [50, 100, 120]
    assert str(run).startswith("120 steps, ")


def test_what_comes_back_is_the_running_average(tmp_path):
    run = learn(tmp_path / "net.pt", steps=20)
    kept = checkpoints.load(tmp_path / "net.pt", plan=PLAN)
    averaged = torch.cat([value.flatten() for value in kept["averaged"]])
    last = torch.cat([kept["network"][name].flatten() for name, _ in fresh().named_parameters()])
    assert torch.equal(weights(run.network), averaged)
    assert not torch.equal(averaged, last)
    again = averaged_weights(fresh(), tmp_path / "net.pt", plan=PLAN)
    assert torch.equal(weights(again), averaged)


def test_the_average_follows_its_recursion(tmp_path):
    class Walk(nn.Module):
        def __init__(self):
            super().__init__()
            self.place = nn.Parameter(torch.zeros(1))

        def loss(self, target):
            return ((self.place - target) ** 2).sum()

    places, network = [], Walk()

    def batch(step):
        places.append(float(network.place.detach()))
        return (torch.ones(1),)

    run = train(network, batch, path=tmp_path / "w.pt", plan=PACE, pace=PACE, steps=6)
    final = checkpoints.load(tmp_path / "w.pt", plan=PACE)["network"]["place"]
    expected = 0.0
    for step, place in enumerate([*places[2:], float(final)]):  # batch(0) is asked twice
        keep = min(0.9, (step + 1) / (step + 10))
        expected = keep * expected + (1 - keep) * place
    assert float(run.network.place.detach()) == pytest.approx(expected, rel=1e-5)


# --- stopping and going on ----------------------------------------------------------------------


def test_a_stopped_run_goes_on_as_if_it_had_not_been(tmp_path):
    whole = learn(tmp_path / "whole.pt", steps=60)
    learn(tmp_path / "parts.pt", steps=23)
    learn(tmp_path / "parts.pt", steps=31)
    parts = learn(tmp_path / "parts.pt", steps=60)
    assert torch.equal(weights(whole.network), weights(parts.network))
    one, two = (checkpoints.load(tmp_path / f"{name}.pt", plan=PLAN) for name in ("whole", "parts"))
    for place, memory in one["optimizer"]["state"].items():
        for name, value in memory.items():
            assert torch.equal(value, two["optimizer"]["state"][place][name])


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import test_imaging_training as here
here.learn(Path(sys.argv[1]), steps=1_000_000)
"""


def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path):
    """A real SIGKILL, in the middle of a step."""
    path, tests = tmp_path / "net.pt", str(Path(__file__).parent)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path), tests])
    try:
        for _ in range(1_200):
            if path.exists():
                break
            time.sleep(0.1)
        time.sleep(0.2)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    stopped = step_of(path)
    assert stopped % 50 == 0
    resumed = learn(path, steps=stopped + 9)
    whole = learn(tmp_path / "whole.pt", steps=stopped + 9)
    assert torch.equal(weights(whole.network), weights(resumed.network))
    assert resumed.losses == whole.losses


def test_lines_of_the_log_that_come_again_are_not_kept_twice(tmp_path):
    path = tmp_path / "net.pt"
    learn(path, steps=60)
    log = path.with_suffix(".jsonl")
    with log.open("a") as file:
        file.write(json.dumps({"step": 90, "loss": 1.0, "seconds": 1.0}) + '\n{"step": 1')
    run = learn(path, steps=70)
    assert [step for step, _ in run.losses] == [50, 60, 70]


def test_the_clock_stops_a_run_with_a_checkpoint(tmp_path):
    path = tmp_path / "net.pt"
    assert learn(path, seconds=0.0).step == 1
    assert step_of(path) == 1
    assert learn(path, seconds=0.0).step == 2


def test_a_finished_run_is_not_trained_again(tmp_path):
    path = tmp_path / "net.pt"
    first = learn(path, steps=10)
    before = path.stat().st_mtime_ns
    again = learn(path, steps=10)
    assert path.stat().st_mtime_ns == before
    assert torch.equal(weights(first.network), weights(again.network))


def test_a_loss_that_is_not_a_number_is_refused_and_the_checkpoint_stays(tmp_path):
    path, good = tmp_path / "net.pt", batches()
    learn(path, steps=10)

    def spoiled(step):
        images, noise = good(step)
        return (images * float("nan") if step == 30 else images), noise

    with pytest.raises(TrainingError, match="the loss is nan at step 50; the last checkpoint"):
        learn(path, spoiled, steps=60)
    assert step_of(path) == 10


def test_what_a_rehearsal_moved_is_put_back(monkeypatch, tmp_path):
    """Capture runs the step a few times before it records it; here it also fails after that."""
    learner = training.learner_of(fresh(), pace=PACE)
    before = weights(learner.network)

    def rehearse(function, example):
        for _ in range(3):
            function(*example)
        raise RuntimeError("cannot be captured")

    monkeypatch.setattr(training, "captured", rehearse)
    step = learner.captured_step(batches()(0))
    assert step == learner.step
    assert torch.equal(weights(learner.network), before)
    memory = learner.optimizer.state.values()
    assert all(float(value.abs().sum()) == 0 for kept in memory for value in kept.values())


# --- checkpoints --------------------------------------------------------------------------------


def test_a_checkpoint_of_another_configuration_is_refused(tmp_path):
    path = tmp_path / "net.pt"
    learn(path, steps=1)
    other = replace(PLAN, latent_channels=4)
    message = "belongs to another configuration: latent_channels is 2, not 4; use that"
    with pytest.raises(CheckpointError, match=message):
        train(Autoencoder(other), batches(), path=path, plan=other, pace=PACE)
    with pytest.raises(CheckpointError, match="pace is"):
        checkpoints.load(path, plan=replace(PLAN, pace=replace(PACE, rate=1.0)))


@pytest.mark.parametrize("left", [0, 10, 2_000])
def test_a_truncated_checkpoint_is_refused(tmp_path, left):
    path = tmp_path / "net.pt"
    learn(path, steps=1)
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(CheckpointError, match="is not a whole checkpoint"):
        learn(path, steps=2)


def test_a_file_of_something_else_is_refused(tmp_path):
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(CheckpointError, match=r"list.pt is not a whole checkpoint"):
        checkpoints.load(tmp_path / "list.pt", plan=PLAN)


def test_whoever_dies_while_writing_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "net.pt"
    learn(path, steps=3)

    def half(content, file):
        file.write(b"half a checkpoint")
        raise OSError("no space left on device")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="no space left"):
        learn(path, steps=4)
    assert step_of(path) == 3
    assert sorted(file.name for file in tmp_path.iterdir()) == ["net.jsonl", "net.pt"]


def test_packed_networks_come_in_small_files_and_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "SHARD", 8_000)
    state = fresh().state_dict()
    files = checkpoints.pack(state, tmp_path, name="net", plan=PLAN)
    assert len(files) > 1
    back = checkpoints.unpack(tmp_path, name="net", plan=PLAN)
    assert back.keys() == state.keys()
    assert all(torch.allclose(back[name], state[name], rtol=2**-8) for name in state)
    files[1].unlink()
    with pytest.raises(CheckpointError, match=r"there is no checkpoint .*net-1.pt"):
        checkpoints.unpack(tmp_path, name="net", plan=PLAN)


# --- batches ------------------------------------------------------------------------------------


def test_a_batch_depends_on_seed_and_step_alone():
    one, other = batches(), batches(seed=1)
    later = one(7)
    one(3)
    assert all(torch.equal(a, b) for a, b in zip(later, one(7), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(later, one(8), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(later, other(7), strict=True))


def people(count):
    zeros = torch.zeros(count, dtype=torch.int64)
    return Parents(torch.arange(count) % 3, zeros + 0.5, zeros, zeros, torch.zeros(count, 5).long())


def test_a_lot_of_a_fixed_set_holds_nobody_twice():
    images = torch.arange(10.0).reshape(10, 1, 1, 1)
    found, parents = stored(images, people(10), seed=0)(4, 10)
    assert sorted(found.flatten().tolist()) == list(range(10))
    assert torch.equal(parents.group, found.flatten().long() % 3)


def test_tokens_are_withheld_as_often_as_the_plan_says():
    plan = configuration(32).changed(dropped=0.2, all_dropped=0.1)
    plan = replace(plan, denoiser=replace(plan.denoiser, pace=replace(PACE, batch=4_000)))
    images = torch.zeros(50, 1, 8, 8)
    batch = denoiser_batches(stored(images, people(50), seed=0), torch.abs, plan, seed=0, pool=50)
    codes = batch(0)[1]
    withheld = codes == -1
    assert float(withheld.double().mean()) == pytest.approx(1 - 0.8 * 0.9, abs=0.02)
    assert float(withheld.all(1).double().mean()) == pytest.approx(0.1, abs=0.02)


def test_a_denoiser_of_the_group_alone_is_told_nothing_else():
    plan = configuration(32).changed(told=("group",), dropped=0.0, all_dropped=0.0)
    images = torch.zeros(50, 1, 8, 8)
    batch = denoiser_batches(stored(images, people(50), seed=0), torch.abs, plan, seed=0, pool=50)
    codes = batch(0)[1]
    assert sorted(codes[:, 0].unique().tolist()) == [0, 1, 2]
    assert codes[:, 1:].unique().tolist() == [-1]


def test_the_pool_of_latents_is_renewed():
    source = simulated(Simulator(size=16), seed=0)
    plan = configuration(32)
    batch = denoiser_batches(source, torch.abs, plan, seed=0, pool=8, renewed=2)
    means = [set(batch(step)[0].mean((1, 2, 3)).tolist()) for step in range(4)]
    assert len(means[0] | means[1]) <= 8
    assert not (means[0] | means[1]) & (means[2] | means[3])
