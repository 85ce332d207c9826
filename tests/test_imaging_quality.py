"""Do the measures of counterfactual images measure what they say? And a generator that is good.

The strong generator is Gaussian on principal components: in the simulator the group moves images
nearly linearly, so it has a right to be good.
"""

from dataclasses import replace

import pytest
import torch

from causalfairness.errors import ImageError
from causalfairness.imaging.analytic import fit_gaussian
from causalfairness.imaging.classifiers import (
    Leaning,
    fit_classifier,
    one_column_each,
    small_network,
)
from causalfairness.imaging.quality import (
    OTHERS,
    Judges,
    composition,
    drift,
    effectiveness,
    frechet,
    frechet_distance,
    quality,
    random_features,
    reversibility,
)
from causalfairness.imaging.simulator import Simulator


class Truth:
    """The generator that cannot be better: it knows the simulator."""

    def __init__(self, films):
        self.films = films

    def counterfactual(self, images, parents, *, group):
        return self.films.told(group=group).images()


class Blurred:
    """Changes nothing but the grain."""

    def counterfactual(self, images, parents, *, group):
        return torch.nn.functional.avg_pool2d(images, 3, stride=1, padding=1)


def learned(targets, outputs, films, seed):
    network = small_network(outputs=outputs, seed=seed)
    fit_classifier(network, films.images(), targets, epochs=4, batch=64, rate=3e-3, seed=seed)
    return network


@pytest.fixture(scope="module")
def people():
    return Simulator(size=32).draw(1_000, seed=11)


@pytest.fixture(scope="module")
def judges(people):
    blank = Judges(group=torch.abs, others=torch.abs)
    return Judges(
        learned(one_column_each(people.parents.group), 3, people, 1),
        learned(blank.labels(people.parents), len(OTHERS), people, 2),
    )


@pytest.fixture(scope="module")
def auditees():
    films = Simulator(size=32).draw(1_000, seed=12)
    reader = learned(films.parents.findings, 5, films, 3)
    of_groups = learned(one_column_each(films.parents.group), 3, films, 4)
    return [Leaning(reader, of_groups, dependence=d).eval() for d in (0.3, 1.0, 2.0)]


@pytest.fixture(scope="module")
def films():
    return Simulator(size=32).draw(400, seed=13)


def measured(generator, films, judges, auditees, **given):
    told = (films.parents.group + 1) % 3
    return quality(
        generator,
        films.images(),
        films.parents,
        judges=judges,
        group=told,
        truth=films.told(group=told).images(),
        audited=auditees,
        **given,
    )


# --- the strong analytic generator --------------------------------------------------------------


def test_a_gaussian_generator_meets_the_figures_asked_for(people, films, judges, auditees):
    generator = fit_gaussian(people.images(), people.parents, components=20)
    found = measured(generator, films, judges, auditees, cycles=2)
    assert max(found.composition) <= 0.005
    assert max(found.reversibility) <= 0.01
    assert found.truth.ratio <= 0.65
    assert found.score.ratio <= 0.45
    true = measured(Truth(films), films, judges, auditees)
    assert found.effectiveness >= true.effectiveness - 0.1
    changes = [found.drift[name] - true.drift[name] for name in OTHERS]
    assert max(map(abs, changes)) <= 0.03


def test_the_truth_itself_has_no_error(films, judges, auditees):
    found = measured(Truth(films), films, judges, auditees)
    assert found.composition == (0.0,)
    assert found.truth.ratio == 0.0
    assert found.score.ratio == 0.0
    assert found.effectiveness >= 0.6  # what this judge, of seconds, sees at 32 x 32


def test_blur_shows_in_everything_but_is_no_change_of_group(films, judges, auditees):
    found = measured(Blurred(), films, judges, auditees)
    assert found.composition[0] > 0.01
    assert found.truth.ratio > 1.0
    assert found.effectiveness < 0.5
    assert found.realism.distance > 3 * found.realism.floor


def test_a_generator_of_three_quarters_of_the_change_leaves_a_quarter_of_the_error(films, judges):
    class Most(Truth):
        def counterfactual(self, images, parents, *, group):
            return images + 0.75 * (super().counterfactual(images, parents, group=group) - images)

    corner = [lambda images: images.flatten(1)[:, 500:503]]
    found = measured(Most(films), films, judges, corner)
    assert found.truth.ratio == pytest.approx(0.25, rel=1e-5)
    assert found.score.ratio == pytest.approx(0.25, rel=1e-5)


# --- single measures ----------------------------------------------------------------------------


def test_cycles_add_up(films):
    class Brighter:
        def counterfactual(self, images, parents, *, group):
            return images + 0.01

    images, parents = films.images(slice(3)), films.parents.take(slice(3))
    told = (parents.group + 1) % 3
    assert composition(Brighter(), images, parents, cycles=3) == pytest.approx((0.01, 0.02, 0.03))
    there = reversibility(Brighter(), images, parents, group=told, cycles=2)
    assert there == pytest.approx((0.02, 0.04))


def test_reversibility_goes_back_as_the_told_group(films):
    seen = []

    class Recorder:
        def counterfactual(self, images, parents, *, group):
            seen.append((parents.group.clone(), group.clone()))
            return images

    parents = films.parents.take(slice(5))
    told = (parents.group + 1) % 3
    reversibility(Recorder(), films.images(slice(5)), parents, group=told)
    assert torch.equal(seen[0][0], parents.group)
    assert torch.equal(seen[0][1], told)
    assert torch.equal(seen[1][0], told)
    assert torch.equal(seen[1][1], parents.group)


def test_effectiveness_counts_the_told_group():
    told = torch.tensor([0, 1, 2, 2])
    seen = torch.eye(3)[torch.tensor([0, 1, 2, 0])].reshape(4, 1, 1, 3)
    assert effectiveness(lambda images: images[:, 0, 0], seen, group=told) == 0.75


def test_drift_is_the_change_of_each_parents_auc(films):
    """A judge that reads labels written into the image: made images with one label scrambled."""
    judges = Judges(group=torch.abs, others=lambda images: images[:, 0, 0])
    labels = judges.labels(films.parents).float()
    written = labels[:, None, None, :]
    scrambled = written.clone()
    scrambled[:, 0, 0, 1] = 0.5
    found = drift(judges, written, scrambled, films.parents)
    assert found["sex"] == pytest.approx(-0.5)
    assert [found[name] for name in OTHERS if name != "sex"] == [0.0] * 7


def test_what_is_not_known_of_a_person_has_no_label(films):
    ages = torch.tensor([float("nan"), 0.3, 0.8])
    sexes = torch.tensor([1, -1, 0])
    people = replace(films.parents.take(slice(3)), age=ages, sex=sexes)
    labels = Judges(group=torch.abs, others=torch.abs).labels(people)
    assert labels[:, 0].tolist() == [-1, 0, 1]
    assert labels[:, 1].tolist() == [1, -1, 0]


def test_truth_of_another_shape_is_refused(films, judges):
    told = films.parents.group
    with pytest.raises(ImageError, match=r"true counterfactuals have the shape \(3, 1, 32, 32\)"):
        quality(
            Truth(films),
            films.images(),
            films.parents,
            judges=judges,
            group=told,
            truth=films.images(slice(3)),
        )
    with pytest.raises(ImageError, match="audited scores need `truth`"):
        quality(
            Truth(films),
            films.images(),
            films.parents,
            judges=judges,
            group=told,
            audited=[judges.group],
        )


# --- Fréchet's distance -------------------------------------------------------------------------


def test_the_distance_of_gaussians_is_known():
    """|m|² + (s1 - s2)² in every direction where the covariances share their axes."""
    drawn = torch.Generator().manual_seed(0)
    draws = torch.randn(200_000, 2, generator=drawn, dtype=torch.float64)
    first = draws * torch.tensor([1.0, 2.0])
    second = draws.flip(0) * torch.tensor([3.0, 2.5]) + torch.tensor([1.0, 0.0])
    assert frechet_distance(first, second) == pytest.approx(1 + 4 + 0.25, abs=0.05)


@pytest.mark.parametrize(("strength", "brighter"), [(0.0, 0.05), (1.0, 0.1)])
def test_real_images_are_no_further_apart_than_the_floor(strength, brighter):
    """How much brighter is seen depends on how much films differ in brightness anyway."""
    simulator = Simulator(size=32, strength=strength)
    films, others = (simulator.draw(400, seed=seed).images() for seed in (13, 14))
    found = frechet(others, films)
    assert found.distance < 4 * found.floor  # both are chance, of 200 images and few directions
    assert frechet(others + brighter, films).distance > 20 * found.floor
    assert "random network, seed 0" in str(found)


def test_features_may_be_given_and_are_named(films):
    found = frechet(
        films.images(), films.images(), features=lambda x: x.flatten(1)[:, :5], name="five pixels"
    )
    assert found.features == "five pixels"
    assert found.distance == found.floor  # the images as they are
    with pytest.raises(ImageError, match="3 generated and 400 real images"):
        frechet(films.images(slice(3)), films.images())


def test_the_random_features_are_the_same_for_everyone(films):
    images = films.images(slice(4))
    assert torch.equal(random_features(images), random_features(images))
    assert not torch.equal(random_features(images), random_features(images, seed=1))
