"""Can an answer stand on the columns with a role? They are looked at before anything is estimated.

A mediator that is a copy of the outcome leaves no direct part, and no estimate shows that. Copies,
ids, dates and text that holds numbers are refused by name, what else is doubtful is noted, and
`cf.Table(data, accept=[...])` waives what is said of a column. Columns of few values are counted,
in cells as in rows. Others are looked at in rows alone: by trees, out of fold, in a sample that is
picked by what rows hold and not by where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from causalfairness.effects import Estimate
from causalfairness.errors import GroupColumnError, RoleColumnError
from causalfairness.estimators.default_learners import regressors
from causalfairness.estimators.fit_memory import solve_once
from causalfairness.estimators.known_model import KnownModel
from causalfairness.estimators.learners import fit, predict_mean
from causalfairness.estimators.protocol import Estimator
from causalfairness.estimators.strata import Counts
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Column, Rows
from causalfairness.tables.columns import Declared
from causalfairness.tables.stand_ins import LABELS, NUMBERS, OFTEN, UNSURE

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
FEWEST, RAREST = 50, 10  # rows, and rows of the rarer value: of fewer nothing is said
SAMPLE, FOLDS, DEPTH, LEAF = 20_000, 5, 6, 5
FEW = 20  # labels that may stand for themselves, and whole numbers that are taken for amounts
COPY, NEAR = {True: 0.995, False: 0.99}, {True: 0.95, False: 0.9}  # AUC of a yes or no, else R2
PURE, CONSTANT, DISTINCT, PARSED = 0.999, 0.999, 0.95, 0.95
REVEALED, SAME_GROUP = 0.9, 0.99  # AUC of the group by all confounders, and by one mediator
BETTER, SURELY = 0.98, 3  # loss by labels as a share of that by amounts, and by how many errors
FAR = 3  # distance in ranges of the middle half, of codes for missing values
NUMBER = r"\s*[-+]?[\d,]*\.?\d+(e[-+]?\d+)?\s*$"
DAY = r"\s*(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.](\d{4}|\d\d))(\D|$)"
LEAVES = {
    "mediator": "no direct part",
    "confounder": "neither a direct nor an indirect part",
    "feature": "only people alike who were decided alike",
}


def estimate_from(
    estimator: Estimator, reading: Any, model: StandardFairnessModel, *, workers: int, seed: int
) -> Estimate:
    """The world means, once the columns with a role were looked at. Notes join the diagnostics."""
    notes = look_at(reading, model, asked=isinstance(estimator, KnownModel))
    found = estimator.estimate(reading, model, workers=workers, seed=seed)
    told = replace(found.diagnostics, notes=(*notes, *found.diagnostics.notes))
    return replace(found, diagnostics=told)


def look_at(
    reading: Any, model: StandardFairnessModel, *, asked: bool = False, role: str = ""
) -> tuple[str, ...]:
    """Notes on the columns with a role. Those that no answer can stand on are refused.

    `asked` says that what is measured is the answer of a model, which its columns may well tell;
    `role` is what columns are called that are none of a model, but make people alike.

    >>> import pyarrow as pa
    >>> from causalfairness.tables import open_table
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", mediators=["late"], outcome="paid")
    >>> people = pa.table({"sex": ["M", "F"] * 30, "paid": [0, 0, 1] * 20, "late": [7, 7, 0] * 20})
    >>> look_at(open_table(people).rows(model, "outcome"), model)
    Traceback (most recent call last):
    ...
    causalfairness.errors.RoleColumnError: 'late' tells 'paid' in 100.0% of rows. As a mediator ...
    """
    if not isinstance(reading, Counts | Rows):
        return ()
    seen = _seen(reading, model, role)
    if seen.rows.sum() < FEWEST:
        return ()
    if asked or (seen.of_prediction and model.predict is not None):
        seen = seen._replace(sums=None)
    found = solve_once(lambda some: [np.array([*_look(each)], str) for each in some], [seen])
    return tuple(found[0].tolist())


class _Seen(NamedTuple):
    """Rows, or cells of them: columns in the order of their names, and sums of what is measured."""

    columns: Sequence[Column]
    roles: Mapping[str, str]
    group: Array
    rows: Array
    sums: Sequence[Array] | None  # weight, weighted y, weighted y squared
    measured: str
    is_binary: bool
    of_prediction: bool
    declared: Declared
    sample: Codes  # positions of the rows in the sample; none of cells
    fold: Codes


def _seen(reading: Any, model: StandardFairnessModel, role: str) -> _Seen:
    """What is there to look at? Equal rows stand for each other, in the sample and in folds."""
    whole: Any = reading.cells if isinstance(reading, Counts) else reading
    pair = whole.pair(model)
    if isinstance(reading, Counts):
        held, rows, binary = {key.name: key for key in whole.keys}, pair.sums.rows, whole.is_binary
        sums: Any = (pair.sums.w2, pair.sums.w2y, pair.sums.w2y2)
    else:
        held, rows, binary, y = whole.columns, np.ones(len(pair)), pair.is_binary, pair.outcome
        sums = None if y is None else (rows, y, y * y)
    roles = dict.fromkeys(model.confounders, role or "confounder")
    roles |= dict.fromkeys(model.mediators, role or "mediator")
    columns = [held[name].take(pair.index) for name in sorted({*roles} - {*whole.declared.accept})]
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for values in (*map(_numbers, columns), *(() if sums is None else sums[1:2]), pair.group):
        mixed = (mixed ^ (values + 0.0).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    index = np.argsort(mixed, kind="stable")[: 0 if isinstance(reading, Counts) else SAMPLE]
    column, of = ("", "prediction") if whole.target is None else whole.target[::2]
    of_prediction, group = of == "prediction", pair.group.astype(float)
    about = (column, bool(binary), of_prediction, whole.declared)
    return _Seen(columns, roles, group, rows, sums, *about, index, np.arange(len(index)) % FOLDS)


def _numbers(column: Column) -> Array:
    if column.values is not None:
        return column.values
    return np.array([*(crc32(label.encode()) for label in column.labels), -1.0])[column.codes]


class _Held(NamedTuple):
    """One column, and how many rows have each of its values."""

    column: Column
    role: str
    codes: Codes
    counts: Array
    numbers: Array  # its values; none of labels

    @classmethod
    def of(cls, column: Column, seen: _Seen) -> _Held:
        levels = column.levels()
        numbers = np.array(levels.values if column.is_number else [], dtype=float)
        counts = np.bincount(levels.codes, seen.rows, len(levels.values)).astype(float)
        return cls(column, seen.roles[column.name], levels.codes, counts, numbers)

    @property
    def whole(self) -> Array:
        """The values that are known, if all are whole numbers."""
        known = self.numbers[~np.isnan(self.numbers)]
        return known if np.all(known == np.floor(known)) else known[:0]

    @property
    def is_counted(self) -> bool:
        """Are values so few that what goes with each can be counted?"""
        return len(self.counts) <= float(self.counts.sum()) / 10


def _look(seen: _Seen) -> Iterator[str]:
    held = [_Held.of(column, seen) for column in seen.columns]
    if seen.sums is not None and len(seen.sample) and seen.measured not in seen.declared.accept:
        y = Column.numbers(seen.measured, seen.sums[1])
        yield from _stand_ins(_Held.of(y, seen._replace(roles={y.name: "outcome"})), seen)
    for each in held:
        _refuse_unreadable(each, seen)
    looks = (_copies, _stand_ins, _codes)
    notes = [note for each in held for look in looks for note in look(each, seen)]
    yield from notes
    yield from _revealed([each for each in held if each.role == "confounder"], seen)
    if not notes:
        yield from _together(held, seen)
    yield from _twins(held)


def _refuse_unreadable(held: _Held, seen: _Seen) -> None:
    """Ids, dates as labels and numbers as text: none of them says what a person is like."""
    column, labels, n, declared = held.column, held.column.labels, seen.rows.sum(), seen.declared
    name, many = repr(column.name), f"{len(labels):,} labels: each would be a category of its own"
    if len(labels) > FEW and column.name not in declared.categorical:
        if _readable(labels, NUMBER):
            raise RoleColumnError(
                f"{name} holds numbers as text, {many}. numeric=[{name}] reads them as amounts, "
                f"categorical=[{name}] takes them as codes"
            )
        if _readable(labels, DAY):
            raise RoleColumnError(
                f"{name} holds dates, {many}. Give years, or days since a date, or leave it out; "
                f"categorical=[{name}] takes them as labels"
            )
    filled = len(held.whole) and np.ptp(held.whole) < 2 * n and column.name not in declared.numeric
    if len(held.counts) >= DISTINCT * n and (labels or filled):
        raise RoleColumnError(
            f"{name} has a value of its own in {len(held.counts) / n:.1%} of rows, as an id has. "
            f"As a {held.role} it tells people apart, and not what they are like. Leave it out, or "
            f"accept=[{name}] if it is a measurement"
        )


def _readable(labels: Sequence[str], form: str) -> bool:
    """Are almost all labels written like this? Of many, a thousand are looked at."""
    tried = labels[:: max(1, len(labels) // 1_000)]
    return sum(re.match(form, label) is not None for label in tried) >= PARSED * len(tried)


class _Tells(NamedTuple):
    """How well a column tells a yes or no (AUC) or a number (R2), and how purely."""

    strength: float
    binary: bool
    purity: float = 0.0

    @property
    def is_copy(self) -> bool:
        return self.purity >= PURE or self.strength >= COPY[self.binary]

    def __str__(self) -> str:
        if self.purity >= PURE:
            return f"in {self.purity:.1%} of rows"
        measured = f"({'AUC' if self.binary else 'R2'} {self.strength:.3f})"
        return measured if self.is_copy else f"almost {measured}"


def _told(held: _Held, seen: _Seen, sums: Sequence[Array], *, binary: bool) -> _Tells:
    """What does this column alone say of what was summed?"""
    by_rows = len(seen.sample) and held.column.is_number and len(held.counts) > FEW
    if by_rows:
        x, y = held.codes[seen.sample, None].astype(float), sums[1][seen.sample]
        along = 0.0 if binary else float(np.corrcoef(_ranked(x[:, 0]), _ranked(y))[0, 1]) ** 2
        told = _by_tree(x, y, seen.fold, NEAR[binary], binary=binary)
        return told._replace(strength=max(told.strength, along))  # a tree misses the ends
    return _summed(held, seen, sums, binary=binary) if held.is_counted else _Tells(0.0, binary)


def _summed(held: _Held, seen: _Seen, sums: Sequence[Array], *, binary: bool) -> _Tells:
    n = seen.rows.sum()
    w, s, q = (np.bincount(held.codes, part) for part in sums)
    w, s, q = (part[w > 0] * n / w.sum() for part in (w, s, q))
    if not binary:
        left = (q - s**2 / w).sum() / (q.sum() - s.sum() ** 2 / w.sum())
        return _Tells(float(1 - left * (n - 1) / (n - len(w))), binary)
    order = np.argsort(s / w, kind="stable")
    yes, no = s[order], (w - s)[order]
    rarer, wrong = min(yes.sum(), no.sum()), np.minimum(yes, no).sum()
    if rarer < RAREST:
        return _Tells(0.0, binary)
    auc = float((yes * (np.cumsum(no) - no / 2)).sum() / (yes.sum() * no.sum()))
    return _Tells(auc, binary, float(1 - wrong / n) if wrong <= rarer / 10 else 0.0)


def _ranked(values: Array) -> Array:
    of_row, times = np.unique(values, return_inverse=True, return_counts=True)[1:]
    return np.asarray((np.cumsum(times) - times / 2)[of_row])


def _by_tree(x: Array, y: Array, fold: Codes, least: float, *, binary: bool) -> _Tells:
    """Out of fold; not asked where a tree says less than this of the rows that it knows."""
    from sklearn.metrics import r2_score, roc_auc_score

    measure = roc_auc_score if binary else r2_score
    rare = binary and min(y.sum(), len(y) - y.sum()) < RAREST
    if rare or measure(y, predict_mean(fit(_tree(), x, y, None), x)) < least:
        return _Tells(0.0, binary)
    return _Tells(float(measure(y, _unseen(_tree(), x, y, fold))), binary)


def _tree() -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=LEAF, random_state=0)


def _unseen(learner: Any, x: Array, y: Array, fold: Codes) -> Array:
    found = np.empty(len(y))
    for out in (fold == at for at in range(FOLDS)):
        found[out] = predict_mean(fit(learner, x[~out], y[~out], None), x[out])
    return found


def _copies(held: _Held, seen: _Seen) -> Iterator[str]:
    """Does the column tell the outcome, the group, or nothing?"""
    name, role = repr(held.column.name), held.role
    if (most := held.counts.max() / held.counts.sum()) >= CONSTANT:
        yield f"{name} has one value in {most:.1%} of rows and says next to nothing. Leave it out"
        return
    if seen.sums is not None:
        told = _told(held, seen, seen.sums, binary=seen.is_binary)
        said = f"{name} tells {seen.measured!r} {told}"
        graded = role == "feature" and held.column.is_number and len(held.counts) > FEW
        own = not (seen.of_prediction or graded)
        if told.is_copy and own:
            raise RoleColumnError(
                f"{said}. As a {role} it would leave {LEAVES[role]}. Leave it out, or "
                f"accept=[{name}] if it is no copy"
            )
        if told.is_copy or (own and told.strength >= NEAR[seen.is_binary]):
            yield (
                f"{said}. If it is {seen.measured!r} under another name, or follows from it, it is "
                f"no {role}: leave it out; accept=[{name}] says that it is none of these"
            )
    told = _told(held, seen, (seen.rows, *[seen.rows * seen.group] * 2), binary=True)
    fixes = max(told.strength, told.purity) >= PURE and seen.sums is not None
    if role != "mediator" and fixes:
        raise GroupColumnError(
            f"{name} tells the group {told}. As a {role} it leaves nobody in the other group "
            f"to compare with. Leave it out, or accept=[{name}]"
        )
    if role == "mediator" and told.strength >= SAME_GROUP:
        yield f"{name} tells the group {told}: direct and indirect part can hardly be distinguished"


def _stand_ins(held: _Held, seen: _Seen) -> Iterator[str]:
    """Numbers and labels that are frequent as codes for missing values are."""
    name, n = repr(held.column.name), seen.rows.sum()
    if held.column.name in (*seen.declared.numeric, *seen.declared.categorical):
        return
    for label in sorted({*held.column.labels} & {*LABELS, *UNSURE}):
        count = held.counts[held.column.levels().values.index(label)]
        if count >= OFTEN * n:
            yield (
                f"{label!r} stands in {count / n:.1%} of rows of {name}, as missing values do. "
                f"Read it as missing, or categorical=[{name}] says that it is a label"
            )
    for value in _far_off(held):
        yield (
            f"{value:g} stands in {held.counts[held.numbers == value].sum() / n:.1%} "
            f"of rows of {name}, far from all other numbers, as a code for missing values does. "
            f"Read it as missing, or numeric=[{name}] says that it is an amount"
        )


def _codes(held: _Held, seen: _Seen) -> Iterator[str]:
    """Do labels foretell the outcome, or the group, better than the best that amounts can?"""
    name, levels, fold = repr(held.column.name), len(held.counts), seen.fold
    if held.column.name in seen.declared.numeric or held.role == "feature":
        return
    if not len(held.whole) or not FEW < levels <= len(fold) / FOLDS:
        return
    x, codes = np.nan_to_num(_numbers(held.column))[seen.sample, None], held.codes[seen.sample]
    amounts_by = {each.name: each.model for each in regressors(1, seed=0)}
    squares, boosting = amounts_by["linear with interactions"], amounts_by["boosting"]
    targets = {} if seen.sums is None else {repr(seen.measured): seen.sums[1]}
    for what, values in (targets | {"the group": seen.group}).items():
        y, losses = values[seen.sample], [np.inf]
        by_label = (y - _unseen_by_label(codes, y, fold)) ** 2
        for learner in (squares, _tree(), boosting):
            loss = (y - _unseen(learner, x, y, fold)) ** 2
            more = BETTER * loss - by_label
            if more.mean() < SURELY * more.std() / np.sqrt(len(y)):
                break
            losses.append(float(loss.mean()))
        else:
            yield (
                f"{name} holds {levels:,} whole numbers that look like codes: as labels they "
                f"foretell {what} with a squared error of {by_label.mean():.3g}, as amounts with "
                f"{min(losses):.3g}, and codes taken for amounts bias all parts. "
                f"categorical=[{name}] takes them as labels, numeric=[{name}] as amounts"
            )
            return


def _far_off(held: _Held) -> Iterator[float]:
    """The usual codes for missing values that are frequent, and far from all that are smaller."""
    for value in np.intersect1d(held.numbers, NUMBERS):
        rest = held.numbers * np.sign(value) < 0.9 * abs(value)
        share = held.counts[held.numbers == value].sum() / held.counts.sum()
        if share >= OFTEN and rest.sum() > 1:
            order = np.argsort(held.numbers[rest])
            x, below = held.numbers[rest][order], np.cumsum(held.counts[rest][order])
            low, high = x[np.searchsorted(below, (0.25 * below[-1], 0.75 * below[-1]))]
            if np.abs(x - value).min() > FAR * (high - low or 1.0):
                yield float(value)


def _unseen_by_label(codes: Codes, y: Array, fold: Codes) -> Array:
    """The mean of each label over the other folds, which leans on that of all labels."""
    found = np.empty(len(y))
    for out in (fold == at for at in range(FOLDS)):
        w, s = (np.bincount(codes[~out], part, codes.max() + 1) for part in (None, y[~out]))
        found[out] = ((s + y[~out].mean()) / (w + 1))[codes[out]]
    return found


def _revealed(held: Sequence[_Held], seen: _Seen) -> Iterator[str]:
    """Do all confounders together tell the group? In cells the guards of overlap say so."""
    if not (held and len(seen.sample)):
        return
    x = np.column_stack([each.codes for each in held])[seen.sample].astype(float)
    told = _by_tree(x, seen.group[seen.sample], seen.fold, REVEALED, binary=True)
    if told.strength >= REVEALED:
        share = np.exp(-2 * ndtri(min(told.strength, 1 - 1e-9)) ** 2)
        yield (
            f"the confounders tell the group {told}: about {share:.2g} of the rows have somebody "
            "like them in the other group, and the answer rests on these"
        )


def _together(held: Sequence[_Held], seen: _Seen) -> Iterator[str]:
    """Do several columns tell the outcome? Those of few values counted, and all by a tree.

    Asked where no column alone gave cause for a note. Features may well tell a decision.
    """
    if seen.sums is None or seen.of_prediction or len(held) < 2 or "feature" in seen.roles.values():
        return
    binary, told = seen.is_binary, _Tells(0.0, seen.is_binary)
    few = [each.codes for each in held if len(each.counts) <= FEW]
    if few:
        codes = np.unique(np.column_stack(few), axis=0, return_inverse=True)[1].reshape(-1)
        both = held[0]._replace(codes=codes, counts=np.bincount(codes, seen.rows).astype(float))
        told = _summed(both, seen, seen.sums, binary=binary) if both.is_counted else told
    if len(seen.sample) and len(few) < len(held) and not told.strength >= NEAR[binary]:
        x = np.column_stack([each.codes for each in held])[seen.sample].astype(float)
        told = _by_tree(x, seen.sums[1][seen.sample], seen.fold, NEAR[binary], binary=binary)
    if told.is_copy or told.strength >= NEAR[binary]:
        yield (
            f"confounders and mediators together tell {seen.measured!r} {told}: if it is computed "
            "from them, or they say it in other words, no direct part is left to be found"
        )


def _twins(held: Sequence[_Held]) -> Iterator[str]:
    """Which columns say the same? Each fixes the other; of many values, in the same order."""
    first: dict[bytes, str] = {}
    for each in held:
        codes = each.codes
        if each.is_counted:  # values are numbered as they appear
            order = np.argsort(np.unique(codes, return_index=True)[1])
            codes = np.argsort(order)[codes]
        elif codes[0] > codes.max() / 2:
            codes = codes.max() - codes
        same = first.setdefault(codes.tobytes(), each.column.name)
        if same != each.column.name:
            yield f"{same!r} and {each.column.name!r} say the same: leave one of them out"
