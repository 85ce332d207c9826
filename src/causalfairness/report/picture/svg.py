"""How is a causal picture written as SVG text that needs nothing else?

Colors follow the page the picture stands on (its variables `--ink`, `--direct` and so on); on its
own it follows the reader's choice of light or dark. Whatever somebody else chose is escaped, there
is no script and no address, and the picture is as wide as there is room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from math import hypot
from typing import TYPE_CHECKING

from causalfairness.report.picture.parts import SIZE, Box, Entry, Label, Link, Picture, Point

if TYPE_CHECKING:
    from causalfairness.plots.theme import Theme

NAMES = ("paper", "ink", "muted", "wash", "direct", "indirect", "spurious", "rest")
LIGHT = ("#ffffff", "#1f242b", "#5c646e", "#f6f7f9", "#cc5200", "#1d5391", "#17a086", "#737b85")
DARK = ("#14181e", "#eef1f4", "#a3acb7", "#1b2027", "#f58a4b", "#4a8ad4", "#7fe0cb", "#929ba6")
TIP, HALF = 9.0, 4.5  # length and half the width of an arrow's head
ROW = 21.0  # of the legend
MARGIN = 14.0
LARGEST = 1.5  # times its own size, as which a picture is shown
LINES = """
.causal-picture { display: block; width: 100%; height: auto; margin: 0 auto; }
.causal-picture .ground { fill: VAR(wash); }
.causal-picture text {
  fill: VAR(ink);
  font: 500 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", Arial,
    sans-serif;
}
.causal-picture .name { text-anchor: middle; unicode-bidi: isolate; }
.causal-picture .heading {
  text-anchor: middle; font-size: 11px; font-weight: 600; fill: VAR(muted); letter-spacing: 0.05em;
}
.causal-picture .box rect { fill: VAR(paper); stroke: VAR(muted); stroke-width: 1.25; }
.causal-picture .end rect { stroke: VAR(ink); stroke-width: 2.25; }
.causal-picture .end .name { font-weight: 650; }
.causal-picture .line { fill: none; stroke: VAR(rest); stroke-width: 1.5; }
.causal-picture .tip, .causal-picture .swatch { fill: VAR(rest); }
.causal-picture .dashed { stroke-dasharray: 5 4; }
.causal-picture .label {
  font-weight: 650; font-variant-numeric: tabular-nums;
  stroke: VAR(wash); stroke-width: 4px; paint-order: stroke; stroke-linejoin: round;
}
.causal-picture .entry { font-size: 12px; font-variant-numeric: tabular-nums; }
"""
PATH_LINES = """
.causal-picture .{0} .line {{ stroke: VAR({0}); stroke-width: 2.25; }}
.causal-picture .{0} .tip, .causal-picture .{0} .swatch {{ fill: VAR({0}); }}
"""


def write_svg(
    picture: Picture,
    legend: Sequence[Entry],
    *,
    title: str,
    description: str,
    theme: Theme | None,
) -> str:
    """How is the picture written?"""
    height = picture.height + ROW * len(legend) + (MARGIN if legend else 0.0)
    drawn = [
        *(_link(link) for link in picture.links),
        *(_box(box) for box in picture.boxes),
        *(_label(label) for label in picture.labels),
        *_legend(legend, picture.height),
    ]
    body = "\n".join(drawn)
    mark = sha256("\n".join((title, description, body)).encode()).hexdigest()[:10]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="causal-picture" role="img" '
        f'viewBox="0 0 {_number(picture.width)} {_number(height)}" '
        f'style="max-width: {_number(LARGEST * picture.width)}px" '
        f'aria-labelledby="picture-{mark}-title" aria-describedby="picture-{mark}-desc">\n'
        f'<title id="picture-{mark}-title">{escape(title)}</title>\n'
        f'<desc id="picture-{mark}-desc">{escape(description)}</desc>\n'
        f"<style>{_style(theme)}</style>\n"
        f'<rect class="ground" width="{_number(picture.width)}" height="{_number(height)}" '
        f'rx="10"/>\n{body}\n</svg>\n'
    )


def _style(theme: Theme | None) -> str:
    lines = LINES + "".join(PATH_LINES.format(path) for path in ("direct", "indirect", "spurious"))
    if theme is not None:
        own = {"paper": theme.background, "wash": theme.background}
        for name in NAMES:
            lines = lines.replace(f"VAR({name})", own.get(name) or getattr(theme, name))
        return lines
    for name in NAMES:
        lines = lines.replace(f"VAR({name})", f"var(--{name}, var(--picture-{name}))")
    light, dark = (
        " ".join(f"--picture-{name}: {color};" for name, color in zip(NAMES, colors, strict=True))
        for colors in (LIGHT, DARK)
    )
    return (
        f"\n.causal-picture {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ .causal-picture {{ {dark} }} }}{lines}"
    )


def _box(box: Box) -> str:
    kind = "box end" if box.role in ("protected", "outcome", "prediction") else "box"
    middle = box.center
    rows = len(box.lines) * 18.0 + (16.0 if box.heading else 0.0)
    baseline = middle.y - rows / 2 + SIZE
    words = []
    if box.heading:
        words.append(_text("heading", middle.x, baseline - 1, box.heading))
        baseline += 16.0
    words += [_text("name", middle.x, baseline + 18.0 * at, t) for at, t in enumerate(box.lines)]
    return (
        f'<g class="{kind}"><title>{escape(box.full)}</title>'
        f'<rect x="{_number(box.left)}" y="{_number(box.top)}" width="{_number(box.width)}" '
        f'height="{_number(box.height)}" rx="7"/>{"".join(words)}</g>'
    )


def _link(link: Link) -> str:
    """The line ends a little before the tip, so that the head comes to a point."""
    start, curves = link.start, [*link.curves]
    tips = _tip(curves[-1].arriving, link.end)
    last = curves[-1]
    curves[-1] = last._replace(end=_before(last.arriving, link.end))
    if link.hidden:
        tips += _tip(curves[0].leaving, start)
        start = _before(curves[0].leaving, start)
    path = f"M{_at(start)}" + "".join(f"C{_at(a)} {_at(b)} {_at(c)}" for a, b, c in curves)
    dashed = " dashed" if link.hidden else ""
    return (
        f'<g class="link {link.path or "other"}"><title>{escape(link.words)}</title>'
        f'<path class="line{dashed}" d="{path}"/>{tips}</g>'
    )


def _tip(behind: Point, tip: Point) -> str:
    dx, dy = _direction(behind, tip)
    base = Point(tip.x - TIP * dx, tip.y - TIP * dy)
    one = Point(base.x - HALF * dy, base.y + HALF * dx)
    other = Point(base.x + HALF * dy, base.y - HALF * dx)
    return f'<path class="tip" d="M{_at(tip)}L{_at(one)}L{_at(other)}Z"/>'


def _before(behind: Point, tip: Point) -> Point:
    dx, dy = _direction(behind, tip)
    return Point(tip.x - (TIP - 2) * dx, tip.y - (TIP - 2) * dy)


def _direction(behind: Point, tip: Point) -> tuple[float, float]:
    dx, dy = tip.x - behind.x, tip.y - behind.y
    length = hypot(dx, dy) or 1.0
    return dx / length, dy / length


def _label(label: Label) -> str:
    swatch = (
        f'<rect class="swatch" x="{_number(label.left - 15)}" y="{_number(label.baseline - 10)}" '
        'width="10" height="10" rx="2"/>'
    )
    words = _text("label", label.left, label.baseline, label.text)
    return f'<g class="{label.path or "other"}">{swatch if label.path else ""}{words}</g>'


def _legend(entries: Sequence[Entry], top: float) -> Iterator[str]:
    for at, entry in enumerate(entries):
        y = top + ROW * (at + 0.5)
        words = _text("entry", MARGIN + 36 if entry.drawn else MARGIN, y + 4, entry.text)
        line = (
            f'<path class="line{" dashed" if entry.dashed else ""}" '
            f'd="M{_number(MARGIN)},{_number(y)}h28"/>'
        )
        yield f'<g class="{entry.path or "other"}">{line if entry.drawn else ""}{words}</g>'


def _text(kind: str, x: float, y: float, words: str) -> str:
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}">{escape(words)}</text>'


def _at(point: Point) -> str:
    return f"{_number(point.x)},{_number(point.y)}"


def _number(value: float) -> str:
    return f"{round(value, 2) + 0.0:g}"
