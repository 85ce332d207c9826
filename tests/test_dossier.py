"""Does a dossier say what the test found about one person, in text, on a page and as a picture?"""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import causalfairness as cf
from causalfairness.datasets.loan import make_loan_application_counterfactual
from causalfairness.errors import SituationError
from causalfairness.individuals.dossier import Group, Peer, summed_up, written
from causalfairness.individuals.dossier_strips import HIGHEST, strips_of
from test_plots import HOSTILE, axes, drawing, outside, overlaps

ASKED = {
    "protected": "gender",
    "comparison": "Female",
    "features": ["annual_salary", "account_balance", "branch"],
    "decision": "approved",
    "favorable": 1,
    "k": 15,
}
BRANCHES = ["North", "South", "West"]


@pytest.fixture(scope="module")
def tables():
    loans = cf.datasets.make_loan_application(1_500, seed=0, frame="pandas")
    as_men = make_loan_application_counterfactual(1_500, seed=0, do="Male", frame="pandas")
    branch = np.random.default_rng(0).choice(BRANCHES, len(loans))
    return loans.assign(branch=branch), as_men.assign(branch=branch)


@pytest.fixture(scope="module")
def plain(tables):
    return cf.situation_test(tables[0], **ASKED)


@pytest.fixture(scope="module")
def other(tables):
    return cf.counterfactual_situation_test(*tables, **ASKED)


@pytest.fixture(scope="module")
def centered(tables):
    return cf.counterfactual_situation_test(*tables, include_centers=True, **ASKED)


def someone(test, wanted):
    """The first complainant whose line of the table is as wanted."""
    table = test.table().to_pandas()
    return int(table[wanted(table)]["row"].iloc[0])


def one_of_each(test):
    return {
        "significant": someone(test, lambda t: t["significant"] & (t["low"] < t["high"])),
        "unsure": someone(test, lambda t: t["evidence"] & ~t["significant"]),
        "none": someone(test, lambda t: ~t["evidence"]),
    }


# --- what it holds --------------------------------------------------------------------------------


def test_the_person_and_both_groups_are_those_of_the_table(tables, other):
    row = one_of_each(other)["significant"]
    record = next(r for r in other.table(neighbors=True).to_records() if r["row"] == row)
    found = other.dossier(row)
    data, there = tables
    assert found.person == f"row {row}"
    features = ASKED["features"]
    assert found.fact.values == tuple(data.loc[row, features])
    assert found.otherwise.values == tuple(there.loc[row, features])
    for group, name in ((found.control, "control"), (found.test, "test")):
        rows = record[f"{name}_rows"]
        assert [peer.name for peer in group.peers] == [f"row {r}" for r in rows]
        assert [peer.distance for peer in group.peers] == record[f"{name}_distances"]
        assert [peer.declined for peer in group.peers] == (data.loc[rows, "approved"] == 0).tolist()
        assert group.values(0) == tuple(data.loc[rows, "annual_salary"])
        assert group.declined / len(group) == pytest.approx(record[f"{name}_rate"])
    for name in ("delta", "low", "high", "p_value", "p_adjusted", "evidence", "significant"):
        assert getattr(found.finding, name) == pytest.approx(record[name])


def test_centers_are_members_of_their_groups(centered):
    row = one_of_each(centered)["significant"]
    found = centered.dossier(row)
    assert len(found.control) == len(found.test) == 16
    assert found.control.peers[0] == found.fact
    assert found.test.peers[0] == found.otherwise
    assert "the person and the 15 people with gender = Female" in str(found)
    assert "the counterfactual and the 15 other people who are most like it" in str(found)


def test_the_plain_test_group_is_that_of_plain_situation_testing(plain, other):
    row = one_of_each(other)["significant"]
    found = other.dossier(row)
    place = other.situations.find(row)
    expected = plain.test.members(place, 15)[0]
    assert [peer.name for peer in found.plain.peers] == [f"row {r}" for r in expected]
    assert plain.dossier(row).plain is None
    assert plain.dossier(row).otherwise is None


def test_names_keep_their_letters(other, plain):
    row = one_of_each(plain)["significant"]
    for found in (plain.dossier(row), other.dossier(row)):
        first, said = found.sentences()[:2]
        assert "stand" in first
        assert found.control.about in said
        assert found.test.about in said


def test_words_match_the_finding(other):
    people = one_of_each(other)
    said = {kind: str(other.dossier(row)) for kind, row in people.items()}
    for kind, row in people.items():
        found = other.dossier(row)
        control, test = found.control, found.test
        assert f"{control.declined} were declined ({control.declined / 15:.0%})" in said[kind]
        assert f"most like their counterfactual, {test.declined} (" in said[kind]
        ends = f"from {found.finding.low:+.3f} to {found.finding.high:+.3f} fit these counts"
        assert ends in said[kind]
        complainants = other.summary()[15].complainants
        assert f"one of {complainants} people who were tested at once" in said[kind]
    assert "and the interval excludes 0 at the 95% level" in said["significant"]
    assert "but the interval includes 0: of so few people chance alone" in said["unsure"]
    assert "That is no evidence of a difference above 0, under these assumptions." in said["none"]
    assert "does not stand out from chance" in other.dossier(people["none"]).sentences()[0]
    found = other.dossier(someone(other, lambda t: t["discovery"])).sentences()
    assert "the difference stands out" in found[0]
    assert "Groups exchanged among neighbors give" in found[3]
    for text in said.values():
        assert "under these assumptions" in text
        assert "Declined means approved = 0" in text
        for word in ("unfair", "fair ", "discriminat", "guilty", "proves", "victim"):
            assert word not in text


def test_the_table_of_a_dossier_has_medians_and_labels(other):
    row = one_of_each(other)["significant"]
    found = other.dossier(row)
    head, salary, _, branch, decision = found.rows()
    assert head == ("", f"row {row}", "counterfactual", "control group", "test group")
    numbers = found.control.values(0)
    middle, ends = np.median(numbers), (min(numbers), max(numbers))
    assert salary[3] == f"{written(middle)} ({written(ends[0])} to {written(ends[1])})"
    assert branch[1] in BRANCHES
    assert (
        decision[3]
        == f"{found.control.declined} of 15 declined ({found.control.declined / 15:.0%})"
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((1.0, 3.0, 2.0), "2 (1 to 3)"),
        ((12345.6, None), "12,346 (12,346 to 12,346), 1 missing"),
        (("a", "b", "a", "c", "d", "e"), "a 2, b 1, c 1, 2 others"),
        ((None, None), "2 missing"),
        ((), "nobody"),
    ],
)
def test_groups_are_summed_up(values, said):
    assert summed_up(values) == said


def test_ids_and_another_k(tables):
    loans = tables[0].assign(id=[f"P{at:04}" for at in range(1_500)])
    found = cf.situation_test(loans, **(ASKED | {"k": [5, 10]}), ids="id")
    row = int(found.table()["row"][0])
    first = found.dossier(f"P{row:04}")
    assert first.person == f"id P{row:04}"
    assert (first.k, len(first.control)) == (5, 5)
    assert len(found.dossier(f"P{row:04}", k=10).control) == 10
    with pytest.raises(SituationError, match="k = 7 was not asked for; there are 5, 10"):
        found.dossier(f"P{row:04}", k=7)
    with pytest.raises(SituationError, match="no row has id 'P9999'"):
        found.dossier("P9999")


def test_who_is_no_complainant_has_no_dossier(tables, plain):
    man = int(np.flatnonzero(tables[0]["gender"] == "Male")[0])
    with pytest.raises(
        SituationError, match=f"row {man} is not in the comparison group: gender is Male"
    ):
        plain.dossier(man)
    for wrong in (-1, 1_500, "P1", 2.0, True):
        with pytest.raises(SituationError, match="give the position of a row, from 0 to 1499"):
            plain.dossier(wrong)


def test_an_empty_group_is_said_to_be_empty(tables):
    found = cf.situation_test(tables[0], within=0.0, **ASKED)
    dossier = found.dossier(int(found.table()["row"][0]))
    assert len(dossier.control) == 0
    assert "Nothing can be said: nobody near enough is in the control group." in str(dossier)
    assert "nobody" in dossier.to_html()
    assert cf.plots.dossier(dossier, Figure(layout="constrained").subplots()) is not None


# --- the page -------------------------------------------------------------------------------------


def parsed(page):
    """The page as a tree: it is well-formed, but for its first line and the tags of its head."""
    body = page[page.index("<body>") : page.index("</body>") + len("</body>")]
    return ET.fromstring(body.replace("<br>", "<br/>"))


def test_the_page_holds_every_number_and_needs_nothing_else(other):
    found = other.dossier(one_of_each(other)["significant"])
    page = found.to_html()
    tree = parsed(page)
    words = " ".join("".join(tree.itertext()).split())
    for sentence in found.sentences():
        assert sentence in words
    for assumption in found.assumptions:
        assert assumption in words
    for line in found.rows():
        for cell in line:
            assert cell in words
    assert len(list(tree.iter("circle"))) == 3 * 3 * 15  # features, groups, people
    assert len(list(tree.iter("tr"))) == 1 + 4 + 3 * (1 + 15)
    assert "<script" not in page
    assert not re.search(r"(?:src|href|url)\s*[=(]", page)
    assert "default-src 'none'" in page
    assert found._repr_html_() in page


def test_what_comes_from_the_data_does_no_harm():
    evil = "<script>alert(1)</script>\u202e\x00&\"'"
    rng = np.random.default_rng(1)
    title = evil.replace("\x00", "")  # refused in names of columns
    data = pd.DataFrame({title: rng.choice(["F", "M"], 60), "pay": rng.random(60)})
    data["job"] = rng.choice([evil, "b"], 60)
    data["hired"] = rng.integers(0, 2, 60)
    data["name"] = [f"{evil}{at}" for at in range(60)]
    found = cf.situation_test(
        data, protected=title, comparison="F", features=["pay", "job"], decision="hired", k=5,
        favorable=1, ids="name",
    )  # fmt: skip
    page = found.dossier(found.table()["id"][0]).to_html()
    assert "<script" not in page
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "\\u202e" in page
    parsed(page)


# --- strips and pictures --------------------------------------------------------------------------


def test_everyone_is_drawn_once_and_high_stacks_spread(other):
    found = other.dossier(one_of_each(other)["significant"])
    many = tuple(replace(found.fact, name=f"row {at}") for at in range(40))
    strips = strips_of(replace(found, control=Group("control group", "", many)))
    lane = strips[0].lanes[0]
    assert len(lane.marks) == 40
    assert lane.height == HIGHEST
    assert len({(round(mark.across, 6), mark.level) for mark in lane.marks}) == 40
    assert all(0 <= mark.across <= 1 for mark in lane.marks)
    for strip in strips_of(found):
        for lane, group in zip(strip.lanes, (found.control, found.test, found.plain), strict=True):
            assert sorted(mark.name for mark in lane.marks) == sorted(p.name for p in group.peers)
            assert sum(mark.declined for mark in lane.marks) == group.declined
            assert lane.center is not None


def test_places_follow_values(other):
    found = other.dossier(one_of_each(other)["significant"])
    salary, _, branch = strips_of(found)
    alone = [mark for lane in salary.lanes for mark in lane.marks if mark.level == 0]
    values = [float(mark.value.replace(",", "")) for mark in alone]
    order = np.argsort(values, kind="stable")
    places = np.array([mark.across for mark in alone])[order]
    assert (np.diff(places) > -2 / 60).all()  # stacks may spread by a column
    groups = (found.control, found.test, found.plain)
    everyone = [value for group in groups for value in group.values(0)]
    everyone += [found.fact.values[0], found.otherwise.values[0]]
    assert [label for _, label in salary.ticks] == [written(f(everyone)) for f in (min, max)]
    assert {label for _, label in branch.ticks} <= set(BRANCHES)


def test_missing_values_and_many_labels_have_a_place():
    peers = tuple(Peer(f"row {at}", 0.1, True, (None, f"job {at % 12}")) for at in range(24))
    found = cf.individuals.Dossier(
        person="row 0", complaining="people", method="situation testing", k=24,
        means_declined="hired = 0", features=("pay", "job"), fact=peers[0], otherwise=None,
        control=Group("control group", "", peers), test=Group("test group", "", peers[:1]),
        plain=None, finding=None, tests=1, tau=0.0, level=0.95, interval="Wald", assumptions=(),
        notes=(),
    )  # fmt: skip
    pay, job = strips_of(found)
    assert pay.lanes[0].missing == 24
    assert not pay.lanes[0].marks
    assert pay.lanes[0].center is None
    assert len(job.ticks) == 8
    assert len(job.lanes[0].marks) == 24


def drawn(dossier, **options):
    return cf.plots.dossier(dossier, Figure(layout="constrained").subplots(), **options)


def test_the_picture_shows_everyone_and_says_so(other):
    found = other.dossier(one_of_each(other)["significant"])
    ax = drawn(found)
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert sum(len(line.get_xdata()) for line in dots) == 3 * 3 * 15
    filled = [line for line in dots if line.get_markerfacecolor() == line.get_markeredgecolor()]
    groups = (found.control, found.test, found.plain)
    assert sum(len(line.get_xdata()) for line in filled) == 3 * sum(g.declined for g in groups)
    assert [label.get_text() for label in ax.get_yticklabels()] == 3 * [
        "control group", "test group", "plain test group",
    ]  # fmt: skip
    note = " ".join(ax.get_xlabel().split())
    assert "Filled: declined (approved = 0)." in note
    assert f"difference {found.finding.delta:+.2f}" in note
    assert cf.plots.dossier_caption(found) in drawn(found, caption=True).get_xlabel().replace(
        "\n", " "
    )


@pytest.mark.parametrize("name", ["long", "markup", "emoji", "formula", "control", "empty"])
def test_texts_stay_apart_and_inside_whatever_they_are_called(other, name):
    found = other.dossier(one_of_each(other)["significant"])
    hostile = HOSTILE[name]
    relabeled = [
        replace(peer, values=(*peer.values[:2], hostile if peer.values[2] == "West" else "b"))
        for peer in found.control.peers
    ]
    strange = replace(
        found,
        person=f"row {hostile}",
        features=("annual_salary", hostile, "branch"),
        control=replace(found.control, peers=tuple(relabeled)),
        means_declined=f"{hostile[:60]} = 0",
    )
    for ax in (cf.plots.dossier(strange), cf.plots.dossier(found)):
        drawing(ax)
        assert overlaps(ax) == []
        assert outside(ax) == []
        pyplot.close(ax.figure)
    small = axes()
    cf.plots.dossier(replace(strange, person="row 1"), small)
    drawing(small)
    assert overlaps(small) == []


def test_features_are_chosen_and_unknown_ones_refused(other):
    found = other.dossier(one_of_each(other)["significant"])
    ax = drawn(found, features=["branch"])
    assert len(ax.get_yticklabels()) == 3
    with pytest.raises(ValueError, match="features are some of annual_salary"):
        drawn(found, features=["salary"])
    with pytest.raises(ValueError, match="an empty list"):
        drawn(found, features=[])


def test_the_picture_is_the_same_each_time_and_can_be_dark(other, tmp_path):
    found = other.dossier(one_of_each(other)["significant"])
    one, two = (cf.plots.to_svg(drawn(found)) for _ in range(2))
    assert one == two
    assert f"Dossier of {found.person}" in one
    dark = drawn(found, theme=cf.plots.DARK)
    assert dark.figure.get_facecolor() != drawn(found).figure.get_facecolor()
    assert cf.plots.save(dark, tmp_path / "dossier.png").stat().st_size > 10_000


def test_a_dossier_is_plain_data(other):
    found = other.dossier(one_of_each(other)["significant"])
    again = json.loads(json.dumps(asdict(found)))
    assert again["finding"]["delta"] == found.finding.delta
    assert len(again["control"]["peers"]) == 15
