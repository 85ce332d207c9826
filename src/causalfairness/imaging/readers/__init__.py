"""Where do real radiographs come from? Folders as CheXpert and MIMIC-CXR are published."""

from causalfairness.imaging.readers.association import Association, FindingByGroup, association
from causalfairness.imaging.readers.chexpert import CheXpert
from causalfairness.imaging.readers.folder import Account, RadiographFolder
from causalfairness.imaging.readers.mimic import MimicCxr

__all__ = [
    "Account",
    "Association",
    "CheXpert",
    "FindingByGroup",
    "MimicCxr",
    "RadiographFolder",
    "association",
]
