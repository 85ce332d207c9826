"""Which paths may a business use, and does its predictor use them as the world does? (methods §6)

For each path, with Ctf-CE its effect on a variable, a change from the reference group to the
comparison group:

    not allowed   the prediction must not use it       Ctf-CE(prediction) = 0
    allowed       it must use it as the world does     Ctf-CE(prediction) - Ctf-CE(outcome) = 0

Both effects are estimated from the same rows, folds, cells or draws, so that their difference has
the standard error it deserves: intervals of two effects that overlap say little about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from causalfairness.errors import NecessityError
from causalfairness.estimators import Estimator
from causalfairness.estimators.joint import check_both, estimate_both
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity.necessity.ledger import Declaration, Ledger, ledger_of
from causalfairness.parity.necessity.mediators import MediatorPaths, read_paths
from causalfairness.parity.necessity.paths import PATHS, Findings, three_paths
from causalfairness.parity.necessity.report import NecessityReport, PathVerdict
from causalfairness.parity.necessity.rules import EquivalenceRule, PointRule, Rule
from causalfairness.scm import StructuralCausalModel
from causalfairness.tables import Missing, ask

Allowed = Iterable[str | Declaration]
Groups = Mapping[str, Sequence[str]]
POINTS_ONLY = (
    "replication setting: the estimates alone decide, as in the published algorithm, and chance is "
    "not allowed for; check_business_necessity allows for it"
)
NO_MARGIN = (
    "with a margin of 0 a path can be found violated but never satisfied: no data show that an "
    "effect is exactly zero"
)


def check_business_necessity(
    data: Any,
    model: StandardFairnessModel,
    *,
    allowed: Allowed = (),
    margin: float | None = None,
    level: float = 0.95,
    estimator: Estimator | None = None,
    scm: StructuralCausalModel | None = None,
    paths: Groups | None = None,
    replicates: int | None = 200,
    missing: Missing = "refuse",
    workers: int = 1,
    seed: int = 0,
) -> NecessityReport:
    """Does a predictor use only the paths it may, and those as the world does?

    `model` names outcome and prediction. `allowed` holds paths (`direct`, `indirect`, `spurious`),
    or a `Declaration` of who declared one necessary, and why; nothing is allowed unless it is said.
    With a `margin` each path is violated, satisfied or undecided: shown to be further than that
    from what is required, shown to be closer, or neither. Without one effects are reported and
    nothing is judged: how much would matter people must say. `estimator=None` chooses and says why.

    Single mediators, or groups of them, are told apart by a structural model: `scm` with the
    prediction among its nodes (or a function as prediction) and `paths`, such as
    `{"record": ["priors"], "juvenile": ["juv_fel", "juv_misd"]}`. Its mechanisms are fitted again
    to `replicates` tables of rows drawn anew, for standard errors; None takes them as given.

    >>> import causalfairness as cf
    >>> compas = cf.datasets.load_compas()
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female", confounders=["age_cat"],
    ...     outcome="two_year_recid", prediction="is_recid")
    >>> report = cf.check_business_necessity(compas, model, allowed={"spurious"}, margin=0.01)
    >>> print(report.sentences()[-1])
    Overall, at the 95% level with a margin of 1 point, ...: violated, along direct.
    """
    rule = EquivalenceRule(margin, level)
    notes = (NO_MARGIN,) if margin == 0 else ()
    asked = _asked(model, estimator, scm, paths, replicates)
    return _report(data, model, rule, allowed, notes, asked, missing, workers, seed)


def published_business_necessity(
    data: Any,
    model: StandardFairnessModel,
    *,
    allowed: Allowed = (),
    tolerance: float,
    estimator: Estimator | None = None,
    scm: StructuralCausalModel | None = None,
    paths: Groups | None = None,
    missing: Missing = "refuse",
    workers: int = 1,
    seed: int = 0,
) -> NecessityReport:
    """What does the published algorithm say, by its letter? For replication only.

    A path fails where the estimate itself is further than `tolerance` from what is required. The
    algorithm as printed has a tolerance of 0, which no estimate ever meets; another one has to be
    stated. The rest is as in
    `check_business_necessity`, with the same report; intervals are shown, but decide nothing.

    >>> import causalfairness as cf
    >>> compas = cf.datasets.load_compas()
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female", confounders=["age_cat"],
    ...     outcome="two_year_recid", prediction="is_recid")
    >>> from causalfairness.parity import published_business_necessity
    >>> report = published_business_necessity(compas, model, tolerance=0.2)
    >>> report.verdict, report.is_tested
    ('satisfied', False)
    """
    asked = _asked(model, estimator, scm, paths, None)
    rule = PointRule(tolerance)
    return _report(data, model, rule, allowed, (POINTS_ONLY,), asked, missing, workers, seed)


def _asked(
    model: StandardFairnessModel,
    estimator: Estimator | None,
    scm: StructuralCausalModel | None,
    paths: Groups | None,
    replicates: int | None,
) -> MediatorPaths | Estimator | None:
    """Which effects are asked for: those of mediators, or the three of the decomposition?"""
    check_both(model)
    if (scm is None) != (paths is None):
        given, lacking = ("scm", "paths") if paths is None else ("paths", "scm")
        raise NecessityError(
            f"{given}=... was given without {lacking}=...: single mediators are separated by a "
            "structural model, and paths names them. For the direct, indirect and spurious path of "
            "a structural model, give estimator=Structural(scm)"
        )
    if scm is None or paths is None:
        return estimator
    if estimator is not None:
        raise NecessityError(
            "estimator and scm are two ways to find the effects: leave out estimator for those of "
            "single mediators, or scm and paths for the three of the decomposition"
        )
    return read_paths(model, scm, paths, replicates)


def _report(
    data: Any,
    model: StandardFairnessModel,
    rule: Rule,
    allowed: Allowed,
    notes: tuple[str, ...],
    asked: MediatorPaths | Estimator | None,
    missing: Missing,
    workers: int,
    seed: int,
) -> NecessityReport:
    """Who is asked is settled before anything is estimated: a name that is wrong is refused."""
    if isinstance(asked, MediatorPaths):
        ledger = ledger_of(allowed, asked.names)
        findings = asked.findings(data, missing=missing, workers=workers, seed=seed)
    else:
        ledger = ledger_of(allowed, PATHS)
        table, model = ask(data, model, missing=missing)
        both = estimate_both(table, model, asked, workers=workers, seed=seed)
        findings = three_paths(both, model)
    findings = replace(findings, notes=(*findings.notes, *notes))
    return _judged(findings, ledger, rule, model)


def _judged(
    findings: Findings, ledger: Ledger, rule: Rule, model: StandardFairnessModel
) -> NecessityReport:
    required = [each.difference(allowed=ledger.allows(each.name)) for each in findings.paths]
    judgment = rule.judge(required, findings.people)
    found = zip(findings.paths, required, judgment.evidence, strict=True)
    return NecessityReport(
        what=f"{model.prediction_column or 'prediction'} as a prediction of {model.target_label()}",
        reference=model.reference_label,
        comparison=model.comparison_label,
        paths=tuple(
            PathVerdict(
                name=each.name,
                through=each.through,
                allowed=ledger.allows(each.name),
                outcome=each.outcome,
                prediction=each.prediction,
                difference=difference,
                evidence=evidence,
                declarations=ledger.about(each.name),
            )
            for each, difference, evidence in found
        ),
        verdict=judgment.verdict,
        rule=rule,
        ledger=ledger,
        findings=findings,
    )
