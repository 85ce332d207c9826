"""What is left out of plain data where numbers are about so few that they tell on each of them.

Few are some people, and fewer than a number that is set. Numbers of few are left out, and so are
those that together give them. Where few in a group have one outcome, its base rate and mean error
are left out; where few have one decision, its selection rate; where either is so, all rates that
hold decisions against outcomes (tpr, fpr, fnr, tnr, ppv, npv, accuracy), and its calibration. Where
those left out are few together, the next larger group goes with them. Gaps, ratios, extremes,
screens and sentences are made of what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLEST = 10  # people of whom numbers are told, unless another number is set
EDGES = ("above", "up_to", "score_from", "score_to", "effective")  # of a row, whoever is in it


def group_sizes(
    sizes: Mapping[str, int], smallest: int, compared: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return groups with their sizes; small ones together, without a name.

    As many of the next size are put with them as it takes, so that subtracting all others from the
    whole does not give them away. Compared groups stay, since everything is said about them.

    >>> group_sizes({"a": 90, "b": 1, "c": 12, "d": 20}, 10)
    [{'group': 'a', 'people': 90}, {'group': 'd', 'people': 20},
     {'group': '2 smaller groups together', 'people': 13}]
    """
    few: list[str] = []
    for name in sorted(sizes, key=lambda name: sizes[name]):
        together = sum(sizes[each] for each in few)
        if name not in compared and (sizes[name] < smallest or 0 < together < smallest):
            few.append(name)
    found: list[dict[str, Any]] = [
        {"group": name, "people": count} for name, count in sizes.items() if name not in few
    ]
    if few:
        together = sum(sizes[each] for each in few)
        called = f"{len(few)} smaller groups together" if len(few) > 1 else "a smaller group"
        found.append({"group": called, "people": together if together >= smallest else None})
    return found


def without_few(
    rows: Sequence[Mapping[str, Any]],
    smallest: int,
    people: str = "people",
    hidden: str = "",
    within: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return rows whose numbers are None where they are about too few people.

    Where those left out are so few together that they follow from the others and the whole (of all
    rows that are alike `within` these keys), the next larger row is left out with them. `hidden`
    begins the keys of the numbers in question.

    >>> rows = [{"people": n, "rate": 0.5} for n in (90, 1, 12)]
    >>> [row["rate"] for row in without_few(rows, 10)]
    [0.5, None, None]
    """
    sizes = [row.get(people) or 0 for row in rows]
    few, together = set[int](), Counter[Any]()
    for at in sorted(range(len(rows)), key=lambda at: sizes[at]):
        part = tuple(rows[at].get(key) for key in within)
        if sizes[at] and (sizes[at] < smallest or 0 < together[part] < smallest):
            few.add(at)
            together[part] += sizes[at]
    return [{**row, **(_without(row, hidden) if at in few else {})} for at, row in enumerate(rows)]


def is_few(counts: NDArray[np.float64], smallest: int) -> NDArray[np.bool_]:
    """In which rows any count is of some people, and of fewer than `smallest`.

    >>> is_few(np.array([[12.0, 3.0], [12.0, 0.0]]), 10).tolist()
    [True, False]
    """
    return np.asarray(((counts > 0) & (counts < smallest)).any(axis=-1))


def hidden_groups(
    counts: NDArray[np.float64], smallest: int, hidden: NDArray[np.bool_] | bool = False
) -> NDArray[np.bool_]:
    """Which groups are hidden by `counts` of several kinds of people in each, or are already.

    With those of few go the next larger groups, until they are not few together.

    >>> hidden_groups(np.array([[50.0, 40.0], [14.0, 3.0], [20.0, 15.0]]), 10).tolist()
    [False, True, True]
    """
    found = is_few(counts, smallest) | hidden
    for at in np.argsort(counts.sum(axis=1), kind="stable"):
        if is_few(counts[found].sum(axis=0), smallest):
            found[at] = True
    return found


def _without(row: Mapping[str, Any], hidden: str) -> dict[str, None]:
    about = (key for key in row if key.startswith(hidden) and key not in EDGES)
    return dict.fromkeys(key for key in about if isinstance(row[key], float | bool))
