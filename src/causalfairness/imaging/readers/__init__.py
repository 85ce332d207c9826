"""Where do radiographs come from? Folders as CheXpert and MIMIC-CXR are published, or one's own."""

from causalfairness.imaging.readers.association import Association, FindingByGroup, association
from causalfairness.imaging.readers.folder import Account, RadiographFolder
from causalfairness.imaging.readers.plain import PlainFolder, list_radiographs
from causalfairness.imaging.readers.published import CheXpert, MimicCxr

__all__ = [
    "Account",
    "Association",
    "CheXpert",
    "FindingByGroup",
    "MimicCxr",
    "PlainFolder",
    "RadiographFolder",
    "association",
    "list_radiographs",
]
