"""What would these images be, if principal components were Gaussian around a mean of the parents?

    z = V'(x - center),     z | parents ~ N(B'features(parents), S),     the same S for everyone

The noise of an image is S^(-1/2) (z - mean), exactly, so a counterfactual moves an image by the
difference of two means, x + V (mean(told) - mean(own)): no network, no steps, no error of a round
trip. Each group has its own B, and so has the group nobody names.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from causalfairness.errors import ParentsError, TrainingError
from causalfairness.imaging.counterfactuals import checked_images
from causalfairness.imaging.parents import FINDINGS, UNKNOWN, Parents, codes_of

FEWEST = 4  # images per coefficient and group


@dataclass(frozen=True, eq=False)
class GaussianGenerator:
    """What would these images be, had the group been another? `CounterfactualGenerator`.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(300, seed=0)
    >>> generator = fit_gaussian(films.images(), films.parents, components=5)
    >>> own = generator.counterfactual(films.images(), films.parents, group=films.parents.group)
    >>> float((own - films.images()).abs().max())
    0.0
    """

    size: int
    components: Tensor  # (pixels, K), orthonormal
    center: Tensor  # (pixels,)
    coefficients: dict[int, Tensor]  # by group: (features, K)
    residual: Tensor  # (K, K), the covariance around the means

    def counterfactual(self, images: Tensor, parents: Parents, *, group: int | Tensor) -> Tensor:
        """What would the images be under this group? Cut to values from 0 to 1, as films are."""
        images = checked_images(images, size=self.size)
        if len(parents) != len(images):
            raise ParentsError(f"{len(images)} images came with parents of {len(parents)} people")
        move = self.means(parents.told(group=group)) - self.means(parents)
        made = images + (move @ self.components.T).reshape(images.shape).to(images)
        return made.clamp(0.0, 1.0)

    def noise(self, images: Tensor, parents: Parents) -> Tensor:
        """Which standard normal numbers do these images come from? (n, components)."""
        flat = checked_images(images, size=self.size).flatten(1).double()
        around = (flat - self.center) @ self.components - self.means(parents)
        return torch.linalg.solve_triangular(
            torch.linalg.cholesky(self.residual), around.T, upper=False
        ).T

    def means(self, parents: Parents) -> Tensor:
        """Where are the components of people with these parents, on average?"""
        described = _features(parents)
        found = torch.zeros(len(parents), self.components.shape[1], dtype=torch.float64)
        for group in parents.group.unique().tolist():
            if group not in self.coefficients:
                raise ParentsError(
                    f"group {group} was not among the images fitted; there were "
                    f"{sorted(value for value in self.coefficients if value != UNKNOWN)}"
                )
            chosen = (parents.group == group).cpu()
            found[chosen] = described[chosen] @ self.coefficients[group]
        return found


def fit_gaussian(images: Tensor, parents: Parents, *, components: int = 40) -> GaussianGenerator:
    """Which Gaussian fits these images best? Least squares on principal components.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(300, seed=0)
    >>> sorted(fit_gaussian(films.images(), films.parents, components=5).coefficients)
    [-1, 0, 1, 2]
    """
    size = images.shape[-1]
    flat = checked_images(images, size=size).flatten(1).double().cpu()
    described = _features(parents)
    center = flat.mean(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # where the search for the components starts; it ends at the same
        _, _, directions = torch.svd_lowrank(flat - center, q=min(components, *flat.shape), niter=4)
    found = (flat - center) @ directions
    groups = sorted(set(parents.group.tolist()) - {UNKNOWN})
    coefficients = {UNKNOWN: _least_squares(described, found)}
    around = torch.zeros_like(found)
    for group in groups:
        chosen = (parents.group == group).cpu()
        if int(chosen.sum()) < FEWEST * described.shape[1]:
            raise TrainingError(
                f"group {group} has {int(chosen.sum())} images; expected at least "
                f"{FEWEST * described.shape[1]} to fit its means"
            )
        coefficients[group] = _least_squares(described[chosen], found[chosen])
        around[chosen] = found[chosen] - described[chosen] @ coefficients[group]
    residual = around.T @ around / int((parents.group != UNKNOWN).sum())
    return GaussianGenerator(size, directions, center, coefficients, residual)


def _least_squares(features: Tensor, values: Tensor) -> Tensor:
    """Coefficients of least norm: a value that never occurs has none."""
    return torch.linalg.lstsq(features, values, driver="gelsd").solution


def _features(parents: Parents) -> Tensor:
    """1, age, age squared, and one column per value of sex, scanner and each finding."""
    codes = codes_of(parents).double().cpu()
    age, known = codes[:, 1], (codes[:, 1] >= 0).double()
    columns = [torch.ones_like(age), known, age * known, age**2 * known]
    places = {2: 2, 3: 4, **{4 + place: 2 for place in range(len(FINDINGS))}}
    for column, values in places.items():
        columns += [(codes[:, column] == value).double() for value in range(values)]
    return torch.stack(columns, 1)
