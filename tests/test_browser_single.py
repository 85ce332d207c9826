"""Does the report of one result work in a real browser, for everyone, whatever names are in it?"""

import pytest

import causalfairness as cf
from audit_pages import HOSTILE, NAMES
from page_checks import (
    READABLE,
    axe_findings,
    background,
    contrast,
    inked,
    photograph,
    sticking_out,
    unfold,
)

everywhere = pytest.mark.parametrize("width", ["desktop", "phone"])
by_day_and_night = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    world = cf.datasets.worlds.binary()
    found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    path = tmp_path_factory.mktemp("single") / "report.html"
    return cf.report.write_html(found, path, model=world.model, source="a world", seed=0)


@everywhere
@by_day_and_night
def test_it_is_readable_for_everyone(visit, report, tmp_path, width, dark):
    page = visit(report, width=width, dark=dark)
    name = f"single-{width}-{'dark' if dark else 'light'}"
    assert inked(photograph(page, name, tmp_path)) > 0.01
    unfold(page)
    assert contrast(page) > READABLE
    assert (background(page) < 0.05) == dark
    assert sticking_out(page) == []
    assert axe_findings(page) == []


def test_it_needs_no_scripts_and_no_server(visit, served, report):
    for page in [visit(report, scripts=False), visit(served(report))]:
        page.locator("label[for=theme-dark]").click()
        assert background(page) < 0.05
        page.locator("label[for=theme-light]").click()
        assert background(page) > 0.9


@everywhere
def test_hostile_names_are_inert(visit, tmp_path, width):
    world = cf.datasets.worlds.binary()
    data = world.draw(2_000, seed=0, frame="pandas")
    groups = {"blue": HOSTILE["long"], "green": HOSTILE["override"] + HOSTILE["back"]}
    data["group"] = data["group"].map(groups)
    model = cf.StandardFairnessModel(
        protected=NAMES["group"],
        reference=groups["blue"],
        comparison=groups["green"],
        confounders=[NAMES["c1"], NAMES["c2"]],
        mediators=[NAMES["m1"]],
        outcome=NAMES["y"],
    )
    found = cf.decompose_disparity(data.rename(columns=NAMES), model)
    path = cf.report.write_html(found, tmp_path / "report.html", model=model)
    page = visit(path, width=width)
    unfold(page)
    assert page.evaluate("window.hacked") is None
    assert sticking_out(page) == []
    assert axe_findings(page) == []
