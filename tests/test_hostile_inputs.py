"""Are graphs, networks, records and kept answers that break refused by name, or asked again?"""

import copy
import json

import networkx
import numpy as np
import pytest

import causalfairness as cf
from audit_studies import PREDICTED, people, study, without_timings
from causalfairness.audit import diff
from causalfairness.cli.asking import read_graph
from causalfairness.errors import GraphSyntaxError, NotWrittenError, PredictorError, RecordError
from causalfairness.parity.frontier.people import read_people
from causalfairness.report.causal_picture import causal_picture
from causalfairness.writing import write_whole

TEXT = "group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y"
GROUPS = {"protected": "group", "reference": "blue", "comparison": "green"}


# --- graphs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["digraph g {" + "{" * 400, "digraph g {" + "a -> {" * 5_000])
def test_braces_within_braces_are_refused_at_their_place(text):
    with pytest.raises(GraphSyntaxError, match="fewer braces within braces"):
        cf.CausalGraph.from_dot(text)


def takers(graph, data):
    """Every call that takes a graph, by name."""
    outcome = {**GROUPS, "outcome": "y"}
    fitted = {key: outcome[key] for key in ("protected", "reference", "outcome")}
    return {
        "of": lambda: cf.CausalGraph.of(graph).to_text(),
        "model": lambda: cf.StandardFairnessModel.from_graph(graph, **outcome).describe(),
        "scm": lambda: cf.StructuralCausalModel.fit(graph, data).graph.to_text(),
        "adapter": lambda: cf.FairAdapter(graph, **fitted).keeping({"indirect"}).resolving,
        "one class": lambda: cf.CausalFairnessDecomposition(
            data.drop(columns="y"), data["y"], graph=graph, **GROUPS
        ).model.describe(),
        "frontier": lambda: read_people(
            data, cf.StandardFairnessModel.from_graph(cf.CausalGraph.parse(TEXT), **outcome), graph
        ).graph.to_text(),
        "picture": lambda: causal_picture(graph, protected="group", outcome="y"),
    }


def test_a_graph_of_networkx_is_taken_wherever_a_graph_is():
    data, graph = people(300, frame="pandas"), cf.CausalGraph.parse(TEXT)
    ours, theirs = takers(graph, data), takers(graph.to_networkx(), data)
    assert {name: call() for name, call in ours.items()} == {
        name: call() for name, call in theirs.items()
    }


@pytest.mark.parametrize("graph", ["group -> y", 5, networkx.Graph([("group", "y")])])
def test_what_is_no_graph_is_refused_by_name_wherever_a_graph_is_taken(graph):
    for call in takers(graph, people(300, frame="pandas")).values():
        with pytest.raises(cf.errors.CausalFairnessError, match=r"networkx|expected a CausalGraph"):
            call()


def test_a_graph_file_may_have_a_mark_of_its_encoding_and_must_be_text(tmp_path):
    file = tmp_path / "graph.txt"
    file.write_bytes(b"\xef\xbb\xbfa -> b")
    assert read_graph(str(file)).arrows == (("a", "b"),)
    file.write_bytes("größe -> b".encode("latin-1"))
    with pytest.raises(GraphSyntaxError, match="not text in UTF-8"):
        read_graph(str(file))


# --- networks -----------------------------------------------------------------------------------


def networks():
    import torch

    class Two(torch.nn.Module):
        def forward(self, x, a):
            return x[:, 0] + a

    embedding = torch.nn.Sequential(
        torch.nn.Embedding(4, 3), torch.nn.Flatten(), torch.nn.Linear(6, 1)
    )
    return [Two(), embedding, torch.nn.Linear(7, 1), lambda x, a: x[:, 0], lambda x: x["a"]]


@pytest.mark.parametrize("network", networks())
def test_a_network_that_cannot_be_asked_is_refused_with_what_it_was_given(network):
    X = np.array([[0, 1], [1, 2], [0, 3], [1, 1]])
    with pytest.raises(PredictorError, match=r"4 rows of 2 inputs .* and failed: .*forward\(x\)"):
        cf.neural.effects(network, X, protected_index=0, mediator_indices=[])
    with pytest.raises(PredictorError, match="4 rows of 2 inputs"):
        cf.neural.effects(
            lambda x: x[:, 0], X, protected_index=0, mediator_indices=[1], mediator_model=network
        )


# --- records ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record():
    return study().run(people(400)).record


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"schema": NaN}', "NaN is no number that JSON knows"),
        (b'{"schema": -Infinity}', "-Infinity is no number"),
        (b"\xff\xfe{}", "is no record"),
        (b"[" * 100_000, "is no record"),
        (b"[" * 500 + b"]" * 500, "nested deeper than 50 times"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "nested deeper than 50 times"),
        (b'{"schema": ' + b"9" * 5_000 + b"}", "is no record"),
        (b"", "is no record"),
    ],
)
def test_a_file_that_is_no_record_is_refused_by_name(content, said, tmp_path):
    file = tmp_path / "record.json"
    file.write_bytes(content)
    with pytest.raises(RecordError, match=said):
        diff(file, file)


def test_a_record_with_a_mark_of_its_encoding_is_read(record, tmp_path):
    file = tmp_path / "record.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(record).encode())
    assert diff(file, record).is_same


def test_numbers_beyond_all_measure_are_compared(record):
    strange = copy.deepcopy(record)
    strange["answers"][0]["effects"][0]["value"] = 10**400
    strange["answers"][0]["effects"][1]["value"] = float("inf")
    assert diff(strange, copy.deepcopy(strange)).is_same
    assert not diff(strange, record).is_same


# --- kept answers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"kept": {}, "sha256": ""}']
)
def test_a_kept_answer_that_is_broken_is_asked_again_and_said(content, record, tmp_path):
    study().run(people(400), folder=tmp_path)
    for file in (tmp_path / "answers").glob("*.json"):
        file.write_bytes(content)
    again = study().run(people(400), folder=tmp_path)
    assert without_timings(again.record) == without_timings(record)
    assert "were damaged and asked again: disparity of y" in str(again).splitlines()[0]
    whole = study().run(people(400), folder=tmp_path)
    assert "damaged" not in str(whole)
    assert all(each["restored"] for each in whole.record["timings"]["questions"])


def test_an_answer_whose_content_was_changed_is_not_believed(record, tmp_path):
    study().run(people(400), folder=tmp_path)
    for file in (tmp_path / "answers").glob("*.json"):
        file.write_text(file.read_text("utf-8").replace('"violated"', '"satisfied"'), "utf-8")
        kept = json.loads(file.read_text("utf-8"))
        kept["kept"].pop("answer", None)
        file.write_text(json.dumps(kept), "utf-8")
    again = study().run(people(400), folder=tmp_path)
    assert without_timings(again.record) == without_timings(record)


# --- files and printed forms --------------------------------------------------------------------


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotWrittenError, match=r"'.*folder' is not written: Is a directory"):
        write_whole("text", tmp_path / "folder")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_a_gap_at_equal_scores_prints_short():
    model = cf.StandardFairnessModel(**{**PREDICTED, "confounders": ()})
    found = cf.decompose_predictive_parity(people(300), model, bins=4)
    for gap in found.gaps:
        assert "mean over 2 of 2 bins" in str(gap)
        assert len(repr(gap)) < 200
