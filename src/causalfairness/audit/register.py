"""What do the answers rest on, which of them, and can the data contradict it?

Each assumption comes in plain words, with the questions that use it. Three kinds can be
contradicted: that columns without an arrow between them are independent given others, that everyone
has a counterpart in the other group, and that the noise of a mechanism does not depend on its
causes. All others are about what nobody observed, and no data of this kind speaks against them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from causalfairness.audit.independence import CheckedIndependence, adjusted, checked
from causalfairness.audit.plain import plain
from causalfairness.audit.study import Study
from causalfairness.graph import Independence
from causalfairness.inference import holm

Answers = Sequence[Mapping[str, Any]]
CAUSAL = ("disparity", "groups", "attributes", "error_rates", "necessity")
OVERLAP = ("counterpart", "can occur with any")
WORTH, SHARE = 0.1, 0.05  # of rows once weighted, and of one row; beyond them overlap is strained
GRAPH = (
    "the causal graph leaves out no arrow and no hidden common cause: columns that it does not "
    "connect are independent, given the columns in between"
)
NOISE = "what a mechanism does not explain of its column does not depend on the causes"
BEYOND = "it is about what nobody observed, and data of this kind cannot contradict it"


def independences(study: Study) -> list[dict[str, Any]]:
    """What does the data say about every independence that the graph implies?"""
    wanted = [*_implied(study)]
    names = dict.fromkeys(name for each in wanted for name in (each.left, each.right, *each.given))
    columns = {name: study.column(name) for name in names}
    found: list[CheckedIndependence] = [checked(each, columns) for each in wanted]
    rows: list[dict[str, Any]] = plain([asdict(each) for each in adjusted(found)])
    return rows


def register(
    answers: Answers, tests: Sequence[Mapping[str, Any]], level: float
) -> list[dict[str, Any]]:
    """What does each answer rest on, and what does the data say about it?"""
    found = [_graph(answers, tests, level)]
    found += _mechanisms(answers, level)
    texts = dict.fromkeys(line for answer in answers for line in answer["assumptions"])
    for text in texts:
        users = [answer for answer in answers if text in answer["assumptions"]]
        named = [answer["title"] for answer in users]
        if any(word in text for word in OVERLAP):
            found.append(_overlap(text, users, named))
        else:
            found.append(_entry(text, named, testable=False, result=BEYOND))
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
    used_by: Sequence[str],
    *,
    testable: bool,
    result: str,
    status: str = "cannot be tested",
    tests: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    return {
        "assumption": text,
        "used_by": [*used_by],
        "testable": testable,
        "status": status,
        "result": result,
        "tests": [dict(each) for each in tests],
    }


def _graph(answers: Answers, tests: Sequence[Mapping[str, Any]], level: float) -> dict[str, Any]:
    users = [
        answer["title"]
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
    yield _entry(
        NOISE,
        [answer["title"] for answer in users],
        testable=True,
        result=text,
        status="contradicted" if against else "not contradicted",
        tests=tests,
    )


def _overlap(text: str, users: Answers, named: Sequence[str]) -> dict[str, Any]:
    """Judged by what weighted rows are worth, and by who has no counterpart at all."""
    seen = [
        {"question": answer["title"], **told["overlap"]}
        for answer in users
        for told in answer["diagnostics"]
        if told.get("overlap", {}).get("text")
    ]
    if not seen:
        said = "the answers that use it do not say how well the groups overlap"
        return _entry(text, named, testable=True, result=said, status="not tested")
    strained = [each for each in seen if _is_strained(each)]
    words = "; ".join(dict.fromkeys(each["text"] for each in (strained or seen)))
    status = "in doubt" if strained else "not contradicted"
    return _entry(text, named, testable=True, result=words, status=status, tests=seen)


def _is_strained(overlap: Mapping[str, Any]) -> bool:
    worth, rows = overlap["effective_rows"], overlap["of_rows"]
    return bool(
        (overlap["share_outside_support"] or 0) > 0
        or (worth is not None and rows and worth < WORTH * rows)
        or (overlap["largest_share"] or 0) > SHARE
    )
