"""Which radiographs are in a folder, of whom, and which were left out? Decoded when looked at."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import torch
from torch import Tensor

from causalfairness.errors import ImageFileError, SplitError
from causalfairness.imaging.parents import Parents, codes_of
from causalfairness.imaging.readers.association import Association, association
from causalfairness.imaging.readers.decoding import decode, file_of, found

ABSENT = "image without a file"
SHARES = MappingProxyType({"train": 0.8, "validate": 0.1, "test": 0.1})


@dataclass(frozen=True)
class Account:
    """Which rows of the files became images here, and why were the others left out?

    >>> print(Account(10, {"lateral view": 3, "race not stated": 2}))
    10 rows read, 5 kept
      3 left out: lateral view
      2 left out: race not stated
    """

    read: int
    dropped: Mapping[str, int]
    origin: Mapping[str, str] = field(default_factory=dict)  # the collection, and how it was read

    @property
    def kept(self) -> int:
        """How many rows are images here?"""
        return self.read - sum(self.dropped.values())

    def __str__(self) -> str:
        lines = [f"{self.read:,} rows read, {self.kept:,} kept"]
        lines += [f"  {count:,} left out: {reason}" for reason, count in self.dropped.items()]
        return "\n".join(lines)


@dataclass(frozen=True)
class Entry:
    """What do the files say about one image?"""

    path: Path
    patient: str
    part: str
    group: int
    age: float
    sex: int
    scanner: int
    findings: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RadiographFolder:
    """Which radiographs, of whom? `CheXpert` and `MimicCxr` give one.

    `images(index)` decodes, `parents` says what is known about the people, `account` what was left
    out. `part` is the split that the publishers named.

    >>> import tempfile
    >>> from causalfairness.imaging.readers import PlainFolder
    >>> from causalfairness.imaging.simulator import Simulator, save_radiographs
    >>> with tempfile.TemporaryDirectory() as place:
    ...     saved = save_radiographs(Simulator(size=16), place, people=6, seed=0)
    ...     films = PlainFolder(place, size=16)
    ...     len(films), films.images().shape
    (6, torch.Size([6, 1, 16, 16]))
    """

    paths: tuple[Path, ...] = field(repr=False)
    patients: tuple[str, ...] = field(repr=False)
    part: tuple[str, ...] = field(repr=False)
    parents: Parents = field(repr=False)
    groups: tuple[str, ...]
    size: int
    account: Account
    workers: int = 4

    def __len__(self) -> int:
        return len(self.paths)

    def __str__(self) -> str:
        people = len(set(self.patients))
        head = f"{len(self):,} radiographs of {people:,} people, at {self.size}x{self.size}"
        return f"{head}\n{self.account}"

    def images(self, index: Tensor | slice = slice(None)) -> Tensor:
        """What is on these films? (n, 1, size, size) float32 in [0, 1], decoded now."""
        paths = [self.paths[row] for row in self._rows(index)]
        films = torch.empty(len(paths), 1, self.size, self.size)
        with ThreadPoolExecutor(self.workers) as pool:
            decoded = pool.map(lambda path: decode(found(path), size=self.size), paths)
            for place, film in enumerate(decoded):
                films[place] = film
        return films

    def take(self, index: Tensor | slice) -> RadiographFolder:
        """Which films are these, in this order? The account stays that of the whole folder."""
        rows = self._rows(index)
        return replace(
            self,
            paths=tuple(self.paths[row] for row in rows),
            patients=tuple(self.patients[row] for row in rows),
            part=tuple(self.part[row] for row in rows),
            parents=self.parents.take(torch.tensor(rows, dtype=torch.int64)),
        )

    def one_each(self) -> RadiographFolder:
        """Which is the first film of every person, by the names of files?"""
        first: dict[str, int] = {}
        for row, patient in enumerate(self.patients):
            first.setdefault(patient, row)
        return self.take(torch.tensor(list(first.values()), dtype=torch.int64))

    def split(
        self, shares: Mapping[str, float] = SHARES, *, seed: int = 0
    ) -> dict[str, RadiographFolder]:
        """Who is trained on, and who is kept for later? Whole people, by a hash of their number.

        Where a person goes depends on the seed and on nobody else: it stays when others are added.
        """
        return self.divided(shares, seed=seed)._parts(list(shares))

    def divided(self, shares: Mapping[str, float] = SHARES, *, seed: int = 0) -> RadiographFolder:
        """Which films are these, in parts by a hash of their people's numbers? As in `split`."""
        if any(share <= 0 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-9:
            raise SplitError(f"The shares {dict(shares)} are not all above 0, or do not sum to 1.")
        place = {patient: part_of(patient, shares, seed=seed) for patient in set(self.patients)}
        origin = {**self.account.origin, "parts": f"by a hash of people's numbers, seed {seed}"}
        return replace(
            self,
            part=tuple(place[patient] for patient in self.patients),
            account=replace(self.account, origin=origin),
        )

    def there(self) -> RadiographFolder:
        """Which films have a file? Those of a download in part; the others are counted."""
        rows = [row for row, path in enumerate(self.paths) if file_of(path) is not None]
        absent = {ABSENT: len(self) - len(rows)} if len(rows) < len(self) else {}
        account = replace(self.account, dropped={**self.account.dropped, **absent})
        if not rows:
            raise ImageFileError(f"No image is left to look at.\n{account}")
        return replace(self.take(torch.tensor(rows)), account=account)

    def published_split(self) -> dict[str, RadiographFolder]:
        """Who did the publishers train on, and whom did they keep for later?"""
        return self._parts(sorted(set(self.part)))

    def association(self) -> Association:
        """How is the group associated with findings here? (paper 004, Figs. 6 and 7)"""
        return association(self.parents, self.groups)

    def _parts(self, names: Sequence[str]) -> dict[str, RadiographFolder]:
        rows: dict[str, list[int]] = {name: [] for name in names}
        for row, name in enumerate(self.part):
            rows[name].append(row)
        for name, chosen in rows.items():
            if not chosen:
                raise SplitError(
                    f"Nobody is in {name!r}: {len(set(self.patients))} people are too few for "
                    "these shares."
                )
        return {name: self.take(torch.tensor(chosen)) for name, chosen in rows.items()}

    def _rows(self, index: Tensor | slice) -> list[int]:
        if isinstance(index, slice):
            return list(range(*index.indices(len(self))))
        chosen: list[int] = torch.arange(len(self))[index.cpu()].tolist()
        return chosen


def gathered(
    entries: Sequence[Entry],
    dropped: Counter[str],
    *,
    groups: Sequence[str],
    size: int,
    workers: int,
    origin: Mapping[str, str] = MappingProxyType({}),
) -> RadiographFolder:
    """Radiographs in the order of their files' names, whatever the order of the table's rows."""
    entries = sorted(entries, key=lambda entry: entry.path.as_posix())
    account = Account(len(entries) + dropped.total(), dict(dropped.most_common()), dict(origin))
    if not entries:
        raise ImageFileError(f"No image is left to look at.\n{account}")
    return RadiographFolder(
        paths=tuple(entry.path for entry in entries),
        patients=tuple(entry.patient for entry in entries),
        part=tuple(entry.part for entry in entries),
        parents=Parents(
            group=torch.tensor([entry.group for entry in entries]),
            age=torch.tensor([entry.age for entry in entries], dtype=torch.float32),
            sex=torch.tensor([entry.sex for entry in entries]),
            scanner=torch.tensor([entry.scanner for entry in entries]),
            findings=torch.tensor([entry.findings for entry in entries]),
        ),
        groups=tuple(groups),
        size=size,
        account=account,
        workers=workers,
    )


def part_of(patient: str, shares: Mapping[str, float] = SHARES, *, seed: int) -> str:
    """In which part is this person? Decided by a hash of the number, so by nobody else.

    >>> part_of("p10000032", seed=0)
    'validate'
    """
    digest = hashlib.blake2b(f"{seed}:{patient}".encode(), digest_size=8).digest()
    left = int.from_bytes(digest) / 2**64
    for name, share in shares.items():
        left -= share
        if left < 0:
            return name
    return name


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
