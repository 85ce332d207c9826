"""Which classifiers depend on the group, by a known knob? Subjects for an audit to find out.

Two ways. `Leaning` adds to a reader's log odds what a reader of groups sees in the same image,

    logit f_k(x) + dependence_k (2 P(group = towards | x) - 1),

so that dependence 0 is the reader itself and any value in between can be had without training.
`lean_targets` spoils labels with the group before training, the way biased records do.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from causalfairness.errors import LabelError
from causalfairness.imaging.classifiers.networks import Classifier


class Leaning(nn.Module):
    """What would a reader say that also looks at the group, this much?

    >>> from causalfairness.imaging.classifiers import small_network
    >>> reader, of_groups = small_network().eval(), small_network(outputs=3).eval()
    >>> films = torch.rand(4, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    >>> bool((Leaning(reader, of_groups, dependence=0.0)(films) == reader(films)).all())
    True
    """

    def __init__(
        self,
        reader: Classifier,
        of_groups: Classifier,
        *,
        dependence: float | Tensor,
        towards: int = 1,
    ) -> None:
        super().__init__()
        if not 0 <= towards < len(of_groups.heads):
            raise LabelError(
                f"towards={towards}, but the reader of groups knows {len(of_groups.heads)} groups."
            )
        self.reader, self.of_groups, self.towards = reader, of_groups, towards
        self.register_buffer("dependence", torch.as_tensor(dependence, dtype=torch.float32))

    def logits(self, images: Tensor) -> Tensor:
        """What are the log odds of each finding?"""
        seen = torch.sigmoid(self.of_groups.logits(images)[:, self.towards, None])
        return self.reader.logits(images) + self.dependence * (2 * seen - 1)

    @property
    def findings(self) -> tuple[str, ...] | None:
        """What are the outputs called? As those of the reader."""
        return self.reader.findings

    def forward(self, images: Tensor) -> Tensor:
        """How probable is each finding?"""
        return torch.sigmoid(self.logits(images))


def lean_targets(
    targets: Tensor, group: Tensor, *, share: float, towards: int = 1, seed: int = 0
) -> Tensor:
    """Which labels would records hold that follow the group this often? Chance `share`.

    >>> lean_targets(torch.zeros(4, 5), torch.tensor([0, 1, 1, 2]), share=1.0)[:, 0].tolist()
    [0, 1, 1, 0]
    """
    if not 0 <= share <= 1:
        raise LabelError(f"share={share}: expected a share between 0 and 1.")
    chance = torch.rand(targets.shape, generator=torch.Generator().manual_seed(seed))
    spoiled = (group == towards).long().cpu()[:, None].expand(targets.shape)
    return torch.where(chance < share, spoiled, targets.cpu().long())


def one_column_each(group: Tensor, groups: int = 3) -> Tensor:
    """Which targets does a reader of groups learn? (n, groups), one 1 in each row.

    >>> one_column_each(torch.tensor([0, 2])).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    return torch.nn.functional.one_hot(group.cpu().long(), groups)
