"""What did the experiment find? Markdown tables of everything in its folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

FORMS = {
    "nothing": "doing nothing",
    "truth": "the true counterfactual",
    "ceiling": "the true one, through the autoencoder",
    "residual": "x + D(z') - D(z)",
    "difference": "x + D(z') - D(z0)",
    "decode": "D(z'), the published form",
    "guided": "x + D(z') - D(z), guidance 1.5",
    "gaussian": "`fit_gaussian`",
    "vae-0": "conditional VAE, beta 0",
    "vae-1": "conditional VAE, beta 1",
    "vae-10": "conditional VAE, beta 10",
}
VARIANTS = {
    "all": "",
    "control": "",
    "group": "group alone",
    "schedule": "published schedule",
    "mine": "MINE map",
    "paper": "all three",
}


def tables(folder: Path) -> str:
    """What did the experiment find? All tables for which there is something in the folder.

    >>> import tempfile
    >>> print(tables(Path(tempfile.mkdtemp())))
    <BLANKLINE>
    """
    found = [
        _headed("Images", quality_table(folder)),
        _headed("Audits", audit_table(folder)),
        _headed("Power", power_table(folder)),
        _headed("Training", training_table(folder)),
        _headed("Speed", speed_table(folder)),
    ]
    return "\n\n".join(table for table in found if table)


def quality_table(folder: Path) -> str:
    """How good are the images? One row per size, variant and form.

    >>> quality_table(Path("nowhere"))
    ''
    """
    rows = []
    for size in (32, 64, 128, 256):
        for variant, how in VARIANTS.items():
            entries = _read(folder / f"quality-{variant}-{size}.json")
            told = ", ".join(each for each in (_fewer(folder, variant, size), how) if each)
            for form, name in FORMS.items():
                entry = entries.get(f"{variant} {form}")
                if entry is not None:
                    count = f"{entry['settings']['count']:,}"
                    rows.append(
                        [str(size), f"{told}: {name}" if told else name, count, *_quality(entry)]
                    )
    heads = (
        "size",
        "form",
        "images",
        "composition",
        "reversibility",
        "effectiveness",
        "largest drift",
    )
    return _table((*heads, "L1", "score", "ECA error", "Fréchet (floor)"), rows)


def audit_table(folder: Path) -> str:
    """How often is an invariant auditee rejected, and how right is ECA?

    >>> audit_table(Path("nowhere"))
    ''
    """
    rows = []
    for size, name, entry in _audits(folder):
        agreement, type_one, settings = entry["agreement"], entry["type_one"], entry["settings"]
        rows.append(
            [
                *(str(size), name.split()[-1], f"{settings['pool']:,}"),
                f"{settings['audits']} of {settings['films']}",
                f"{agreement['auditees']}, {agreement['true_from']:.2f} to "
                f"{agreement['true_to']:.2f}",
                f"{agreement['mean_error_of_auditees']:.4f} "
                f"({agreement['largest_error_of_auditees']:.4f})",
                f"{type_one['mean']:.3f} ({type_one['largest']:.3f})",
                f"{type_one['parity_mean']:.2f}",
            ]
        )
    first = ("size", "prevalence shift", "films", "audits", "auditees, true ECA")
    last = ("ECA error (largest)", "invariant: rejected (largest)", "rejected by DP")
    return _table((*first, *last), rows)


def power_table(folder: Path) -> str:
    """How often is dependence found, by true ECA?

    >>> power_table(Path("nowhere"))
    ''
    """
    rows = [
        [
            *(str(size), name.split()[-1], band["agreement"], str(band["columns"])),
            *(f"{band[rate]:.2f}" for rate in ("mean", "least", "parity")),
        ]
        for size, name, entry in _audits(folder)
        for band in entry["power"]
    ]
    heads = ("size", "prevalence shift", "true ECA", "scores", "rejected", "least", "by DP")
    return _table(heads, rows)


def training_table(folder: Path) -> str:
    """How long was each network trained, and how did its loss fall?

    >>> training_table(Path("nowhere"))
    ''
    """
    rows = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = _diary(path)
        if lines:
            first, last = lines[0], lines[-1]
            losses = f"{first['loss']:.4f}", f"{last['loss']:.4f}"
            rows.append([path.stem, f"{last['step']:,}", f"{last['seconds']:.0f}", *losses])
    return _table(("network", "steps", "seconds", "first loss", "last loss"), rows)


def speed_table(folder: Path) -> str:
    """How many milliseconds do steps take, against bare passes of the same network?

    >>> speed_table(Path("nowhere"))
    ''
    """
    rows = []
    for path in sorted(folder.glob("speed-*.json")):
        for what, took in _read(path).items():
            against = (
                [f"{took['bare']:.1f}", f"{took['ratio']:.3f}"] if "bare" in took else ["", ""]
            )
            figures = [f"{took['ours']:.1f}", *against, f"{took['images_per_second']:,.0f}"]
            rows.append([path.stem[6:], what, *figures])
    heads = ("size", "what", "ms", "bare ms", "ratio", "images per second")
    return _table(heads, rows)


def _fewer(folder: Path, variant: str, size: int) -> str:
    """Whether the denoiser of a variant was trained for less long than that of `all`."""
    steps, whole = (
        _diary(folder / f"denoiser-{name}-{size}.jsonl")[-1:] for name in (variant, "all")
    )
    return "fewer steps" if steps and whole and steps[0]["step"] < whole[0]["step"] else ""


def _diary(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _quality(entry: Mapping[str, Any]) -> list[str]:
    parent, drift = entry["largest_drift"]
    realism = entry["realism"]
    return [
        f"{entry['composition'][0]:.4f}",
        f"{entry['reversibility'][0]:.4f}",
        f"{entry['effectiveness']:.3f}",
        f"{drift:+.3f} {parent}",
        f"{entry['truth']['ratio']:.2f}x",
        f"{entry['score']['ratio']:.3f}x",
        f"{entry['agreement']['of_auditees']:.4f}",
        f"{realism['distance']:.4f} ({realism['floor']:.4f})",
    ]


def _audits(folder: Path) -> list[tuple[int, str, dict[str, Any]]]:
    return [
        (size, name, entry)
        for size in (32, 64, 128, 256)
        for name, entry in _read(folder / f"audit-{size}.json").items()
    ]


def _headed(head: str, table: str) -> str:
    return f"### {head}\n\n{table}" if table else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rows = list(rows)
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}
