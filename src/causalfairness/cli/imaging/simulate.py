"""Which radiographs have known counterfactuals? `causalfairness imaging simulate` writes some."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli.imaging.options import check_free, readable_images
from causalfairness.cli.writing import say_written

HELP = """Which radiographs have known counterfactuals? Writes simulated ones, one file each.

Examples:

[bold]causalfairness imaging simulate[/] films --people 2000 --size 64

[bold]causalfairness imaging simulate[/] films --people 500 --strength 2 --counterfactuals

Images are 16-bit PNG files (a value between 0 and 1 moves by at most 1 / 131,070); \
radiographs.csv says group, age, sex, scanner, findings and split (by person) of each. Files that \
are there are not drawn again: a run that was stopped is taken up by the same command.

Exit codes: 0 done; 2 wrong use; 3 it cannot be done, such as in a folder with other films.
"""

of_world = o.under("Which world is drawn")
Folder = Annotated[Path, o.argument("FOLDER", "Where the films go.")]
People = Annotated[int, typer.Option(min=1, help="How many people, one film each.")]
Size = Annotated[int, typer.Option(help="Pixels per side, 16 to 2048 (generators: 32 to 256).")]
Strength = Annotated[float, of_world("What the group does to the image; 0: nothing.")]
PrevalenceShift = Annotated[float, of_world("What the group does to findings; 0: nothing.")]
Severity = Annotated[float, of_world("How far a finding moves what can be seen.")]
Confounding = Annotated[float, of_world("How strongly the group goes with age and sex.")]
Counterfactuals = Annotated[
    bool,
    o.method("Also write everyone's film under each group, all else held.", "--counterfactuals"),
]


def simulate(
    folder: Folder,
    people: People = 1_000,
    size: Size = 64,
    strength: Strength = 1.0,
    prevalence_shift: PrevalenceShift = 0.0,
    severity: Severity = 1.8,
    confounding: Confounding = 1.0,
    counterfactuals: Counterfactuals = False,
    seed: o.Seed = 0,
    debug: o.Debug = False,
) -> None:
    """Which radiographs have known counterfactuals?"""
    with readable_images(debug=debug):
        from causalfairness.imaging.simulator import Simulator, save_radiographs

        check_free(folder, "FOLDER")
        simulator = Simulator(
            size=size,
            strength=strength,
            prevalence_shift=prevalence_shift,
            severity=severity,
            confounding=confounding,
        )
        saved = save_radiographs(
            simulator, folder, people=people, seed=seed, counterfactuals=counterfactuals
        )
        Console(highlight=False).print(Text(str(saved)), soft_wrap=True)
        say_written(folder / "radiographs.csv")
