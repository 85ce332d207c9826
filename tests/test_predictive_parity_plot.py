"""Does the picture of predictive parity show the numbers of the result, legibly?"""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import causalfairness as cf
from causalfairness import plots
from causalfairness.plots import DARK, LIGHT
from parity_world import MODEL, drawn
from test_plots import HOSTILE, axes, drawing, outside, visible_texts, words_of

SIZE = (6.4, 6.4)


@pytest.fixture(scope="module")
def found():
    return cf.decompose_predictive_parity(
        drawn(800, seed=0), MODEL, counterfactual="y_blue", bins=6, replicates=50
    )


@pytest.fixture(scope="module")
def compas():
    model = cf.StandardFairnessModel(
        protected="sex",
        reference="Male",
        comparison="Female",
        outcome="two_year_recid",
        prediction="decile_score",
    )
    return cf.decompose_predictive_parity(cf.datasets.load_compas(), model, replicates=50)


def dots(panel):
    return [line for line in panel.lines if line.get_marker() == "o"]


def test_the_panels_show_outcomes_and_gaps(found):
    ax = plots.predictive_parity(found, axes(SIZE), level=0.9)
    upper, lower = ax.child_axes
    means, (low, high) = found.mean_outcomes(0.9)
    for group, (line, bars) in enumerate(zip(dots(upper), upper.collections, strict=True)):
        assert np.array_equal(line.get_xdata(), found.mean_scores[group])
        assert np.array_equal(line.get_ydata(), means[group])
        ends = [segment[:, 1] for segment in bars.get_segments()]
        assert np.allclose(ends, np.column_stack([low[group], high[group]]))
    (gap,) = dots(lower)
    assert np.array_equal(gap.get_ydata(), found.ppm.values)
    heights = [list(line.get_ydata()) for line in lower.lines]
    for each in (found.causal, found.reverse_causal, found.drift):
        assert list(each.values) in heights
    assert {"blue", "green", "gap", "causal (Term I)", "drift of scores"} <= set(words_of(ax))
    assert "90% intervals" in ax.get_xlabel()
    assert "the score means what it says" in " ".join(ax.get_xlabel().split())


def test_without_terms_and_scales_less_is_drawn(compas):
    ax = plots.predictive_parity(compas, axes(SIZE))
    lower = ax.child_axes[1]
    assert [text.get_text() for text in lower.texts] == ["gap", "drift of scores"]
    assert "means what it says" not in ax.get_xlabel()  # deciles are no chances
    assert "causal" not in " ".join(words_of(ax))


def test_bins_without_one_of_the_groups_are_counted():
    people = drawn(500, seed=1)
    people.loc[people["group"] == "green", "score"] += 3.0
    found = cf.decompose_predictive_parity(people, MODEL, bins=10, replicates=50)
    ax = plots.predictive_parity(found, axes(SIZE))
    drawing(ax)
    left = 10 - found.compared
    assert f"{left} bins without one of the groups" in " ".join(ax.get_xlabel().split())
    assert len(dots(ax.child_axes[1])[0].get_ydata()) == found.compared


def test_a_caption_says_what_the_picture_supports(found):
    said = plots.predictive_parity_caption(found)
    assert said.startswith(
        "Mean y of green and of blue at equal score, in 6 bins with both groups."
    )
    assert f"causal (Term I) {found.causal.integrated.value:+.3f}" in said
    assert "under the stated assumptions" in said
    assert "fair" not in said
    ax = plots.predictive_parity(found, axes(SIZE), caption=True)
    assert " ".join(ax.get_xlabel().split()) == said


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_inside_the_picture(found, name):
    strange = HOSTILE[name]
    told = replace(found, reference=strange, comparison=strange, score=strange, what=strange)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = plots.predictive_parity(told, axes((6.4, 8.0)))
        drawing(ax)
    assert not outside(ax)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_theme_colors_every_text_and_the_background(found, theme):
    ax = plots.predictive_parity(found, axes(SIZE), theme=theme)
    known = {theme.ink, theme.muted, theme.rest, theme.direct, theme.indirect}
    assert {text.get_color() for text in visible_texts(ax)} <= known
    assert ax.figure.get_facecolor()[:3] == pytest.approx(
        [int(theme.background[at : at + 2], 16) / 255 for at in (1, 3, 5)], abs=0.01
    )


def test_a_saved_picture_carries_its_caption(found, tmp_path):
    path = tmp_path / "parity.svg"
    ax = plots.predictive_parity(found, axes(SIZE))
    plots.save(ax, path)
    assert "at equal score" in path.read_text("utf-8")
