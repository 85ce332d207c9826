"""Do classifiers of radiographs depend on the group? The command `causalfairness imaging audit`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli.asking import listed as names_in
from causalfairness.cli.decompose import check_goal, check_goals
from causalfairness.cli.failing import spelled
from causalfairness.cli.imaging.options import (
    Device,
    Resize,
    check_folder,
    check_free,
    of_folder,
    of_images,
    readable_images,
)
from causalfairness.cli.lines import bullet, columns, naming, print_part, width_of
from causalfairness.cli.report import PAGES, TEXTS, write_report
from causalfairness.cli.writing import print_answer, say_written
from causalfairness.errors import CausalFairnessError, PredictorError, TrustError

FOUND = 1
of_classifiers = o.under("Which classifiers")
of_names = o.under("Which classifiers", show_default=False)
HELP = """Do classifiers of radiographs depend on the group? Tests them with generated images.

Examples:

[bold]causalfairness imaging audit[/] --data films --generator generator --train-classifier small \
--report report.html

[bold]causalfairness imaging audit[/] --data films --generator generator --classifier \
my_model:scores --trust --record record.json --folder answers

A classifier is a function of a batch of images, (n, 1, size, size) from 0 to 1, that returns one \
score for each image, or one for each image and finding: --finding says which, in their order. \
A generator comes from [bold]imaging train[/]. Only people of \
the part --part are audited. With --folder, trained classifiers and finished batches are kept, \
and a run that was stopped is taken up by the same command.

Exit codes: 0 no test found dependence on the group, at the level; 1 at least one did; 2 wrong \
use; 3 the audit cannot be carried out; 70 a defect of the program.
"""


class Method(StrEnum):
    """Which form of the test?"""

    PROJECTED = "projected"
    RANDOMIZATION = "randomization"
    INDIVIDUAL = "individual"
    PAIRED = "paired"


Data = Annotated[Path, of_folder("Folder with radiographs.csv and images.")]
Generator = Annotated[Path, of_folder("Folder of a generator.")]
Part = Annotated[str, of_images("Whose images are audited, by their split.")]
Classifier = Annotated[
    list[str] | None,
    of_names("Function that is audited (repeatable; needs --trust).", metavar="MODULE:FUNCTION"),
]
TrainClassifier = Annotated[
    list[str] | None,
    of_names(
        "Network that is trained on the part train, then audited (repeatable): small, "
        "dense121, dense169, dense201, vgg13, vgg16, vgg19 or inception.",
        metavar="NETWORK",
    ),
]
Findings = Annotated[
    list[str] | None,
    of_names(
        "What the outputs of the functions are, in their order (repeatable, or a,b). Those "
        "called as in the images are compared with what the people have.",
        "--finding",
        metavar="NAME",
    ),
]
Trust = Annotated[bool, of_classifiers("Run the function that is named.", "--trust")]
Epochs = Annotated[int, of_classifiers("Epochs of a trained network.", min=1)]
TestMethod = Annotated[Method, o.method("Form of the test.", "--method")]
Draws = Annotated[int, o.method("Draws of the randomization test.", min=19)]
Batch = Annotated[int, o.method("Images at a time.", min=1)]
Walk = Annotated[
    int | None,
    o.method("Steps of a diffusion model to the noise and back.", min=1, show_default="50"),
]
Listed = Annotated[
    int, o.output("How many people's scores record and report hold, one by one.", min=0)
]
Dossiers = Annotated[
    int, o.output("Of how many people they show images, with group, age and findings.", min=0)
]
Title = Annotated[str, o.output("Title of the report.")]
Folder = Annotated[
    Path | None,
    o.output("Keep trained classifiers and scores here, and do not work them out again."),
]
Report = Annotated[list[Path] | None, o.output("Write a report: .html or .md (repeatable).")]


def audit(
    data: Data,
    generator: Generator,
    classifier: Classifier = None,
    train_classifier: TrainClassifier = None,
    finding: Findings = None,
    trust: Trust = False,
    part: Part = "test",
    epochs: Epochs = 20,
    method: TestMethod = Method.PROJECTED,
    level: o.Level = 0.95,
    draws: Draws = 999,
    batch: Batch = 64,
    walk: Walk = None,
    resize: Resize = False,
    device: Device = "auto",
    seed: o.Seed = 0,
    title: Title = "",
    folder: Folder = None,
    listed: Listed = 0,
    dossiers: Dossiers = 0,
    record: o.RecordFile = None,
    report: Report = None,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Do classifiers of radiographs depend on the group?"""
    with readable_images(debug=debug):
        _check(data, generator, classifier, train_classifier, folder, record, report)
        functions = named_classifiers(classifier or [], trust=trust)
        from causalfairness.imaging.devices import device_of
        from causalfairness.imaging.folder_audit import audit_folder
        from causalfairness.imaging.recording import write_record

        found = audit_folder(
            data,
            generator,
            classifiers=functions,
            networks=train_classifier or [],
            findings=names_in(finding, "--finding") or None,
            part=part,
            epochs=epochs,
            resize=resize,
            method=method.value,
            level=level,
            draws=draws,
            batch=batch,
            walk=walk,
            device=device_of(device),
            seed=seed,
            title=title,
            folder=folder,
            listed=listed,
            dossiers=dossiers,
        ).record
        if record is not None:  # first: whoever closes the pipe still has them
            say_written(write_record(found, record))
        for goal in report or []:
            say_written(write_report(found, goal))
        _show(found, as_json=as_json)
    raise typer.Exit(FOUND if any(row["rejected"] for row in found["rows"]) else 0)


def _check(
    data: Path,
    generator: Path,
    classifier: list[str] | None,
    train_classifier: list[str] | None,
    folder: Path | None,
    record: Path | None,
    report: list[Path] | None,
) -> None:
    """Can this be done, as far as names tell? Better known before the work than after it."""
    check_folder(data, "--data")
    check_folder(generator, "--generator")
    if not classifier and not train_classifier:
        raise typer.BadParameter(
            "name what is audited: --classifier module:function, or --train-classifier small",
            param_hint="--classifier",
        )
    if folder is not None:
        check_free(folder, "--folder")
    check_goal(record, (".json",), "--record")
    check_goals(report, (*PAGES, *TEXTS), "--report")


def _show(record: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_answer(json.dumps(record, indent=1) + "\n")
        return
    page = Console(highlight=False)
    width, data = width_of(page), record["data"]
    title = naming(record["title"] or data["folder"])
    said = f"{title}: {data['images']:,} images, part {naming(data['part'])}"
    page.print(Text(said, style="bold"), width=width)
    for reason, count in data["left_out"].items():
        page.print(Text(f"left out: {count:,} {naming(reason)}", style="dim"), width=width)
    page.print()
    page.print(Padding(_table(record["rows"]), (0, 0, 1, 0)), width=width)
    page.print(*map(bullet, record["sentences"]), "", sep="\n", width=width)
    print_part(page, "True only if", record["assumptions"])
    if record["notes"]:
        page.print()
        print_part(page, "Notes", map(spelled, record["notes"]))


def _table(rows: list[dict[str, Any]]) -> Table:
    from causalfairness.effects.table import format_p_value

    right = ("t", "p", "p, adjusted", "same decision")
    table = columns("classifier", "finding", *right, right=right)
    for row in rows:
        style = "cyan" if row["rejected"] else ""
        chances = (format_p_value(row[name]) for name in ("p_value", "p_adjusted"))
        numbers = (f"{row['statistic']:+.2f}", *chances, f"{row['agreement']:.3f}")
        names = (naming(row["model"]), naming(row["finding"]))
        table.add_row(*(Text(cell, style=style) for cell in (*names, *numbers)))
    return table


FAILURES = (
    *(ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError),
    SystemExit,  # or its exit code would be taken for the answer
)


@dataclass(frozen=True)
class NamedClassifier:
    """What does this function say about a batch of images? Its failures are told in words.

    >>> NamedClassifier("reader:scores", len)([1, 2])
    2
    """

    name: str
    function: Callable[[Any], Any]

    @property
    def training(self) -> bool:
        """Is it a network in training mode?"""
        return getattr(self.function, "training", False) is True

    @property
    def findings(self) -> tuple[str, ...] | None:
        """What are its outputs, if it says so?"""
        return getattr(self.function, "findings", None)

    def __call__(self, images: Any) -> Any:
        """What are the scores of these images?"""
        try:
            return self.function(images)
        except CausalFairnessError:
            raise
        except FAILURES as cause:
            raise PredictorError(
                f"the classifier {self.name!r} failed on images of the shape "
                f"{tuple(images.shape)}: {type(cause).__name__}: {cause}. It is called with (n, 1, "
                "size, size) floating point images from 0 to 1, and returns a score for each image "
                "and finding"
            ) from cause


def named_classifiers(names: Sequence[str], *, trust: bool) -> dict[str, NamedClassifier]:
    """Which functions are audited, by name? Modules are looked for in the current folder too.

    >>> sorted(named_classifiers(["math:sqrt"], trust=True))
    ['math:sqrt']
    """
    if names and not trust:
        raise TrustError(
            f"the audit asks the classifier {names[0]!r}. Loading it runs code, whatever it is "
            "that somebody put there. If you trust where it comes from, say so with --trust"
        )
    from causalfairness.audit.predictor import named_function

    return {
        name: NamedClassifier(
            name, named_function(name, Path.cwd(), "the classifier", PredictorError)
        )
        for name in names
    }
