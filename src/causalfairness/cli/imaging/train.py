"""Which generator do these radiographs make? `causalfairness imaging train` makes it."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli.imaging.options import (
    Device,
    Resize,
    check_folder,
    check_free,
    of_folder,
    of_images,
    readable_images,
)
from causalfairness.cli.writing import say_written

UNFINISHED = 4
SIMULATED = "simulated"
HELP = """Which generator of counterfactual images do these radiographs make?

Examples:

[bold]causalfairness imaging train[/] --data films --size 64 --to generator --seconds 500

[bold]causalfairness imaging train[/] --data simulated --size 32 --to generator --steps 200

[bold]causalfairness imaging train[/] --data films --size 64 --to generator --generator gaussian

A folder of data holds radiographs.csv and the image files that it names (as [bold]imaging \
simulate[/] writes them, or your own: see docs/imaging.md). Learns from the people whose split is \
train. Checkpoints lie in the folder --to: a run that was stopped, or ran out of --seconds, is \
taken up by the same command.

Exit codes: 0 the generator is ready; 4 time was up, run the same command again; 2 wrong use; 3 it \
cannot be done, such as with a checkpoint of another configuration.
"""


class Kind(StrEnum):
    """Which kind of generator?"""

    DIFFUSION = "diffusion"
    GAUSSIAN = "gaussian"
    VAE = "vae"


Data = Annotated[
    str,
    of_folder("Folder with radiographs.csv and images; simulated: new ones in every batch."),
]
Size = Annotated[int, of_images("Pixels per side: 32, 64, 128 or 256.")]
Goal = Annotated[
    Path, o.output("Where checkpoints and the generator go.", "--to", metavar="FOLDER")
]
GeneratorKind = Annotated[Kind, o.method("What is trained or fitted.", "--generator")]
Steps = Annotated[
    int | None,
    o.method("Steps of each network. Left out: what suits the size.", min=1, show_default=False),
]
Seconds = Annotated[
    float,
    o.method(
        "How long this call may train; the next one goes on.", min=0.0, show_default="no limit"
    ),
]


def train(
    data: Data,
    to: Goal,
    size: Size = 64,
    generator: GeneratorKind = Kind.DIFFUSION,
    steps: Steps = None,
    seconds: Seconds = math.inf,
    resize: Resize = False,
    device: Device = "auto",
    seed: o.Seed = 0,
    debug: o.Debug = False,
) -> None:
    """Which generator do these radiographs make?"""
    with readable_images(debug=debug):
        from causalfairness.imaging.devices import device_of
        from causalfairness.imaging.making import make_generator

        check_free(to, "--to")
        made = make_generator(
            _films(data, size=size, resize=resize),
            to,
            kind=generator.value,
            size=size,
            steps=steps,
            seconds=seconds,
            device=device_of(device),
            seed=seed,
        )
        Console(highlight=False).print(Text(str(made)), soft_wrap=True)
        if made.finished:
            say_written(to / "generator.json")
    raise typer.Exit(0 if made.finished else UNFINISHED)


def _films(data: str, *, size: int, resize: bool) -> Any:
    """The radiographs to learn from; None where they are simulated."""
    if data == SIMULATED and not Path(data).exists():
        return None
    from causalfairness.imaging.configuration import configuration
    from causalfairness.imaging.readers import PlainFolder

    check_folder(Path(data), "--data")
    configuration(size)  # says which sizes there are, before files are looked at
    return PlainFolder(data, size=size, resize=resize)
