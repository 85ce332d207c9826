"""How does a picture become a file? The same bytes each time, with its sentence for all readers.

An SVG refers to nothing outside itself, holds all letters as shapes, and carries title and caption
for those who listen to it. PNG and PDF carry them as metadata.
"""

from __future__ import annotations

import hashlib
import io
import re
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from causalfairness.plots.canvas import recall
from causalfairness.writing import write_whole

NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS = ("svg", "png", "pdf")
DPI = 200  # of a PNG


def save(picture: Axes | Figure, path: str | Path) -> Path:
    """Where is the picture kept? In an svg, png or pdf file, by the ending of its name.

    Figures with a layout engine, like those the pictures make themselves, keep their size; others
    are cut to what is drawn, so that nothing is lost at the edges.

    >>> import tempfile
    >>> ax = Figure(figsize=(1, 1)).subplots()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = save(ax, f"{folder}/first.svg").read_bytes()
    ...     first == save(ax, f"{folder}/second.svg").read_bytes()
    True
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise ValueError(f"the name of a picture ends in .svg, .png or .pdf; found {str(path)!r}")
    if kind == "svg":
        return write_whole(to_svg(picture), path)
    return write_whole(_drawn(picture, kind, _metadata(picture, kind)), path)


def to_svg(picture: Axes | Figure) -> str:
    """How is the picture written into a page? As an `<svg>` element with title and description.

    >>> print(to_svg(Figure(figsize=(1, 1)).subplots())[:4])
    <svg
    """
    nothing: dict[str, Any] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    written = _drawn(picture, "svg", nothing).decode("utf-8")
    body = written[written.index("<svg ") :]  # neither prolog nor document type
    title, caption = (escape(NOT_IN_XML.sub("?", text)) for text in recall(_figure(picture)))
    if not title:
        return body
    name = hashlib.sha256(body.encode()).hexdigest()[:12]
    said = f'<title id="title-{name}">{title}</title>\n<desc id="desc-{name}">{caption}</desc>\n'
    opening, rest = body.split(">", 1)
    labels = f'role="img" aria-labelledby="title-{name} desc-{name}"'
    return f"{opening} {labels}>\n{said}{rest.lstrip()}"


def _drawn(picture: Axes | Figure, kind: str, metadata: dict[str, Any]) -> bytes:
    figure = _figure(picture)
    out = io.BytesIO()
    settings: Any = {
        "svg.hashsalt": "causalfairness",
        "svg.fonttype": "path",
        "svg.image_inline": True,
    }
    with matplotlib.rc_context(settings):
        figure.savefig(
            out,
            format=kind,
            dpi=DPI if kind == "png" else 72,
            metadata=metadata,
            facecolor=figure.get_facecolor(),
            bbox_inches=None if figure.get_layout_engine() else "tight",
        )
    return out.getvalue()


def _metadata(picture: Axes | Figure, kind: str) -> dict[str, Any]:
    title, caption = (NOT_IN_XML.sub("?", text) for text in recall(_figure(picture)))
    if kind == "png":
        return {"Software": None, "Title": title, "Description": caption}
    return {"Title": title, "Subject": caption, "CreationDate": None, "Producer": None}


def _figure(picture: Axes | Figure) -> Figure:
    found: Any = picture if isinstance(picture, Figure) else picture.figure
    return found if isinstance(found, Figure) else found.figure
