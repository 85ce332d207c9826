"""How are activations normalized in half precision? In the precision in which they come.

Under autocast a norm takes its input to float32 and answers in float32: more passes over memory
than the norm itself. Its kernels add up in float32 in any case, so nothing is gained by that.
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

Network = TypeVar("Network", bound=nn.Module)


class LeanGroupNorm(nn.GroupNorm):
    """Which norm answers in the precision of its input, under autocast too?

    >>> with torch.autocast("cpu", torch.bfloat16):
    ...     answers = [norm(2, 4)(torch.ones(1, 4, 3, 3).bfloat16()).dtype
    ...                for norm in (nn.GroupNorm, LeanGroupNorm)]
    >>> answers[1]
    torch.bfloat16
    """

    def forward(self, input: Tensor) -> Tensor:
        """What are the values, with mean 0 and variance 1 in every group of channels?"""
        scale, shift = self.weight.to(input.dtype), self.bias.to(input.dtype)
        with torch.autocast(input.device.type, enabled=False):
            return functional.group_norm(input, self.num_groups, scale, shift, self.eps)


def with_lean_norms(network: Network) -> Network:
    """Which network has the same weights, and norms that keep the precision? This one, changed.

    >>> [type(layer) for layer in with_lean_norms(nn.Sequential(nn.GroupNorm(2, 4), nn.SiLU()))]
    [<class 'causalfairness.imaging.norms.LeanGroupNorm'>, <class 'torch.nn.modules...SiLU'>]
    """
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.GroupNorm:
                lean = LeanGroupNorm(child.num_groups, child.num_channels, child.eps)
                lean.load_state_dict(child.state_dict())
                setattr(parent, name, lean)
    return network
