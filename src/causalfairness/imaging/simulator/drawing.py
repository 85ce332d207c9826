"""What does a body look like on film? Attenuation of every tissue in the beam, then the film.

    image = (1 - exp(-exposure T)) (1 - m) + m + sigma noise,   cut to [0, 1]

T is the attenuation summed along the beam and m the marker. The sum is made of smooth steps, so
that the same body looks the same at every resolution. Nothing here mixes two images, and there is
no product of matrices, and films are drawn on a frame of whole vector registers and cut to size
(the rest of a register is computed by other instructions, with other last bits): an image has the
same bits in every batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from causalfairness.imaging.simulator.anatomy import Anatomy
from causalfairness.imaging.simulator.noise import grain, texture

_REGISTER = 32  # numbers that the widest processors compute in one step


def draw(body: Anatomy, key: Tensor, *, size: int, noise: float) -> Tensor:
    """What is on the films of these bodies? (n, 1, size, size) float32 in [0, 1].

    >>> import causalfairness.imaging.simulator as simulator
    >>> simulator.Simulator(size=32).draw(2, seed=0).images().shape
    torch.Size([2, 1, 32, 32])
    """
    view = _look(body, size)
    haze = _framed(texture(key, size, cells=9, stream=1))
    vessels = _framed(texture(key, size, cells=28, stream=2))
    rough = _framed(texture(key, size, cells=22, stream=3))
    lung = _lungs(body, view)
    lesion, fluid = _lesions(body, view, haze)
    air = lung * (1 - fluid)
    total = _soft_tissue(body, view, air)
    total += _bones(body, view)
    total += air * (_vessels(body, view, vessels) + lesion)
    total += body.texture * view.inside * rough
    film = 1 - torch.exp(-body.exposure * total.clamp_(min=0))
    film = film + body.marker * _marker(body, size) * (1 - film)
    film += (noise * (1 + 0.4 * body.portable)) * _framed(grain(key, size, stream=4))
    return film.clamp_(0, 1)[:, None, :size, :size]


@dataclass(frozen=True, eq=False)
class View:
    """Where is every pixel, seen from the body? Its axis, its sides, its outlines."""

    x: Tensor  # (n, H, W), from the spine, positive where the heart is
    y: Tensor  # (n, H, 1), down
    u: Tensor  # |x|
    right: Tensor  # 1 on the right side of the body
    cage: Tensor  # (n, H, 1), half width of the rib cage
    inside: Tensor  # 1 inside the skin
    dome: Tensor  # height of the diaphragm
    soft: Tensor  # (n, 1, 1), how blurred edges are


def _look(body: Anatomy, size: int) -> View:
    rows, columns = _places(size, body.zoom.device)
    y = (rows - body.shift_y) * body.zoom
    x = (columns - body.shift_x) * body.zoom - body.tilt * y
    u = x.abs()
    right = torch.sigmoid(x / -0.02)
    soft = 0.018 + 0.012 * body.portable
    cage = body.chest * torch.sqrt((1 - ((y - 0.28) / 1.12) ** 2).clamp(min=1e-4))
    skin = 0.30 + (body.chest - 0.22 + 0.14 * body.tissue) * torch.sigmoid((y + 0.80) / 0.045)
    skin = skin + 0.06 * torch.sigmoid((y - 0.1) / 0.3)
    floor = body.dome_left + (body.dome_right - body.dome_left) * right
    dome = floor + 0.85 * (u - 0.38) ** 2
    inside = torch.sigmoid((skin - u) / (0.6 * soft))
    return View(x, y, u, right, cage, inside, dome, soft)


def _places(size: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Heights and widths of all pixels, from -1 to 1 on the film and beyond it on the frame."""
    place = torch.arange(size + -size % _REGISTER, device=device, dtype=torch.float32)
    place = (place + 0.5) * (2 / size) - 1
    return place.view(1, -1, 1), place.view(1, 1, -1)


def _framed(surface: Tensor) -> Tensor:
    beyond = -surface.shape[-1] % _REGISTER
    return functional.pad(surface, (0, beyond, 0, beyond)) if beyond else surface


def _lungs(body: Anatomy, view: View) -> Tensor:
    """1 where there is air."""
    outer = torch.sigmoid((view.cage - 0.035 - view.u) / view.soft)
    inner = torch.sigmoid((view.u - 0.115) / view.soft)
    above = torch.sigmoid((view.dome - view.y) / view.soft)
    return outer * inner * above


def _soft_tissue(body: Anatomy, view: View, air: Tensor) -> Tensor:
    """Skin, fat and muscle, heart and great vessels, liver and stomach; air takes from them."""
    x, y, u = view.x, view.y, view.u
    wall = 0.30 + 0.42 * body.tissue
    depth = (1 - 0.35 * u * u) * view.inside
    breast = body.breast * _blob(u - 0.43, y - 0.34, 0.27, 0.26)
    above = torch.sigmoid((view.dome - y) / 0.04)
    middle = torch.sigmoid((0.115 + 0.06 * (y + 0.1) ** 2 - u) / 0.028) * (0.10 + 0.20 * above)
    knob = 0.30 * _blob(x - 0.13, y + 0.33, body.knob, body.knob)
    windpipe = 0.22 * torch.sigmoid((0.035 - u) / 0.02) * torch.sigmoid((-0.30 - y) / 0.05)
    below = torch.sigmoid((y - view.dome) / view.soft) * torch.sigmoid((view.cage - u) / 0.05)
    bubble = 0.5 * torch.sigmoid(
        (1 - ((x - 0.38) / 0.16) ** 2 - ((y - body.dome_left - 0.13) / body.stomach) ** 2) / 0.3
    )
    tissue = wall * depth + breast + middle + knob - windpipe + below * (0.34 - bubble)
    return tissue - 0.46 * air * body.tissue.sqrt() + _heart(body, view) * (0.2 + 0.8 * above)


def _heart(body: Anatomy, view: View) -> Tensor:
    across, down = view.x - body.heart_x, view.y - 0.29
    along = across + body.heart_tilt * down
    away = down - 0.7 * body.heart_tilt * across
    edge = 1 - (along / body.heart) ** 2 - (away / (0.16 + 0.42 * body.heart)) ** 2
    return (0.34 + 0.12 * edge.clamp(min=0)) * torch.sigmoid(edge / (4 * view.soft))


def _bones(body: Anatomy, view: View) -> Tensor:
    y, u = view.y, view.u
    within = torch.sigmoid((view.cage + 0.01 - u) / view.soft)
    within = within * (torch.sigmoid((y + 0.80) / 0.04) * torch.sigmoid((0.66 - y) / 0.06))
    turn = 2 * torch.pi
    back = torch.cos(
        ((y - body.rib_slope * u * u + 0.10 * u) / body.rib_spacing + body.rib_phase) * turn
    )
    front = torch.cos(((y - 0.6 * (0.8 - u) ** 2) / (1.12 * body.rib_spacing)) * turn)
    ribs = _band(back, view) * torch.sigmoid((u - 0.09) / 0.02)
    ribs = ribs + 0.55 * _band(front, view) * torch.sigmoid((u - 0.33) / 0.06)
    line = y + 0.56 + body.collar + 0.16 * u - 0.055 * torch.sin(7 * u)
    collar = _fading((line / 0.036) ** 2) * torch.sigmoid((u - 0.075) / 0.015)
    collar = collar * view.inside
    spine = torch.sigmoid((0.075 - u) / 0.02) * (1 + 0.30 * torch.cos(y * (turn / 0.135)))
    blade = _fading(((u - 0.80 + 0.25 * (y + 0.3)) / 0.05) ** 2)
    blade = blade * torch.sigmoid((0.1 - y) / 0.08) * torch.sigmoid((y + 0.62) / 0.05)
    return body.bone * (0.15 * ribs * within + 0.24 * collar + 0.12 * spine + 0.08 * blade)


def _band(wave: Tensor, view: View) -> Tensor:
    """A rib: half as wide as the gap, brighter along its edges."""
    step = torch.sigmoid((wave - 0.30) / (8 * view.soft))
    return step * (1.25 - 0.55 * step * step)


def _vessels(body: Anatomy, view: View, surface: Tensor) -> Tensor:
    """Branches that thin out from the roots of the lungs, wider when there is edema."""
    far = (view.u - 0.16) ** 2 + 0.6 * (view.y - 0.02) ** 2
    ridge = (1 - 1.3 * surface.abs()).clamp(min=0)
    root = 0.22 * _fading(far * 45)
    return body.hila * (root + (0.15 + 0.06 * body.edema) * ridge * _fading(far * 7))


def _lesions(body: Anatomy, view: View, haze: Tensor) -> tuple[Tensor, Tensor]:
    """What edema, consolidation and atelectasis add to the lungs; and 1 where there is fluid."""
    y, u = view.y, view.u
    rough = 1 + 0.30 * haze
    wing = _fading((u - 0.30) ** 2 * 14 + (y - 0.02) ** 2 * 7)
    edema = body.edema * (0.34 * wing * rough + 0.05)
    here = _side(body.patch_right, view)
    patch = 1 - ((u - body.patch_x) ** 2 + 0.8 * (y - body.patch_y) ** 2) / body.patch_size**2
    patch = torch.sigmoid((patch + 0.30 * haze) / 0.22) * here
    line = y - body.plate_y - body.plate_slope * (u - body.plate_x)
    plate = _fading((line / 0.045) ** 2 + ((u - body.plate_x) / 0.20) ** 2)
    plate = plate * _side(body.plate_right, view)
    lesion = edema + 0.40 * body.consolidation * patch + 0.46 * body.atelectasis * plate
    rise = (u / view.cage).clamp(max=1) ** body.fluid_shape
    level = 0.60 - body.effusion * (0.16 + 0.42 * rise)
    fluid = torch.sigmoid((y - level) / (1.5 * view.soft)) * _side(body.fluid_right, view)
    return lesion, 0.85 * fluid


def _side(right: Tensor, view: View) -> Tensor:
    return 1 - right + (2 * right - 1) * view.right


def _fading(away: Tensor) -> Tensor:
    """exp(-away), stopped before numbers get so small that processors handle them slowly."""
    return torch.exp(-away.clamp(max=20.0))


def _blob(across: Tensor, down: Tensor, width: float | Tensor, height: float | Tensor) -> Tensor:
    edge = 1 - (across / width) ** 2 - (down / height) ** 2
    return torch.sigmoid(edge / 0.25)


def _marker(body: Anatomy, size: int) -> Tensor:
    """A letter L of lead beside the shoulder; separable, so it costs next to nothing."""
    rows, columns = _places(size, body.marker.device)
    y, x = rows - body.marker_y, columns - body.marker_x
    tall, thin = _box(y, 0.0, 0.085), _box(x, -0.045, 0.02)
    low, wide = _box(y, 0.065, 0.02), _box(x, 0.0, 0.065)
    return torch.maximum(tall * thin, low * wide)


def _box(at: Tensor, middle: float, half: float) -> Tensor:
    return torch.sigmoid((half - (at - middle).abs()) / 0.008)
