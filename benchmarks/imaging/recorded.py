"""Which runs make the recorded tables? All of them, one after the other, each going on from where
it stopped.

The variants are trained for fewer steps than the generator proper, and beside each other with a
`control` that differs from it in nothing but that. The part `small` is all of it on films of 32 x
32, with tiny networks, each trained alike: about an hour of a processor core.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

WALK = "--walk 30 --batch 250"
_SMALL = f"--size 128 {WALK}"
_LARGE = f"--size 256 --people 10000 {WALK}"
_TINY = f"--size 32 {WALK} --count 500"
_VARIED = ("control", "group", "schedule", "mine")

PARTS: dict[str, tuple[str, ...]] = {
    "generator": (
        "--stage autoencoder --size 128 --steps 4500",
        "--stage denoiser --size 128 --steps 5000",
        f"--stage evaluate {_SMALL} --forms nothing,truth,ceiling,gaussian,residual,difference",
        f"--stage evaluate {_SMALL} --forms decode",
    ),
    "audits": (
        f"--stage scores {_SMALL} --pool 2500",
        f"--stage audit {_SMALL} --pool 2500",
    ),
    "variants": tuple(
        f"--stage {stage} --variant {variant}"
        for variant in _VARIED
        for stage in (
            "denoiser --size 128 --steps 1200",
            f"evaluate {_SMALL} --count 500 --forms residual",
        )
    ),
    "large": (
        "--stage autoencoder --size 256 --steps 1200",
        "--stage denoiser --size 256 --steps 2500",
        f"--stage evaluate {_LARGE} --count 500 --forms nothing,truth,ceiling,residual",
        f"--stage evaluate {_LARGE} --count 500 --forms difference,decode",
    ),
    "published": (
        "--stage denoiser --size 128 --steps 1200 --variant paper",
        f"--stage evaluate {_SMALL} --count 500 --variant paper --forms residual,decode",
    ),
    "baselines": (
        "--stage vae --size 128 --steps 1500",
        f"--stage evaluate {_SMALL} --forms vae-0,vae-1,vae-10",
    ),
    "guidance": (f"--stage evaluate {_SMALL} --forms guided",),
    "large_audits": (
        f"--stage scores {_LARGE} --pool 1500",
        f"--stage audit {_LARGE} --pool 1500",
    ),
    "films": (f"--stage films {_SMALL}", f"--stage films {_LARGE}"),
    "speed": ("--stage speed --size 128", "--stage speed --size 256"),
    "small": (
        "--stage autoencoder --size 32 --steps 4000",
        *(
            f"--stage denoiser --size 32 --steps 8000 --variant {variant}"
            for variant in ("all", "group", "schedule", "mine", "paper")
        ),
        "--stage vae --size 32 --steps 2000",
        f"--stage evaluate {_TINY} --forms nothing,truth,ceiling,residual,difference,decode",
        f"--stage evaluate {_TINY} --forms guided,gaussian,vae-0,vae-1,vae-10",
        *(
            f"--stage evaluate {_TINY} --variant {variant} --forms residual"
            for variant in ("group", "schedule", "mine")
        ),
        f"--stage evaluate {_TINY} --variant paper --forms residual,decode",
        f"--stage scores --size 32 {WALK} --pool 2000",
        f"--stage audit --size 32 {WALK} --pool 2000",
    ),
}
LARGE = tuple(part for part in PARTS if part != "small")


def run_parts(
    run: Callable[[Sequence[str]], None],
    *,
    parts: Sequence[str],
    common: Sequence[str] = (),
    seconds: float = math.inf,
) -> str:
    """Is everything recorded? Runs what is missing, as far as the time goes.

    `run` is called with the arguments of each stage, and with `common` ones.

    >>> print(run_parts(lambda given: print(given[1]), parts=["speed"]))
    speed
    speed
    all of it is there: speed
    """
    started = time.monotonic()
    for part in parts:
        for line in PARTS[part]:
            left = seconds - (time.monotonic() - started)
            if left > 0:
                run([*line.split(), *common, "--seconds", f"{left:.0f}"])
            if time.monotonic() - started >= seconds:  # and what was begun may not be done
                return f"time was up at `{line}` of {part}; give the same command again"
    return f"all of it is there: {', '.join(parts)}"
