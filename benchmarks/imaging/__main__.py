"""How good does the generator get? One stage per call; every stage resumes and fits a time limit.

    python -m benchmarks.imaging --stage everything --folder runs --seconds 550

runs all stages behind the recorded tables, as far as the time goes; given again, it goes on. With
`--parts small` it runs those of small films, for which two processor cores are enough. `tables`
shows what there is. The stages one by one:

    python -m benchmarks.imaging --stage autoencoder --folder runs --seconds 300
    python -m benchmarks.imaging --stage denoiser --folder runs --seconds 500
    python -m benchmarks.imaging --stage evaluate --folder runs
    python -m benchmarks.imaging --stage scores --folder runs --seconds 400
    python -m benchmarks.imaging --stage audit --folder runs

`scores` reads test films and made ones (a GPU's work), `audit` measures the test on what was read:
level, power and agreement (it needs scipy, and no GPU). Other stages: vae (three baselines), speed,
pack (the networks in files of at most 15 MiB).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import monai
import torch

from benchmarks.imaging.evaluation import FORMS, evaluate
from benchmarks.imaging.measured import keep_measured
from benchmarks.imaging.panel import trained_panel
from benchmarks.imaging.pools import PoolPlan, kept_pool, read_pool
from benchmarks.imaging.readers import Readers, School, trained_readers
from benchmarks.imaging.recorded import LARGE, PARTS, run_parts
from benchmarks.imaging.speed import speed
from benchmarks.imaging.tables import tables
from benchmarks.imaging.world import belongs
from causalfairness.imaging.generator import Walk, pack_generator
from causalfairness.imaging.stages import (
    VARIANTS,
    Settings,
    train_autoencoder,
    train_denoiser,
    train_vae,
    trained_generator,
)
from causalfairness.writing import write_whole

BETAS = (0.0, 1.0, 10.0)
WORLDLESS = ("tables", "speed")  # stages that use no films of the folder's world


def main(arguments: Sequence[str] | None = None) -> None:
    """How good does the generator get? Runs one stage and prints what it found.

    >>> main(["--stage", "speed", "--size", "32", "--repeats", "1", "--device", "cpu"])
    {...}
    """
    given = _parser().parse_args(arguments)
    settings = Settings(
        Path(given.folder),
        size=given.size,
        variant=given.variant,
        seconds=given.seconds,
        steps=given.steps,
        seed=given.seed,
        device=given.device,
        strength=given.strength,
    )
    settings.folder.mkdir(parents=True, exist_ok=True)
    if given.stage not in WORLDLESS:
        belongs(settings)
    torch.backends.cudnn.benchmark = True  # the shapes stay the same: look for the fastest kernels
    torch.set_float32_matmul_precision("high")
    print(_STAGES[given.stage](settings, given), flush=True)


def _train(settings: Settings, given: argparse.Namespace) -> str:
    run = train_autoencoder if given.stage == "autoencoder" else train_denoiser
    return str(run(settings))


def _baselines(settings: Settings, given: argparse.Namespace) -> str:
    each = Settings(**{**vars(settings), "seconds": settings.seconds / len(BETAS)})
    return "\n".join(f"beta {beta:g}: {train_vae(each, beta=beta)}" for beta in BETAS)


def _evaluate(settings: Settings, given: argparse.Namespace) -> str:
    started = time.monotonic()
    school, readers = _taught(settings, given)
    panel = trained_panel(school, readers, path=settings.path("judges"))
    found = evaluate(
        settings,
        panel,
        forms=given.forms,
        count=given.count,
        walk=_walk(given),
        path=settings.folder / f"quality-{settings.variant}-{settings.size}.json",
        seconds=settings.seconds - (time.monotonic() - started),
    )
    return json.dumps(found, indent=1)


def _scores(settings: Settings, given: argparse.Namespace) -> str:
    started = time.monotonic()
    _, readers = _taught(settings, given)
    lines = []
    for plan in _plans(settings, given):
        left = max(0.0, settings.seconds - (time.monotonic() - started))
        pool = read_pool(plan, readers, seconds=left)
        lines.append(f"{plan.path}: {len(pool):,} of {plan.count:,} films")
    return "\n".join([*lines, f"{time.monotonic() - started:.0f} s"])


def _taught(settings: Settings, given: argparse.Namespace) -> tuple[School, Readers]:
    school = School(
        settings.simulator,
        seed=settings.seed,
        people=given.people,
        epochs=given.epochs,
        device=settings.device,
    )
    return school, trained_readers(school, path=settings.path("readers"))


def _audit(settings: Settings, given: argparse.Namespace) -> str:
    from benchmarks.imaging.power import audit_pool

    path = settings.folder / f"audit-{settings.size}.json"
    found = {}
    for plan in _plans(settings, given):
        name = f"{settings.variant} {plan.form} {plan.shift:g}"
        found[name] = audit_pool(
            kept_pool(plan),
            films=given.audited,
            audits=given.audits,
            path=path,
            name=name,
            seed=settings.seed,
            workers=given.workers,
        )
        del found[name]["columns"]  # in the file
    return json.dumps(found, indent=1)


def _plans(settings: Settings, given: argparse.Namespace) -> list[PoolPlan]:
    return [
        PoolPlan(settings, form, float(shift), count=given.pool, walk=_walk(given))
        for form in given.made
        for shift in given.shifts.split(",")
    ]


def _walk(given: argparse.Namespace) -> Walk:
    return Walk(steps=given.walk, refinement=given.refinement, batch=given.batch)


def _speed(settings: Settings, given: argparse.Namespace) -> str:
    plan = settings.configuration
    found = speed(plan, device=settings.device, repeats=given.repeats)
    text = json.dumps(found, indent=1)
    write_whole(text + "\n", settings.folder / f"speed-{settings.size}.json")
    return text


def _films(settings: Settings, given: argparse.Namespace) -> str:
    from benchmarks.imaging.films import draw_films

    return "\n".join(str(draw_films(settings, form=form, walk=_walk(given))) for form in given.made)


def _pack(settings: Settings, given: argparse.Namespace) -> str:
    to = Path(given.to or settings.folder)
    files = pack_generator(trained_generator(settings), to)
    return "\n".join(f"{file} {file.stat().st_size / 2**20:.1f} MiB" for file in files)


def _everything(settings: Settings, given: argparse.Namespace) -> str:
    keep_measured(settings.folder / "machine.json", _machine(settings.device))
    common = ["--folder", given.folder, "--device", settings.device, "--seed", str(settings.seed)]
    common += ["--workers", str(given.workers)]
    return run_parts(main, parts=given.parts, common=common, seconds=settings.seconds)


def _machine(device: str) -> dict[str, str]:
    here = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
    name = torch.cuda.get_device_name() if device.startswith("cuda") else here
    return {"device": name, "torch": torch.__version__, "monai": monai.__version__}


def _tables(settings: Settings, given: argparse.Namespace) -> str:
    return tables(settings.folder)


_STAGES = {
    "everything": _everything,
    "tables": _tables,
    "autoencoder": _train,
    "denoiser": _train,
    "vae": _baselines,
    "evaluate": _evaluate,
    "scores": _scores,
    "audit": _audit,
    "films": _films,
    "speed": _speed,
    "pack": _pack,
}


def _named(what: str, known: Collection[str]) -> Callable[[str], list[str]]:
    """Which of the known ones does an argument name, one after the other?"""

    def read(text: str) -> list[str]:
        names = text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(
                f"no {what} is named {', '.join(unknown)}; there are {', '.join(known)}"
            )
        return names

    return read


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imaging")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--stage", required=True, choices=sorted(_STAGES))
    parser.add_argument(
        "--parts", type=_named("part", PARTS), default=[*LARGE], help="of everything"
    )
    parser.add_argument("--size", type=int, default=128, help="32, 64, 128 or 256")
    parser.add_argument("--folder", default="runs")
    parser.add_argument("--variant", default="all", choices=sorted(VARIANTS))
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--steps", type=int, help="of training; the learning rate falls over them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default=device)
    forms = "nothing,truth,ceiling,gaussian,residual,difference,decode"
    parser.add_argument("--forms", type=_named("form", FORMS), default=forms)
    parser.add_argument("--count", type=int, default=1_000, help="test images")
    parser.add_argument("--walk", type=int, default=50, help="steps of sampling and inversion")
    parser.add_argument("--refinement", type=int, default=2)
    parser.add_argument("--batch", type=int, default=250, help="images sampled at once")
    parser.add_argument("--people", type=int, default=20_000, help="training images of a judge")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--strength", type=float, default=1.0, help="of the group, on films")
    parser.add_argument(
        "--made",
        type=_named("form", FORMS),
        default="difference",
        help="forms whose films are audited",
    )
    parser.add_argument("--shifts", default="0,1.5", help="of prevalence by group, in test films")
    parser.add_argument("--pool", type=int, default=4_000, help="test films read for audits")
    parser.add_argument("--audited", type=int, default=500, help="films in one audit")
    parser.add_argument("--audits", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--to", help="where packed networks go")
    return parser


if __name__ == "__main__":
    main()
