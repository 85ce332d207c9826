"""How does a summary look as Markdown? Headings, lists and tables; names are escaped."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from causalfairness.effects.table import format_p_value
from causalfairness.report.legible import legible, shortened
from causalfairness.report.numbers import decimals_for, percent, written
from causalfairness.report.summary import Fact, Finding, Row, Sentence, Summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~:@$^=&\"'])")
_SPECIAL_IN_OURS = re.compile(r"([\\`*_\[\]<>|~])")


def render_markdown(summary: Summary) -> str:
    """How does this look as Markdown?"""
    blocks = [
        f"# {said(summary.title)}",
        _bullets(summary.sentences),
        "## The numbers",
        *_numbers(summary),
    ]
    blocks += ["## Which column plays which part", _facts(summary.roles)]
    if summary.not_compared:
        blocks += ["## Not compared", _facts(summary.not_compared)]
    blocks += ["## True only if", _bullets(summary.assumptions), "## How much to trust this"]
    for finding in summary.findings:
        blocks += _trust(finding, alone=len(summary.findings) == 1)
    blocks += ["## Where this comes from", _facts(_origins(summary))]
    return "\n\n".join(blocks) + "\n"


def escaped(name: str) -> str:
    """How is a name that somebody else chose written, so that Markdown reads it as plain text?

    >>> print(escaped("a|b `c` <i>"))
    a\\|b \\`c\\` \\<i\\>
    """
    return _SPECIAL.sub(r"\\\1", legible(name))


def said(sentence: Sentence) -> str:
    """How is a sentence written, names escaped and cut?"""
    return "".join(
        escaped(shortened(legible(piece.text)))
        if piece.is_name
        else _SPECIAL_IN_OURS.sub(r"\\\1", legible(piece.text))
        for piece in sentence.pieces()
    )


def _numbers(summary: Summary) -> Iterable[str]:
    rows = summary.table
    several = summary.compares_groups
    p_name = "p, adjusted" if several else "p"
    head = ["part", "value", f"{percent(summary.level)} interval", "std. error", p_name]
    places = decimals_for(rows)
    lines = [effect_cells(row, places) for row in rows]
    if several:
        head = ["group", *head]
        lines = [
            [escaped(shortened(row.group)), *line] for row, line in zip(rows, lines, strict=True)
        ]
    yield table_text(head, lines, words=range(2 if several else 1))


def effect_cells(row: Row, places: int) -> list[str]:
    """How is one effect written, cell by cell: name, value, interval, standard error, p-value?"""
    p_value = row.p_value if row.p_adjusted is None else row.p_adjusted
    return [
        row.name.replace("_", " "),
        written(row.value, places),
        f"{written(row.low, places)} to {written(row.high, places)}",
        f"{row.standard_error:,.{places}f}",
        format_p_value(p_value).replace("<", "\\<"),
    ]


def _trust(finding: Finding, *, alone: bool) -> Iterable[str]:
    if not alone:
        yield f"### {escaped(shortened(finding.comparison))}"
    yield _facts(finding.diagnostics)
    if finding.models:
        head = ["model", "learner", "measure", "loss on unseen people", "without a model"]
        lines = [
            [
                *map(escaped, (model.target, model.learner, model.measure)),
                *(f"{loss:.4g}" for loss in (model.loss, model.baseline)),
            ]
            for model in finding.models
        ]
        yield table_text(head, lines, words=range(3))


def _origins(summary: Summary) -> list[Fact]:
    origin = summary.provenance
    versions = ", ".join(f"{name} {text}" for name, text in origin.libraries.items())
    texts = {
        "data": origin.source,
        **{name: getattr(origin, name) for name in ("fingerprint", "estimator", "seed", "date")},
        "causalfairness": origin.package,
        "Python": origin.python,
        "libraries": versions,
        "schema": summary.schema,
    }
    return [
        Fact(name, Sentence(text, ((0, len(text)),) if name == "data" else ()))
        for name, text in texts.items()
        if text
    ]


def _facts(facts: Sequence[Fact]) -> str:
    return "\n".join(f"- **{escaped(shortened(fact.name))}**: {said(fact.text)}" for fact in facts)


def _bullets(sentences: Iterable[Sentence]) -> str:
    return "\n".join(f"- {said(sentence)}" for sentence in sentences)


def table_text(
    head: Sequence[str], lines: Iterable[Sequence[str]], *, words: Collection[int]
) -> str:
    """How is a table written? Columns other than those of `words` are set to the right."""
    rule = ["---" if column in words else "---:" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))
