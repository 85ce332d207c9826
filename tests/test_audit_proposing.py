"""Is a proposed audit one that can be read, corrected and run, whatever the columns are called?"""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causalfairness as cf
from audit_studies import people
from causalfairness.audit import propose
from causalfairness.errors import AuditError, SourceError


def read(text, folder):
    """The audit, with the line filled in that is always left to people."""
    path = folder / "audit.toml"
    path.write_text(text.replace('favorable = "?"', 'favorable = "higher"'), "utf-8")
    return cf.Audit.from_file(path)


@pytest.mark.parametrize(
    ("name", "protected", "outcome"),
    [
        ("compas", "race", "is_recid"),
        ("adult", "race", "income"),
        ("german_credit", "sex", "credit_risk"),
        ("law_school", "race", None),
    ],
)
def test_bundled_data_is_proposed_with_sensible_roles(tmp_path, name, protected, outcome):
    text = propose(f"dataset:{name}").replace('missing = "?"', 'missing = "drop"')
    audit = read(text, tmp_path)
    assert audit.roles.protected == protected
    assert outcome is None or audit.roles.outcome == outcome
    roles = (audit.roles.outcome, audit.roles.prediction, protected)
    assert not {*audit.roles.confounders, *audit.roles.mediators} & {*roles}


def test_outcomes_are_no_mediators(tmp_path):
    audit = read(propose("dataset:compas"), tmp_path)
    assert "two_year_recid" not in audit.roles.mediators
    assert {"age", "sex"} <= {*audit.roles.confounders}
    assert "priors_count" in audit.roles.mediators
    assert audit.roles.prediction == "decile_score"


def test_a_proposal_runs(tmp_path):
    data = people(400).rename_columns(["sex", "c1", "c2", "m1", "hired", "score"])
    audit = read(propose(data), tmp_path)
    assert audit.roles.protected == "sex"
    assert audit.roles.outcome == "hired"
    assert audit.run(data).unanswered == {}


def test_every_guess_has_its_reason():
    text = propose(people(400).rename_columns(["sex", "c1", "c2", "m1", "hired", "score"]))
    assert "only people who know can tell" in text
    assert '# Guessed: "hired" has 2 different numbers: ' in text
    assert text.count("#") > 15


def test_lines_that_are_proposed_as_comments_may_be_used(tmp_path):
    data = people(200, frame="pandas")
    data["weight"] = 1.0 + data["c1"] / 10
    text = propose(pa.Table.from_pandas(data))
    used = text.replace("# weights = ", "weights = ")
    used = used.replace("# declarations = ", "declarations = ")
    assert used.count("\nweights = ") == used.count("\ndeclarations = ") == 1
    audit = read(used.replace("allowed = []\n", ""), tmp_path)
    assert audit.roles.weights == "weight"
    assert next(each for each in audit.asked if each.ask == "necessity").declarations


def test_missing_values_are_seen(tmp_path):
    data = people(400, frame="pandas").rename(columns={"group": "sex"})
    data.loc[:9, "c1"] = None
    text = propose(data)
    assert '# FILL IN which: values are missing in "c1".\nmissing = "?"' in text
    with pytest.raises(AuditError, match=r"data\.missing.*'refuse', 'drop' or 'category'"):
        read(text, tmp_path)
    said = text.replace('missing = "?"', 'missing = "drop"')
    assert read(said, tmp_path).data.missing == "drop"
    assert 'missing = "refuse"' in propose(people(400))


def test_data_that_tells_no_groups_apart_is_refused():
    with pytest.raises(SourceError, match="no column has between 2 and 20 values"):
        propose(pa.table({"x": list(range(50))}))
    with pytest.raises(SourceError, match="no rows"):
        propose(pa.table({"x": pa.array([], pa.int64())}))


NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip),
    min_size=3,
    max_size=3,
    unique=True,
)


@given(names=NAMES, words=NAMES)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_hostile_names_and_values_stay_inside_their_quotes(tmp_path_factory, names, words):
    if any("\0" in word for word in (*names, *words)):
        return
    data = pa.table(
        {names[0]: [*words, *words[:2]] * 4, names[1]: [0, 1, 0, 1, 1] * 4, names[2]: range(20)}
    )
    audit = read(propose(data, source="<script>\n\"'.csv"), tmp_path_factory.mktemp("hostile"))
    assert audit.roles.protected in names
    assert audit.data.source == "<script>\n\"'.csv"
