"""Simulated radiographs: exact counterfactuals, known laws, and enough of them per second."""

import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.stats import norm
from torch.nn import functional

from causalfairness.errors import SimulationError
from causalfairness.imaging.classifiers import (
    area_under_curve,
    fit_classifier,
    one_column_each,
    scores,
    small_network,
)
from causalfairness.imaging.parents import FINDINGS
from causalfairness.imaging.simulator import Simulator, drawing, save_radiographs
from causalfairness.imaging.simulator.anatomy import anatomy
from causalfairness.imaging.simulator.drawing import draw
from causalfairness.imaging.simulator.noise import NAMES, Noise, grain, texture
from causalfairness.imaging.simulator.people import Causes, findings, people

NUISANCES = {"tissue", "exposure", "texture", "marker"}
WITHOUT_AND_WITH_SHIFT = pytest.mark.parametrize("shift", [0.0, 1.5])


def largest_difference(one, other):
    return float((one.images() - other.images()).abs().max())


@WITHOUT_AND_WITH_SHIFT
@pytest.mark.parametrize("size", [32, 50])
def test_null_and_double_interventions_change_not_one_bit(size, shift):
    films = Simulator(size=size, prevalence_shift=shift).draw(40, seed=1)
    own = films.parents.group
    assert largest_difference(films, films.do(group=own)) == 0
    assert largest_difference(films, films.told(group=own)) == 0
    assert largest_difference(films, films.do(group=2).do(group=own)) == 0
    assert largest_difference(films.do(group=0).do(group=1), films.do(group=1)) == 0
    assert largest_difference(films.do(group=0), films.do(group=1)) > 0.05


@pytest.mark.parametrize("size", [32, 37, 100])
def test_any_subset_has_the_same_bits(size):
    films = Simulator(size=size).draw(45, seed=5)
    whole, moved = films.images(), films.do(group=1).images()
    for start, count in ((0, 1), (5, 3), (11, 7), (2, 33)):
        rows = torch.arange(start, start + count)
        assert torch.equal(films.images(slice(start, start + count)), whole[rows])
        assert torch.equal(films.take(rows.flip(0)).do(group=1).images().flip(0), moved[rows])
    assert torch.equal(torch.cat(list(films.batches(8))), whole)
    assert torch.equal(Simulator(size=size).draw(10, seed=5).images(), whole[:10])


def test_the_group_changes_no_finding_without_a_prevalence_shift():
    films = Simulator(size=32).draw(500, seed=2)
    for group in range(3):
        told = films.do(group=group)
        assert torch.equal(told.parents.findings, films.parents.findings)
        assert torch.equal(told.severities, films.severities)
        assert torch.equal(told.parents.age, films.parents.age)
        assert (told.parents.group == group).all()
        assert largest_difference(told.take(slice(9)), films.told(group=group).take(slice(9))) == 0


def test_with_a_prevalence_shift_findings_follow_do_and_not_told():
    films = Simulator(size=32, prevalence_shift=1.0).draw(4000, seed=3)
    often, seldom = (films.do(group=group).parents.findings for group in (1, 2))
    assert (often >= seldom).all()
    assert (often.float().mean(0) - seldom.float().mean(0) > 0.1).all()
    same = films.told(group=1)
    assert torch.equal(same.parents.findings, films.parents.findings)
    assert torch.equal(same.severities, films.severities)
    changed = (often != films.parents.findings).any(1).nonzero()[:5, 0]
    assert largest_difference(same.take(changed), films.do(group=1).take(changed)) > 0.05


def test_without_strength_the_group_is_not_on_the_film():
    films = Simulator(size=32, strength=0.0).draw(20, seed=4)
    assert largest_difference(films.do(group=1), films.do(group=2)) == 0


def test_the_group_reaches_four_nuisances_and_nothing_else():
    films = Simulator().draw(50, seed=6)

    def bodies(group):
        who = films.parents.told(group=group)
        return anatomy(films.noise, who, films.severities, strength=1.0)

    one, other = (vars(bodies(group)) for group in (0, 1))
    differ = {name for name in one if not torch.equal(one[name], other[name])}
    assert differ == NUISANCES


def test_what_the_group_does_grows_with_the_strength():
    films = Simulator(size=16).draw(20, seed=0)

    def moves(name, strength):
        scale = torch.logit if name == "marker" else torch.log
        plain, moved = (
            anatomy(films.noise, films.told(group=group).parents, films.severities, strength=times)
            for group, times in ((0, 0.0), (1, strength))
        )
        return scale(getattr(moved, name)) - scale(getattr(plain, name))

    for name in NUISANCES:
        assert torch.allclose(moves(name, 2.0), 4 * moves(name, 0.5), atol=1e-5)
        assert moves(name, 0.5).abs().min() > 0.03


def test_what_covers_the_film_tells_the_group_better_than_a_letter():
    """A judge looks where it is easiest: were that a letter, a generator would be asked to write.

    All arrows are small, so that findings are read as well in every group, and several times the
    noise of their own nuisance, so that every film tells.
    """
    films = Simulator(size=16).draw(4_000, seed=0)
    films = replace(films, parents=replace(films.parents, scanner=0 * films.parents.scanner))
    worlds = [
        anatomy(films.noise, films.told(group=group).parents, films.severities, strength=1.0)
        for group in (0, 1)
    ]
    moves, times = {}, {}
    for name in NUISANCES:
        scale = torch.logit if name == "marker" else torch.log
        plain, moved = (scale(getattr(body, name).double()) for body in worlds)
        moves[name] = abs(float((moved - plain).mean()))
        times[name] = moves[name] / float(plain.std())
    weaker, stronger = ("texture", "marker"), ("tissue", "exposure")
    assert min(times[name] for name in weaker) > 3.0
    assert max(times[name] for name in weaker) < 4.5 < min(times[name] for name in stronger)
    assert max(times.values()) < 6.5
    assert max(moves[name] for name in stronger) < 0.2


def test_hidden_causes_tie_the_group_to_age_and_sex_and_can_be_cut():
    drawn = {c: Simulator(confounding=c).draw(20_000, seed=7) for c in (1.0, 0.0)}
    tied, cut = drawn[1.0].parents, drawn[0.0].parents
    noise = drawn[0.0].noise
    for cause, effect in (("origin", cut.age), ("referral", cut.sex)):
        pair = torch.stack([noise[cause], effect.double()])
        assert abs(torch.corrcoef(pair)[0, 1]) < 4 / 20_000**0.5
    ages = [tied.age[tied.group == group].mean() for group in range(3)]
    women = [tied.sex[tied.group == group].float().mean() for group in range(3)]
    assert ages[0] - ages[1] > 0.05
    assert women[1] - women[2] > 0.1
    for who in (cut.age, cut.sex.float(), cut.scanner.float(), *cut.findings.float().T):
        of_group = [who[cut.group == group] for group in range(3)]
        gap = of_group[1].mean() - of_group[2].mean()
        error = sum(part.var() / len(part) for part in of_group[1:]) ** 0.5
        assert abs(gap) < 4 * error


def test_without_confounding_the_group_follows_its_shares_and_nothing_else():
    n = 200_000
    noise = Noise.draw(n, seed=0)
    group = people(noise, Causes(1.0, 0.0, 1.8, 0.0)).group
    shares = torch.tensor([0.25, 0.0, 0.0], dtype=torch.float64).softmax(0)
    found = group.bincount() / n
    assert ((found - shares).abs() < 4 * (shares * (1 - shares) / n) ** 0.5).all()
    tied = people(noise, Causes(1.0, 0.0, 1.8, 1.0)).group
    for cause in ("origin", "referral"):
        means, others = (
            torch.stack([noise[cause][who == one].mean() for one in range(3)])
            for who in (group, tied)
        )
        assert (means.abs() < 4 / (n * 0.3) ** 0.5).all()
        assert others.max() - others.min() > 0.3


def test_every_finding_gets_more_frequent_with_age():
    n = 500
    noise, causes = Noise.draw(n, seed=0), Causes(1.0, 0.0, 1.8, 1.0)
    nobody = torch.zeros(n, dtype=torch.int64)
    young, old = (
        findings(noise, causes, group=nobody, age=torch.full((n,), age), sex=nobody)
        for age in (0.3, 0.8)
    )
    assert (old >= young).all()
    assert ((old - young).sum(0) > 0).all()


def test_what_there_is_to_see_spreads_by_one_and_a_half_logits():
    films = Simulator(size=16, severity=0.0).draw(2_000, seed=0)
    spread = torch.logit(films.severities).std(0)
    assert ((spread / 1.5 - 1).abs() < 4 / (2 * 2_000) ** 0.5).all()


@pytest.mark.parametrize("severity", [0.0, 1.8])
def test_the_best_reader_of_a_finding_is_known(severity):
    films = Simulator(severity=severity).draw(20_000, seed=8)
    found = area_under_curve(films.severities, films.parents.findings)
    truth = norm.cdf(severity / 2**0.5)
    fewest = films.parents.findings.sum(0).min().item()
    error = (truth * (1 - truth) / fewest) ** 0.5  # an upper bound of the standard error
    assert (found - truth).abs().max() < 4 * error


def test_grain_is_standard_noise_without_memory():
    films = grain(torch.arange(200, dtype=torch.int32), 32, stream=1)
    reach = 4 / films.numel() ** 0.5  # four standard errors of a mean, or a correlation
    assert abs(films.mean()) < reach
    assert abs(films.var() - 1) < 2 * reach
    other = grain(torch.arange(200, dtype=torch.int32), 32, stream=2)
    neighbors = (films[:, :, 1:], films[:, 1:], films[1:], other)
    here = (films[:, :, :-1], films[:, :-1], films[:-1], films)
    for one, two in zip(here, neighbors, strict=True):
        assert abs((one * two).mean()) < 1.2 * reach
    assert texture(torch.arange(3, dtype=torch.int32), 40, cells=8, stream=3).shape == (3, 40, 40)


def test_every_surface_on_a_film_has_a_stream_of_its_own(monkeypatch):
    streams = []

    def listened(surface):
        def drawn(key, size, *, stream, **given):
            streams.append(stream)
            return surface(key, size, stream=stream, **given)

        return drawn

    monkeypatch.setattr(drawing, "grain", listened(grain))
    monkeypatch.setattr(drawing, "texture", listened(texture))
    Simulator(size=16).draw(1, seed=0).images()
    assert len(set(streams)) == len(streams) == 4


def test_numbers_and_keys_are_drawn_from_streams_of_their_own(monkeypatch):
    states, begun = [], np.random.default_rng

    def listened(seed):
        states.append(str(begun(seed).bit_generator.state))
        return begun(seed)

    monkeypatch.setattr(np.random, "default_rng", listened)
    Noise.draw(2, seed=0)
    assert len(set(states)) == 2


def test_pixel_noise_has_the_size_asked_for():
    clean, noisy = (Simulator(size=64, noise=s).draw(50, seed=9) for s in (0.0, 0.02))
    fixed = (clean.parents.scanner == 0).nonzero()[:, 0]
    middle = (slice(None), slice(None), slice(20, 40), slice(25, 40))
    rest = noisy.images(fixed)[middle] - clean.images(fixed)[middle]
    assert rest.std() == pytest.approx(0.02, rel=4 / (2 * rest.numel()) ** 0.5)


def test_the_same_people_are_on_small_and_large_films():
    small, large = (Simulator(size=size, noise=0.0).draw(12, seed=10) for size in (64, 128))
    shrunk = functional.avg_pool2d(large.images(), 2)
    assert (shrunk - small.images()).abs().mean() < 0.006
    assert torch.equal(small.parents.findings, large.parents.findings)


def test_no_strength_makes_an_impossible_body():
    films = Simulator(size=16, strength=8.0).draw(200, seed=0).images()
    assert bool(torch.isfinite(films).all())


def test_films_are_gray_values_from_0_to_1():
    films = Simulator(size=48).draw(30, seed=11).images()
    assert films.shape == (30, 1, 48, 48)
    assert films.dtype == torch.float32
    assert films.min() >= 0
    assert films.max() <= 1
    assert films.std() > 0.1


def test_many_films_are_a_small_object():
    noise = Simulator(size=128).draw(30_000, seed=12).noise
    assert noise.numbers.numel() * 8 + noise.key.numel() * 4 < 20e6
    assert len(NAMES) == len(set(NAMES)) == noise.numbers.shape[1]


def test_three_hundred_small_films_take_less_than_a_processor_second():
    films = Simulator(size=64).draw(600, seed=13)
    films.images(slice(64))
    before = time.process_time()
    films.images()
    assert 600 / (time.process_time() - before) > 300


def probe(simulator, target):
    """What a linear reader of coarse films makes of a target: scores on films it has not seen."""
    seen, unseen = simulator.draw(2500, seed=14), simulator.draw(2500, seed=15)
    coarse = [functional.avg_pool2d(films.images(), 2).flatten(1) for films in (seen, unseen)]
    x, new = (torch.cat([pixels, torch.ones(len(pixels), 1)], 1).double() for pixels in coarse)
    gram = x.T @ x + 3.0 * torch.eye(x.shape[1], dtype=torch.float64)
    return new @ torch.linalg.solve(gram, x.T @ target(seen.parents).double()), unseen.parents


@pytest.mark.parametrize(("strength", "seen"), [(1.0, True), (0.0, False)])
def test_the_group_is_on_the_film_by_its_strength_alone(strength, seen):
    simulator = Simulator(size=32, strength=strength, confounding=0.0)
    said, who = probe(simulator, lambda people: one_column_each(people.group))
    right = (said.argmax(1) == who.group).float().mean()
    chance = who.group.bincount().max() / len(who)
    assert right > 0.6 if seen else right < chance + 4 * 0.5 / len(who) ** 0.5


def test_every_finding_is_on_the_film():
    said, who = probe(Simulator(size=32), lambda people: people.findings)
    found = area_under_curve(said, who.findings)
    assert (found > 0.68).all()  # a linear reader, on 16x16 pixels
    assert (found < 0.92).all()


def sick_and_healthy(finding, n=40):
    """The bodies of the same people, with all there may be of one finding, and with none of it."""
    films = Simulator(size=32).draw(n, seed=16)
    few, many = torch.full((n, 5), 0.3), torch.full((n, 5), 0.3)
    few[:, finding], many[:, finding] = 0.0, 1.0
    bodies = [anatomy(films.noise, films.parents, seen, strength=1.0) for seen in (many, few)]
    return films.noise.key, *bodies


def brighter(key, one, other):
    """How much brighter is a film of one body than of the other? (n, 32, 32)."""
    return (draw(one, key, size=32, noise=0.0) - draw(other, key, size=32, noise=0.0))[:, 0]


@pytest.mark.parametrize("finding", range(5))
def test_every_finding_makes_every_film_brighter(finding):
    assert (brighter(*sick_and_healthy(finding)).mean((1, 2)) > 0.002).all()


@pytest.mark.parametrize("lesion", FINDINGS[1:])
def test_a_lesion_is_brighter_where_it_lies_and_nothing_is_darker(lesion):
    key, sick, healthy = sick_and_healthy(FINDINGS.index(lesion))
    one = type(healthy)(**{**vars(healthy), lesion: getattr(sick, lesion)})
    change = brighter(key, one, healthy)
    assert (change.amax((1, 2)) > 0.1).all()
    assert change.min() > -1e-4


def test_atelectasis_lifts_the_diaphragm_on_its_own_side():
    key, sick, healthy = sick_and_healthy(FINDINGS.index("atelectasis"))
    right = healthy.plate_right[:, 0, 0] == 1
    assert 0 < right.sum() < len(right)
    for side, dome in ((right, "dome_right"), (~right, "dome_left")):
        lifted = (getattr(healthy, dome) - getattr(sick, dome))[:, 0, 0]
        assert (lifted[side] > 0.1).all()
        assert (lifted[~side] == 0).all()
    change = brighter(key, sick, healthy).abs()
    beside = torch.where(right[:, None, None], change[:, :, 20:], change[:, :, :12].flip(2))
    assert beside.max() < 1e-4


@pytest.mark.slow
def test_a_small_network_finds_what_is_neither_trivial_nor_hopeless():
    seen, unseen = Simulator().draw(5000, seed=1), Simulator().draw(2000, seed=2)
    network = small_network()
    fit_classifier(network, seen.images(), seen.parents.findings, epochs=9, rate=3e-3)
    found = area_under_curve(scores(network, unseen), unseen.parents.findings)
    assert len(found) == len(FINDINGS)
    assert (found > 0.75).all()
    assert (found < 0.92).all()
    of_groups = small_network(outputs=3)
    fit_classifier(of_groups, seen, one_column_each(seen.parents.group), epochs=3, rate=3e-3)
    right = scores(of_groups, unseen).argmax(1) == unseen.parents.group
    assert right.float().mean() > 0.7


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"size": 8}, "size=8: a radiograph has 16 to 2048 pixels"),
        ({"strength": -1.0}, "strength=-1.0: expected a number from 0 up"),
        ({"severity": float("nan")}, "severity=nan"),
        ({"noise": float("inf")}, "noise=inf"),
    ],
)
def test_a_simulator_refuses_what_it_cannot_draw(wrong, said):
    with pytest.raises(SimulationError, match=said):
        replace(Simulator(), **wrong)


@pytest.mark.parametrize("group", [3, -1, 0.5, torch.tensor([0, 7])])
def test_there_are_three_groups(group):
    films = Simulator(size=32).draw(2, seed=0)
    with pytest.raises(SimulationError, match="there are the groups 0, 1 and 2"):
        films.do(group=group)


def test_nothing_is_drawn_of_nobody():
    with pytest.raises(SimulationError, match="at least one"):
        Simulator().draw(0, seed=0)
    assert len(Noise.draw(2, seed=0)) == 2


def test_saved_counterfactuals_hold_the_findings(tmp_path):
    simulator = Simulator(size=16, prevalence_shift=2.0)
    save_radiographs(simulator, tmp_path, people=12, seed=0, counterfactuals=True)
    films = simulator.draw(12, seed=0)
    for group in range(3):
        paths = sorted((tmp_path / "counterfactuals" / str(group)).iterdir())
        saved = torch.stack([torch.tensor(np.asarray(Image.open(path)) / 65_535) for path in paths])
        apart = (saved[:, None] - films.told(group=group).images()).abs()
        assert apart.max() < 1 / 131_000
        assert largest_difference(films.told(group=group), films.do(group=group)) > 0.05
