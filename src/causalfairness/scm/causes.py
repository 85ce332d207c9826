"""What does a mechanism see of the causes of its node?

Learners see columns of numbers: a number as it is, a label with two values as one indicator, a
label with more as one indicator for each but the first. Functions of users see the values as they
stand in the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.scm.domain import Domain

Array = NDArray[np.float64]


class Term(NamedTuple):
    """Which column does a learner see? A cause as it is, or whether it is at one label."""

    cause: int
    level: int | None = None

    def of(self, values: Array) -> Array:
        """What is the column for these values of the cause?"""
        return values if self.level is None else (values == self.level).astype(np.float64)


def terms_of(domains: Sequence[Domain]) -> tuple[Term, ...]:
    """Which columns do learners see of these causes?

    >>> terms_of([Domain("age"), Domain("race", labels=("a", "b", "c"))])
    (Term(cause=0, level=None), Term(cause=1, level=1), Term(cause=1, level=2))
    """
    return tuple(term for at, domain in enumerate(domains) for term in _terms(at, domain))


def _terms(at: int, domain: Domain) -> Iterator[Term]:
    if len(domain.labels) <= 2:
        yield Term(at)
    else:
        yield from (Term(at, level) for level in range(1, len(domain.labels)))


@dataclass(frozen=True, eq=False)
class Causes:
    """What are the values of a node's causes, row by row?

    >>> race = Domain("race", labels=("a", "b", "c"))
    >>> causes = Causes(2, (race,), (np.array([2.0, 0.0]),))
    >>> causes.design().tolist(), causes.by_name()["race"].tolist()
    ([[0.0, 1.0], [0.0, 0.0]], ['c', 'a'])
    """

    rows: int
    domains: tuple[Domain, ...]
    values: tuple[Array, ...]

    def __len__(self) -> int:
        return self.rows

    @property
    def names(self) -> tuple[str, ...]:
        """What are the causes called?"""
        return tuple(domain.name for domain in self.domains)

    def design(self) -> Array:
        """What does a learner see? One row per person."""
        terms = terms_of(self.domains)
        matrix = np.empty((self.rows, len(terms)))
        for column, term in enumerate(terms):
            matrix[:, column] = term.of(self.values[term.cause])
        return matrix

    def by_name(self) -> dict[str, NDArray[Any]]:
        """What does a function of a user see? Each cause under its name."""
        pairs = zip(self.domains, self.values, strict=True)
        return {domain.name: domain.decode(values) for domain, values in pairs}

    def take(self, rows: NDArray[Any]) -> Causes:
        """What do these rows have?"""
        taken = tuple(values[rows] for values in self.values)
        return Causes(
            int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows), self.domains, taken
        )
