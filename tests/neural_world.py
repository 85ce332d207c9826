"""A linear world with two mediators in a row, for the tests of networks.

    c ~ N(0, 1);  a = 1 with probability expit(0.8 c - 0.4)
    m = 0.8 a + 0.5 c + e;  n = -0.4 a + 0.6 m + 0.2 c + e'

The inputs of a network are the columns a, m, n, c.
"""

import numpy as np
import torch
from scipy.special import expit

torch.set_num_threads(1)  # tests run side by side
A, M, N, C = range(4)
NAMES = ("a", "m", "n", "c")
TO_M, TO_N, M_TO_N = 0.8, -0.4, 0.6


def draw(rows, seed=0):
    rng = np.random.default_rng(seed)
    c = rng.normal(size=rows)
    a = (rng.random(rows) < expit(0.8 * c - 0.4)).astype(float)
    noise = rng.normal(size=(2, rows))
    return np.column_stack([a, *mediators(a, c, *noise), c])


def mediators(a, c, noise_m, noise_n, to_m=TO_M):
    m = to_m * a + 0.5 * c + noise_m
    return m, TO_N * a + M_TO_N * m + 0.2 * c + noise_n


def predict_mediators(rows):
    """Both mediators from group and confounder: the right model."""
    a, c = rows[:, A], rows[:, C]
    columns = [TO_M * a + 0.5 * c, (TO_N + M_TO_N * TO_M) * a + (M_TO_N * 0.5 + 0.2) * c]
    return torch.stack(columns, 1) if isinstance(rows, torch.Tensor) else np.column_stack(columns)


def linear_network(a=0.7, m=0.5, n=-1.2, c=0.3, dtype=torch.float64):
    network = torch.nn.Linear(4, 1, dtype=dtype)
    with torch.no_grad():
        network.weight.copy_(torch.tensor([[a, m, n, c]], dtype=torch.float64))
    return network


def deep_network(seed=0, outputs=1, dtype=torch.float64):
    """A network with random weights, whose effects have no simple form."""
    chance = torch.Generator().manual_seed(seed)
    layers = [
        torch.nn.Linear(4, 16),
        torch.nn.Tanh(),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(16, 16),
        torch.nn.ReLU(),
        torch.nn.Linear(16, outputs),
    ]
    network = torch.nn.Sequential(*layers).to(dtype)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=chance) * 0.5)
    return network


def simulated_effects(network, rows, seed=1, to_m=TO_M):
    """Total, direct and indirect effect by brute force: the world is run once for each."""
    rng = np.random.default_rng(seed)
    c, *noise = rng.normal(size=(3, rows))
    zero, one = np.zeros(rows), np.ones(rows)

    def output(told, heard):
        m, n = mediators(heard, c, *noise, to_m)
        table = torch.as_tensor(np.column_stack([told, m, n, c]))
        with torch.no_grad():
            return network.eval()(table).numpy()[:, 0]

    start = output(zero, zero)
    changes = output(one, one) - start, output(one, zero) - start, output(zero, one) - start
    return [(change.mean(), change.std() / np.sqrt(rows)) for change in changes]
