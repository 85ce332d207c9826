"""In which worlds is it known whether a prediction depends on the group? Six processes.

    Z ~ N(0, I_k),      A = 1 with chance expit(logit(0.3) + confounding . c . Z)
    S_3 = Z,   S_t = B_t(A) S_{t+1} + noise   for t = 2, 1, 0      (states)
    X = M S_0 + r + noise                                          (what a model sees)
    Y = 1 with chance expit(f(Z))                                  (what it learns to predict)

    B_t(0) = N_t,       B_t(1) = cos(s pi / 2) N_t + sin(s pi / 2) M_t

The group reaches X through the states only, as far as the strength s says: at s = 0 X does not
depend on it, at s = 1 its states are mixed by matrices of their own. Z causes everything else, so
given Z the group is as good as random; states and X are brought about by it and are no features.
The six differ in f. After App. F.1 of the paper on testing counterfactual invariance, with its
k = 32, three steps and noise 0.01; the recursion runs from the last state down, entries are
uniform within +- sqrt(3 / k) in place of +- 10, so that states keep the scale of Z, and
log(exp(w Z) + softplus(b)) in place of log(exp(w Z) + b), which may be undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from causalfairness.errors import DatasetError

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
STEPS = 3
SHARE = 0.3  # of group 1, for average features
NOISE = 0.01


class Coefficients(NamedTuple):
    """Which numbers, drawn once, make a process? Matrices, and the weights of f."""

    own: tuple[Array, ...]  # N_t
    other: tuple[Array, ...]  # M_t
    to_inputs: Array
    bias: Array
    leaning: Array  # c, of length 1
    outcome: Callable[[Array], Array]  # f


class People(NamedTuple):
    """Who was drawn? Features and group, what a model sees of them, and what it should predict."""

    features: Array  # Z
    group: Codes  # A
    inputs: Array  # X
    labels: Codes  # Y
    noise: Array  # (steps + 1, people, k)


@dataclass(frozen=True, eq=False)
class Process:
    """How do people come about, and what would a model see of them in the other group?"""

    name: str
    strength: float
    confounding: float
    coefficients: Coefficients

    def draw(self, n: int, *, seed: int) -> People:
        """Which n people are observed?"""
        rng = np.random.default_rng(seed)
        fixed = self.coefficients
        z = rng.normal(size=(n, len(fixed.bias)))
        group = (rng.random(n) < self.group_probability(z)).astype(np.int64)
        noise = NOISE * rng.normal(size=(STEPS + 1, *z.shape))
        labels = (rng.random(n) < expit(fixed.outcome(z))).astype(np.int64)
        people = People(z, group, np.empty_like(z), labels, noise)
        return people._replace(inputs=self.under(people, group))

    def group_probability(self, features: Array) -> Array:
        """How likely is group 1, given the features?"""
        leaning = self.confounding * (features @ self.coefficients.leaning)
        return np.asarray(expit(logit(SHARE) + leaning))

    def under(self, people: People, group: Codes | int) -> Array:
        """What would a model see of these people if they were of this group?"""
        told = np.broadcast_to(np.asarray(group), len(people.group))[:, None] == 1
        state = people.features
        turn = np.pi / 2 * self.strength
        for own, other, noise in zip(
            self.coefficients.own, self.coefficients.other, people.noise, strict=False
        ):
            plain = state @ own.T
            if self.strength:
                moved = np.cos(turn) * plain + np.sin(turn) * (state @ other.T)
                plain = np.where(told, moved, plain)
            state = plain + noise
        seen = state @ self.coefficients.to_inputs.T + self.coefficients.bias
        return np.asarray(seen + people.noise[-1])

    def counterfactual_predictions(
        self, predict: Callable[[Array], Any], people: People
    ) -> tuple[Array, Array]:
        """What is predicted if everyone is of group 0, and if everyone is of group 1?"""
        of_none, of_all = (np.asarray(predict(self.under(people, a)), dtype=float) for a in (0, 1))
        return of_none, of_all


Weights = np.random.Generator
Outcome = Callable[[Weights, int], Callable[[Array], Array]]


def invariance_process(
    name: str,
    *,
    strength: float = 1.0,
    confounding: float = 0.0,
    width: int = 32,
    parameters: int = 0,
) -> Process:
    """Which of the six `PROCESSES` makes people? `parameters` is the seed of its coefficients."""
    if name not in PROCESSES:
        raise DatasetError(f"no process is named {name!r}; there are {', '.join(PROCESSES)}")
    if not 0 <= strength <= 1:
        raise DatasetError(f"strength must lie between 0 and 1; found {strength!r}")
    if width < 1:
        raise DatasetError(f"width must be 1 or more; found {width!r}")
    fixed = coefficients(width, seed=parameters, outcome=PROCESSES[name])
    return Process(name, strength, confounding, fixed)


def coefficients(width: int, *, seed: int, outcome: Outcome) -> Coefficients:
    """Which coefficients does this seed give?"""
    mixing, labeling = np.random.default_rng(seed).spawn(2)

    def matrix() -> Array:
        return np.asarray(mixing.uniform(-1, 1, (width, width)) * np.sqrt(3 / width))

    own, other = (tuple(matrix() for _ in range(STEPS)) for _ in range(2))
    leaning = mixing.normal(size=width)
    return Coefficients(
        own,
        other,
        matrix(),
        mixing.normal(size=width),
        leaning / np.linalg.norm(leaning),
        outcome(labeling, width),
    )


def _linear(rng: Weights, width: int) -> Callable[[Array], Array]:
    w, b = rng.normal(size=width), rng.normal()
    return lambda z: np.asarray(z @ w + b)


def _quadratic(rng: Weights, width: int) -> Callable[[Array], Array]:
    w, b = 2 * rng.normal(size=width), rng.normal(20.0)
    return lambda z: np.asarray(z**2 @ w + b)


def _exponential(rng: Weights, width: int) -> Callable[[Array], Array]:
    w, b = rng.normal(size=width), rng.normal(10.0)
    return lambda z: np.asarray(np.exp(z) @ w + b)


def _interactive(rng: Weights, width: int) -> Callable[[Array], Array]:
    w, b = rng.normal(size=(width, width)), rng.normal()
    np.fill_diagonal(w, 0.0)
    return lambda z: np.asarray(np.einsum("ni,ij,nj->n", z, w, z, optimize=True) + b)


def _log_exponent(rng: Weights, width: int) -> Callable[[Array], Array]:
    w, b = rng.normal(size=width), rng.normal(5.0)
    softened = np.log(np.logaddexp(0.0, b))
    return lambda z: np.asarray(np.logaddexp(z @ w, softened))


def _sine(rng: Weights, width: int) -> Callable[[Array], Array]:
    w, b = rng.normal(size=width), rng.normal(2.0)
    return lambda z: np.asarray(np.sin(z) @ w + b)


PROCESSES: dict[str, Outcome] = {
    "linear": _linear,
    "quadratic": _quadratic,
    "exponential": _exponential,
    "interactive": _interactive,
    "log_exponent": _log_exponent,
    "sine": _sine,
}
