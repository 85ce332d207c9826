"""Which way is the noise, given the parents of the image? MONAI's DiffusionModelUNet.

    v(z, angle, parents),   trained to the squared error of  cos(angle) noise - sin(angle) latent

The parents are tokens for cross-attention and, unless the plan says otherwise, all of them also
join the time embedding (through the place MONAI has for class labels).
"""

from __future__ import annotations

import math

import torch
from monai.networks.nets.diffusion_model_unet import DiffusionModelUNet
from torch import Tensor, nn
from torch.nn import functional

from causalfairness.imaging.configuration import DenoiserPlan
from causalfairness.imaging.norms import with_lean_norms
from causalfairness.imaging.tokens import ParentTokens

CLOCK = 1_000 / (math.pi / 2)  # what the network calls the time, from 0 to 1,000


class Denoiser(nn.Module):
    """Which way is the noise, given the parents of the image?

    >>> from causalfairness.imaging.configuration import configuration
    >>> plan = configuration(32)
    >>> denoiser = Denoiser(plan.denoiser, channels=plan.autoencoder.latent_channels)
    >>> denoiser(torch.randn(2, 4, 8, 8), torch.rand(2), torch.zeros(2, 9)).shape
    torch.Size([2, 4, 8, 8])
    """

    def __init__(self, plan: DenoiserPlan, *, channels: int) -> None:
        super().__init__()
        self.plan = plan
        self.tokens = ParentTokens(groups=plan.groups, scanners=plan.scanners, width=plan.width)
        network = DiffusionModelUNet(
            spatial_dims=2,
            in_channels=channels,
            out_channels=channels,
            channels=plan.channels,
            num_res_blocks=plan.blocks,
            attention_levels=plan.attention,
            norm_num_groups=plan.norm_groups,
            num_head_channels=plan.head_channels,
            with_conditioning=True,
            cross_attention_dim=plan.width,
            num_class_embeds=1 if plan.added_to_time else None,
            use_flash_attention=True,
        )
        self.network = with_lean_norms(network)
        if plan.added_to_time:
            count = len(self.tokens.values)
            self.network.class_embedding = nn.Linear(count * plan.width, 4 * plan.channels[0])

    def forward(self, latents: Tensor, angles: Tensor, codes: Tensor) -> Tensor:
        """What velocity do noisy latents have at these angles, under parents coded like this?"""
        tokens = self.tokens(codes)
        labels = tokens.flatten(1) if self.plan.added_to_time else None
        found = self.network(latents, angles * CLOCK, context=tokens, class_labels=labels)
        return found.float()

    def loss(self, latents: Tensor, codes: Tensor, noise: Tensor, angles: Tensor) -> Tensor:
        """How far is the predicted velocity from the true one?"""
        signal, disturbance = (part(angles)[:, None, None, None] for part in (torch.cos, torch.sin))
        velocity = signal * noise - disturbance * latents
        found = self(signal * latents + disturbance * noise, angles, codes)
        return functional.mse_loss(found, velocity)
