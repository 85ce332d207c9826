"""Do the checks of pages see what they are there to see? Pages with one fault each."""

import pytest

from page_checks import axe_findings, background, contrast, inked, photograph, sticking_out, unfold

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"></head>
<body style="background: white"><main><h1>A page</h1>{body}</main></body></html>"""


@pytest.fixture
def written(tmp_path):
    def write(body):
        path = tmp_path / "page.html"
        path.write_text(PAGE.format(body=body), "utf-8")
        return path

    return write


def test_a_page_without_faults_has_none(visit, written, tmp_path):
    page = visit(written("<p>Text</p>"), width="phone")
    assert sticking_out(page) == []
    assert axe_findings(page) == []
    assert visit.troubles == []
    assert contrast(page) == pytest.approx(21)
    assert background(page) == pytest.approx(1)
    assert 0 < inked(photograph(page, "page", tmp_path)) < 0.1


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ("<script>console.error('oh')</script>", "console: error: oh"),
        ("<script>console.warn('hm')</script>", "console: warning: hm"),
        ("<script>throw Error('no')</script>", "error: no"),
        ("<script>alert('look')</script>", "opens a dialog: look"),
        ("<script>window.open('about:blank')</script>", "opens a window"),
        ("<img alt='' src='http://127.0.0.1:9/x.png'>", "asks for http://127.0.0.1:9/x.png"),
        ("<img alt='' src='beside.png'>", "does not get file:"),
        ("<style>@import url('http://127.0.0.1:9/x.css')</style>", "asks for http://127"),
        ("<script>fetch('http://127.0.0.1:9/').catch(() => 0)</script>", "asks for http://127"),
        ("<iframe title='x' src='http://127.0.0.1:9/'></iframe>", "asks for http://127"),
    ],
)
def test_trouble_is_noticed(visit, written, body, trouble):
    visit(written(body)).wait_for_timeout(150)
    assert any(trouble in each for each in visit.troubles), visit.troubles
    visit.troubles.clear()


def test_a_picture_within_the_page_is_no_trouble(visit, written):
    dot = "R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="
    visit(written(f"<img alt='a dot' src='data:image/gif;base64,{dot}'>")).wait_for_timeout(100)
    assert visit.troubles == []


@pytest.mark.parametrize("width", ["desktop", "phone"])
@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<p style='width: 1400px'>wide</p>", True),
        (f"<p>{'w' * 2_000}</p>", True),
        ("<p style='position: relative; left: 1300px; width: 90px'>away</p>", True),
        ("<div style='overflow-x: auto'><p style='width: 1400px'>wide</p></div>", False),
        ("<details><summary>s</summary><p style='width: 1400px'>wide</p></details>", True),
    ],
)
def test_what_sticks_out_is_noticed(visit, written, width, body, found):
    page = visit(written(body), width=width)
    unfold(page)
    assert bool(sticking_out(page)) == found


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>", "image-alt"),
        ("<p style='color: #bbb'>pale</p>", "color-contrast"),
        ("<h4>deep</h4>", "heading-order"),
        ("<button></button>", "button-name"),
        ("<details><summary>s</summary><i style='color:#bbb'>pale</i></details>", "color-contrast"),
    ],
)
def test_axe_sees_it(visit, written, body, rule):
    page = visit(written(body))
    unfold(page)
    assert [finding.split(": ")[1] for finding in axe_findings(page)] == [rule]


def test_a_blank_page_is_blank(visit, written, tmp_path):
    page = visit(written("<style>h1 { color: white }</style>"))
    assert inked(photograph(page, "blank", tmp_path)) == 0
    assert contrast(page, "h1") == pytest.approx(1)


def test_pictures_are_kept_where_they_are_wanted(visit, written, tmp_path, monkeypatch):
    monkeypatch.setenv("SCREENSHOTS", str(tmp_path / "kept"))
    photograph(visit(written("")), "page", tmp_path)
    kept = (tmp_path / "kept" / "page.png").read_bytes()
    assert kept == (tmp_path / "page.png").read_bytes()


def test_the_server_serves_this_machine_only(visit, served, written):
    address = served(written("<p>served</p>"))
    assert address.startswith("http://127.0.0.1:")
    assert visit(address).locator("p").inner_text() == "served"
