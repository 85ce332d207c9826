"""How is a causal graph written as text, and how is the text read?

    a -> b            a causes b                     b <- a says the same
    a <-> b           a and b share a hidden cause
    {a, b} -> {c, d}  every left one causes every right one
    a -> b -> c       a chain
    a                 a column without arrows

Statements end at `;` or at the end of the line; `#` starts a comment. A line also goes on
inside braces and next to an arrow. Bare names consist of letters, digits and `_ . /`, with
single `-` inside; any other name stands in double quotes, with `\\"` and `\\\\` for a quote and a
backslash.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from causalfairness.errors import GraphSyntaxError

Pair = tuple[str, str]

_LETTER = r"(?:[\w./]|[^\x00-\x7f\s])"
_TOKEN = re.compile(
    rf"""
    (?P<space> [^\S\n]+ | \#[^\n]* )
  | (?P<end> [;\n] )
  | (?P<arrow> <-> | -> | <- )
  | (?P<mark> [{{}},] )
  | (?P<quoted> "(?:[^"\\]|\\.)*" )
  | (?P<name> {_LETTER}+(?:-{_LETTER}+)* )
    """,
    re.VERBOSE | re.DOTALL,
)


class Parts(NamedTuple):
    """What does a text say? Its nodes in the order of first mention, its arrows, its hidden pairs.

    >>> read_notation("b -> a").nodes
    ['b', 'a']
    """

    nodes: list[str]
    arrows: list[Pair]
    hidden: list[Pair]


class Token(NamedTuple):
    """Which piece of the text is this, and where does it start?"""

    kind: str
    text: str
    start: int


def read_notation(text: str) -> Parts:
    """Which nodes, arrows and hidden pairs does the text name?

    >>> read_notation("{a, b} -> c <-> d")
    Parts(nodes=['a', 'b', 'c', 'd'], arrows=[('a', 'c'), ('b', 'c')], hidden=[('c', 'd')])
    """
    nodes: dict[str, None] = {}
    arrows: list[Pair] = []
    hidden: list[Pair] = []
    tokens = deque(_join_lines(_tokens(text)))
    while tokens:
        if tokens[0].kind == "end":
            tokens.popleft()
            continue
        groups, links = _read_statement(text, tokens)
        nodes.update(dict.fromkeys(name for group in groups for name in group))
        for left, link, right in zip(groups, links, groups[1:], strict=False):
            if link == "<->":
                hidden += product(left, right)
            else:
                arrows += product(left, right) if link == "->" else product(right, left)
    return Parts(list(nodes), arrows, hidden)


def write_notation(
    nodes: Iterable[str], arrows: Iterable[Pair], hidden: Iterable[Pair]
) -> Iterator[str]:
    """Which statements say this? One per set of causes and one per left end of hidden pairs.

    >>> print(*write_notation("abcd", [("a", "c"), ("b", "c")], [("c", "d")]), sep="; ")
    {a, b, c, d}; c <-> d; {a, b} -> c
    """
    causes: dict[str, list[str]] = {}
    for cause, effect in arrows:
        causes.setdefault(effect, []).append(cause)
    effects: dict[tuple[str, ...], list[str]] = {}
    for effect in nodes:
        if effect in causes:
            effects.setdefault(tuple(causes[effect]), []).append(effect)
    partners: dict[str, list[str]] = {}
    for left, right in hidden:
        partners.setdefault(left, []).append(right)
    groups = [([left], "<->", right) for left, right in partners.items()]
    groups += [(list(left), "->", right) for left, right in effects.items()]
    mentioned = dict.fromkeys(name for left, _, right in groups for name in (*left, *right))
    if list(mentioned) != list(nodes):  # say the order first, and the nodes without arrows
        yield _group(nodes)
    for left_names, link, right_names in groups:
        yield f"{_group(left_names)} {link} {_group(right_names)}"


def quote(name: str) -> str:
    r"""How must this name be written so that it is read as one name?

    >>> print(quote("age"), quote("income-2019"), quote("home owner"), quote('5" disk'))
    age income-2019 "home owner" "5\" disk"
    """
    found = _TOKEN.fullmatch(name)
    if found and found.lastgroup == "name" and _odd_character(name) is None:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unquote(text: str) -> str:
    r"""Which name does this text in double quotes stand for?

    >>> unquote(r'"5\" disk"')
    '5" disk'
    """
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])


def syntax_error(text: str, start: int, expected: str) -> GraphSyntaxError:
    """What does the reader need to know to correct the text at this place?

    >>> print(syntax_error("a = b", 2, "an arrow"))
    cannot read the graph at line 1, column 3: found '= b', expected an arrow
    """
    rest = text[start:].split("\n", 1)[0].strip()
    found = repr(rest if len(rest) <= 20 else rest[:17] + "...") if rest else "the end of the line"
    line = text.count("\n", 0, start) + 1
    column = start - text.rfind("\n", 0, start)
    return GraphSyntaxError(
        f"cannot read the graph at line {line}, column {column}: found {found}, expected {expected}"
    )


def _group(names: Iterable[str]) -> str:
    quoted = [quote(name) for name in names]
    return quoted[0] if len(quoted) == 1 else "{" + ", ".join(quoted) + "}"


def _odd_character(name: str) -> str | None:
    """Bare names hold letters of any language, but no symbols that look like something else."""
    for character in name:
        letter = character.isalnum() or character in "_./-"
        if not letter and not unicodedata.category(character).startswith("M"):
            return character
    return None


def _tokens(text: str) -> Iterator[Token]:
    start = 0
    while start < len(text):
        match = _TOKEN.match(text, start)
        if match is None:
            what = (
                'a closing " after this one'
                if text[start] == '"'
                else "a name, a brace or one of the arrows ->, <- and <->; names with "
                "other symbols go in double quotes"
            )
            raise syntax_error(text, start, what)
        kind, found = str(match.lastgroup), match.group()
        odd = _odd_character(found) if kind == "name" else None
        if odd is not None:
            raise syntax_error(
                text,
                start + found.index(odd),
                f"no {odd!r} in a bare name; names with symbols go in double quotes, "
                "arrows are written ->, <- and <->",
            )
        if kind == "quoted":
            yield Token("name", unquote(found), start)
        elif kind != "space":
            yield Token(kind, found, start)
        start = match.end()
    yield Token("end", "", len(text))


def _join_lines(tokens: Iterable[Token]) -> list[Token]:
    """Drop the line ends that end no statement: those in braces and those next to an arrow."""
    joined: list[Token] = []
    open_braces = 0
    for token in tokens:
        if token.text == "\n" and token.kind == "end":
            if open_braces > 0 or (joined and joined[-1].kind == "arrow"):
                continue
        elif token.kind == "arrow":
            while joined and joined[-1].kind == "end" and joined[-1].text == "\n":
                joined.pop()
        elif token.kind == "mark":
            open_braces += {"{": 1, "}": -1, ",": 0}[token.text]
        joined.append(token)
    return joined


def _read_statement(text: str, tokens: deque[Token]) -> tuple[list[list[str]], list[str]]:
    """The groups of names in the next statement, and the arrows between them."""
    groups, links = [_read_group(text, tokens)], []
    while tokens[0].kind == "arrow":
        links.append(tokens.popleft().text)
        groups.append(_read_group(text, tokens))
    if tokens[0].kind == "end":
        return groups, links
    if tokens[0].text == ",":
        expected = "an arrow or the end of the statement; several names go in braces: {a, b} -> c"
    elif tokens[0].kind == "name":
        expected = (
            "an arrow (->, <- or <->) or the end of the statement; "
            'a name with spaces goes in double quotes: "home owner" -> loan'
        )
    else:
        expected = "an arrow (->, <- or <->) or the end of the statement"
    raise syntax_error(text, tokens[0].start, expected)


def _read_group(text: str, tokens: deque[Token]) -> list[str]:
    """One name, or several in braces."""
    if tokens[0].text != "{" or tokens[0].kind != "mark":
        return [_read_name(text, tokens)]
    tokens.popleft()
    names = [_read_name(text, tokens)]
    while tokens[0].kind == "mark" and tokens[0].text == ",":
        tokens.popleft()
        if tokens[0].kind == "name":
            names.append(_read_name(text, tokens))
    if tokens[0].kind != "mark" or tokens[0].text != "}":
        raise syntax_error(
            text, tokens[0].start, "a comma before the next name or a brace } to close the group"
        )
    tokens.popleft()
    return names


def _read_name(text: str, tokens: deque[Token]) -> str:
    token = tokens[0]
    if token.kind != "name":
        raise syntax_error(text, token.start, "the name of a column")
    if not token.text:
        raise syntax_error(text, token.start, "a name that is not empty")
    return tokens.popleft().text
