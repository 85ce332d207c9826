"""Do the examples on a page run, and do they print what the page says?

Blocks marked `python` run in order in one namespace, in an empty folder. A block marked `text`
right below one holds what it prints: the same words, and numbers that agree up to what another
version of a learner may change. `python tests/snippets.py` (`make pages`) writes what the examples
print now into the pages; with the names of pages, into these alone.
"""

import contextlib
import io
import re
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[1]
README = PROJECT / "README.md"
PAGES = (README, *sorted((PROJECT / "docs").glob("*.md")))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
P_VALUE = re.compile(r"(?<=\d\.\d{4}) +<?[01]\.\d{3}$", re.MULTILINE)  # magnifies small changes


class Snippet(NamedTuple):
    """One block of code, the line it starts on, and the block that shows what it prints."""

    line: int
    code: str
    shown: re.Match | None


def snippets_of(page):
    """The blocks of code on a page, in order."""
    text = page.read_text("utf-8")
    found = []
    for fence, below in pairwise([*FENCE.finditer(text), None]):
        if fence[1] == "python":
            adjacent = below is not None and not text[fence.end() : below.start()].strip()
            shown = below if adjacent and below[1] == "text" else None
            found.append(Snippet(text.count("\n", 0, fence.start()) + 2, fence[2], shown))
    return found


def run_page(page, folder):
    """Run every block of a page in a folder; yields each with what it printed."""
    names = {"__name__": page.stem}
    for snippet in snippets_of(page):
        out = io.StringIO()
        padded = "\n" * (snippet.line - 1) + snippet.code  # tracebacks name the line of the page
        with contextlib.chdir(folder), contextlib.redirect_stdout(out):
            exec(compile(padded, str(page), "exec"), names)
        yield snippet, out.getvalue()


def check_same(printed, shown, where):
    """Are the words the same, and are the numbers close?"""
    texts = [P_VALUE.sub("", text) for text in (printed, shown)]
    words = [NUMBER.sub("#", text).split() for text in texts]
    assert words[0] == words[1], f"{where} prints\n{printed}"
    for new, old in zip(*map(NUMBER.findall, texts), strict=True):
        one, other = (float(text.replace(",", "")) for text in (new, old))
        close = abs(one - other) <= max(0.003, 0.03 * abs(other))
        assert close, f"{where} prints {new}, the page says {old}"


def refresh(page):
    """Write what the examples of a page print now into the page."""
    text = page.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        printed = [(found.shown, out) for found, out in run_page(page, folder) if found.shown]
    for shown, out in sorted(printed, key=lambda pair: pair[0].start(), reverse=True):
        text = text[: shown.start(2)] + out + text[shown.end(2) :]
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    for each in PAGES:
        if each.stem in (sys.argv[1:] or [each.stem]):
            refresh(each)
