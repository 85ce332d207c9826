"""How much of a gap in an error rate is direct, indirect or spurious? (methods §4)

    ER = P(ŷ | a1, y) - P(ŷ | a0, y)

is the gap of methods §2 among people with outcome y, with the audited model f in place of the
outcome: mu_y[i, j, k] = sum over c, m of f(i, m, c) P(m | j, c, y) P(c | k, y). All signs are
changes from the reference group to the comparison group. Predictive values turn the question
around: the mean outcome among people with one decision.

Without mediators, f is a function of group and confounders, and nothing has to be assumed about
them: direct = sum over c of (f(a1, c) - f(a0, c)) P(c | a0, y), the rest is spurious. A model that
uses mediators is then replaced by a named comparison model without them, or asked with them under
an assumption that is printed with the result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from causalfairness.effects import Basis, Decomposition, Effect, Estimate
from causalfairness.effects.contrasts import Convention
from causalfairness.errors import (
    ConstantPredictionError,
    GroupNotFoundError,
    OutcomeError,
    OverlapError,
    RoleError,
)
from causalfairness.estimators import Estimator, KnownModel
from causalfairness.estimators.added_people import AddedPeople
from causalfairness.estimators.comparison_model import ComparisonModel, fit_comparison_model
from causalfairness.estimators.role_columns import estimate_from
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity.error_rate import RATES, ErrorRateDecomposition, Rate
from causalfairness.parity.statistical import check_convention, explain, pick
from causalfairness.parity.yes_or_no import NOTHING, Answer, Decide, Decided, read_decided
from causalfairness.tables import Missing, Table, ask
from causalfairness.tables.frames import dealt_anew

DEALS = 5  # how often the mediators are dealt out anew
TELLING = 0.5  # share of people that must have a counterpart with other mediators


def decompose_error_rates(
    data: Any,
    model: StandardFairnessModel,
    rate: str = "fpr",
    *,
    with_mediators: bool = False,
    comparison_model: Any = None,
    estimator: Estimator | None = None,
    convention: Convention = "sequential",
    missing: Missing = "refuse",
    workers: int = 1,
    seed: int = 0,
) -> ErrorRateDecomposition:
    """How much of the gap in an error rate is direct, indirect or spurious?

    `rate` is one of `"fpr"`, `"fnr"`, `"tpr"`, `"tnr"`, `"ppv"` and `"npv"`; outcome and prediction
    are 0 and 1, or labels of which `outcome_value` counts. With `with_mediators=True` there is an
    indirect part, under the assumption that is printed with it. Without, an audited model that
    uses the mediators is replaced by `comparison_model`, an unfitted scikit-learn classifier (by
    default a logistic regression) that is fitted on group and confounders; the result says so and
    holds the audited model's own gap too. The rest is as in `decompose_disparity`.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="race", reference="African-American", comparison="Caucasian",
    ...     confounders=["age", "sex"], outcome="is_recid",
    ...     prediction=lambda people: [age < 30 for age in people["age"].to_pylist()])
    >>> found = cf.decompose_error_rates(cf.datasets.load_compas(), model, "fpr")
    >>> found.direct.value == 0, round(found.spurious.value, 3)
    (True, -0.13)
    """
    if rate not in RATES:
        raise ValueError(f"rate must be one of {', '.join(map(repr, RATES))}; found {rate!r}")
    asked = RATES[rate]
    check_convention(convention)
    if comparison_model is not None and (with_mediators or asked.of == "outcome"):
        raise RoleError(
            "comparison_model stands in for an audited model that uses mediators, which is never "
            f"needed {'with_mediators=True' if with_mediators else f'for rate={rate!r}'}; leave it "
            "out"
        )
    known = estimator.predict if isinstance(estimator, KnownModel) else None
    table, model = ask(data, model, missing=missing)
    elsewhere = float(asked.of == "outcome" and asked.given)
    decided = read_decided(table, model, known, elsewhere=elsewhere)
    _check_exists(decided, asked, f"the prediction {decided.prediction.name!r}")
    subject = _subject(decided, asked, with_mediators, comparison_model, seed)
    estimate = _estimate(subject, asked, estimator, workers=workers, seed=seed)
    decomposition = Decomposition(
        what=f"{asked.name} of {subject.who} among {_among(subject.decided, asked).words}",
        reference=model.reference_label,
        comparison=model.comparison_label,
        convention=convention,
        estimate=estimate,
    )
    audited = decomposition.total
    if subject.comparison is not None:
        audited = _own_gap(decided, asked)
    return ErrorRateDecomposition(rate, decomposition, audited, subject.comparison, subject.lumped)


class _Among(NamedTuple):
    """Which column has which value for the people a rate is about?"""

    column: str
    equals: float
    words: str


class _Subject(NamedTuple):
    """Whose decisions are explained, and what must be said about that?"""

    decided: Decided
    who: str
    comparison: str | None = None
    lumped: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _among(decided: Decided, asked: Rate) -> _Among:
    other = decided.outcome if asked.of == "prediction" else decided.prediction
    return _Among(other.column, float(asked.given), other.said(asked.given))


def _narrowed(decided: Decided, asked: Rate) -> Table:
    column, equals, _ = _among(decided, asked)
    return decided.table.among(column, equals)


# Is there a gap to explain? --------------------------------------------------------------------


def _check_exists(decided: Decided, asked: Rate, who: str, hint: str = "") -> None:
    """Do both groups have such a rate, and do decisions differ at all?"""
    weight = decided.confusion()
    among = _among(decided, asked).words
    for says in (0, 1):
        if weight[:, :, 1 - says].sum() == 0:
            raise ConstantPredictionError(
                f"{who} is the same for everyone in both groups "
                f"({decided.prediction.said(bool(says))}): a predictor that never tells people "
                f"apart has no error-rate gap to explain{hint}"
            )
    given = int(asked.given)
    inside = weight[:, given] if asked.of == "prediction" else weight[..., given]
    labels = decided.model.reference_label, decided.model.comparison_label
    for role, name in enumerate(("reference", "comparison")):
        if inside[role].sum() == 0:
            raise GroupNotFoundError(
                f"nobody in the {name} group {labels[role]!r} has {among}, so it has no "
                f"{asked.name}{hint}"
            )
    answer = decided.prediction if asked.of == "prediction" else decided.outcome
    for says in (0, 1):
        if inside[:, 1 - says].sum() == 0:
            error = ConstantPredictionError if asked.of == "prediction" else OutcomeError
            raise error(
                f"everyone with {among} in both groups has {answer.said(bool(says))}: there is no "
                f"gap in the {asked.name} to explain{hint}"
            )


# Whose decisions are explained? ----------------------------------------------------------------


def _subject(
    decided: Decided, asked: Rate, with_mediators: bool, classifier: Any, seed: int
) -> _Subject:
    mediators = tuple(decided.model.mediators)
    who = _spoken(decided.prediction)
    if asked.of == "outcome":
        return _about_outcomes(decided, asked, with_mediators, who)
    if not mediators:
        return _Subject(decided, who)
    if with_mediators:
        among = _among(decided, asked).words
        assumption = (
            f"asking only about people with {among} leaves the relation of group and mediators "
            "unconfounded (the direct part does not need this)"
        )
        return _Subject(decided, who, assumptions=(assumption,))
    reliance = _reliance(decided, seed)
    if reliance.uses_mediators:
        return _compared(decided, asked, classifier, reliance, seed)
    note = (
        f"the audited model does not use {', '.join(mediators)}: {reliance.because}. Nothing of "
        "its error rates runs through the mediators"
    )
    unused = " (the comparison model was not needed)" if classifier is not None else ""
    return _Subject(decided.without_mediators(), who, notes=(note + unused,))


def _spoken(answer: Answer) -> str:
    return answer.name if answer.value is None else answer.said(True)


def _about_outcomes(decided: Decided, asked: Rate, with_mediators: bool, who: str) -> _Subject:
    """Predictive values: the audited model selects the people, it does not make the outcome."""
    mediators = tuple(decided.model.mediators)
    among = _among(decided, asked).words
    assumptions = (
        f"people with {among} were selected by group, mediators and confounders at once: the "
        "parts compare the selected people of two groups as they are, and do not say what would "
        "happen if the group were changed, for then others would be selected",
    )
    if with_mediators or not mediators:
        return _Subject(decided, who, assumptions=assumptions)
    note = (
        f"{', '.join(mediators)} left out: the direct part holds whatever runs through "
        f"{'it' if len(mediators) == 1 else 'them'}, and what comes of selecting people by "
        f"{'it' if len(mediators) == 1 else 'them'}; with_mediators=True sets this apart"
    )
    alone = replace(decided, model=replace(decided.model, mediators=()))
    return _Subject(alone, who, lumped=mediators, assumptions=assumptions, notes=(note,))


def _compared(
    decided: Decided, asked: Rate, classifier: Any, reliance: Reliance, seed: int
) -> _Subject:
    """The decisions of a model without the mediators, fitted to all rows of the two groups."""
    listed = ", ".join(decided.model.mediators)
    alone = replace(decided.model, mediators=())
    pair = decided.table.rows(alone, "outcome").pair(alone)
    fitted: ComparisonModel = fit_comparison_model(pair, classifier, seed)
    name = f"{fitted.name} without {listed}"
    hint = (
        f". The audited model uses {listed} and was replaced by this comparison model; ask "
        "with_mediators=True, or give another comparison_model"
    )
    subject = decided.decided_by(fitted.decide, f"{name} (not the audited model)")
    _check_exists(subject, asked, f"the prediction of the comparison model, {name},", hint)
    notes = (
        f"a different model is decomposed: the audited model uses {listed} ({reliance.because}), "
        f"so {name} was fitted to the {len(pair):,} rows of the two groups, on the group and "
        "the confounders, and is judged on those same rows",
        "standard errors take the comparison model as it is, as if it had not been fitted",
    )
    return _Subject(subject, subject.prediction.name, name, notes=notes)


# What are the parts? ---------------------------------------------------------------------------


def _estimate(
    subject: _Subject, asked: Rate, estimator: Estimator | None, *, workers: int, seed: int
) -> Estimate:
    decided, table = subject.decided, _narrowed(subject.decided, asked)
    chosen, because = _chosen(subject, table, asked, estimator)
    if estimator is None and asked.of == "outcome" and not subject.lumped:
        _refuse_never_selected(decided, table, asked)
    reading = chosen.read(table, decided.model, asked.of)
    found = explain(
        estimate_from(chosen, reading, decided.model, workers=workers, seed=seed), because
    )
    diagnostics = replace(
        found.diagnostics,
        assumptions=(*found.diagnostics.assumptions, *subject.assumptions),
        notes=(*subject.notes, *found.diagnostics.notes),
    )
    means = found.world_means
    stated = replace(means, assumptions=means.assumptions | {*subject.assumptions})
    return asked.turn(replace(found, world_means=stated, diagnostics=diagnostics))


def _chosen(
    subject: _Subject, table: Table, asked: Rate, estimator: Estimator | None
) -> tuple[Estimator, str]:
    decide = subject.decided.decide
    if asked.of == "prediction" and decide is not None:
        if estimator is None:
            known = "the comparison model is a known function of group and confounders"
            given = "the prediction comes with its model"
            return KnownModel(decide), given if subject.comparison is None else known
        if isinstance(estimator, KnownModel):
            return replace(estimator, predict=decide), ""
    return pick(table, [subject.decided.model], asked.of, estimator)


def _refuse_never_selected(decided: Decided, table: Table, asked: Rate) -> None:
    """Would those with this decision have had it in the other group? Else nobody is like them."""
    model, decide = decided.model, decided.decide
    if decide is None or model.reference is None or model.comparison is None:
        return
    pair = table.rows(model, None).pair(model)
    told = [decide(pair.features(group)) for group in (0, 1)]
    other = np.where(pair.group == 1, told[0], told[1])
    lone = other != float(asked.given)
    if lone.any():
        raise OverlapError(
            f"{lone.mean():.1%} of the people with {_among(decided, asked).words} would have been "
            "decided about otherwise in the other group, so that group has nobody selected who is "
            "like them. Strata(empty_cells='restrict') compares the rest, and DoublyRobust() "
            "extrapolates"
        )


def _own_gap(decided: Decided, asked: Rate) -> Effect:
    """The audited model's own gap, a plain difference of two means."""
    model = replace(decided.model, mediators=())
    pair = _narrowed(decided, asked).rows(model, "prediction").pair(model)
    assert pair.outcome is not None
    shares = [pair.weights * (pair.group == role) for role in (0, 1)]
    shares = [share / share.sum() for share in shares]
    means = np.array([share @ pair.outcome for share in shares])
    counted, value = shares[1] - shares[0], float(means[1] - means[0])
    spread = counted * (pair.outcome - means[pair.group])
    identity = pair.rows.identity
    basis = Basis(identity.fingerprint, "rows", identity.order)
    added = AddedPeople.of_rows(pair, pair.outcome)
    correction, block = added.worlds(counted, pair.group)
    blocks = {added.block: pair.scatter(block)}
    own, moved = pair.scatter(spread), float(correction)
    gap = Effect("total", value, own, basis, correction=moved, blocks=blocks)
    return asked.turn_gap(gap)


class Reliance(NamedTuple):
    """Are the mediators used, and how is that known?"""

    uses_mediators: bool
    because: str


def _reliance(decided: Decided, seed: int) -> Reliance:
    """Does the audited model use the mediators? Told from itself, or from its decisions.

    A model at hand is asked again with the mediators dealt out anew among people: if no decision
    changes, it does not listen to them. Of a column of decisions one can only see whether people
    alike in group and confounders are decided about alike; where hardly anyone has such a
    counterpart, it cannot be told, and the mediators count as used.
    """
    if decided.decide is not None:
        return _ask(decided, decided.decide, seed)
    return _compare(decided)


def _ask(decided: Decided, decide: Decide, seed: int) -> Reliance:
    pair = decided.people()
    people = pair.features()
    before, changed = decide(people), np.zeros(len(pair), dtype=bool)
    for rng in np.random.default_rng(seed).spawn(DEALS):
        order = rng.permutation(len(pair))
        changed |= decide(dealt_anew(people, decided.model.mediators, order)) != before
    count = f"{int(changed.sum()):,}" if changed.any() else "none"
    change = f"{count} of {len(pair):,} decisions change{'' if changed.any() else 's'}"
    dealt = f"when the mediators are dealt out anew among people {DEALS} times"
    return Reliance(bool(changed.any()), f"{change} {dealt}")


def _compare(decided: Decided) -> Reliance:
    asked = replace(decided.model, outcome=None)
    pair = decided.table.cells(asked, "prediction").pair(asked)
    alike = pair.group.astype(np.int64) * len(pair.stratum) + pair.stratum[pair.profile]
    sums, size = pair.sums, int(alike.max()) + 1

    def among(here: np.ndarray) -> np.ndarray:
        return np.bincount(alike, here, minlength=size) > 0

    yes, no = sums.wy > NOTHING * sums.w, sums.w - sums.wy > NOTHING * sums.w
    if (among(yes) & among(no)).any():
        return Reliance(True, "people alike in group and confounders are decided about differently")
    profiles = np.unique(np.stack([alike, pair.profile]), axis=1)[0]
    telling = np.bincount(profiles, minlength=size)[alike] > 1
    share = float(sums.rows[telling].sum() / sums.rows.sum())
    if share < TELLING:
        return Reliance(
            True,
            f"only {share:.0%} of people share group and confounders with someone whose mediators "
            "differ, too few to tell from decisions alone; give the model itself as prediction",
        )
    return Reliance(
        False, "people alike in group and confounders are decided about alike, whatever mediators"
    )
