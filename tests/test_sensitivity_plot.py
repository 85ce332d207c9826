"""Does the picture of a bound show the numbers of the result, legibly?"""

import warnings

import numpy as np
import pytest

from causalfairness import plots
from causalfairness.effects import Basis, Effect
from causalfairness.errors import SensitivityError
from causalfairness.plots import DARK, LIGHT
from causalfairness.sensitivity import Benchmark, EffectSensitivity, Shares, Stage
from test_plots import HOSTILE, axes, drawing, outside, visible_texts, words_of

SIZE = (5.6, 5.8)
STAGES = {"mediators": Stage(0.2, 3.0), "group": Stage(0.1, 2.0)}


def sensitivity(value=0.09, margin=0.01, name="direct", stages=STAGES, strengths=None):
    stated = strengths or {stage: Shares(0.05, 0.05) for stage in STAGES}
    effect = Effect(name, value, np.array([0.014]), Basis("", "rows"))
    return EffectSensitivity(effect, "", stages, stated, margin)


def benchmark(name, outcome, group, effect="direct"):
    shares = {"mediators": Shares(outcome, group), "group": Shares(outcome / 2, group / 2)}
    return Benchmark(name, sensitivity(name=effect, strengths=shares))


FOUND = sensitivity()
MARKS = (benchmark("age", 0.016, 0.12), benchmark("sex", 0.021, 0.075))


def dots(ax):
    lines = [line for line in ax.lines if line.get_marker() == "o"]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]


def test_dots_are_robustness_values_and_crosses_are_benchmarks():
    ax = plots.sensitivity(FOUND, axes(SIZE), benchmarks=MARKS)
    estimate, interval = FOUND.robustness(), FOUND.robustness_of_interval()
    assert dots(ax) == [(estimate, estimate), (interval, interval)]
    crosses = [line for line in ax.lines if line.get_marker() == "x"]
    at = {(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in crosses}
    assert at == {tuple(mark.shares()) for mark in MARKS}
    assert {"age", "sex"} <= set(words_of(ax))


@pytest.mark.parametrize("stage", [None, "mediators", "group"])
def test_along_a_bold_line_the_effect_moves_to_the_margin(stage):
    ax = plots.sensitivity(FOUND, axes(SIZE), stage=stage)
    bold = [line for line in ax.lines if line.get_linewidth() == 2.0]
    assert len(bold) == 2
    for line, distance in zip(bold, (FOUND.distance, FOUND.room), strict=True):
        shares = list(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for outcome, group in shares[:: len(shares) // 7]:
            assert FOUND.bound_at(outcome, group, stage) == pytest.approx(distance)


def test_numbers_on_thin_lines_are_bounds():
    ax = plots.sensitivity(FOUND, axes(SIZE), benchmarks=MARKS)
    thin = [line for line in ax.lines if line.get_linewidth() == 0.8 and len(line.get_xdata()) > 9]
    numbers = [text for text in ax.texts if text.get_position()[0] == text.get_position()[1] > 0]
    assert len(thin) == len(numbers) >= 1
    for text in numbers:
        share = text.get_position()[0]
        assert FOUND.bound_at(share, share) == pytest.approx(float(text.get_text()), rel=1e-6)


def test_an_interval_that_holds_the_margin_has_no_line():
    ax = plots.sensitivity(sensitivity(value=0.02), axes(SIZE))
    assert len(dots(ax)) == 1
    assert "none, since it does so already" in plots.sensitivity_caption(sensitivity(value=0.02))


def test_the_caption_says_what_is_needed_and_what_it_is_not():
    said = plots.sensitivity_caption(FOUND, benchmarks=MARKS, stage="group", percent=True)
    assert "+9.0 points" in said
    assert "margin of 1.0 points" in said
    assert "a hidden common cause of the group" in said
    assert f"{FOUND.robustness('group'):.1%}" in said
    assert "age, left out, accounts for 0.8% of the outcome and 6.0% of the weights" in said
    assert "not a test" in said
    many = [benchmark(str(n), 0.1, 0.1) for n in range(7)]
    assert "3 more confounders" in plots.sensitivity_caption(FOUND, benchmarks=many)
    assert "fair" not in said


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("size", [SIZE, (4.2, 5.0)])
def test_it_is_drawn_within_the_picture(theme, size):
    names = [*HOSTILE.values(), "age"]
    marks = [benchmark(name, 0.02 * n, 0.1 + 0.02 * n) for n, name in enumerate(names)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = plots.sensitivity(FOUND, axes(size), benchmarks=marks, theme=theme)
        drawing(ax)
    assert not outside(ax)
    assert len(visible_texts(ax)) > len(marks)


def test_what_cannot_be_drawn_is_refused():
    still = sensitivity(stages={"mediators": Stage(0.0, 0.0), "group": Stage(0.0, 0.0)})
    with pytest.raises(SensitivityError, match="no hidden cause can move 'direct'"):
        plots.sensitivity(still, axes(SIZE))
    other = benchmark("age", 0.1, 0.1, effect="spurious")
    with pytest.raises(SensitivityError, match="the benchmark 'age' is about 'spurious'"):
        plots.sensitivity(FOUND, axes(SIZE), benchmarks=[other])
