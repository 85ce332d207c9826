"""Is a drawing that comes as text safe to stand on a page, and does it stand there by itself?

Only shapes, letters and style are let through: no script, no address, no foreign element. Styles
are taken out, to be said once for the page; names (`id`) get an ending, so that the same drawing
may stand on a page twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from markupsafe import Markup

from causalfairness.errors import PictureError

SPACE = "{http://www.w3.org/2000/svg}"
SHAPES = {"svg", "g", "defs", "title", "desc", "style", "text", "tspan"}
SHAPES |= {"rect", "circle", "ellipse", "line", "polyline", "polygon", "path"}
ADDRESS = re.compile(r"url\(|@import|javascript:", re.IGNORECASE)
STYLE = re.compile(r"<style[^>]*>.*?</style>\s*", re.DOTALL)


def own_svg(text: str, ending: str) -> Markup:
    """How does this drawing stand on the page?

    >>> own_svg('<svg aria-labelledby="a"><title id="a">x</title></svg>', "-1")
    Markup('<svg aria-labelledby="a-1"><title id="a-1">x</title></svg>')
    """
    names = set()
    for element in _parsed(text).iter():
        tag = element.tag.removeprefix(SPACE)
        if tag not in SHAPES:
            raise PictureError(
                f"found the element {tag!r} in a drawing; expected shapes and text only"
            )
        for attribute, value in element.attrib.items():
            _check(tag, attribute, value)
        if "id" in element.attrib:
            names.add(element.attrib["id"])
    text = STYLE.sub("", text)
    for name in names:
        text = re.sub(rf'(?<=["# ]){re.escape(name)}(?=[" ])', name + ending, text)
    return Markup(text)


def styles_of(drawings: Iterable[str]) -> Markup:
    """Which styles do these drawings ask for? Each once.

    >>> styles_of(["<svg><style>g { fill: red; }</style></svg>"] * 2)
    Markup('g { fill: red; }')
    """
    found: dict[str, None] = {}
    for text in drawings:
        for element in _parsed(text).iter():
            if element.tag.removeprefix(SPACE) == "style":
                lines = element.text or ""
                if "<" in lines:
                    raise PictureError("found markup in the style of a drawing; expected rules")
                _check("style", "text", lines)
                found[lines] = None
    return Markup("\n".join(found))


def _parsed(text: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, UnicodeEncodeError) as problem:
        raise PictureError(f"found a drawing that is not SVG text ({problem})") from None


def _check(tag: str, attribute: str, value: str) -> None:
    called = attribute.rsplit("}", 1)[-1].lower()
    if called.startswith("on") or called in ("href", "src"):
        raise PictureError(f"found {called!r} at {tag!r} in a drawing; it may hold no address")
    if not called.startswith("aria-") and ADDRESS.search(value):
        raise PictureError(f"found an address in {called!r} of {tag!r} in a drawing")
