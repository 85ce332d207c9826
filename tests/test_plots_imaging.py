"""Do the pictures of an audit of images show what was found, in both themes, with any names?"""

import pytest
import torch
from matplotlib.figure import Figure

import causalfairness as cf
from causalfairness import imaging

HOSTILE = "<script>$x_1$ and a very long name of a classifier that nobody would ever use"


@pytest.fixture(scope="module")
def found():
    simulator = imaging.Simulator(size=16, strength=2.0)
    others, films = simulator.draw(300, seed=1), simulator.draw(150, seed=2)
    generator = imaging.fit_gaussian(others.images(), others.parents, components=8)

    def bright(images):
        return images.mean((1, 2, 3))[:, None].expand(-1, 2)

    def still(images):
        return 0.5 + 0 * bright(images)

    readers = {HOSTILE: bright, "still": still}
    return imaging.audit(readers, films, generator=generator, findings=["edema", "effusion"])


def axes():
    return Figure(figsize=(6.4, 6.4), layout="constrained").subplots()


@pytest.mark.parametrize("theme", [cf.plots.LIGHT, cf.plots.DARK], ids=["light", "dark"])
def test_there_is_a_panel_for_every_pair_of_groups_and_a_dot_for_every_image(found, theme):
    ax = cf.plots.counterfactual_scores(found, axes(), finding="effusion", theme=theme)
    assert len(ax.child_axes) == 9
    sizes = [len(panel.lines[1].get_xdata()) for panel in ax.child_axes]
    counts = torch.bincount(torch.tensor(found.generated.own)).tolist()
    assert sizes == [count for count in counts for _ in range(3)]
    of_second = found.generated.own == 1
    panel = ax.child_axes[3]  # people of the second group, made for the first
    assert panel.get_title(loc="left") == "group 1, as group 0"
    assert panel.lines[1].get_xdata().tolist() == found.generated.original[of_second, 0, 1].tolist()
    told = found.generated.counterfactual[0, of_second, 0, 1]
    assert panel.lines[1].get_ydata().tolist() == told.tolist()
    ax.figure.canvas.draw()


def test_cells_hold_t_and_p_and_shade_what_is_rejected(found):
    ax = cf.plots.imaging_audit(found, axes(), caption=True)
    texts = [text.get_text() for text in ax.texts if text.get_visible()]
    assert len(texts) == 8
    assert texts[0] == f"{found.statistic[0, 0]:+.1f}"
    assert len(ax.patches) == int(found.rejected.sum()) == 2
    assert [label.get_text() for label in ax.get_xticklabels()] == ["edema", "effusion"]
    ax.figure.canvas.draw()


def test_captions_say_what_rests_on_the_generator_and_what_does_not(found):
    scores = cf.plots.counterfactual_scores_caption(found, model="still", finding="edema")
    assert "changes by 0 on average" in scores
    assert "stays the same for 100% of images and groups, as far as the generator" in scores
    assert "are consistent with no dependence" in scores
    seen = cf.plots.counterfactual_scores_caption(found)
    assert "150 real images scores depend on the group" in seen
    table = cf.plots.imaging_audit_caption(found)
    assert "for 2 of 4 classifiers and findings" in table
    assert "fair" not in table + seen


def test_names_that_are_not_there_are_refused(found):
    with pytest.raises(ValueError, match="no classifier is named 'nobody'; there are"):
        cf.plots.counterfactual_scores(found, axes(), model="nobody")
    with pytest.raises(ValueError, match="no finding is named 'gout'; there are edema, effusion"):
        cf.plots.counterfactual_scores_caption(found, finding="gout")


def test_the_pictures_make_their_own_figure_and_carry_their_caption(found):
    from matplotlib import pyplot

    for draw in (cf.plots.counterfactual_scores, cf.plots.imaging_audit):
        ax = draw(found)
        assert "scripted" not in cf.plots.to_svg(ax)
        assert "real images" in cf.plots.to_svg(ax) or "Average scores" in cf.plots.to_svg(ax)
        pyplot.close(ax.figure)
