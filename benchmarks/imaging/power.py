"""How often does the audit find what is there, and what is not? Many audits of a few hundred films.

Auditees are made from what readers saw on a pool of test films (`pools`):

    leaning     logit of a reader + leaning (2 P(group seen) - 1)        depends on the group, or
                                                                         hardly, by its leaning
    invariant   logit of the true film of group 0 + (logit of the made film - that of the true one)

An invariant auditee says the same of the true film of every group, exactly, and of a made film it
says what the generator's mistakes make of it: what a test may take for dependence. Agreement (ECA)
of decisions at the median is known from true films and compared with that of made ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.imaging.measured import keep_measured, measured
from benchmarks.imaging.panel import LEANINGS
from benchmarks.imaging.pools import Pool
from causalfairness.errors import TooFewRowsError
from causalfairness.imaging.auditing.statistics import features_of_codes, judged_between_people
from causalfairness.imaging.parents import FINDINGS
from causalfairness.inference import run_all
from causalfairness.invariance import demographic_parity_test
from causalfairness.invariance.statistics import projected

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
LEVEL = 0.05
BANDS = (0.0, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)  # of agreement


@dataclass(frozen=True, eq=False)
class Auditees:
    """What do auditees say of all films, and would truly and supposedly say in other groups?

    >>> import torch
    >>> draw = torch.Generator().manual_seed(0)
    >>> told = [torch.randn(*shape, 6, generator=draw) for shape in ((40,), (3, 40), (3, 40))]
    >>> pool = Pool(torch.zeros(40, 9), *told, torch.zeros(40), ("plain",))
    >>> len(auditees_of(pool).names)
    55
    """

    names: tuple[tuple[str, str, str], ...]  # reader, leaning, finding; one per column
    said: Array  # (films, columns)
    made: Array  # (groups, films, columns)
    true: Array  # (groups, films, columns)

    @property
    def invariant(self) -> Flags:
        """Which of them are invariant, exactly?"""
        return np.array([leaning == "invariant" for _, leaning, _ in self.names])

    def agreement(self, worlds: Array) -> Array:
        """How often is the decision at the median in these worlds the one at hand? By column."""
        bar = np.median(self.said, axis=0)
        return np.asarray(((worlds > bar) == (self.said > bar)).mean(axis=(0, 1)))


class Rates(NamedTuple):
    """Of how many audits does each column fail the test of invariance, and that of parity?"""

    invariance: Array
    parity: Array


def auditees_of(pool: Pool) -> Auditees:
    """Which auditees can be made of what was read?

    Ten leanings of every plain and every steady reader, those who learned where prevalence is
    shifted as they are, and an invariant one of each.

    >>> import torch
    >>> blank = [torch.zeros(*shape, 6) for shape in ((40,), (3, 40), (3, 40))]
    >>> int(auditees_of(Pool(torch.zeros(40, 9), *blank, torch.zeros(40), ("shifted",))).said.size)
    400
    """
    count = len(FINDINGS)
    worlds = [each.double().numpy() for each in (pool.original, pool.made, pool.true)]
    names: list[tuple[str, str, str]] = []
    columns: list[list[Array]] = []
    for reader, kind in enumerate(pool.kinds):
        own = slice(1 + count * reader, 1 + count * (reader + 1))
        who = f"{kind} reader {reader + 1}"
        for leaning in (0.0,) if kind == "shifted" else LEANINGS:
            pull = [leaning * (2 * expit(world[..., :1]) - 1) for world in worlds]
            logits = [world[..., own] + more for world, more in zip(worlds, pull, strict=True)]
            columns.append([expit(each) for each in logits])
            names += [(who, f"{leaning:g}", finding) for finding in FINDINGS]
        base = worlds[2][0][:, own]
        missed = worlds[1][..., own] - worlds[2][..., own]
        steady = expit(base)
        columns.append([steady, expit(base + missed), np.stack([steady] * len(missed))])
        names += [(who, "invariant", finding) for finding in FINDINGS]
    said, made, true = (np.concatenate(each, axis=-1) for each in zip(*columns, strict=True))
    return Auditees(tuple(names), said, made, true)


def rejected(
    auditees: Auditees, pool: Pool, *, films: int, audits: int, seed: int = 0, workers: int = 1
) -> Rates:
    """How often is each auditee rejected, in audits of so many films each?

    >>> import torch
    >>> codes = torch.zeros(60, 9)
    >>> codes[::2, 0] = 1
    >>> blank = [torch.zeros(*shape, 6) for shape in ((60,), (2, 60), (2, 60))]
    >>> pool = Pool(codes, *blank, torch.zeros(60), ("shifted",))
    >>> float(rejected(auditees_of(pool), pool, films=60, audits=1).invariance.max())
    0.0
    """
    codes, group = pool.codes.double().numpy(), pool.codes[:, 0].long().numpy()

    def one(task: tuple[Codes, np.random.Generator]) -> tuple[Flags, Flags]:
        rows, rng = task
        said, own = auditees.said[rows], group[rows]
        known = features_of_codes(codes[rows])
        judged = judged_between_people(said, auditees.made[:, rows], own, known, rng)
        found = projected([judged], 99, rng).log_p_value
        parity = demographic_parity_test(said, own).log_p_value
        return np.asarray(found <= np.log(LEVEL)), np.asarray(parity <= np.log(LEVEL))

    rng = np.random.default_rng(seed)
    tasks = list(zip(_subsets(len(pool), films, audits, rng), rng.spawn(audits), strict=True))
    found = run_all(one, tasks, workers=workers, what="auditing")
    return Rates(*(np.mean(each, axis=0) for each in zip(*found, strict=True)))


def audit_pool(
    pool: Pool, *, films: int, audits: int, path: Path, name: str, seed: int = 0, workers: int = 1
) -> dict[str, Any]:
    """How often does the audit find what is there? Kept in the file by name, not redone.

    What was measured with other numbers of films or audits, another pool or seed, is refused.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "audit.json"
    >>> settings = {"films": 500, "audits": 1, "pool": 0, "seed": 0}
    >>> _ = keep_measured(path, {"known": {"settings": settings, "level": 0.05}})
    >>> audit_pool((), films=500, audits=1, path=path, name="known")["level"]
    0.05
    """
    settings = {"films": films, "audits": audits, "pool": len(pool), "seed": seed}
    known = measured(path, name, settings=settings)
    if known is not None:
        return known
    auditees = auditees_of(pool)
    rates = rejected(auditees, pool, films=films, audits=audits, seed=seed, workers=workers)
    found = {
        "settings": settings,
        "composition": float(pool.composition.mean()),
        **_figures(auditees, rates),
    }
    keep_measured(path, {name: found})
    return found


def _subsets(people: int, films: int, audits: int, rng: np.random.Generator) -> list[Codes]:
    """Sets of films that share none, as many as there are, then drawn anew."""
    if films > people:
        raise TooFewRowsError(f"audits of {films:,} films need as many; the pool has {people:,}")
    at_once = people // films
    rounds = [rng.permutation(people) for _ in range(-(-audits // at_once))]
    parts = [order[films * at : films * (at + 1)] for order in rounds for at in range(at_once)]
    return parts[:audits]


def _figures(auditees: Auditees, rates: Rates) -> dict[str, Any]:
    steady = auditees.invariant
    made, true = (auditees.agreement(each) for each in (auditees.made, auditees.true))
    apart = np.abs(made - true)[~steady]
    by_auditee = np.abs((made - true)[~steady].reshape(-1, len(FINDINGS)).mean(axis=1))
    each = true[~steady].reshape(-1, len(FINDINGS)).mean(axis=1)
    return {
        "agreement": {
            "auditees": len(by_auditee),
            "true_from": float(each.min()),
            "true_to": float(each.max()),
            "mean_error": float(apart.mean()),
            "largest_error": float(apart.max()),
            "mean_error_of_auditees": float(by_auditee.mean()),
            "largest_error_of_auditees": float(by_auditee.max()),
        },
        "type_one": {
            "auditees": int(steady.sum()),
            "mean": float(rates.invariance[steady].mean()),
            "largest": float(rates.invariance[steady].max()),
            "parity_mean": float(rates.parity[steady].mean()),
        },
        "power": _by_band(true[~steady], rates.invariance[~steady], rates.parity[~steady]),
        "columns": [
            {
                **dict(zip(("reader", "leaning", "finding"), name, strict=True)),
                "true": round(float(true[at]), 4),
                "made": round(float(made[at]), 4),
                "rejected": round(float(rates.invariance[at]), 4),
                "parity": round(float(rates.parity[at]), 4),
            }
            for at, name in enumerate(auditees.names)
        ],
    }


def _by_band(agreement: Array, power: Array, parity: Array) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for low, high in pairwise(BANDS):
        chosen = (agreement > low) & (agreement <= high)
        if chosen.any():
            rows.append(
                {
                    "agreement": f"{low:g} to {high:g}",
                    "columns": int(chosen.sum()),
                    "mean": float(power[chosen].mean()),
                    "least": float(power[chosen].min()),
                    "parity": float(parity[chosen].mean()),
                }
            )
    return rows
