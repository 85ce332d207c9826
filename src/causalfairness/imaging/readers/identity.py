"""Which films are these? A fingerprint that tells one folder of radiographs from another.

Of the names and lengths of all files, and of what is said about the people; pixels are not read.
"""

from __future__ import annotations

import hashlib

from causalfairness.imaging.readers.decoding import found
from causalfairness.imaging.readers.folder import RadiographFolder
from causalfairness.imaging.tokens import codes_of


def fingerprint(films: RadiographFolder) -> str:
    """Which films are these? The same for a copy elsewhere, another if a label or a file changes.

    >>> import tempfile
    >>> from causalfairness.imaging.readers import PlainFolder
    >>> from causalfairness.imaging.simulator import Simulator, save_radiographs
    >>> with tempfile.TemporaryDirectory() as place:
    ...     saved = save_radiographs(Simulator(size=16), place, people=3, seed=0)
    ...     films = PlainFolder(place, size=16)
    ...     len(fingerprint(films)), fingerprint(films) == fingerprint(films.take(slice(2)))
    (32, False)
    """
    told = hashlib.blake2b(codes_of(films.parents).numpy().tobytes(), digest_size=16)
    for path, person, part in zip(films.paths, films.patients, films.part, strict=True):
        file = found(path)
        told.update(f"{file.name}:{file.stat().st_size}:{person}:{part}\n".encode())
    return told.hexdigest()
