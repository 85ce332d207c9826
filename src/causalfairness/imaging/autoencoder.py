"""How is an image turned into a small latent and back? MONAI's AutoencoderKL, standardized.

    latent = (mean of the encoder's posterior - center) / scale,    per channel

so that latents have mean 0 and variance 1 over the images. The loss is the mean absolute error,
again after pooling by 2 and 4 (pixel noise averages out there, the anatomy does not), and a small
Kullback-Leibler term that keeps the posterior from collapsing to points.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from monai.networks.nets.autoencoderkl import AutoencoderKL
from torch import Tensor, nn
from torch.nn import functional

from causalfairness.imaging.configuration import AutoencoderPlan
from causalfairness.imaging.norms import with_lean_norms


class Autoencoder(nn.Module):
    """How is an image turned into a standardized latent and back?

    >>> from causalfairness.imaging.configuration import configuration
    >>> autoencoder = Autoencoder(configuration(32).autoencoder)
    >>> latent = autoencoder.encode(torch.rand(2, 1, 32, 32))
    >>> latent.shape, autoencoder.decode(latent).shape
    (torch.Size([2, 4, 8, 8]), torch.Size([2, 1, 32, 32]))
    """

    def __init__(self, plan: AutoencoderPlan) -> None:
        super().__init__()
        self.plan = plan
        network = AutoencoderKL(
            spatial_dims=2,
            in_channels=1,
            out_channels=1,
            channels=plan.channels,
            num_res_blocks=plan.blocks,
            attention_levels=[False] * len(plan.channels),
            latent_channels=plan.latent_channels,
            norm_num_groups=plan.norm_groups,
            with_encoder_nonlocal_attn=False,
            with_decoder_nonlocal_attn=False,
        )
        self.network = with_lean_norms(network)
        self.register_buffer("center", torch.zeros(1, plan.latent_channels, 1, 1))
        self.register_buffer("scale", torch.ones(1, plan.latent_channels, 1, 1))

    def encode(self, images: Tensor) -> Tensor:
        """Which standardized latents stand for these images?"""
        mean, _ = self.network.encode(images)
        return (mean.float() - self.center) / self.scale

    def decode(self, latents: Tensor) -> Tensor:
        """Which images do these standardized latents stand for?"""
        return self.network.decode(latents * self.scale + self.center).float()

    def loss(self, images: Tensor, noise: Tensor) -> Tensor:
        """How far are images from what comes back, with noise on the latents?"""
        mean, spread = self.network.encode(images)
        mean, spread = mean.float(), spread.float()
        error = self.network.decode(mean + spread * noise).float() - images
        absolute = error.abs().mean()
        for pool in (2, 4):
            coarse = functional.avg_pool2d(error, pool).abs().mean()
            absolute = absolute + self.plan.coarse_weight * coarse
        information = 0.5 * (mean**2 + spread**2 - 2 * spread.log() - 1).sum((1, 2, 3)).mean()
        return absolute + self.plan.kl_weight * information


def standardize(autoencoder: Autoencoder, images: Iterable[Tensor]) -> None:
    """Which center and scale give the latents of these images mean 0 and variance 1? Sets them.

    >>> from causalfairness.imaging.configuration import configuration
    >>> autoencoder, images = Autoencoder(configuration(32).autoencoder), torch.rand(16, 1, 32, 32)
    >>> standardize(autoencoder, [images])
    >>> latents = autoencoder.encode(images).detach()
    >>> bool(latents.mean().abs() < 1e-4), round(float(latents.std()), 1)
    (True, 1.0)
    """
    autoencoder.center.zero_()
    autoencoder.scale.fill_(1.0)
    with torch.no_grad():
        latents = torch.cat([autoencoder.encode(batch) for batch in images])
        spread, center = torch.std_mean(latents, (0, 2, 3), keepdim=True)
        autoencoder.center.copy_(center)
        autoencoder.scale.copy_(spread)
