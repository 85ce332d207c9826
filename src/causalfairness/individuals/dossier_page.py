"""How does a dossier look as one HTML page that needs nothing else?

The page holds its own style, no script and no address of anything outside, and says so to the
browser. Whatever comes from the data is escaped, and characters that cannot be seen are spelled
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from causalfairness.individuals.dossier import Dossier, Group, counted, decided, written
from causalfairness.individuals.dossier_strips import Lane, Strip, strips_of

WIDTH, LEFT, RIGHT = 720, 150, 690  # of a drawing; where the strips in it begin and end
DOT, GAP = 4.2, 9.6  # radius of a person, and how far apart they are stacked
UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff]"
)
STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1f242b; --muted: #5c646e; --faint: #e3e6ea; --wash: #f6f7f9;
  --one: #cc5200; --two: #1d5391; --three: #737b85;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181e; --ink: #eef1f4; --muted: #a3acb7; --faint: #2c333c; --wash: #1b2027;
    --one: #f58a4b; --two: #4a8ad4; --three: #929ba6;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 56rem; padding: 2.5rem 1.5rem 4rem; overflow-wrap: anywhere;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans",
    Arial, sans-serif;
}
h1, h2 { line-height: 1.2; font-weight: 650; letter-spacing: -0.012em; text-wrap: balance; }
h1 { font-size: clamp(1.5rem, 1.1rem + 2vw, 2.2rem); margin: 0.4rem 0 0.5rem; }
h2 { font-size: 1.2rem; margin: 0 0 1rem; }
section { margin-top: 2.5rem; padding-top: 1.5rem; border-top: 1px solid var(--faint); }
.kicker {
  margin: 0; color: var(--muted); font-size: 0.8125rem; font-weight: 600;
  letter-spacing: 0.08em; text-transform: uppercase;
}
.meta, .small { color: var(--muted); font-size: 0.875rem; max-width: 72ch; }
.lead { font-size: 1.2rem; line-height: 1.5; max-width: 60ch; margin: 0 0 1.25rem; }
.scroll { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
th, td {
  text-align: left; padding: 0.5rem 0.75rem; border-bottom: 1px solid var(--faint);
  vertical-align: top; font-weight: 400; font-variant-numeric: tabular-nums;
}
thead th { color: var(--muted); font-size: 0.8125rem; border-bottom-color: var(--muted); }
tbody th { font-weight: 600; }
th:first-child, td:first-child { padding-left: 0; }
.decision td, .decision th { font-weight: 600; border-bottom: 0; }
.one, thead .one { color: var(--one); } .two, thead .two { color: var(--two); }
.three { color: var(--three); }
figure {
  margin: 0 0 1.25rem; padding: 1rem 1.25rem 0.75rem; background: var(--wash);
  border-radius: 10px; break-inside: avoid;
}
figcaption { font-weight: 600; margin-bottom: 0.35rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--muted); font-size: 13px; } svg .lane { fill: var(--ink); }
.axis { stroke: var(--faint); }
circle { stroke-width: 1.5; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
circle.one { fill: var(--one); stroke: var(--one); }
circle.two { fill: var(--two); stroke: var(--two); }
circle.three { fill: var(--three); stroke: var(--three); }
circle.open { fill: var(--wash); }
.center { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 3 2; }
details { margin: 0 0 1rem; } summary { cursor: pointer; font-weight: 600; padding: 0.35rem 0; }
ul { padding-left: 1.2rem; margin: 0 0 1rem; } li { margin-bottom: 0.4rem; max-width: 68ch; }
footer { margin-top: 2.5rem; }
@media (max-width: 40rem) {
  body { padding: 1.5rem 1rem 3rem; } .lead { font-size: 1.1rem; }
  th, td { padding-left: 0.35rem; padding-right: 0.35rem; } table { font-size: 0.8125rem; }
  svg text { font-size: 19px; }
}
@media print {
  :root { --paper: #fff; --ink: #000; --muted: #444a52; --faint: #c9ced4; --wash: #fff; }
  body { max-width: none; padding: 0; } figure { border: 1px solid var(--faint); }
}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
DECISION = ' class="decision"'
KINDS = ("one", "two", "three")


def page(found: Dossier) -> str:
    """How does the dossier look in a browser and on paper?"""
    title = f"Dossier of {_text(found.person)}"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body(found)}\n</body>\n</html>\n"
    )


def body(found: Dossier) -> str:
    """What stands on the page?"""
    sentences = found.sentences()
    about = (
        f"Comparison group: {_text(found.complaining)}. Declined means "
        f"{_text(found.means_declined)}. Groups of {found.k}."
    )
    return "\n".join(
        [
            f'<header><p class="kicker">{_text(found.method)}</p>'
            f"<h1>Dossier of {_text(found.person)}</h1>"
            f'<p class="meta">{about}</p></header>',
            "<main><section><h2>What was found</h2>"
            f'<p class="lead">{_text(sentences[0])}</p>{_list(sentences[1:])}</section>',
            f"<section><h2>Side by side</h2>{_table(found)}</section>",
            f"<section><h2>Who is where</h2>{_legend(found)}{_strips(found)}</section>",
            f"<section><h2>The people</h2>{_people(found)}</section>",
            f"<section><h2>True only if</h2>{_list(found.assumptions)}"
            f"{_list(found.notes)}</section></main>",
            '<footer class="small">A dossier lays out evidence about decisions on people who are '
            "alike. It is no finding about anybody's intentions, and it names people: treat it as "
            "personal data.</footer>",
        ]
    )


def _table(found: Dossier) -> str:
    head, *lines = found.rows()
    classes = ["", *[""] * (len(head) - 3), ' class="one"', ' class="two"']
    heads = "".join(
        f'<th scope="col"{kind}>{_text(cell)}</th>'
        for cell, kind in zip(head, classes, strict=True)
    )
    rows = "".join(
        f'<tr{DECISION if line is lines[-1] else ""}><th scope="row">{_text(line[0])}</th>'
        + "".join(f"<td>{_text(cell)}</td>" for cell in line[1:])
        + "</tr>"
        for line in lines
    )
    note = '<p class="small">Of numbers in a group: the median (smallest to largest).</p>'
    return (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _legend(found: Dossier) -> str:
    lines = [
        f'<span class="{kind}">●</span> {_text(group.name)}: {_text(group.about)}'
        for kind, group in zip(KINDS, _groups(found), strict=False)
    ]
    lines.append(
        f"Filled: declined; open: not declined. Dashed line: {found.centers}. People in one place "
        "are stacked; high stacks spread to both sides."
    )
    return f'<p class="small">{"<br>".join(lines)}</p>'


def _strips(found: Dossier) -> str:
    return "".join(
        f"<figure><figcaption>{_text(strip.feature)}</figcaption>{_drawing(strip)}</figure>"
        for strip in strips_of(found)
    )


def _drawing(strip: Strip) -> str:
    """One lane below the other, and the values at the bottom."""
    parts: list[str] = []
    top = 4.0
    for lane, kind in zip(strip.lanes, KINDS, strict=False):
        height = max(26.0, lane.height * GAP + 12)
        parts.append(_lane(lane, kind, top, height))
        top += height
    for across, label in strip.ticks:
        place = f'x="{_x(across):.1f}" y="{top + 16:.1f}" text-anchor="middle"'
        parts.append(f"<text {place}>{_text(label)}</text>")
    said = f"{strip.feature} of {' and '.join(lane.group for lane in strip.lanes)}"
    return (
        f'<svg viewBox="0 0 {WIDTH} {top + 24:.0f}" role="img" aria-label="{_text(said)}">'
        f"{''.join(parts)}</svg>"
    )


def _lane(lane: Lane, kind: str, top: float, height: float) -> str:
    floor = top + height - 8
    missing = f" ({lane.missing} missing)" if lane.missing else ""
    parts = [
        f'<text class="lane" x="0" y="{floor:.1f}">{_text(lane.group + missing)}</text>',
        f'<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{floor + 5:.1f}" y2="{floor + 5:.1f}"/>',
    ]
    if lane.center is not None:
        x = _x(lane.center)
        ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{top + 2:.1f}" y2="{floor + 5:.1f}"'
        said = _text(lane.center_name)
        parts.append(f'<line class="center" {ends}><title>{said}</title></line>')
    for mark in lane.marks:
        look = kind if mark.declined else f"{kind} open"
        place = f'cx="{_x(mark.across):.1f}" cy="{floor - GAP * mark.level:.1f}" r="{DOT}"'
        said = _text(f"{mark.name}: {mark.value}, {decided(mark.declined)}")
        parts.append(f'<circle class="{look}" {place}><title>{said}</title></circle>')
    return "".join(parts)


def _people(found: Dossier) -> str:
    return "".join(_members(found, group) for group in _groups(found))


def _members(found: Dossier, group: Group) -> str:
    heads = "".join(
        f'<th scope="col">{_text(name)}</th>'
        for name in ("person", "distance", *found.features, "decision")
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{_text(cell)}</td>"
            for cell in (
                peer.name,
                "" if peer.distance is None else f"{peer.distance:.4g}",
                *map(written, peer.values),
                decided(peer.declined),
            )
        )
        + "</tr>"
        for peer in group.peers
    )
    return (
        f"<details><summary>{_text(group.name)}: {_text(counted(group))}</summary>"
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _groups(found: Dossier) -> list[Group]:
    return [found.control, found.test, *([] if found.plain is None else [found.plain])]


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _x(across: float) -> float:
    return LEFT + (RIGHT - LEFT) * across


def _text(words: str) -> str:
    """Escaped, with characters that cannot be seen spelled out."""
    return escape(UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", words))
