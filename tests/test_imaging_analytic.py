"""Do the Gaussian generator and the paper's map follow their formulas? In worlds known by hand."""

import math

import pytest
import torch

from causalfairness.errors import TrainingError
from causalfairness.imaging import disentangling
from causalfairness.imaging.analytic import fit_gaussian
from causalfairness.imaging.disentangling import DisentanglingMap, disentangle
from causalfairness.imaging.parents import UNKNOWN, Parents
from causalfairness.imaging.simulator import Simulator

# --- the Gaussian generator ---------------------------------------------------------------------


def known_people(sizes):
    """Groups of these sizes with ages from .2 to .8, and nothing else to tell them apart."""
    ages = torch.cat([torch.linspace(0.2, 0.8, size) for size in sizes])
    group = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    same = torch.zeros_like(group)
    return Parents(group, ages, same, same, same[:, None].expand(-1, 5))


def gray(values):
    """Films of one shade each."""
    return values.double()[:, None, None, None].expand(-1, 1, 4, 4).float()


def test_a_mean_that_bends_with_age_is_recovered():
    people = known_people([80, 120])
    bent = 0.9 - 2 * (people.age - 0.5) ** 2 - 0.3 * people.group
    generator = fit_gaussian(gray(bent), people, components=1)
    expected = generator.center + generator.means(people) @ generator.components.T
    assert torch.allclose(expected, gray(bent).flatten(1).double(), atol=1e-6)
    made = generator.counterfactual(gray(bent), people, group=0)
    assert torch.allclose(made, gray(bent + 0.3 * people.group), atol=1e-6)


def test_made_films_are_cut_to_gray_values():
    people = known_people([80, 80])
    shade = 0.1 + 0.5 * people.group + 0.35 * (torch.arange(160) % 2)
    generator = fit_gaussian(gray(shade), people, components=1)
    brighter = generator.counterfactual(gray(shade + 0.3), people, group=1)
    assert torch.allclose(brighter, gray((shade + 0.8 - 0.5 * people.group).clamp(max=1.0)))
    darker = generator.counterfactual(gray(shade - 0.3), people, group=0)
    assert torch.allclose(darker, gray((shade - 0.3 - 0.5 * people.group).clamp(min=0.0)))


def test_the_noise_of_the_films_fitted_has_the_identity_as_covariance():
    films = Simulator(size=16).draw(500, seed=0)
    generator = fit_gaussian(films.images(), films.parents, components=6)
    noise = generator.noise(films.images(), films.parents)
    identity = torch.eye(6, dtype=torch.float64)
    assert torch.allclose(noise.T @ noise / 500, identity, atol=1e-6)
    apart = generator.residual - generator.residual.diag().diag()
    assert float(apart.abs().max()) > 0.01 * float(generator.residual.max())


def test_people_of_unknown_group_do_not_shrink_the_noise():
    films = Simulator(size=16).draw(600, seed=0)
    hidden = films.parents.group.clone()
    hidden[500:] = UNKNOWN
    generator = fit_gaussian(films.images(), films.parents.told(group=hidden), components=3)
    noise = generator.noise(films.images(slice(500)), films.parents.take(slice(500)))
    identity = torch.eye(3, dtype=torch.float64)
    assert torch.allclose(noise.T @ noise / 500, identity, atol=1e-6)


def test_a_group_too_small_for_its_means_is_refused():
    enough, few = known_people([80, 80]), known_people([80, 79])
    assert sorted(fit_gaussian(gray(enough.age), enough, components=1).coefficients) == [-1, 0, 1]
    with pytest.raises(TrainingError, match="group 1 has 79 images; expected at least 80"):
        fit_gaussian(gray(few.age), few, components=1)


# --- the paper's map ----------------------------------------------------------------------------


def telling(step):
    """Latents whose mean tells the group."""
    group = torch.arange(32) % 2
    noise = torch.randn(32, 1, 8, 8, generator=torch.Generator().manual_seed(step))
    return noise + 0.5 * group[:, None, None, None], group


def test_a_map_that_may_move_far_learns_to_hide_the_group():
    found = disentangle(telling, groups=2, length=3.0, steps=40, seed=0)
    assert found.before > 0.5 * math.log(2)
    assert found.after < 0.1 * found.before  # a map that learned to tell it: 0.4 of it


def test_the_map_learns_once_in_six_turns(monkeypatch):
    seen = []

    class Watched(DisentanglingMap):
        def forward(self, latents):
            weights = torch.cat([values.flatten() for values in self.parameters()])
            seen.append(weights.detach().clone())
            return super().forward(latents)

    monkeypatch.setattr(disentangling, "DisentanglingMap", Watched)
    disentangle(telling, groups=2, length=0.1, steps=14, seed=0)
    moved = [step for step in range(1, 14) if not torch.equal(seen[step], seen[step - 1])]
    assert moved == [6, 12]
