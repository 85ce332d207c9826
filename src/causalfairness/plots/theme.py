"""Which colors and letters does a picture use? One palette, in a light and a dark form.

Each path keeps its color in every picture. The three path colors differ in lightness as well as in
hue, so that they stay apart without red-green or blue-yellow vision; what is left over is hatched
rather than given a fourth hue. Graphical objects have a contrast of at least 3:1 with the
background, text at least 4.5:1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """How does a picture look? Colors of the paths, of the page, and fonts in order of preference.

    `fonts` are tried in turn for each letter. DejaVu Sans comes with matplotlib; add one of your
    own for scripts it lacks: `replace(LIGHT, fonts=("DejaVu Sans", "Noto Sans CJK JP"))`. A letter
    that no font has is written as its number, as in `[U+6F22]`.

    >>> from dataclasses import replace
    >>> replace(LIGHT, size=12.0).color("direct") == LIGHT.direct
    True
    """

    background: str
    ink: str  # text and anchors
    muted: str  # text that may step back
    faint: str  # lines to hold on to; carry no meaning
    direct: str
    indirect: str
    spurious: str
    rest: str  # what the three paths leave over
    fonts: tuple[str, ...] = ("DejaVu Sans",)
    size: float = 9.5  # points, of ordinary text

    def color(self, part: str) -> str:
        """Which color has a part of a gap? The gap itself, and all other names, are ink.

        >>> LIGHT.color("outside_support") == LIGHT.color("misfit") == LIGHT.rest
        True
        """
        own = {"direct": self.direct, "indirect": self.indirect, "spurious": self.spurious}
        own |= dict.fromkeys(("outside_support", "misfit"), self.rest)
        return own.get(part, self.ink)


LIGHT = Theme(
    background="#ffffff",
    ink="#1f242b",
    muted="#5c646e",
    faint="#e3e6ea",
    direct="#cc5200",
    indirect="#1d5391",
    spurious="#17a086",
    rest="#737b85",
)
DARK = Theme(
    background="#14181e",
    ink="#eef1f4",
    muted="#a3acb7",
    faint="#2c333c",
    direct="#f58a4b",
    indirect="#4a8ad4",
    spurious="#7fe0cb",
    rest="#929ba6",
)
