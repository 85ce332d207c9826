"""What works where no extra is installed, and what is said about the rest?

Needs nothing but the package. `test_extras.py` runs it with the libraries of all extras blocked,
`test_project.py` in an environment that never had them.
"""

import tempfile
from pathlib import Path

from typer.testing import CliRunner

import causalfairness as cf
from causalfairness import imaging
from causalfairness.cli import app

DECOMPOSE = (
    *("decompose", "dataset:compas", "--protected", "race", "--reference", "Caucasian"),
    *("--comparison", "African-American", "--mediators", "sex", "--outcome", "two_year_recid"),
)


def main():
    """Everything else answers, and what needs an extra is refused by its name."""
    loans = cf.datasets.make_loan_application(400, seed=0)
    world = cf.datasets.worlds.binary()
    found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    assert found.total.standard_error > 0

    tested = cf.situation_test(
        loans,
        protected="gender",
        comparison="Female",
        features=["annual_salary", "account_balance"],
        decision="approved",
        favorable=1,
        k=5,
    )
    assert tested.table(neighbors=True)["control_rows"]

    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "report.html"
        cf.report.write_html(found, page, model=world.model)
        assert "<svg" in page.read_text("utf-8")
        written = CliRunner().invoke(app, [*DECOMPOSE, "--report", str(page)])
        assert written.exit_code == 0, written.output
        picture = Path(name) / "picture.svg"
        refused = CliRunner().invoke(app, [*DECOMPOSE, "--plot", str(picture)])
        assert refused.exit_code == 3, refused.output
        assert 'pip install "causalfairness[plots]"' in refused.output
        assert "direct" not in refused.output  # said before the work, not after it
        assert not picture.exists()
    asked = {
        "plots": (
            lambda: cf.plots.waterfall(found),
            lambda: cf.plots.save(None, "picture.svg"),
            lambda: cf.plots.LIGHT,
        ),
        "graphs": (lambda: cf.CausalGraph.parse("a -> b").to_networkx(),),
        "fast": (compiled_search,),
        "torch": (lambda: cf.neural.effects(None, [[0.0], [1.0]], protected_index=0),),
        "imaging": (lambda: imaging.quality, lambda: imaging.Simulator),
    }
    for extra, questions in asked.items():
        for ask in questions:
            message = ""
            try:
                ask()
            except cf.errors.NotInstalledError as error:
                message = str(error)
            assert f'pip install "causalfairness[{extra}]"' in message, (extra, message)
    print("without extras: as promised")


def compiled_search():
    """The tree of neighbors that `usual_search` does without here."""
    from causalfairness.individuals import neighbor_search

    return neighbor_search


if __name__ == "__main__":
    main()
