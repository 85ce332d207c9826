"""How is a causal graph read from, and written as, a DOT drawing?

Directed graphs of the DOT language are read: chains `a -> b -> c`, groups `{a b} -> c`, named
subgraphs, ports, quoted names, comments. Attributes say how to draw and are ignored, with one
exception: an edge with `dir=both` stands for a hidden common cause. `dir=back` and `dir=none`
would draw something else than the arrow says and are refused. In quoted names `\\"` is a quote
and `\\\\` a backslash.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise, product

from causalfairness.graph.notation import Pair, Parts, Token, syntax_error, unquote

_TOKEN = re.compile(
    r"""
    (?P<space> \s+ | //[^\n]* | /\*.*?\*/ | \#[^\n]* )
  | (?P<arrow> -> )
  | (?P<line> -- )
  | (?P<mark> [{}\[\]=;,:] )
  | (?P<quoted> "(?:[^"\\]|\\.)*" )
  | (?P<html> <(?:[^<>]|<[^<>]*>)*> )
  | (?P<name> (?:[A-Za-z_]|[^\x00-\x7f\s])(?:\w|[^\x00-\x7f\s])* | -?(?:\.\d+|\d+(?:\.\d*)?) )
    """,
    re.VERBOSE | re.DOTALL,
)


def read_dot(text: str) -> Parts:
    """Which nodes, arrows and hidden pairs does the drawing show?

    >>> read_dot('digraph { {a "b c"} -> d; a -> d [dir=both] }')
    Parts(nodes=['a', 'b c', 'd'], arrows=[('a', 'd'), ('b c', 'd')], hidden=[('a', 'd')])
    """
    tokens = deque(_tokens(text))
    if _next_is(tokens, "name", "strict"):
        tokens.popleft()
    if not _next_is(tokens, "name", "digraph"):
        raise syntax_error(
            text, tokens[0].start, "a directed graph: digraph { a -> b } (text, not a file name)"
        )
    tokens.popleft()
    if tokens[0].kind in ("name", "quoted"):
        tokens.popleft()
    parts = Parts([], [], [])
    try:
        _read_body(text, tokens, parts, "forward")
    except RecursionError:
        raise syntax_error(text, tokens[0].start, "fewer braces within braces") from None
    if tokens[0].kind != "end":
        raise syntax_error(text, tokens[0].start, "the end of the text after the closing brace")
    return parts._replace(nodes=list(dict.fromkeys(parts.nodes)))


def write_dot(nodes: Iterable[str], arrows: Iterable[Pair], hidden: Iterable[Pair]) -> str:
    """Which drawing shows this graph? Hidden common causes become dashed two-headed edges.

    >>> print(write_dot(["a", "b"], [("a", "b")], [("a", "b")]))
    digraph {
      "a";
      "b";
      "a" -> "b";
      "a" -> "b" [dir=both, style=dashed];
    }
    """
    lines = [f"  {_quote(name)};" for name in nodes]
    lines += [f"  {_quote(cause)} -> {_quote(effect)};" for cause, effect in arrows]
    lines += [
        f"  {_quote(one)} -> {_quote(other)} [dir=both, style=dashed];" for one, other in hidden
    ]
    return "\n".join(["digraph {", *lines, "}"])


def _quote(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tokens(text: str) -> Iterator[Token]:
    start = 0
    while start < len(text):
        match = _TOKEN.match(text, start)
        if match is None:
            raise syntax_error(text, start, "a name, an arrow ->, a brace or an attribute list")
        kind, found = str(match.lastgroup), match.group()
        if kind != "space":
            yield Token(kind, unquote(found) if kind == "quoted" else found, start)
        start = match.end()
    yield Token("end", "", len(text))


def _next_is(tokens: deque[Token], kind: str, *texts: str) -> bool:
    return tokens[0].kind == kind and tokens[0].text.lower() in texts


def _read_body(text: str, tokens: deque[Token], parts: Parts, direction: str) -> list[str]:
    """Read `{ ... }` into `parts`; the names it mentions. `direction` is the default of `dir`."""
    if not _next_is(tokens, "mark", "{"):
        raise syntax_error(text, tokens[0].start, "an opening brace {")
    tokens.popleft()
    mentioned: list[str] = []
    while not _next_is(tokens, "mark", "}"):
        if _next_is(tokens, "mark", ";", ","):
            tokens.popleft()
        elif _next_is(tokens, "name", "graph", "node", "edge"):
            keyword = tokens.popleft().text.lower()
            default = _read_direction(text, tokens)
            direction = default or direction if keyword == "edge" else direction
        else:
            mentioned += _read_statement(text, tokens, parts, direction)
    tokens.popleft()
    return mentioned


def _read_statement(text: str, tokens: deque[Token], parts: Parts, direction: str) -> list[str]:
    groups = [_read_group(text, tokens, parts, direction)]
    if _next_is(tokens, "mark", "="):  # an attribute of the whole graph, such as rankdir=LR
        _skip_value(text, tokens)
        return []
    while tokens[0].kind == "arrow":
        tokens.popleft()
        groups.append(_read_group(text, tokens, parts, direction))
    start = tokens[0].start
    if tokens[0].kind == "line":
        raise syntax_error(text, start, "an arrow ->, which says what causes what")
    direction = _read_direction(text, tokens) or direction
    if len(groups) > 1 and direction not in ("forward", "both"):
        raise syntax_error(
            text, start, f"no dir={direction}: turn the arrow around instead, or leave the edge out"
        )
    mentioned = [name for group in groups for name in group]
    parts.nodes.extend(mentioned)
    edges = parts.hidden if direction == "both" else parts.arrows
    for left, right in pairwise(groups):
        edges.extend(product(left, right))
    return mentioned


def _read_group(text: str, tokens: deque[Token], parts: Parts, direction: str) -> list[str]:
    """One name with an optional port, or a subgraph."""
    named = _next_is(tokens, "name", "subgraph")
    if named:
        tokens.popleft()
        if tokens[0].kind in ("name", "quoted"):
            tokens.popleft()
    if named or _next_is(tokens, "mark", "{"):
        return _read_body(text, tokens, parts, direction)
    if tokens[0].kind not in ("name", "quoted") or not tokens[0].text:
        raise syntax_error(text, tokens[0].start, "the name of a column or a closing brace }")
    name = tokens.popleft().text
    while _next_is(tokens, "mark", ":"):
        _skip_value(text, tokens)
    return [name]


def _skip_value(text: str, tokens: deque[Token]) -> None:
    """Read over `= value` or `:port`."""
    tokens.popleft()
    if tokens[0].kind not in ("name", "quoted", "html"):
        raise syntax_error(text, tokens[0].start, "a value")
    tokens.popleft()


def _read_direction(text: str, tokens: deque[Token]) -> str | None:
    """Read over `[...]` lists; the value of `dir` in them, if any."""
    direction = None
    while _next_is(tokens, "mark", "["):
        start = tokens.popleft().start
        content: list[str] = []
        while not _next_is(tokens, "mark", "]"):
            if tokens[0].kind == "end":
                raise syntax_error(text, start, "a closing bracket ] after this one")
            content.append(tokens.popleft().text)
        tokens.popleft()
        for name, equals, value in zip(content, content[1:], content[2:], strict=False):
            if (name.lower(), equals) == ("dir", "="):
                direction = value.lower()
    return direction
