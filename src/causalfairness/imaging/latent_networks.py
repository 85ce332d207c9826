"""Which networks make up a latent diffusion model? MONAI's AutoencoderKL and DiffusionModelUNet.

The autoencoder turns an image into a small latent and back,

    latent = (mean of the encoder's posterior - center) / scale,    per channel

so that latents have mean 0 and variance 1 over the images. Its loss is the mean absolute error,
again after pooling by 2 and 4 (pixel noise averages out there, the anatomy does not), and a small
Kullback-Leibler term that keeps the posterior from collapsing to points. The denoiser says which
way the noise is, given the parents of the image,

    v(z, angle, parents),   trained to the squared error of  cos(angle) noise - sin(angle) latent

The parents are tokens for cross-attention and, unless the plan says otherwise, all of them also
join the time embedding (through the place MONAI has for class labels).

Under autocast a norm takes its input to float32 and answers in float32: more passes over memory
than the norm itself. Its kernels add up in float32 in any case, so nothing is gained by that, and
the norms of both networks answer in the precision of their input.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

import torch
from monai.networks.nets.autoencoderkl import AutoencoderKL
from monai.networks.nets.diffusion_model_unet import DiffusionModelUNet
from torch import Tensor, nn
from torch.nn import functional

from causalfairness.imaging.configuration import AutoencoderPlan, DenoiserPlan
from causalfairness.imaging.parents import ParentTokens

CLOCK = 1_000 / (math.pi / 2)  # what the denoiser calls the time, from 0 to 1,000
Network = TypeVar("Network", bound=nn.Module)


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
    [<class '...latent_networks.LeanGroupNorm'>, <class 'torch.nn.modules...SiLU'>]
    """
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.GroupNorm:
                lean = LeanGroupNorm(child.num_groups, child.num_channels, child.eps)
                lean.load_state_dict(child.state_dict())
                setattr(parent, name, lean)
    return network
