"""What do people meet on a page? Checks that read an open page as a reader, or a machine, would."""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import axe_playwright_python
import numpy as np
from playwright.sync_api import Page

READABLE = 4.5  # contrast that WCAG 2.2 AA asks of text
STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth, found = [];
  const held = e => {
    for (let up = e.parentElement; up; up = up.parentElement)
      if (getComputedStyle(up).overflowX !== 'visible') return true;
    return false;
  };
  for (const e of document.body.querySelectorAll('*')) {
    const box = e.getBoundingClientRect();
    if (box.width > 1 && box.right > width + 1 && box.left > -width && !held(e))
      found.push(`${e.tagName}.${e.getAttribute('class')} ends at ${box.right} of ${width}: `
                 + e.textContent.trim().slice(0, 40));
  }
  const wide = document.documentElement.scrollWidth;
  if (wide > width) found.push(`the page is ${wide} wide, and ${width} are there`);
  return found.slice(0, 8);
}"""
COLORS = """selector => {
  const of = (e, name) => getComputedStyle(e)[name];
  const element = document.querySelector(selector);
  let behind = element;
  while (behind.parentElement && of(behind, 'backgroundColor') === 'rgba(0, 0, 0, 0)')
    behind = behind.parentElement;
  return [of(element, 'color'), of(behind, 'backgroundColor')];
}"""
LOOKS = """[...document.querySelectorAll('*')].filter(e => !e.closest('.theme')).map(e => {
  const style = getComputedStyle(e);
  return [e.tagName, style.color, style.backgroundColor, style.fill, style.stroke,
          style.borderTopColor, style.colorScheme].join(' ');
})"""


def unfold(page: Page) -> None:
    """Opens all that a reader can open, so that nothing escapes a check."""
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")


def thin_out(page: Page) -> None:
    """Leaves the first rows of each table, so that axe need not read hundreds written alike."""
    page.evaluate(
        "document.querySelectorAll('tbody tr:nth-child(n+4)').forEach(each => each.remove())"
    )


def looks(page: Page) -> list[str]:
    """Which colors does each element have, but for the choice of them?"""
    return page.evaluate(LOOKS)  # type: ignore[no-any-return]


def axe_findings(page: Page, *, only: str = "") -> list[str]:
    """What does axe-core find, of any weight? One line for each rule and the first places."""
    page.evaluate(_axe())
    rules = {"target-size": {"enabled": True}}  # of WCAG 2.2, which axe leaves out by itself
    asked = {"runOnly": {"type": "rule", "values": [only]}} if only else {"rules": rules}
    options = {"resultTypes": ["violations"], "preload": False, **asked}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{each['impact']}: {each['id']}: {each['help']}: "
        + "; ".join(f"{node['target']} {node['html'][:200]}" for node in each["nodes"][:4])
        for each in found["violations"]
    ]


def sticking_out(page: Page) -> list[str]:
    """Which parts make the page wider than its window? What scrolls on its own may be wide."""
    return page.evaluate(STICKING_OUT)  # type: ignore[no-any-return]


def contrast(page: Page, selector: str = "body") -> float:
    """How well does text stand out from what is behind it? From 1 to 21, after WCAG 2.2."""
    text, behind = (_luminance(color) for color in page.evaluate(COLORS, selector))
    return (max(text, behind) + 0.05) / (min(text, behind) + 0.05)


def background(page: Page) -> float:
    """How light is the page? From 0, black, to 1, white."""
    return _luminance(page.evaluate(COLORS, "body")[1])


def photograph(page: Page, name: str, folder: Path) -> Any:
    """The whole page as rows of gray; also as a file in this folder, and in $SCREENSHOTS."""
    from PIL import Image

    file = folder / f"{name}.png"
    file.write_bytes(page.screenshot(full_page=True))
    if keep := os.environ.get("SCREENSHOTS"):
        Path(keep).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, keep)
    return np.asarray(Image.open(BytesIO(file.read_bytes())).convert("L"), dtype=float)


def inked(picture: Any) -> float:
    """Which share of a picture differs from its most frequent shade?"""
    shades = np.bincount(picture.astype(int).ravel(), minlength=256)
    return float(np.mean(np.abs(picture - shades.argmax()) > 16))


def _luminance(color: str) -> float:
    """How light is `rgb(r, g, b)` to the eye, relative to white?"""
    channels = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@cache
def _axe() -> str:
    folder = Path(axe_playwright_python.__file__).parent
    return (folder / "axe.min.js").read_text("utf-8")
