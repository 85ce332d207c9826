"""How are cells counted? In memory through integer codes, elsewhere by one GROUP BY.

In memory, each column becomes integer codes and one bincount per sum does the work. Elsewhere
(files, databases, lazy frames) the sums are plain aggregations of plain columns, so that the
engine can do them in one pass; only the cells come back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causalfairness.errors import WeightError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.cells import Cells, CellSums, arrange
from causalfairness.tables.columns import Column, column_of, number_there
from causalfairness.tables.condition import Within
from causalfairness.tables.groups import count_rows, label_groups
from causalfairness.tables.missing import Missing, RowAccount, check_policy
from causalfairness.tables.rows import check_weights, read_weights
from causalfairness.tables.source import collect
from causalfairness.tables.target import Target

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
FIXED_POINT_BITS = 30  # kept of the largest value in the exact sums, more where it is whole
WHOLE_BITS = 53  # beyond which float64 has gaps between whole numbers


class Counted(NamedTuple):
    """What did an engine count? Cells in any order, rows without a measurement set apart."""

    frame: nw.DataFrame[Any]
    keys: tuple[Column, ...]
    rows: Array  # all rows of the cell, measured or not
    sums: CellSums
    unmeasured: Mapping[str, Array]  # rows per cell without outcome, without weight
    is_binary: bool


def count_cells(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any],
    model: StandardFairnessModel,
    target: Target,
    missing: Missing,
    within: Within | None = None,
) -> Cells:
    """How many people are in each cell, and what do their outcomes add up to?

    The column of `within` is counted by like any other, and only its cells are kept.
    """
    roles = (*model.protected_columns, *model.confounders, *model.mediators)
    asked = [within.column] if within else []
    if isinstance(frame, nw.LazyFrame):
        counted = _count_there(frame, (*roles, *asked), model, target)
    else:
        counted = _count_here(frame, (*roles, *asked), model, target)
    absent = {key.name: key.is_missing for key in counted.keys}
    counts = {name: int(counted.rows[mask].sum()) for name, mask in absent.items()}
    counts |= {name: int(rows.sum()) for name, rows in counted.unmeasured.items()}
    check_policy(counts, missing, measured=[*counted.unmeasured, *asked])
    complete = counted.sums.rows
    if missing == "drop":
        complete = np.where(np.logical_or.reduce(list(absent.values())), 0.0, complete)
    holds = within.holds(counted.keys[-1]) if within else np.ones(len(complete), dtype=bool)
    at = np.flatnonzero((complete > 0) & holds)
    unasked = int(complete[~holds].sum())
    account = RowAccount(
        read=int(counted.rows.sum()),
        used=int(complete[at].sum()),
        dropped=_per_group(counted.keys[: len(model.protected_columns)], counted.rows - complete),
        missing={name: count for name, count in counts.items() if count},
        aside={within.others: unasked} if within and unasked else {},
    )
    return arrange(
        counted.frame.select(*roles)[at],
        [key.take(at) for key in counted.keys[: len(roles)]],
        counted.sums.take(at),
        model,
        is_binary=counted.is_binary,
        target=target,
        weights=model.weights,
        account=account,
        within=within,
    )


def _per_group(protected: Sequence[Column], lost: Array) -> dict[str, int]:
    groups, group = label_groups(protected)
    return count_rows(groups, np.bincount(group, lost, minlength=len(groups)))


# In memory -----------------------------------------------------------------------------------


def _count_here(
    frame: nw.DataFrame[Any], names: Sequence[str], model: StandardFairnessModel, target: Target
) -> Counted:
    keys = [column_of(frame[name]) for name in names]
    cell, first = _cell_of_row(keys, len(frame))
    cells = len(first)

    def added(values: Array | None = None) -> Array:
        return np.bincount(cell, values, minlength=cells).astype(float)

    y = target.read(column_of(frame[target.column]))
    weight = None if model.weights is None else read_weights(column_of(frame[model.weights]))
    size_y = _largest(y)
    unmeasured = {target.column: added(np.isnan(y).astype(float))}
    if weight is not None and model.weights is not None:
        unmeasured[model.weights] = added(np.isnan(weight).astype(float))
    measured = ~np.isnan(y) if weight is None else ~(np.isnan(y) | np.isnan(weight))
    counted = added() if measured.all() else added(measured.astype(float))
    y = np.where(measured, y, 0.0)
    if weight is None:
        sum_y, sum_y2 = added(y), added(y * y)
        exact: tuple[Array, ...] = _exact_sums(y, size_y, cell, cells)
        sums = CellSums(counted, counted, counted, sum_y, sum_y, sum_y2, exact)
    else:
        w = np.where(measured, weight, 0.0)
        size_w = _largest(weight)
        exact = (
            *_exact_sums(w, size_w, cell, cells),
            *_exact_sums(w * y, size_w * size_y, cell, cells),
        )
        wy = w * y
        sums = CellSums(
            counted, added(w), added(w * w), added(wy), added(w * wy), added(wy * wy), exact
        )
    is_binary = bool(((y == 0) | (y == 1)).all())
    return Counted(
        frame=frame.select(*names)[first],
        keys=tuple(key.take(first) for key in keys),
        rows=added(),
        sums=sums,
        unmeasured=unmeasured,
        is_binary=is_binary,
    )


def _cell_of_row(keys: Sequence[Column], rows: int) -> tuple[Positions, Positions]:
    """Number the distinct combinations of keys; the number of each row and each one's first row."""
    code, size = np.zeros(rows, dtype=np.int64), 1
    for key in keys:
        levels = key.levels()
        code = code * max(len(levels.values), 1) + levels.codes
        size *= max(len(levels.values), 1)
        if size > 4 * rows + 1000:  # too many combinations to count by position: renumber
            found, code = np.unique(code, return_inverse=True)
            code, size = code.reshape(-1), len(found)
    first = np.full(size, rows, dtype=np.int64)
    np.minimum.at(first, code, np.arange(rows))
    used = np.flatnonzero(first < rows)
    number = np.empty(size, dtype=np.int64)
    number[used] = np.arange(len(used))
    return number[code], first[used]


def _largest(values: Array) -> float:
    return float(np.nanmax(np.abs(values), initial=0.0))


def _exact_sums(values: Array, largest: float, cell: Positions, cells: int) -> tuple[Array, Array]:
    """Sums that do not depend on the order of the rows, as a high and a low part."""
    scale = _fixed_point(largest)
    total = np.zeros(cells, dtype=np.int64)
    np.add.at(total, cell, np.floor(values * scale).astype(np.int64))
    return _split(total, scale)


def _fixed_point(largest: float) -> float:
    """The power of two that turns values into whole numbers with enough digits to tell apart."""
    exponent = math.frexp(largest)[1] if largest > 0 else 0
    if exponent > WHOLE_BITS:
        return 2.0 ** (WHOLE_BITS - exponent)
    return float(2.0 ** max(0, FIXED_POINT_BITS - exponent))


def _split(total: NDArray[np.int64], scale: float) -> tuple[Array, Array]:
    high = total.astype(float)
    low = (total - high.astype(np.int64)).astype(float)
    return high / scale, low / scale


# Where the data lives ------------------------------------------------------------------------


def _count_there(
    frame: nw.LazyFrame[Any], names: Sequence[str], model: StandardFairnessModel, target: Target
) -> Counted:
    schema = frame.collect_schema()
    keys = [nw.col(name).alias(f"key{at}") for at, name in enumerate(names)]
    measures = [target.expression(frame).alias("y")]
    if model.weights is not None:
        measures.append(_weight_expression(model.weights, schema))
    plain = frame.select(*keys, *measures)
    largest = _scan_measures(plain, target, schema, model.weights)
    prepared, sums = _sums_there(plain, largest, weighted=model.weights is not None)
    counted = collect(prepared.group_by([f"key{at}" for at in range(len(names))]).agg(*sums))
    found = _counted_there(counted, names, model, target, largest)
    if not found.sums.wy.any():
        target.check_found(frame)
    return found


def _weight_expression(name: str, schema: Mapping[str, Any]) -> nw.Expr:
    kind = schema[name]
    if not (kind.is_numeric() or kind == nw.Boolean):
        raise WeightError(f"weights column {name!r} has type {kind}; expected numbers")
    return number_there(name, kind).alias("w")


def _scan_measures(
    plain: nw.LazyFrame[Any], target: Target, schema: Mapping[str, Any], weights: str | None
) -> dict[str, float]:
    """The largest size of outcome and weight, where a look at the values is needed at all."""
    needed = weights is not None or target.needs_look(schema[target.column])
    look = {"y": target.column} if needed else {}
    if weights is not None:
        look["w"] = weights
    if not look:
        return {}
    ends = [getattr(nw.col(c), end)().alias(f"{c}_{end}") for c in look for end in ("min", "max")]
    found = collect(plain.select(*ends)).rows(named=True)[0]
    sizes = {}
    for column in look:
        low, high = found[f"{column}_min"], found[f"{column}_max"]
        low, high = (0.0 if low is None else float(low)), (0.0 if high is None else float(high))
        if column == "w":
            check_weights(look[column], low, high)
        else:
            target.check_range(low, high)
        sizes[column], sizes[f"{column}_low"] = max(-low, high), low
    return sizes


def _sums_there(
    plain: nw.LazyFrame[Any], largest: Mapping[str, float], *, weighted: bool
) -> tuple[nw.LazyFrame[Any], list[nw.Expr]]:
    """The columns to add up, and the plain sums of them."""
    y, w = nw.col("y"), nw.col("w")
    counts = [nw.len().alias("rows"), y.count().alias("has_y")]
    if weighted:
        prepared = plain.with_columns(
            nw.when(~y.is_null()).then(w).alias("w1"), (w * y).alias("wy")
        ).with_columns(
            (nw.col("w1") * nw.col("w1")).alias("w2"),
            (w * nw.col("wy")).alias("w2y"),
            (nw.col("wy") * nw.col("wy")).alias("w2y2"),
        )
        counts += [w.count().alias("has_w"), nw.col("wy").count().alias("measured")]
        added, exact = ["w1", "w2", "wy", "w2y", "w2y2"], {"w1": largest["w"]}
        exact["wy"] = largest["w"] * largest["y"]
    else:
        prepared = plain.with_columns((y * y).alias("y2"))
        added, exact = ["y", "y2"], {"y": largest["y"]} if "y" in largest else {}
    if exact:
        prepared = prepared.with_columns(
            *(
                (nw.col(name) * _fixed_point(size)).floor().cast(nw.Int64).alias(f"exact_{name}")
                for name, size in exact.items()
            )
        )
    sums = [nw.col(name).sum().alias(f"sum_{name}") for name in added]
    sums += [nw.col(f"exact_{name}").sum().alias(f"sum_exact_{name}") for name in exact]
    return prepared, counts + sums


def _counted_there(
    counted: nw.DataFrame[Any],
    names: Sequence[str],
    model: StandardFairnessModel,
    target: Target,
    largest: Mapping[str, float],
) -> Counted:
    frame = counted.select(*(nw.col(f"key{at}").alias(name) for at, name in enumerate(names)))
    keys = [column_of(frame[name]) for name in names]
    cell, first = _cell_of_row(keys, len(frame))  # null and NaN are one, and what float64 rounds

    def number(name: str) -> Array:
        values = column_of(counted[name]).values
        assert values is not None
        return np.bincount(cell, values, minlength=len(first)).astype(float)

    def exact(name: str, size: float) -> tuple[Array, Array]:
        whole = np.zeros(len(first), dtype=np.int64)
        np.add.at(whole, cell, _whole(counted[f"sum_exact_{name}"]))
        return _split(whole, _fixed_point(size))

    rows, unmeasured = number("rows"), {target.column: number("rows") - number("has_y")}
    if model.weights is None:
        measured, y, y2 = number("has_y"), number("sum_y"), number("sum_y2")
        digest: tuple[Array, ...] = (y, np.zeros_like(y))
        if "y" in largest:
            digest = exact("y", largest["y"])
        sums = CellSums(measured, measured, measured, y, y, y2, digest)
    else:
        unmeasured[model.weights] = rows - number("has_w")
        digest = (*exact("w1", largest["w"]), *exact("wy", largest["w"] * largest["y"]))
        sums = CellSums(
            rows=number("measured"),
            w=number("sum_w1"),
            w2=number("sum_w2"),
            wy=number("sum_wy"),
            w2y=number("sum_w2y"),
            w2y2=number("sum_w2y2"),
            exact=digest,
        )
    within_unit = largest.get("y_low", 0.0) >= 0 and largest.get("y", 0.0) <= 1
    return Counted(
        frame=frame[first],
        keys=tuple(key.take(first) for key in keys),
        rows=rows,
        sums=sums,
        unmeasured=unmeasured,
        is_binary=within_unit and bool(np.allclose(sums.w2y, sums.w2y2, rtol=1e-12, atol=0.0)),
    )


def _whole(sums: nw.Series[Any]) -> Positions:
    """Whole numbers of any width, modulo 2^64: not every engine lets long sums wrap around."""
    try:
        return sums.cast(nw.Int64).to_numpy().astype(np.int64)
    except pa.ArrowInvalid:
        return np.array([(int(s) + 2**63) % 2**64 - 2**63 for s in sums.to_list()], dtype=np.int64)
