"""Where did training stop? Files that are whole or not there, and know their configuration.

A checkpoint is written beside its place, flushed to the disk and only then moved there: whoever is
killed while writing leaves the last one intact. It carries the plan it was made under and is
refused under any other.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from causalfairness.errors import CheckpointError
from causalfairness.writing import write_whole

SHARD = 15 * 2**20  # bytes; a packed network is cut into files no larger than this


def save(path: Path, content: Mapping[str, Any], *, plan: Any) -> None:
    """How is a checkpoint written so that it is never half there? `plan` is a dataclass.

    >>> import tempfile
    >>> from causalfairness.imaging.configuration import configuration
    >>> path, plan = Path(tempfile.mkdtemp()) / "here.pt", configuration(32).autoencoder
    >>> save(path, {"step": 3}, plan=plan)
    >>> load(path, plan=plan)["step"], [file.name for file in path.parent.iterdir()]
    (3, ['here.pt'])
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = io.BytesIO()
    torch.save({"plan": asdict(plan), **content}, file)
    write_whole(file.getvalue(), path)


def load(
    path: Path, *, plan: Any, device: torch.device | str = "cpu", but: Sequence[str] = ()
) -> dict[str, Any]:
    """What does a checkpoint hold? Refused if it is damaged or was made under another plan.

    The plan may differ in the fields named in `but`.

    >>> from causalfairness.imaging.configuration import configuration
    >>> load(Path("nowhere.pt"), plan=configuration(32).autoencoder)
    Traceback (most recent call last):
    ...
    causalfairness.errors.CheckpointError: there is no checkpoint nowhere.pt; train first
    """
    if not path.exists():
        raise CheckpointError(f"there is no checkpoint {path}; train first")
    try:
        content = torch.load(path, map_location=device, weights_only=True)
        found = content["plan"]
    except (RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError, OSError) as cause:
        raise CheckpointError(
            f"{path} is not a whole checkpoint ({type(cause).__name__}); delete it to start again, "
            "or restore a copy"
        ) from cause
    kept = [
        {name: it for name, it in one.items() if name not in but} for one in (found, asdict(plan))
    ]
    refuse_other_plan(*kept, path=path)
    return dict(content)


def refuse_other_plan(found: Mapping[str, Any], wanted: Mapping[str, Any], *, path: Path) -> None:
    """Is a checkpoint of the plan at hand? Refused with the fields in which it differs.

    >>> refuse_other_plan({"size": 64}, {"size": 128}, path=Path("here.pt"))
    Traceback (most recent call last):
    ...
    causalfairness.errors.CheckpointError: here.pt belongs to another configuration: size is 64, not
    128; use that configuration, or another folder
    """
    names = sorted({*found, *wanted})
    other = [name for name in names if found.get(name) != wanted.get(name)]
    if other:
        told = ", ".join(f"{name} is {found.get(name)}, not {wanted.get(name)}" for name in other)
        raise CheckpointError(
            f"{path} belongs to another configuration: {told}; use that configuration, "
            "or another folder"
        )


def pack(state: Mapping[str, Tensor], folder: Path, *, name: str, plan: Any) -> list[Path]:
    """How is a trained network made small enough to carry? bfloat16, in files of at most 15 MiB.

    >>> import tempfile
    >>> from causalfairness.imaging.configuration import configuration
    >>> plan = configuration(32).autoencoder
    >>> files = pack({"weight": torch.ones(3)}, Path(tempfile.mkdtemp()), name="net", plan=plan)
    >>> [file.name for file in files], unpack(files[0].parent, name="net", plan=plan)
    (['net-0.pt'], {'weight': tensor([1., 1., 1.])})
    """
    shards: list[dict[str, Tensor]] = [{}]
    room = SHARD
    for key, value in state.items():
        small = value.detach().cpu()
        small = small.to(torch.bfloat16) if small.is_floating_point() else small
        size = small.numel() * small.element_size() + 1_024  # and what the file says about it
        if size > room and shards[-1]:
            shards.append({})
            room = SHARD
        shards[-1][key] = small.clone()
        room -= size
    paths = [folder / f"{name}-{index}.pt" for index in range(len(shards))]
    for path, shard in zip(paths, shards, strict=True):
        save(path, {"state": shard, "of": len(shards)}, plan=plan)
    return paths


def unpack(folder: Path, *, name: str, plan: Any) -> dict[str, Tensor]:
    """Which weights were packed? In full precision again, all files together.

    >>> import tempfile
    >>> from causalfairness.imaging.configuration import configuration
    >>> unpack(Path(tempfile.mkdtemp()), name="net", plan=configuration(32).autoencoder)
    Traceback (most recent call last):
    ...
    causalfairness.errors.CheckpointError: there is no checkpoint ...net-0.pt; train first
    """
    first = load(folder / f"{name}-0.pt", plan=plan)
    rest = [load(folder / f"{name}-{index}.pt", plan=plan) for index in range(1, first["of"])]
    return {
        key: value.float() if value.is_floating_point() else value
        for shard in (first, *rest)
        for key, value in shard["state"].items()
    }
