"""Is a network left as it was, and does the answer depend on nothing but the rows?"""

import subprocess
import sys

import numpy as np
import pytest
import torch

import causalfairness as cf
from causalfairness.neural.network import basis_of, digest
from neural_world import A, M, N, deep_network, draw, predict_mediators

ASKED = {"protected_index": A, "mediator_indices": [M, N], "mediator_model": predict_mediators}
MAIN = ("total_effect", "natural_direct_effect", "natural_indirect_effect")


def values(found):
    return [getattr(found, name).value for name in MAIN]


# --- the network is left alone --------------------------------------------------------------------


def test_every_part_of_a_network_is_back_in_its_own_mode():
    network = deep_network().train()
    network[2].eval()
    modes = [module.training for module in network.modules()]
    first = cf.neural.effects(network, draw(100), **ASKED)
    assert [module.training for module in network.modules()] == modes
    assert values(cf.neural.effects(network.eval(), draw(100), **ASKED)) == values(first)


def test_modes_are_back_after_a_failure():
    class Fails(torch.nn.Module):
        def forward(self, rows):
            assert not self.training
            raise ZeroDivisionError

    network = Fails().train()
    mediator = torch.nn.Linear(4, 2, dtype=torch.float64).train()
    with torch.no_grad():
        mediator.weight[:, [M, N]] = 0.0
    with pytest.raises(ZeroDivisionError):
        cf.neural.effects(network, draw(50), **{**ASKED, "mediator_model": mediator})
    assert network.training
    assert mediator.training


def test_no_gradients_are_made_or_lost():
    network = deep_network()
    network(torch.as_tensor(draw(10))).sum().backward()
    before = [parameter.grad.clone() for parameter in network.parameters()]
    seen = []
    network.register_forward_hook(lambda module, rows, output: seen.append(output.requires_grad))
    X = torch.as_tensor(draw(50)).requires_grad_()
    cf.neural.effects(network, X, **ASKED)
    assert seen
    assert not any(seen)
    assert X.grad is None
    for parameter, gradient in zip(network.parameters(), before, strict=True):
        assert torch.equal(parameter.grad, gradient)
        assert parameter.requires_grad
    assert torch.is_grad_enabled()


def test_rows_are_not_changed_even_by_a_network_that_writes_on_its_input():
    X = draw(300)
    kept = X.copy()
    overwriting = torch.nn.Sequential(torch.nn.ReLU(inplace=True), deep_network())
    plain = torch.nn.Sequential(torch.nn.ReLU(), overwriting[1])
    assert values(cf.neural.effects(overwriting, X, **ASKED)) == values(
        cf.neural.effects(plain, X, **ASKED)
    )
    assert np.array_equal(X, kept)
    cf.neural.effects(lambda X: X.__imul__(2)[:, 1], X, **ASKED)
    assert np.array_equal(X, kept)


def test_a_network_is_passed_over_four_times_and_twice_without_mediators():
    passes = []
    network = deep_network()
    network.register_forward_hook(lambda module, rows, output: passes.append(len(output)))
    cf.neural.effects(network, draw(100), **ASKED)
    assert passes == [100] * 4
    cf.neural.effects(network, draw(100), protected_index=A, mediator_indices=[])
    assert passes[4:] == [100] * 2
    cf.neural.effects(network, draw(100), **ASKED, batch_size=30)
    assert sorted(passes[6:]) == [10] * 4 + [30] * 12


# --- the answer depends on the rows alone ---------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 7, 64, 10_000])
def test_the_batch_size_does_not_matter(batch_size):
    X, network = draw(150), deep_network()
    found = cf.neural.effects(network, X, **ASKED, batch_size=batch_size)
    assert values(found) == pytest.approx(
        values(cf.neural.effects(network, X, **ASKED)), rel=1e-12, abs=1e-12
    )


def test_rows_beyond_one_block_are_all_asked_about(monkeypatch):
    X, network = draw(1_000), deep_network()
    whole = cf.neural.effects(network, X, **ASKED)
    monkeypatch.setattr("causalfairness.neural.network.MOST_ROWS", 300)
    parts = cf.neural.effects(network, X, **ASKED)
    assert values(parts) == pytest.approx(values(whole), rel=1e-12)
    assert parts.basis == whole.basis
    assert np.array_equal(parts.group, whole.group)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f8"])
def test_rows_of_any_type_are_asked_about_in_the_precision_of_the_network(dtype):
    X = draw(200).astype(np.float16).astype(dtype)
    seen = set()
    network = deep_network(dtype=torch.float32)
    network.register_forward_hook(lambda module, rows, output: seen.add(rows[0].dtype))
    found = cf.neural.effects(network, X, **ASKED)
    assert seen == {torch.float32}
    assert found.outputs.dtype == np.float32
    usual = cf.neural.effects(network, X.astype(np.float32), **ASKED)
    assert values(found) == values(usual)
    assert found.basis == usual.basis


def test_whole_numbers_read_only_and_strided_arrays_are_rows_too():
    X = (draw(200) * 2).astype(np.int64)
    X[:, A] = X[:, A] > 0
    network = deep_network()
    expected = values(cf.neural.effects(network, X.astype(float), **ASKED))
    assert values(cf.neural.effects(network, X, **ASKED)) == expected
    assert values(cf.neural.effects(network, torch.as_tensor(X), **ASKED)) == expected
    frozen = np.repeat(X.astype(float), 2, axis=0)[::2]
    frozen.flags.writeable = False
    assert values(cf.neural.effects(network, frozen, **ASKED)) == expected
    assert values(cf.neural.effects(network, X.astype(float).tolist(), **ASKED)) == expected


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_network_of_half_precision_is_averaged_in_full(dtype):
    X = draw(400)
    found = cf.neural.effects(deep_network(dtype=dtype), X, **ASKED)
    exact = cf.neural.effects(deep_network(), X, **ASKED)
    assert found.total_effect.spread.dtype == np.float64
    assert values(found) == pytest.approx(values(exact), abs=0.02)


def test_a_function_is_given_what_the_rows_are():
    X = draw(200)
    kinds = []

    def network(rows):
        kinds.append(type(rows))
        return rows[:, A] * rows[:, M]

    of_arrays = cf.neural.effects(network, X, **ASKED)
    of_tensors = cf.neural.effects(network, torch.as_tensor(X), **ASKED)
    assert {*kinds[:4]} == {np.ndarray}
    assert {*kinds[4:]} == {torch.Tensor}
    assert values(of_arrays) == values(of_tensors)


def test_a_mediator_model_may_be_a_module_of_another_precision():
    X, network = draw(300), deep_network()
    mediator = torch.nn.Linear(4, 2)
    with torch.no_grad():
        mediator.weight.zero_()
        mediator.weight[:, A] = torch.tensor([0.8, 0.08])
    found = cf.neural.effects(network, X, **{**ASKED, "mediator_model": mediator})
    same = cf.neural.effects(
        network, X, **{**ASKED, "mediator_model": lambda rows: rows[:, [A]] * [0.8, 0.08]}
    )
    assert values(found) == pytest.approx(values(same), abs=1e-6)


def noise(rows, chance):
    return chance.normal(size=(len(rows), 2))


def test_mediators_are_drawn_but_for_rows_that_hold_the_level_already():
    X, network = draw(400), deep_network()
    found = cf.neural.effects(network, X, **{**ASKED, "mediator_model": cf.neural.Sampled(noise)})
    with torch.no_grad():
        own = network.eval()(torch.as_tensor(X)).numpy()[:, 0]
    for k in (0, 1):
        plain = own[X[:, A] == k].mean()
        assert found.world_means[k, k, k].value == pytest.approx(plain, abs=1e-12)


def test_every_draw_and_every_block_has_its_own_chance(monkeypatch):
    X = np.zeros((600, 4))
    X[300:, A] = 1.0
    X[[0, 300], A] = [1.0, 0.0]  # each block has rows of both groups
    asked = {**ASKED, "mediator_model": cf.neural.Sampled(noise)}
    monkeypatch.setattr("causalfairness.neural.network.MOST_ROWS", 300)
    once = cf.neural.effects(lambda X: X[:, M], X, **asked)
    drawn = once.outputs[0, 1, 1:300], once.outputs[0, 0, 301:]
    assert not np.isin(drawn[0], drawn[1]).any()
    twice = cf.neural.effects(lambda X: X[:, M], X, **asked, draws=2)
    assert not np.isclose(twice.outputs[0, 1, 1:300], drawn[0]).any()
    assert twice.outputs[0, 1, 1:300].std() == pytest.approx(drawn[0].std() / 2**0.5, rel=0.2)


def test_draws_belong_to_people_and_not_to_lines():
    X, network = draw(400), deep_network()
    asked = {**ASKED, "mediator_model": cf.neural.Sampled(noise)}
    order = np.random.default_rng(1).permutation(400)
    first, other = (cf.neural.effects(network, rows, **asked) for rows in (X, X[order]))
    assert values(other) == pytest.approx(values(first), abs=1e-12)
    assert other.outputs == pytest.approx(first.outputs[..., order], abs=1e-12)
    assert other.total_effect.basis.fingerprint == first.total_effect.basis.fingerprint
    assert other.total_effect.basis.order != first.total_effect.basis.order


def test_tables_that_differ_have_other_digests():
    def basis(rows):
        return basis_of(rows, digest(rows, torch.arange(len(rows))))

    rows = torch.as_tensor(draw(64), dtype=torch.float32)
    swapped = rows[:, [0, 2, 1, 3]]
    traded = rows.clone()
    traded[[3, 4], 1] = rows[[4, 3], 1]
    doubled, zero = rows.clone(), rows.clone()
    doubled[5, 2] *= 2
    zero[rows == 0] = -0.0
    prints = [basis(table).fingerprint for table in (rows, swapped, traded, doubled, rows[:63])]
    assert len(set(prints)) == 5
    assert basis(zero) == basis(rows)
    assert basis(rows.double()) == basis(rows)
    assert basis(rows.T.contiguous().T) == basis(rows)  # however it lies in memory
    halves = torch.tensor([[1.0, 2.0], [2.0, 1.0 + 2.0**-40]], dtype=torch.float64)
    assert basis(halves).fingerprint != basis(halves.round()).fingerprint


def test_the_digests_of_blocks_add_up_and_only_the_order_of_rows_tells_turned_ones_apart():
    rows = torch.as_tensor(draw(64))
    at = torch.arange(64)
    whole = basis_of(rows, digest(rows, at))
    assert basis_of(rows, digest(rows[:40], at[:40]) + digest(rows[40:], at[40:])) == whole
    turned = basis_of(rows, digest(rows.flip(0), at))
    assert turned.fingerprint == whole.fingerprint
    assert turned.order != whole.order


# --- imports --------------------------------------------------------------------------------------

BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""


def run_without(names, code):
    command = [sys.executable, "-W", "error", "-c", BLOCKED.format(names=names) + code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_torch_it_is_said_how_to_get_it():
    code = """
import causalfairness as cf
neural = cf.neural
for ask in (neural.effects, neural.controlled_direct_effect, neural.effects_by_level):
    try:
        ask(lambda X: X[:, 0], [[0.0], [1.0]], protected_index=0)
    except ImportError as error:
        print(type(error).__name__, error)
"""
    lines = run_without({"torch"}, code).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith("TorchNotInstalledError")
        assert 'pip install "causalfairness[torch]"' in line


def test_numpy_and_torch_are_all_it_takes():
    heavy = {"scipy", "sklearn", "narwhals", "pyarrow", "networkx", "duckdb", "pandas", "polars"}
    heavy |= {"joblib", "numba", "matplotlib", "rich", "pydantic", "threadpoolctl"}
    code = """
import torch
from causalfairness import neural
X = torch.rand(50, 3).round()
found = neural.effects(torch.nn.Linear(3, 1), X, protected_index=0, mediator_indices=[1],
                       mediator_model=lambda rows: rows[:, 0])
print(found.table()["total_effect"].p_value >= 0, len(str(found.within(X[:, 2]))) > 0)
"""
    assert run_without(heavy, code) == "True True"


def test_importing_the_package_does_not_import_torch():
    code = "import causalfairness as cf; cf.neural.effects; print('torch' in sys.modules)"
    assert run_without(set(), code) == "False"
