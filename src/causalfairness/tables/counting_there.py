"""How are rows counted where they live? Files, databases and lazy frames, by one GROUP BY.

The sums are plain aggregations of plain columns, so that the engine can do them in one pass; only
the cells come back. Of two measurements, each counts only where both are there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causalfairness.errors import WeightError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.cells import CellSums
from causalfairness.tables.columns import GAPS, column_of, number_there
from causalfairness.tables.counted import Counted, cell_of_row, fixed_point, split
from causalfairness.tables.rows import check_weights
from causalfairness.tables.source import collect, column_there
from causalfairness.tables.target import Target

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
Sizes = Mapping[str, float]  # largest size of "y0", "y1" and "w", and the lowest value of each


def count_there(
    frame: nw.LazyFrame[Any],
    names: Sequence[str],
    model: StandardFairnessModel,
    targets: Sequence[Target],
) -> Counted:
    """What do the rows of each combination of these columns add up to?"""
    schema = frame.collect_schema()
    keys = [column_there(frame, name).alias(f"key{at}") for at, name in enumerate(names)]
    measures = [target.expression(frame).alias(f"y{at}") for at, target in enumerate(targets)]
    if model.weights is not None:
        measures.append(_weight_expression(model.weights, frame))
    plain = frame.select(*keys, *measures)
    sizes = _scan_measures(plain, targets, schema, model.weights)
    prepared, sums = _sums_there(plain, len(targets), sizes, weighted=model.weights is not None)
    counted = collect(prepared.group_by([f"key{at}" for at in range(len(names))]).agg(*sums))
    found = _counted_there(counted, names, model, targets, sizes)
    if model.weights is not None:
        _check_amounts(frame, model.weights, sizes["w"])
    for at, (target, each) in enumerate(zip(targets, found.sums, strict=True)):
        _check_amounts(
            frame, target.column, sizes.get(f"y{at}", math.sqrt(each.w2y2.max(initial=0.0)))
        )
        if not each.wy.any():
            target.check_found(frame)
    return found


def _check_amounts(frame: nw.LazyFrame[Any], name: str, largest: float) -> None:
    """Were integers of up to this size added up as they are, or floats that they were merged to?"""
    if largest < GAPS or frame.collect_schema()[name].is_float():
        return
    both = column_there(frame, name).alias(name), number_there(frame, name).alias(f"{name} rounded")
    large = frame.select(*both).filter(nw.nth(1).abs() >= GAPS).select(nw.nth(0)).unique()
    column_of(collect(large)[name]).check_amounts()


def _weight_expression(name: str, frame: nw.LazyFrame[Any]) -> nw.Expr:
    kind = frame.collect_schema()[name]
    if not (kind.is_numeric() or kind == nw.Boolean):
        raise WeightError(f"weights column {name!r} has type {kind}; expected numbers")
    return number_there(frame, name).alias("w")


def _scan_measures(
    plain: nw.LazyFrame[Any],
    targets: Sequence[Target],
    schema: Mapping[str, Any],
    weights: str | None,
) -> dict[str, float]:
    """The largest size of outcome and weight, where a look at the values is needed at all."""
    look = {
        f"y{at}": target
        for at, target in enumerate(targets)
        if weights is not None or target.needs_look(schema[target.column])
    }
    columns = [*look, *(["w"] if weights is not None else [])]
    if not columns:
        return {}
    ends = [
        getattr(nw.col(c), end)().alias(f"{c}_{end}") for c in columns for end in ("min", "max")
    ]
    found = collect(plain.select(*ends)).rows(named=True)[0]
    sizes = {}
    for column in columns:
        low, high = found[f"{column}_min"], found[f"{column}_max"]
        low, high = (0.0 if low is None else float(low)), (0.0 if high is None else float(high))
        if column in look:
            look[column].check_range(low, high)
        else:
            assert weights is not None
            check_weights(weights, low, high)
        sizes[column], sizes[f"{column}_low"] = max(-low, high), low
    return sizes


def _sums_there(
    plain: nw.LazyFrame[Any], measurements: int, sizes: Sizes, *, weighted: bool
) -> tuple[nw.LazyFrame[Any], list[nw.Expr]]:
    """The columns to add up, and the plain sums of them."""
    ys = [f"y{at}" for at in range(measurements)]
    counts = [nw.len().alias("rows"), *(nw.col(y).count().alias(f"has_{y}") for y in ys)]
    if weighted:
        counts.append(nw.col("w").count().alias("has_w"))
    prepared = _where_all_are_there(plain, ys, weighted=weighted)
    products = {f"{y}{y}": (f"w{y}", f"w{y}") for y in ys}
    products |= {f"w{y}w": ("w1", f"w{y}") for y in ys} | {"w2": ("w1", "w1")} if weighted else {}
    products |= {"y0y1": ("wy0", "wy1")} if measurements > 1 else {}
    for y in ys:
        low = sizes.get(f"{y}_low", 0.0)
        first, away = nw.col(f"w{y}") - low * (nw.col("w1") if weighted else 1), nw.col(y) - low
        powers = {f"{y}p1": first, f"{y}p2": first * away, f"{y}p3": first * away * away}
        prepared = prepared.with_columns(**powers)
    prepared = prepared.with_columns(
        *((nw.col(one) * nw.col(other)).alias(name) for name, (one, other) in products.items())
    )
    exact = {f"w{y}": sizes.get("w", 1.0) * sizes[y] for y in ys if y in sizes}
    exact |= {"w1": sizes["w"]} if weighted else {}
    if exact:
        prepared = prepared.with_columns(
            *(
                (nw.col(name) * fixed_point(size)).floor().cast(nw.Int64).alias(f"exact_{name}")
                for name, size in exact.items()
            )
        )
    added = [*(f"w{y}" for y in ys), *products, *(["w1"] if weighted else [])]
    added += [f"{y}p{power}" for y in ys for power in (1, 2, 3)]
    counts.append(nw.col("wy0").count().alias("measured"))
    sums = [nw.col(name).sum().alias(f"sum_{name}") for name in added]
    sums += [nw.col(f"exact_{name}").sum().alias(f"sum_exact_{name}") for name in exact]
    return prepared, counts + sums


def _where_all_are_there(
    plain: nw.LazyFrame[Any], ys: Sequence[str], *, weighted: bool
) -> nw.LazyFrame[Any]:
    """Each measurement times its weight, `wy0` and `wy1`; null where another one is."""
    columns = [*ys, "w"] if weighted else [*ys]
    if weighted:
        of_row = {f"w{y}": nw.col("w") * nw.col(y) for y in ys} | {"w1": nw.col("w")}
    else:
        of_row = {f"w{y}": nw.col(y) for y in ys}
    if len(columns) == 1:
        return plain.with_columns(*(each.alias(name) for name, each in of_row.items()))
    there = ~nw.col(columns[0]).is_null()
    for column in columns[1:]:
        there = there & ~nw.col(column).is_null()
    return plain.with_columns(
        *(nw.when(there).then(each).alias(name) for name, each in of_row.items())
    )


def _counted_there(
    counted: nw.DataFrame[Any],
    names: Sequence[str],
    model: StandardFairnessModel,
    targets: Sequence[Target],
    sizes: Sizes,
) -> Counted:
    frame = counted.select(*(nw.col(f"key{at}").alias(name) for at, name in enumerate(names)))
    keys = [column_of(frame[name]) for name in names]
    cell, first = cell_of_row(keys, len(frame))  # null and NaN are one, and what float64 rounds

    def number(name: str) -> Array:
        values = column_of(counted[name]).values
        assert values is not None
        return np.bincount(cell, values, minlength=len(first)).astype(float)

    def exact(name: str, size: float) -> tuple[Array, Array]:
        whole = np.zeros(len(first), dtype=np.int64)
        np.add.at(whole, cell, _whole(counted[f"sum_exact_{name}"]))
        return split(whole, fixed_point(size))

    def sums(y: str) -> CellSums:
        measured, wy, squares = number("measured"), number(f"sum_w{y}"), number(f"sum_{y}{y}")
        powers = tuple(number(f"sum_{y}p{power}") for power in (1, 2, 3))
        if model.weights is None:
            digest = exact(f"w{y}", sizes[y]) if y in sizes else (wy, np.zeros_like(wy))
            return CellSums(measured, measured, measured, wy, wy, squares, digest, powers)
        both = (*exact("w1", sizes["w"]), *exact(f"w{y}", sizes["w"] * sizes[y]))
        w, w2, w2y = number("sum_w1"), number("sum_w2"), number(f"sum_w{y}w")
        return CellSums(measured, w, w2, wy, w2y, squares, both, powers)

    rows = number("rows")
    found = {f"y{at}": sums(f"y{at}") for at in range(len(targets))}
    unmeasured = {target.column: rows - number(f"has_y{at}") for at, target in enumerate(targets)}
    if model.weights is not None:
        unmeasured[model.weights] = rows - number("has_w")
    return Counted(
        frame=frame[first],
        keys=tuple(key.take(first) for key in keys),
        rows=rows,
        sums=tuple(found.values()),
        is_binary=tuple(_is_binary(each, y, sizes) for y, each in found.items()),
        products=number("sum_y0y1") if len(targets) > 1 else None,
        unmeasured=unmeasured,
    )


def _is_binary(sums: CellSums, y: str, sizes: Sizes) -> bool:
    within_unit = sizes.get(f"{y}_low", 0.0) >= 0 and sizes.get(y, 0.0) <= 1
    return within_unit and bool(np.allclose(sums.w2y, sums.w2y2, rtol=1e-12, atol=0.0))


def _whole(sums: nw.Series[Any]) -> Positions:
    """Whole numbers of any width, modulo 2^64: not every engine lets long sums wrap around."""
    try:
        return sums.cast(nw.Int64).to_numpy().astype(np.int64)
    except pa.ArrowInvalid:
        return np.array([(int(s) + 2**63) % 2**64 - 2**63 for s in sums.to_list()], dtype=np.int64)
