"""Where does each role of a standard fairness model stand?

The protected attribute at the bottom on the left, the outcome on the right, the mediators between
and above them, the confounders on top: no two lines cross. The direct path is the straight line at
the bottom, the indirect one the arch over it, the spurious one the arch over both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from causalfairness.report.picture.parts import (
    SIZE,
    Box,
    Curve,
    Label,
    Link,
    Picture,
    Point,
    listed,
    straight,
    whole,
    width_of,
)

WIDTH, MARGIN = 460.0, 14.0
SIDE, MIDDLE = 132.0, 150.0  # widths of the boxes
LINE, HEAD, PAD = 18.0, 16.0, 10.0
GAP, ARCH = 44.0, 46.0  # between confounders and mediators; between mediators and the bottom
MOST = 5  # names in a box
CONFOUNDERS, MEDIATORS = "confounders", "mediators"
SWATCH = 15.0  # beside a label
BOLD = 1.08  # times as wide as ordinary letters


def draw_roles(
    columns: Mapping[str, Sequence[str]], target: str, sizes: Mapping[str, str]
) -> Picture:
    """Where does each role stand, and how do the arrows between them run?

    `columns` holds the names of each role, among them the `target` (outcome or prediction);
    `sizes` what is written on each path.

    >>> picture = draw_roles({"protected": ["race"], "outcome": ["recid"]}, "outcome", {})
    >>> [(link.cause, link.effect, link.path) for link in picture.links]
    [('protected', 'outcome', 'direct')]
    """
    y = MARGIN
    boxes: dict[str, Box] = {}
    for role, gap in ((CONFOUNDERS, GAP), (MEDIATORS, ARCH)):
        if columns.get(role):
            boxes[role] = _box(role, columns[role], (WIDTH - MIDDLE) / 2, y, MIDDLE)
            y = boxes[role].bottom + (gap if columns.get(MEDIATORS) else ARCH)
    if not boxes and "direct" in sizes:
        y += LINE
    height = max(_height(columns[role]) for role in ("protected", target))
    for role, left in (("protected", MARGIN), (target, WIDTH - MARGIN - SIDE)):
        top = y + (height - _height(columns[role])) / 2
        boxes[role] = _box(role, columns[role], left, top, SIDE)
    bottom = max(box.bottom for box in boxes.values()) + MARGIN
    return Picture(
        tuple(boxes.values()),
        tuple(_links(boxes, target)),
        WIDTH,
        bottom,
        tuple(_labels(boxes, sizes)),
    )


def _height(names: Sequence[str]) -> float:
    return 2 * PAD + HEAD + LINE * min(len(names), MOST)


def _box(role: str, names: Sequence[str], left: float, top: float, width: float) -> Box:
    return Box(
        name=role,
        role=role,
        left=left,
        top=top,
        width=width,
        height=_height(names),
        lines=listed(names, width - 2 * PAD, MOST),
        full=f"{role}: {', '.join(map(whole, names))}",
        heading=role,
    )


def _links(boxes: Mapping[str, Box], target: str) -> Iterator[Link]:
    one, other = boxes["protected"], boxes[target]
    start, end = Point(one.right, one.center.y), Point(other.left, other.center.y)
    yield Link("protected", target, "direct", False, start, (straight(start, end),))
    for role, path, reach in ((MEDIATORS, "indirect", 0.72), (CONFOUNDERS, "spurious", 0.36)):
        if role not in boxes:
            continue
        box = boxes[role]
        foot = Point(one.left + reach * one.width, one.top)
        into = Point(box.left, box.center.y)
        hidden = role == CONFOUNDERS
        yield Link("protected", role, path, hidden, foot, (_arch(foot, into, upwards=True),))
        away = Point(box.right, box.center.y)
        down = Point(other.right - reach * other.width, other.top)
        yield Link(role, target, path, False, away, (_arch(away, down, upwards=False),))
    if CONFOUNDERS in boxes and MEDIATORS in boxes:
        upper, lower = boxes[CONFOUNDERS], boxes[MEDIATORS]
        start, end = Point(upper.center.x, upper.bottom), Point(lower.center.x, lower.top)
        yield Link(CONFOUNDERS, MEDIATORS, "spurious", False, start, (straight(start, end),))


def _arch(start: Point, end: Point, *, upwards: bool) -> Curve:
    """A quarter of an arch: upright at the side, level in the middle."""
    if upwards:
        return Curve(
            Point(start.x, start.y + 0.6 * (end.y - start.y)),
            Point(end.x + 0.6 * (start.x - end.x), end.y),
            end,
        )
    return Curve(
        Point(start.x + 0.6 * (end.x - start.x), start.y),
        Point(end.x, end.y + 0.6 * (start.y - end.y)),
        end,
    )


def _labels(boxes: Mapping[str, Box], sizes: Mapping[str, str]) -> Iterator[Label]:
    middle = WIDTH / 2
    if "direct" in sizes:
        text = f"direct {sizes['direct']}"
        yield Label("direct", text, _centered(text, middle), boxes["protected"].center.y - 9)
    if "indirect" in sizes and MEDIATORS in boxes:
        text = f"indirect {sizes['indirect']}"
        baseline = boxes[MEDIATORS].bottom + SIZE + 5
        yield Label("indirect", text, _centered(text, middle), baseline)
    if "spurious" in sizes and CONFOUNDERS in boxes:
        left = WIDTH - MARGIN - BOLD * max(map(width_of, ("spurious", sizes["spurious"])))
        yield Label("spurious", "spurious", left, MARGIN + SIZE - 2)
        yield Label("", sizes["spurious"], left, MARGIN + 2 * SIZE + 1)


def _centered(text: str, middle: float) -> float:
    return middle - (BOLD * width_of(text) - SWATCH) / 2
