"""Is everything refused that cannot be answered, in words that help?"""

import numpy as np
import pytest
import torch

import causalfairness as cf
from causalfairness.errors import (
    ColumnTypeError,
    GroupNotFoundError,
    MediatorError,
    MissingValuesError,
    PredictorError,
    RoleError,
    TooFewRowsError,
)
from causalfairness.neural import InOrder, Sampled, Shift
from neural_world import NAMES, A, C, M, N, deep_network, draw, linear_network, predict_mediators

ASKED = {"protected_index": A, "mediator_indices": [M, N], "mediator_model": predict_mediators}


def ask(network=None, X=None, **changed):
    network = linear_network() if network is None else network
    return cf.neural.effects(network, draw(100) if X is None else X, **{**ASKED, **changed})


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"X": np.zeros(5)}, ColumnTypeError, r"shape \(5,\); expected a table"),
        ({"X": np.zeros((5, 4, 2))}, ColumnTypeError, "expected a table of numbers"),
        ({"X": np.array([["a", "b"]])}, ColumnTypeError, "Turn words into numbers"),
        ({"X": torch.zeros(3, 4, dtype=torch.complex64)}, ColumnTypeError, "complex64"),
        ({"X": np.zeros((1, 4))}, TooFewRowsError, "1 rows"),
        ({"protected_index": 4}, RoleError, "names column 4; X has the columns 0 to 3"),
        ({"protected_index": -1}, RoleError, "names column -1"),
        ({"protected_index": "a"}, RoleError, "whole numbers from 0"),
        ({"protected_index": []}, RoleError, "protected_index is empty"),
        ({"protected_index": M}, RoleError, "column 1 is both"),
        ({"mediator_indices": [M, M]}, RoleError, "column 1 twice"),
        ({"mediator_indices": [True]}, RoleError, "whole numbers"),
        ({"names": ["a"]}, RoleError, "1 names for 4 inputs"),
        ({"reference": 1.0}, RoleError, "1 is there twice"),
        ({"comparison": np.nan}, RoleError, "one number for each of the 1"),
        ({"comparison": (0.0, 1.0)}, RoleError, "one number for each of the 1"),
        ({"comparison": Shift(np.inf)}, RoleError, "must be a number"),
        ({"reference": 0.0, "comparison": Shift(1.0)}, RoleError, "measured from what each row"),
        ({"protected_index": [A, C]}, RoleError, "one number for each of the 2"),
        ({"comparison": 7.0}, GroupNotFoundError, "no row of Linear: input 0 holds 7"),
        ({"batch_size": 0}, ValueError, "batch_size must be a whole number"),
        ({"mediator_model": Sampled(lambda r, g: r), "draws": 0}, ValueError, "draws must be"),
        ({"draws": 2.5}, ValueError, "draws must be"),
    ],
)
def test_questions_that_make_no_sense_are_refused(changed, error, message):
    with pytest.raises(error, match=message):
        ask(**changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mediator_indices": None}, "mediator_indices is missing"),
        ({"mediator_model": None}, "controlled_direct_effect and not a total effect"),
        ({"mediator_indices": []}, "mediator_indices is empty"),
        ({"mediator_model": 3}, "expected a torch.nn.Module or a function"),
        ({"mediator_model": InOrder([predict_mediators])}, "1 models for 2 mediators"),
        ({"mediator_model": lambda rows: rows[:, [A]]}, r"returned \(100, 1\) for 100 rows"),
        ({"mediator_model": lambda rows: "m"}, "returned str for 100 rows"),
        ({"mediator_model": lambda rows: rows[:, [A, M]]}, "change with the observed mediators"),
        ({"mediator_model": Sampled(lambda rows, g: rows[:, [A]])}, "the sampler returned"),
        ({"mediator_model": Sampled(lambda r, g: np.random.rand(len(r), 2))}, "no generator"),  # noqa: NPY002
    ],
)
def test_mediators_that_nothing_moves_are_refused(changed, message):
    with pytest.raises(MediatorError, match=message):
        ask(**changed)


def test_a_refused_mediator_model_leaves_every_network_in_its_mode():
    network = deep_network().train()
    looks = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Linear(4, 2)).double()
    with pytest.raises(MediatorError, match=r"the observed mediators \(1, 2\) themselves"):
        ask(network, mediator_model=looks)
    assert all(module.training for model in (network, looks) for module in model.modules())


def test_a_missing_protected_value_is_named_before_what_it_does_to_a_model():
    X = draw(100)
    X[3, A] = np.nan
    with pytest.raises(MissingValuesError, match="protected input"):
        ask(X=X, mediator_model=lambda rows: rows[:, [A, M]])


def test_a_model_that_uses_a_later_mediator_is_refused():
    chain = InOrder([lambda rows: rows[:, N], lambda rows: rows[:, M]])
    with pytest.raises(MediatorError, match="InOrder"):
        ask(mediator_model=chain)


@pytest.mark.parametrize(
    ("network", "changed", "message"),
    [
        ("net", {}, "str, which cannot be called"),
        (deep_network(outputs=3), {}, "3 numbers per row and output is None; say which"),
        (deep_network(outputs=3), {"output": 3}, "output=0 to 2"),
        (deep_network(outputs=3), {"output": -1}, "output=0 to 2"),
        (deep_network(), {"output": 1}, "output=0 to 0"),
        (deep_network(), {"output": "last"}, "output is 'last'"),
        (deep_network(), {"output": True}, "output is True"),
        (lambda rows: {"score": rows[:, 0]}, {}, "returned dict"),
        (lambda rows: rows[:3, 0], {}, r"shape \(3,\) for 100 rows"),
        (lambda rows: rows[:, 0] / 0 * 0, {}, "not a finite number"),
        (lambda rows: np.where(rows[:, 0] > 0, "yes", "no"), {}, "turn labels into 0 and 1"),
    ],
)
def test_networks_without_one_number_per_row_are_refused(network, changed, message):
    with np.errstate(all="ignore"), pytest.raises(PredictorError, match=message):
        ask(network, **changed)


def test_missing_values_are_refused_and_named():
    X = draw(100)
    X[17, C] = np.nan
    with pytest.raises(PredictorError, match="1 rows, the first of them row 17"):
        ask(X=X)
    X = draw(100)
    X[3, A] = np.nan
    with pytest.raises(MissingValuesError, match=r"\(input 0\) is missing in some rows"):
        ask(X=X)


def test_levels_are_values_that_rows_hold():
    X = np.random.default_rng(0).normal(size=(100, 4))
    X[:, A] = np.arange(100) - 50
    with pytest.raises(GroupNotFoundError, match="holds 99 values beside the reference"):
        cf.neural.effects_by_level(linear_network(), X, **ASKED)
    with pytest.raises(RoleError, match="levels is empty"):
        cf.neural.effects_by_level(linear_network(), X, levels=[], **ASKED)
    with pytest.raises(GroupNotFoundError, match="no row of Linear: input 0 holds 1e\\+06"):
        cf.neural.effects_by_level(linear_network(), X, levels=[1e6], **ASKED)


def test_paths_run_through_mediators():
    with pytest.raises(MediatorError, match=r"'x' runs through \[3\]; expected some of"):
        cf.neural.path_specific_effects(linear_network(), draw(50), carriers={"x": [C]}, **ASKED)


@pytest.fixture(scope="module")
def scm():
    import pyarrow as pa

    data = pa.table(dict(zip(NAMES, draw(300).T, strict=True)))
    graph = cf.CausalGraph.parse("a <-> c; {a, c} -> m; {a, m, c} -> n")
    lines = {"m": cf.scm.Linear(), "n": cf.scm.Linear()}
    return cf.StructuralCausalModel.fit(graph, data, lines)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, "knows columns by name: give names"),
        (
            {"names": ["a", "m", "m", "c"]},
            r"a different one for each of the inputs; found \['a', 'm', 'm'",
        ),
        ({"names": ["group", "m", "n", "c"]}, "'group' is not in the graph"),
        ({"names": NAMES, "mediator_indices": [M]}, "'n' follows from the protected input"),
        ({"names": ["a", "m", "n", "age"]}, "'c' is a cause of 'm', 'n'"),
    ],
)
def test_a_structural_model_must_know_the_inputs(scm, changed, message):
    asked = {"protected_index": A, "mediator_model": scm, **changed}
    with pytest.raises(MediatorError, match=message):
        cf.neural.effects(linear_network(), draw(50), **asked)


def test_a_structural_model_of_words_is_refused():
    import pyarrow as pa

    X = draw(300)
    data = pa.table({"a": np.where(X[:, A] == 1, "yes", "no"), "m": X[:, M]})
    graph = cf.CausalGraph.parse("a -> m")
    scm = cf.StructuralCausalModel.fit(graph, data, {"m": cf.scm.Linear()})
    with pytest.raises(MediatorError, match="'a' holds words"):
        cf.neural.effects(linear_network(), X, protected_index=A, mediator_model=scm, names=NAMES)
