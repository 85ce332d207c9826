"""What does a result say? From effects to plain data; no number is computed anew."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from causalfairness.effects import Decomposition, Diagnostics, EffectTable
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity import GroupComparison
from causalfairness.report.summary import (
    SCHEMA,
    Fact,
    Finding,
    Model,
    Provenance,
    Row,
    Sentence,
    Step,
    Summary,
)

LIBRARIES = ("numpy", "scipy", "scikit-learn", "narwhals", "pyarrow", "duckdb")
NOTES = {
    "outside_support": "where comparable",
    "misfit": "as modeled",
}
WALKS = {
    "sequential": "one path after the other, starting from the reference group as it is: direct, "
    "then mediators, then confounders",
    "symmetric": "each path takes the other group in both orders, averaged, among the comparison "
    "group",
}


def summarise(
    result: Decomposition | GroupComparison,
    *,
    model: StandardFairnessModel | None = None,
    level: float = 0.95,
    source: str = "",
    seed: int | None = None,
    date: str = "",
) -> Summary:
    """What does a result say, as plain data?

    `model` adds who plays which part; `source`, `seed` and `date` are quoted as given, so that the
    same call gives the same bytes on any day.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> summary = summarise(found, model=world.model, date="2024-05-01")
    >>> [row.name for row in summary.table]
    ['total', 'direct', 'indirect', 'spurious']
    >>> summary.findings[0].waterfall[-1].end == found.world_means[1, 1, 1].value
    True
    """
    if isinstance(result, GroupComparison):
        found = tuple(result.by_group.values())
        seed = result.seed if seed is None else seed
    elif isinstance(result, Decomposition):
        found = (result,)
    else:
        raise TypeError(
            f"a report is made of a Decomposition or a GroupComparison; found a "
            f"{type(result).__name__}"
        )
    columns = () if model is None else model.role_columns
    known = (*columns, *(name for one in found for name in _names(one).values()))
    return Summary(
        schema=SCHEMA,
        kind="group comparison" if isinstance(result, GroupComparison) else "decomposition",
        title=_title(result, found[0]),
        sentences=_headline(result, found, level),
        level=level,
        roles=_roles(model, found[0]),
        findings=tuple(_finding(one, level, known) for one in found),
        table=_table(result, level),
        not_compared=_not_compared(result, known),
        assumptions=_assumptions(found, known),
        provenance=_trace(found, source=source, seed=seed, date=date),
    )


def _title(result: Decomposition | GroupComparison, first: Decomposition) -> Sentence:
    other = "other groups" if isinstance(result, GroupComparison) else "{comparison}"
    asked = "Why does {what} differ between {reference} and "
    return Sentence.fill(f"{asked}{other}?", **_names(first))


def _names(found: Decomposition) -> dict[str, str]:
    return {"what": found.what, "reference": found.reference, "comparison": found.comparison}


def _headline(
    result: Decomposition | GroupComparison, found: tuple[Decomposition, ...], level: float
) -> tuple[Sentence, ...]:
    if isinstance(result, Decomposition):
        return _sentences(result, level)
    gaps = [_sentences(one, level)[0] for one in found]
    together = (
        f"Each of these intervals holds by itself; those of the table hold together at the "
        f"{100 * level:.6g}% level, and its p-values allow for all questions at once."
    )
    return *gaps, Sentence(together)


def _sentences(found: Decomposition, level: float) -> tuple[Sentence, ...]:
    """The sentences of the result itself, with the places of its names."""
    names = _names(found)
    nameless = replace(found, what="{what}", reference="{reference}", comparison="{comparison}")
    return tuple(Sentence.fill(pattern, **names) for pattern in nameless.sentences(level))


def _finding(found: Decomposition, level: float, known: Iterable[str]) -> Finding:
    table = found.table(level)
    summary = found.summary(level)
    meanings = dict(zip(table.names, table.meanings, strict=True))
    means = (found.world_means[0, 0, 0], found.world_means[1, 1, 1])
    first, last = _rows(EffectTable(means, level=level), found.comparison)
    parts = EffectTable(
        summary.effects, tuple(meanings[name] for name in summary.names), level=level
    )
    return Finding(
        **_names(found),
        convention=found.convention,
        sentences=_sentences(found, level),
        waterfall=walk(
            _rows(summary, found.comparison), first, last, found.reference, found.comparison
        ),
        parts=_rows(parts, found.comparison),
        effects=_rows(table, found.comparison),
        diagnostics=_facts(found.diagnostics, known),
        models=tuple(
            Model(one.target, one.learner, one.measure, one.loss, one.baseline)
            for one in found.diagnostics.learners
        ),
    )


def walk(
    parts: Iterable[Row], first: Row, last: Row, reference: str, comparison: str
) -> tuple[Step, ...]:
    """Which steps lead from one group's mean to the other's, and what do the paths leave over?

    >>> direct, first, last = (
    ...     Row("F", name, value, 0.1, 0.0, 1.0, 0.0)
    ...     for name, value in [("direct", 0.25), ("", 0.5), ("", 0.75)])
    >>> [step.end for step in walk([direct], first, last, "M", "F")]
    [0.5, 0.75, 0.75]
    """
    found = {part.name: part for part in parts}
    rest = [part for name, part in found.items() if name in NOTES]
    note = NOTES[rest[0].name] if rest else ""
    steps = [_level("reference", reference, first, note)]
    for path in ("direct", "indirect", "spurious"):
        if path in found:
            steps.append(_change(found[path], steps[-1].end))
    steps.append(_level("comparison", comparison, last, note))
    return *steps, *(_change(part, last.value) for part in rest)


def _level(name: str, label: str, mean: Row, note: str) -> Step:
    return Step(name, label, "level", 0.0, mean.value, mean.low, mean.high, note)


def _change(part: Row, start: float) -> Step:
    end, low, high = (start + size for size in (part.value, part.low, part.high))
    return Step(part.name, part.name.replace("_", " "), "change", start, end, low, high)


def _rows(table: EffectTable, group: str) -> tuple[Row, ...]:
    return tuple(Row(group=group, **record) for record in table.to_records())


def _table(result: Decomposition | GroupComparison, level: float) -> tuple[Row, ...]:
    if isinstance(result, Decomposition):
        return _rows(result.summary(level), result.comparison)
    rows = []
    groups = [found.comparison for found in result.by_group.values()]
    records = result.table(level).to_records()
    per_group = len(records) // len(groups)
    for at, record in enumerate(records):
        group = groups[at // per_group]
        name = record.pop("name").removeprefix(f"{group}: ")
        rows.append(Row(group=group, name=name, **record))
    return tuple(rows)


def _roles(model: StandardFairnessModel | None, found: Decomposition) -> tuple[Fact, ...]:
    facts = []
    if model is not None:
        facts = [
            _listed("protected attribute", model.protected_columns),
            _listed("confounders", model.confounders, "not caused by the protected attribute"),
            _listed("mediators", model.mediators, "may be caused by it"),
        ]
        single = {
            "outcome": model.outcome,
            "prediction": model.prediction_column or ("a function" if model.predict else None),
            "weights": model.weights,
        }
        facts += [_listed(role, [column]) for role, column in single.items() if column]
        if model.outcome_value is not None:
            facts.append(_listed("counts as 1", [str(model.outcome_value)]))
        if model.left_out:
            facts.append(_listed("left out", model.left_out, "neither confounder nor mediator"))
    walk = f"{found.convention}: {WALKS[found.convention]}"
    return *facts, Fact("convention", Sentence(walk))


def _listed(name: str, columns: Iterable[str], remark: str = "") -> Fact:
    places = {f"c{at}": column for at, column in enumerate(columns)}
    pattern = ", ".join(f"{{{place}}}" for place in places) or "none"
    said = f"{pattern} ({remark})" if remark and places else pattern
    return Fact(name, Sentence.fill(said, **places))


def _facts(diagnostics: Diagnostics, known: Iterable[str]) -> tuple[Fact, ...]:
    texts = [
        ("estimator", diagnostics.estimator),
        ("chosen because", diagnostics.chosen_because),
        ("rows", str(diagnostics.rows)),
        ("overlap", str(diagnostics.overlap)),
        *(("note", note) for note in diagnostics.notes),
        *(("compared", each.compared) for each in diagnostics.learners if each.candidates[1:]),
        *(("remainder", str(each)) for each in diagnostics.remainders),
    ]
    return tuple(Fact(name, Sentence.mark(text, known)) for name, text in texts if text)


def _not_compared(
    result: Decomposition | GroupComparison, known: Iterable[str]
) -> tuple[Fact, ...]:
    refused = {} if isinstance(result, Decomposition) else result.refused
    named = [
        (", ".join(map(str, group)) if isinstance(group, tuple) else str(group), reason)
        for group, reason in refused.items()
    ]
    return tuple(Fact(name, Sentence.mark(reason, known)) for name, reason in named)


def _assumptions(found: tuple[Decomposition, ...], known: Iterable[str]) -> tuple[Sentence, ...]:
    stated = dict.fromkeys(text for one in found for text in one.diagnostics.assumptions)
    return tuple(Sentence.mark(text, known) for text in stated)


def _trace(
    found: Sequence[Decomposition], *, source: str, seed: int | None, date: str
) -> Provenance:
    """Data, program and settings; nothing here reads the clock."""
    basis = found[0].total.basis
    drawn = basis.seed.partition("/")[0]
    return Provenance(
        package=_version("causalfairness"),
        python=platform.python_version(),
        libraries={name: _version(name) for name in LIBRARIES},
        source=source,
        fingerprint=basis.fingerprint,
        estimator=found[0].diagnostics.estimator,
        seed=drawn if seed is None else str(seed),
        date=date,
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
