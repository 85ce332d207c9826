"""What do the answers rest on, which of them, and can the data contradict it?

Each assumption comes in plain words, with the questions that use it. Four kinds can be
contradicted; all others are about what nobody observed, and no data of this kind speaks against
them.

    independences     the graph leaves out arrows: every independence that this implies is tested,
                      adjusted after Holm. Contradicted where one does not hold.
    overlap           in doubt where anybody is outside common support, weighted rows count for less
                      than 10 % of them, one row has more than 5 % of a mean, or more than 1 % of
                      weights were cut. Contradicted where more than 5 % are outside, weighted rows
                      count for less than 2 %, or a question was refused for lack of overlap.
    noise             contradicted where what a mechanism leaves unexplained depends on its causes,
                      adjusted after Holm over all mechanisms.
    mechanisms        in doubt where one predicts unseen people worse than no causes at all do.

That nothing is hidden cannot be tested. What it says instead is how strong a hidden common cause
would have to be (`hidden_causes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from causalfairness.audit.defects import said_by
from causalfairness.audit.independence import CheckedIndependence, adjusted, checked
from causalfairness.audit.plain import plain
from causalfairness.audit.study import Study
from causalfairness.estimators.protocol import ASSUMPTIONS
from causalfairness.graph import Independence
from causalfairness.inference import holm
from causalfairness.tables import Column

Answers = Sequence[Mapping[str, Any]]
CAUSAL = ("disparity", "groups", "attributes", "error_rates", "necessity")
OVERLAP = ("counterpart", "can occur with any")
COUNTERPART = next(line for line in ASSUMPTIONS if OVERLAP[0] in line)
STRAINED = {"outside": 0.0, "worth": 0.1, "share": 0.05, "cut": 0.01}
BROKEN = {"outside": 0.05, "worth": 0.02, "share": 1.0, "cut": 1.0}
REFUSED = ("OverlapError", "EmptyCellsError")
NOTICEABLE = 0.01  # by which a mechanism must be worse than no causes, of their loss
GRAPH = (
    "the causal graph leaves out no arrow and no hidden common cause: columns that it does not "
    "connect are independent, given the columns in between"
)
NOISE = "what a mechanism does not explain of its column does not depend on the causes"
FITS = (
    "the fitted mechanisms follow their columns: causes tell more about them than their mean does"
)
HIDDEN = "no hidden common cause of group and mediators"
BEYOND = "it is about what nobody observed, and data of this kind cannot contradict it"


def independences(study: Study) -> list[dict[str, Any]]:
    """What does the data say about every independence that the graph implies?"""
    wanted = [*_implied(study)]
    names = dict.fromkeys(name for each in wanted for name in (each.left, each.right, *each.given))
    columns = {name: study.column(name) for name in names}
    found = [_checked(each, columns) for each in wanted]
    rows: list[dict[str, Any]] = plain([asdict(each) for each in adjusted(found)])
    return rows


def _checked(independence: Independence, columns: dict[str, Column]) -> CheckedIndependence:
    try:
        return checked(independence, columns)
    except Exception as error:  # which is no reason to lose the answers
        said = said_by(error, columns.values())
        return CheckedIndependence(str(independence), 0, remark=said, defect=True)


def register(
    answers: Answers, tests: Sequence[Mapping[str, Any]], level: float
) -> list[dict[str, Any]]:
    """What does each answer rest on, and what does the data say about it?"""
    found = [_graph(answers, tests, level)]
    found += _mechanisms(answers, level)
    texts = dict.fromkeys(line for answer in answers for line in answer["assumptions"])
    refused = [answer for answer in answers if answer.get("refused_by") in REFUSED]
    if refused:
        texts[COUNTERPART] = None
    for text in texts:
        users = [answer for answer in answers if text in answer["assumptions"]]
        if any(word in text for word in OVERLAP):
            found.append(_overlap(text, users, refused if text == COUNTERPART else ()))
        elif text.startswith(HIDDEN):
            found.append(_hidden(text, users))
        else:
            found.append(_entry(text, users, testable=False, result=BEYOND))
    return found


def _implied(study: Study) -> Iterator[Independence]:
    """Of roles given as lists, nothing is said about two confounders, or two mediators."""
    model = study.scored
    within = () if study.audit.roles.graph is not None else (model.confounders, model.mediators)
    for each in study.graph.independences():
        if not any(each.left in role and each.right in role for role in within):
            yield each


def _entry(
    text: str,
    users: Answers,
    *,
    testable: bool,
    result: str,
    status: str = "cannot be tested",
    tests: Sequence[Mapping[str, Any]] = (),
    bounds: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    return {
        "assumption": text,
        "used_by": [answer["title"] for answer in users],
        "testable": testable,
        "status": status,
        "result": result,
        "tests": [dict(each) for each in tests],
        "bounds": [dict(each) for each in bounds],
    }


def _graph(answers: Answers, tests: Sequence[Mapping[str, Any]], level: float) -> dict[str, Any]:
    users = [
        answer
        for answer in answers
        if answer["kind"] in CAUSAL or answer["details"].get("mechanisms")
    ]
    known = [each for each in tests if each["p_adjusted"] is not None]
    if not known:
        said = "it implies no independence that the data could be asked about"
        return _entry(GRAPH, users, testable=bool(tests), result=said, tests=tests)
    against = [each for each in known if each["p_adjusted"] <= 1 - level]
    text = (
        f"{len(against)} of {len(known)} independences that it implies do not hold in the data, at "
        f"the {100 * level:.6g}% level over all of them"
    )
    if against:
        worst = sorted(against, key=lambda each: each["p_adjusted"])[:3]
        text += ": " + "; ".join(each["independence"] for each in worst)
        text += ". Arrows are missing, or the regressions behind the tests miss a curve"
    status = "contradicted" if against else "not contradicted"
    return _entry(GRAPH, users, testable=True, result=text, status=status, tests=tests)


def _mechanisms(answers: Answers, level: float) -> Iterator[dict[str, Any]]:
    users = [answer for answer in answers if answer["details"].get("mechanisms")]
    fits = {
        (fit["node"], fit["mechanism"]): fit
        for answer in users
        for fit in answer["details"]["mechanisms"]
        if fit["independence"] is not None
    }
    if not fits:
        return
    p_values = holm([fit["independence"] for fit in fits.values()]).tolist()
    tests = [
        {**fit, "p_adjusted": plain(p)} for fit, p in zip(fits.values(), p_values, strict=True)
    ]
    against = [each["node"] for each in tests if each["p_adjusted"] <= 1 - level]
    text = f"for {len(against)} of {len(tests)} mechanisms the noise visibly depends on causes"
    text += f": {', '.join(against)}; counterfactuals of these are doubtful" if against else ""
    status = "contradicted" if against else "not contradicted"
    yield _entry(NOISE, users, testable=True, result=text, status=status, tests=tests)
    known = [
        {**fit, "better": _is_better(fit)} for fit in fits.values() if fit["value"] is not None
    ]
    if known:
        yield _fit(users, known)


def _fit(users: Answers, known: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What predictions of unseen people say about the mechanisms."""
    worse = [each["node"] for each in known if not each["better"]]
    listed = "; ".join(f"{each['node']} {_shown_fit(each)}" for each in known)
    text = (
        f"{len(known) - len(worse)} of {len(known)} mechanisms do so for unseen people ({listed})"
    )
    text += f"; not so {', '.join(worse)}" if worse else ""
    status = "in doubt" if worse else "not contradicted"
    return _entry(FITS, users, testable=True, result=text, status=status, tests=known)


def _is_better(fit: Mapping[str, Any]) -> bool:
    """Or no worse than chance may make a mechanism of a column that has no causes."""
    if fit["measure"] == "R2":
        return bool(fit["value"] > -NOTICEABLE)
    return bool(fit["value"] <= fit["baseline"] * (1 + NOTICEABLE))


def _shown_fit(fit: Mapping[str, Any]) -> str:
    value = f"{fit['measure']} {fit['value']:.3f}"
    return value if fit["measure"] == "R2" else f"{value}, without causes {fit['baseline']:.3f}"


def _hidden(text: str, users: Answers) -> dict[str, Any]:
    """How strong would a hidden common cause have to be, question by question?"""
    bounds = [
        {
            "question": answer["title"],
            **{key: told[key] for key in ("verdict", "goal", "to_change_verdict", "by_story")},
            "sentence": told["sentences"][0],
        }
        for answer in users
        if (told := answer.get("sensitivity")) is not None and told["applies"]
    ]
    said = [BEYOND, *(f"{each['sentence'].rstrip('.')} ({each['question']})" for each in bounds)]
    return _entry(text, users, testable=False, result=". ".join(said), bounds=bounds)


def _overlap(text: str, users: Answers, refused: Answers) -> dict[str, Any]:
    """Judged by what weighted rows are worth, and by who has no counterpart at all."""
    seen = [
        {"question": answer["title"], **told["overlap"]}
        for answer in users
        for told in answer["diagnostics"]
        if told.get("overlap", {}).get("text")
    ]
    lacking = [f"{answer['title']} was refused: {answer['reason']}" for answer in refused]
    broken = [each for each in seen if _is_beyond(each, BROKEN)]
    strained = [each for each in seen if _is_beyond(each, STRAINED)]
    if not seen and not lacking:
        said = "the answers that use it do not say how well the groups overlap"
        return _entry(text, users, testable=True, result=said, status="not tested")
    told = (broken or strained) if lacking else (broken or strained or seen)
    words = "; ".join(dict.fromkeys([*lacking, *(each["text"] for each in told)]))
    doubt = "in doubt" if strained else "not contradicted"
    status = "contradicted" if broken or lacking else doubt
    return _entry(text, (*users, *refused), testable=True, result=words, status=status, tests=seen)


def _is_beyond(overlap: Mapping[str, Any], limits: Mapping[str, float]) -> bool:
    worth, rows = overlap["effective_rows"], overlap["of_rows"]
    return bool(
        (overlap["share_outside_support"] or 0) > limits["outside"]
        or (worth is not None and rows and worth < limits["worth"] * rows)
        or (overlap["largest_share"] or 0) > limits["share"]
        or (overlap["share_clipped"] or 0) > limits["cut"]
    )
