"""Does a network use a patient's group to read a radiograph? (methods §11)

`audit` asks it, with images that a generator makes under other groups. `Simulator` draws films
whose counterfactuals are known, `CheXpert` and `MimicCxr` read published ones, `train_autoencoder`
and `train_denoiser` make a `DiffusionGenerator`, `fit_gaussian` one without a network, and
`quality.quality` says how good it is. Everything here needs torch and MONAI,
`pip install "causalfairness[imaging]"`. Names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from causalfairness.errors import extra

if TYPE_CHECKING:
    from causalfairness.imaging import quality
    from causalfairness.imaging.analytic import GaussianGenerator, fit_gaussian
    from causalfairness.imaging.auditing import (
        Generated,
        ImagingAudit,
        audit,
        audit_scores,
        generated_scores,
    )
    from causalfairness.imaging.classifiers import (
        Classifier,
        Leaning,
        area_under_curve,
        dense_network,
        fit_classifier,
        inception_network,
        lean_targets,
        scores,
        small_network,
        vgg_network,
    )
    from causalfairness.imaging.configuration import Configuration
    from causalfairness.imaging.counterfactuals import CounterfactualGenerator, withheld_group
    from causalfairness.imaging.folder_audit import audit_folder
    from causalfairness.imaging.generator import (
        DiffusionGenerator,
        Walk,
        pack_generator,
        unpack_generator,
    )
    from causalfairness.imaging.keeping import kept_generator
    from causalfairness.imaging.making import make_generator
    from causalfairness.imaging.parents import FINDINGS, UNKNOWN, Parents
    from causalfairness.imaging.quality import Frechet, Judges, Quality
    from causalfairness.imaging.readers import (
        CheXpert,
        MimicCxr,
        PlainFolder,
        RadiographFolder,
        list_radiographs,
    )
    from causalfairness.imaging.recording import record_of
    from causalfairness.imaging.simulator import Radiographs, Simulator, save_radiographs
    from causalfairness.imaging.stages import (
        Settings,
        train_autoencoder,
        train_denoiser,
        train_vae,
        trained_generator,
    )
    from causalfairness.imaging.vae import VAEGenerator

_NAMES = {  # by the module they are loaded from
    "analytic": "GaussianGenerator fit_gaussian",
    "auditing": "Generated ImagingAudit audit audit_scores generated_scores",
    "classifiers": "Classifier Leaning area_under_curve dense_network fit_classifier "
    "inception_network lean_targets scores small_network vgg_network",
    "configuration": "Configuration",
    "counterfactuals": "CounterfactualGenerator withheld_group",
    "folder_audit": "audit_folder",
    "generator": "DiffusionGenerator Walk pack_generator unpack_generator",
    "keeping": "kept_generator",
    "making": "make_generator",
    "parents": "FINDINGS Parents UNKNOWN",
    "quality": "Frechet Judges Quality",
    "readers": "CheXpert MimicCxr PlainFolder RadiographFolder list_radiographs",
    "recording": "record_of",
    "simulator": "Radiographs Simulator save_radiographs",
    "stages": "Settings train_autoencoder train_denoiser train_vae trained_generator",
    "vae": "VAEGenerator",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "FINDINGS",
    "UNKNOWN",
    "CheXpert",
    "Classifier",
    "Configuration",
    "CounterfactualGenerator",
    "DiffusionGenerator",
    "Frechet",
    "GaussianGenerator",
    "Generated",
    "ImagingAudit",
    "Judges",
    "Leaning",
    "MimicCxr",
    "Parents",
    "PlainFolder",
    "Quality",
    "RadiographFolder",
    "Radiographs",
    "Settings",
    "Simulator",
    "VAEGenerator",
    "Walk",
    "area_under_curve",
    "audit",
    "audit_folder",
    "audit_scores",
    "dense_network",
    "fit_classifier",
    "fit_gaussian",
    "generated_scores",
    "inception_network",
    "kept_generator",
    "lean_targets",
    "list_radiographs",
    "make_generator",
    "pack_generator",
    "quality",
    "record_of",
    "save_radiographs",
    "scores",
    "small_network",
    "train_autoencoder",
    "train_denoiser",
    "train_vae",
    "trained_generator",
    "unpack_generator",
    "vgg_network",
    "withheld_group",
]


def __getattr__(name: str) -> Any:
    if name not in (*_HOMES, "quality"):
        raise AttributeError(f"module 'causalfairness.imaging' has no attribute {name!r}")
    with extra("imaging", "radiographs are handled with"):
        home = import_module(f"causalfairness.imaging.{_HOMES.get(name, name)}")
    if name == "quality":
        return home
    value = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
