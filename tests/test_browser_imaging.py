"""Can images and points of an audit of radiographs be seen, whatever the groups are called?"""

from io import BytesIO

import pytest

from causalfairness.report.page.blocks import Column, Images, Page, Points, Section, Table
from causalfairness.report.page.html import render_page
from page_checks import axe_findings, sticking_out

LONG = "Native Hawaiian or Other Pacific Islander"
LONGER = "Black or African American, of Caribbean or West African family origin"
UNBROKEN = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnungen"
GROUPS = ("White", LONG, LONGER)
SMALLEST = 60  # pixels across, below which nothing is seen on a radiograph
LARGEST = 160  # however few there are, and however long the names above them
SCROLLBAR = "html { padding-right: 15px; }"  # as wide as one that takes room

everywhere = pytest.mark.parametrize("width", [1200, 800, 420])
in_every_light = pytest.mark.parametrize("light", ["light", "dark", "paper"])

FILMS = """grid => [...grid.querySelectorAll('img')].map(img => {
  const {left, right, width, height} = img.getBoundingClientRect();
  return {left, right, width, height};
})"""
CUT_TEXT = """box => {
  const {left, right} = box.getBoundingClientRect(), found = [];
  for (const text of box.querySelectorAll('caption bdi, .group bdi')) {
    const lines = document.createRange();
    lines.selectNodeContents(text);
    for (const line of lines.getClientRects())
      if (line.left < left - 0.5 || line.right > right + 0.5)
        found.push(`${line.left} to ${line.right} of ${left} to ${right}: ${text.textContent}`);
  }
  return found;
}"""
CIRCLES = """plot => {
  const cloud = plot.querySelector('.cloud'), at = cloud.getScreenCTM();
  const round = parseFloat(getComputedStyle(cloud).strokeWidth) / 2;
  return [...cloud.getAttribute('d').matchAll(/M(-?\\d+) (-?\\d+)/g)].map(([, x, y]) => {
    const {x: across, y: down} = new DOMPoint(x, y).matrixTransform(at);
    return [across - round, down - round, across + round, down + round];
  });
}"""
BOX = "e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }"


def film(shade):
    from PIL import Image

    file = BytesIO()
    Image.new("L", (32, 32), shade).save(file, "png")
    return file.getvalue()


def grid(groups):
    """A few people, one of each group, as every group would look."""
    columns = ("as it is", *(f"as {group}" for group in groups))
    rows = tuple(
        tuple(film(40 + 20 * at) for at in range(len(columns))) for _ in range(len(groups))
    )
    names = tuple(f"{group}, 57 years" for group in groups)
    words = f"Radiographs of {len(groups)} people as they are, and as generated"
    return Images(columns, rows, words, names, "Under the own group nothing should change. " * 3)


@pytest.fixture
def shown(visit, tmp_path):
    """A page with these blocks in a window of this width, by day, at night or on paper."""

    def show(*blocks, width=420, light="light"):
        page = Page("Films of a clinic", "An audit", (Section("films", "Films", blocks),), "Made.")
        path = tmp_path / "report.html"
        path.write_text(render_page(page), "utf-8")
        opened = visit(path, dark=light == "dark")
        opened.set_viewport_size({"width": width, "height": 900})
        if light == "paper":
            opened.emulate_media(media="print")
        return opened

    return show


# --- images -----------------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("groups", [GROUPS, ("White", UNBROKEN)], ids=["words", "one word"])
@pytest.mark.parametrize("light", ["light", "paper"])
def test_every_image_is_in_sight_whatever_the_groups_are_called(shown, width, groups, light):
    page = shown(grid(groups), width=width, light=light)
    section = page.locator("section#films").bounding_box()
    films = page.locator("table.images").evaluate(FILMS)
    assert len(films) == len(groups) * (len(groups) + 1)
    for each in films:
        assert each["left"] >= section["x"] - 0.5, each
        assert each["right"] <= section["x"] + section["width"] + 0.5, each
        assert SMALLEST <= each["width"] <= LARGEST
        assert each["height"] == pytest.approx(each["width"], abs=0.1)
    assert max(e["width"] for e in films) - min(e["width"] for e in films) < 1
    assert sticking_out(page) == []


def test_more_images_than_there_is_room_for_scroll_below_their_names(shown):
    page = shown(grid((*GROUPS, "Asian", "Unknown", UNBROKEN, "Other")), width=420)
    assert sticking_out(page) == []
    box = page.locator(".scroll").first
    seen = box.bounding_box()
    films = page.locator("table.images").evaluate(FILMS)[:8]
    assert all(each["width"] > SMALLEST for each in films)
    assert sum(each["right"] <= seen["x"] + seen["width"] for each in films) >= 4
    box.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    last = page.locator("table.images").evaluate(FILMS)[7]
    assert last["right"] <= seen["x"] + seen["width"] + 0.5
    assert box.evaluate(CUT_TEXT) == []


# --- captions ---------------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("scrollbar", [False, True], ids=["no scrollbar", "scrollbar"])
def test_captions_and_names_are_not_cut(shown, width, scrollbar):
    """Not above images, and not above a table that is wider than the window."""
    columns = tuple(Column(f"c{at}", f"share of {LONG}", "share") for at in range(12))
    wide = Table(f"The share of every group: {LONGER}; " * 2, columns, ((0.5,) * 12,) * 2)
    page = shown(grid(GROUPS), wide, width=width)
    if scrollbar:
        page.add_style_tag(content=SCROLLBAR)
    for box in page.locator(".scroll").all():
        assert box.evaluate(CUT_TEXT) == []
        inner, span = box.bounding_box(), box.locator("caption > span").bounding_box()
        assert span["x"] + span["width"] <= inner["x"] + inner["width"] + 0.5


# --- points -----------------------------------------------------------------------------------


def corners(low, high):
    """Points at the edges and the corners, and close to the axis at every height."""
    between = tuple(low + (high - low) * at / 40 for at in range(41))
    x = (*([low] * 41), *([high] * 41), *between, *between)
    y = (*between, *between, *([low] * 41), *([high] * 41))
    return Points("edema", "score of the image as it is", "score had it been another", x, y)


@everywhere
@in_every_light
def test_every_point_is_whole_and_no_number_covers_one(shown, width, light):
    page = shown(corners(0.0, 1.0), corners(-0.41, 0.83), width=width, light=light)
    assert page.locator(".points").count() == 2
    for plot in page.locator(".points").all():
        circles = plot.evaluate(CIRCLES)
        assert len(circles) == 4 * 41
        left, top, right, bottom = plot.locator(".same").evaluate(BOX)  # from corner to corner
        for circle in circles:
            assert left <= circle[0] < circle[2] <= right
            assert top <= circle[1] < circle[3] <= bottom
        numbers = plot.locator("text").all()
        assert len(numbers) > 8
        for box in (number.evaluate(BOX) for number in numbers):
            assert not any(overlap(box, circle) for circle in circles), box


@everywhere
def test_long_numbers_have_room(shown, width):
    page = shown(corners(0.500003, 0.500008), width=width)
    frame = page.locator(".points").evaluate(BOX)
    boxes = [number.evaluate(BOX) for number in page.locator(".points text").all()]
    for at, box in enumerate(boxes):
        assert frame[0] <= box[0] < box[2] <= frame[2]
        assert not any(overlap(box, other) for other in boxes[:at])
    assert sticking_out(page) == []


def test_numbers_stand_at_the_height_of_their_lines(shown):
    """A point at a round number lies where both axes say."""
    points = Points("edema", "x", "y", (0.0, 0.4, 1.0), (0.0, 0.6, 1.0))
    plot = shown(points, width=800).locator(".points")
    middle = {}
    for number in plot.locator("text.tick").all():
        left, top, right, bottom = number.evaluate(BOX)
        axis = "y" if number.get_attribute("x") == "-8" else "x"
        middle[axis, number.text_content()] = ((left + right) / 2, (top + bottom) / 2)
    left, top, right, bottom = plot.evaluate(CIRCLES)[1]
    assert middle["x", "0.4"][0] == pytest.approx((left + right) / 2, abs=1)
    assert middle["y", "0.6"][1] == pytest.approx((top + bottom) / 2, abs=2)


def overlap(one, other):
    return (
        one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    )  # left, top, right, bottom


# --- for everyone -----------------------------------------------------------------------------


@pytest.mark.parametrize("light", ["light", "dark"])
def test_axe_finds_nothing(shown, light):
    page = shown(grid(GROUPS), corners(0.0, 1.0), light=light)
    assert axe_findings(page) == []
