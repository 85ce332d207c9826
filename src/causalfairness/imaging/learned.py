"""From whom did a generator learn? They are not to be audited with it.

A generator follows the chance differences between those it learned from, and any classifier looks
dependent on them. `learned.json` beside the generator holds a key of each film, made of its size
and both of its ends, keys of the people's names, and the collection. A film is known again wherever
it lies and whatever the table says, unless it was saved anew; a name is that of the same person
where the collection is the same, or where films of the folder are known. Elsewhere names that are
met again are said, since two collections may count alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from causalfairness.errors import CheckpointError, SplitError
from causalfairness.imaging.readers.decoding import found
from causalfairness.imaging.readers.folder import RadiographFolder
from causalfairness.progress import track
from causalfairness.writing import write_whole

LEARNED = "learned.json"
END = 4_096  # bytes of a file that are read, at the start and at the end


def keep_learned(films: RadiographFolder, folder: Path) -> Path:
    """Where is it written down whom a generator learned from?

    >>> import tempfile
    >>> from causalfairness.imaging.readers import PlainFolder
    >>> from causalfairness.imaging.simulator import Simulator, save_radiographs
    >>> place = Path(tempfile.mkdtemp())
    >>> saved = save_radiographs(Simulator(size=16), place / "films", people=3, seed=0)
    >>> films = PlainFolder(place / "films", size=16)
    >>> keep_learned(films, place).name
    'learned.json'
    >>> refuse_learned(films.take(slice(1)), films, place)
    Traceback (most recent call last):
    causalfairness.errors.SplitError: The generator learned from 1 of the 1 films that were to be...
    """
    told = {
        "collection": films.account.origin.get("collection", ""),
        "films": sorted(set(_keys(films))),
        "people": sorted(map(_name_key, set(films.patients))),
    }
    return write_whole(json.dumps(told, ensure_ascii=False) + "\n", folder / LEARNED)


def refuse_learned(
    chosen: RadiographFolder, films: RadiographFolder, folder: Path, *, simulated: bool = False
) -> list[str]:
    """Did the generator in this folder learn from a chosen film, or from the person on it?

    `films` are all of the chosen ones' folder. A generator of simulated films learned from nobody.
    Returns what a reader should know where that cannot be told.
    """
    if simulated:
        return []
    known, people, collection = _learned(folder / LEARNED)
    met_films = [
        path for path, key in zip(chosen.paths, _keys(chosen), strict=True) if key in known
    ]
    if met_films:
        raise SplitError(
            f"The generator learned from {len(met_films):,} of the {len(chosen):,} films that were "
            f"to be audited, such as {str(met_films[0])!r}: with it, any classifier looks "
            "dependent on them. Audit another part, such as 'test', or leave such films out."
        )
    met = sorted(name for name in set(chosen.patients) if _name_key(name) in people)
    if not met:
        return []
    same = collection and films.account.origin.get("collection") == collection
    if same or any(key in known for key in _keys(films)):
        raise SplitError(
            f"The generator learned from other films of {len(met):,} of the people who were to be "
            f"audited, such as {met[0]!r}. Keep all films of a person in one part."
        )
    return [
        f"{len(met):,} audited people, such as {met[0]}, have names that people have from whom the "
        "generator learned, in another folder: if they are the same people, the audit is not valid"
    ]


def _learned(path: Path) -> tuple[set[str], set[str], str]:
    try:
        told = json.loads(path.read_text("utf-8"))
        return set(told["films"]), set(told["people"]), str(told["collection"])
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise CheckpointError(
            f"{path} does not say whom the generator learned from ({cause!r}); train it again"
        ) from cause


def _name_key(name: str) -> str:
    """Names of people stay where they are: a generator may be handed on."""
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()


def _keys(films: RadiographFolder) -> Iterator[str]:
    with ThreadPoolExecutor(films.workers) as pool:
        keys = pool.map(_key, films.paths)
        yield from track(keys, total=len(films), what="looking whether films were learned from")


def _key(stem: Path) -> str:
    path = found(stem)
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(END)
        file.seek(max(size - END, 0))
        told = hashlib.blake2b(f"{size}:".encode() + start + file.read(END), digest_size=8)
    return told.hexdigest()
