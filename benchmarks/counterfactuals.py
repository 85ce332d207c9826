"""Fitting a structural model and asking what would have been: against DoWhy, on the same rows.

Both fit the five nodes of one graph to the same pandas frame and set one of them for every row.
CPU time is compared, on one thread each, so that neither a busy machine nor threads that wait for
each other count.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import causalfairness as cf
from benchmarks.measuring import Finding, peak_megabytes
from causalfairness.scm import Additive, Linear
from causalfairness.scm.learners import boosted_regressor

ROWS = {"small": (10**5,), "standard": (10**5, 10**6), "large": (10**5, 10**6)}
ALONE = {"small": 10**5, "standard": 10**6, "large": 10**7}  # rows that memory is measured on
BOOSTED = 10**5  # rows
ROUNDS = {10**5: 25, 10**6: 7}
BLOCK = 2**16  # rows drawn in one go, so that drawing leaves no peak behind
NODES = ("group", "age", "school", "rank", "pay")
LEARNED = NODES[2:]
GRAPH = cf.CausalGraph.parse(
    "{group, age} -> school; {group, age, school} -> rank; {group, age, school, rank} -> pay"
)
DO = 1.0  # the value that the group is set to
Answer = Callable[[], Any]


def draw(rows: int, seed: int = 0) -> Any:
    """People of two groups, with linear equations and normal noise."""
    import pandas

    rng = np.random.default_rng(seed)
    whole = np.empty((len(NODES), rows))
    for start in range(0, rows, BLOCK):
        group, age, school, rank, pay = (row[start : start + BLOCK] for row in whole)
        group[:] = rng.random(len(group)) < 0.4
        age[:] = rng.normal(size=len(age))
        school[:] = 0.5 * group - 0.3 * age + rng.normal(size=len(age))
        rank[:] = 0.2 * group + 0.1 * age + 0.4 * school + rng.normal(size=len(age))
        pay[:] = 1 + 0.3 * group + 0.5 * age - 0.2 * school + 0.7 * rank
        pay += rng.normal(size=len(age))
    return pandas.DataFrame(whole.T, columns=list(NODES), copy=False)


def ours(frame: Any, mechanism: Any) -> Any:
    """Fit and counterfactual, from frame to frame."""
    mechanisms = dict.fromkeys(LEARNED, mechanism)
    model = cf.StructuralCausalModel.fit(GRAPH, frame, mechanisms, seed=0)
    return model.counterfactual(frame, do={"group": DO}, seed=0)


def with_dowhy(frame: Any, learner: Any) -> Any:
    """The same by DoWhy's invertible models, with the same learner."""
    from dowhy import gcm
    from dowhy.gcm.ml.regression import SklearnRegressionModel
    from sklearn.base import clone

    gcm.config.disable_progress_bars()
    model = gcm.InvertibleStructuralCausalModel(GRAPH.to_networkx())
    for node in NODES:
        mechanism = (
            gcm.AdditiveNoiseModel(SklearnRegressionModel(clone(learner)))
            if node in LEARNED
            else gcm.EmpiricalDistribution()
        )
        model.set_causal_mechanism(node, mechanism)
    gcm.fit(model, frame)
    return gcm.counterfactual_samples(model, {"group": lambda _: DO}, observed_data=frame)


def measure(size: str) -> Iterator[Finding]:
    """CPU time and values beside DoWhy's, the same answer twice, and memory."""
    from sklearn.linear_model import LinearRegression
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        for rows in ROWS[size]:
            frame = draw(rows)
            peers = {
                "ours": lambda frame=frame: ours(frame, Linear()),
                "DoWhy": lambda frame=frame: with_dowhy(frame, LinearRegression()),
            }
            yield from _beside(f"counterfactuals, linear, {rows:,} rows", peers, ROUNDS[rows], 20)
        yield from _boosted(draw(BOOSTED))
        yield _twice()
    yield from _memory(ALONE[size])


def _boosted(frame: Any) -> Iterator[Finding]:
    learner = boosted_regressor().set_params(random_state=0)
    peers = {
        "ours": lambda: ours(frame, Additive(learner)),
        "DoWhy": lambda: with_dowhy(frame, learner),
    }
    yield from _beside(f"counterfactuals, boosting, {len(frame):,} rows", peers, 2, 1)


def _beside(name: str, peers: Mapping[str, Answer], rounds: int, target: int) -> Iterator[Finding]:
    """Rounds are interleaved, the least CPU time of each counts; the first warms both up."""
    answers = {peer: answer() for peer, answer in peers.items()}
    times: dict[str, list[float]] = {peer: [] for peer in peers}
    for _ in range(rounds):
        for peer, answer in peers.items():
            times[peer].append(_cpu_seconds(answer))
    least = {peer: min(found) for peer, found in times.items()}
    yield Finding(name, 1e3 * least["ours"], "CPU ms")
    yield Finding(f"DoWhy, {name}", 1e3 * least["DoWhy"], "CPU ms")
    gain = least["DoWhy"] / least["ours"]
    yield Finding(f"DoWhy / {name}", gain, "x", f">= {target}", gain >= target)
    gap = _largest_gap(answers["ours"], answers["DoWhy"])
    yield Finding(f"{name}, largest difference", gap, "", "<= 1e-9", gap <= 1e-9)


def _twice() -> Finding:
    """Everything that chance has a hand in: mechanisms chosen, boosting, drawn noise."""
    frame = draw(5_000)
    frame["pay"] = (frame["pay"] > 1).map({True: "high", False: "low"})
    frame["rank"] = frame["rank"] ** 2  # no line fits, so that boosting is chosen

    def answer() -> Any:
        model = cf.StructuralCausalModel.fit(GRAPH, frame, seed=0)
        return model.counterfactual(frame, do={"group": DO}, draws=2, seed=0)

    one, other = answer(), answer()
    differ = int((one != other).to_numpy().sum())
    return Finding("same seed twice, values that differ", differ, "", "== 0", differ == 0)


def _memory(rows: int) -> Iterator[Finding]:
    """What is needed beyond the frame that is brought and the columns that come back."""
    name = f"counterfactuals, linear, {rows:,} rows"
    peak, before = (peak_megabytes(_answer_once, rows, asked) for asked in (True, False))
    returned = (1 + len(LEARNED)) * 8 * rows / 2**20
    yield Finding(f"{name}, peak memory", peak, "MB")
    beyond = peak - before - returned
    yield Finding(f"{name}, beyond data and result", beyond, "MB", "< 100", beyond < 100)
    if rows not in ROUNDS:
        frame = draw(rows)
        seconds = min(_cpu_seconds(lambda: ours(frame, Linear())) for _ in range(3))
        yield Finding(name, 1e3 * seconds, "CPU ms")


def _answer_once(rows: int, asked: bool) -> None:
    ours(draw(1_000), Linear())  # what is loaded on first use
    frame = draw(rows)
    if asked:
        ours(frame, Linear())


def _largest_gap(one: Any, other: Any) -> float:
    return max(float(np.abs(one[node].to_numpy() - other[node].to_numpy()).max()) for node in NODES)


def _cpu_seconds(run: Answer) -> float:
    """CPU time of this process, over all its threads, and of processes that it waited for."""
    started = time.process_time() + _children_seconds()
    run()
    return time.process_time() + _children_seconds() - started


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
