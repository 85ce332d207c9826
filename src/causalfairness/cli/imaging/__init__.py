"""Does a network use a patient's group to read a radiograph? The commands `causalfairness imaging`.

`simulate` writes radiographs with known counterfactuals, `chexpert` and `mimic` list those of a
published collection, `train` makes a generator of counterfactuals from radiographs, `audit` asks
with it whether classifiers depend on the group.
"""

from __future__ import annotations

import typer

from causalfairness.cli.imaging import audit, collection, simulate, train

app = typer.Typer(
    name="imaging",
    help="Does a network use a patient's group to read a radiograph?",
    epilog="Example: causalfairness imaging simulate films --people 2000 --size 64",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command(help=simulate.HELP)(simulate.simulate)
app.command(help=collection.CHEXPERT)(collection.chexpert)
app.command(help=collection.MIMIC)(collection.mimic)
app.command(help=train.HELP)(train.train)
app.command(help=audit.HELP)(audit.audit)
