"""How is a name that somebody else chose shown, so that it can be read and does no harm?

Column names, group labels and values come from the data. Characters that cannot be seen or that
reorder the text around them (line breaks, escape sequences, direction overrides, halves of
characters) are spelled out; long names are cut. Joiners inside emoji and words stay.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 48  # characters of a name in running text
_SEEN_AS = {"\n": "⏎", "\r": "⏎", "\t": "⇥", "\r\n": "⏎"}
_UNSEEN = re.compile(
    r"\r\n|[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff\ufff9-\ufffb]"
)
_UNSEEN_BUT_LINES = re.compile(_UNSEEN.pattern.replace(r"\r\n|[\x00-\x1f", r"[\x00-\x09\x0b-\x1f"))


def legible(text: str) -> str:
    """How does this text look with every hidden character spelled out?

    >>> print(legible("two\\nlines, \\x1b[31mred\\x1b[0m, \\u202eback"))
    two⏎lines, \\x1b[31mred\\x1b[0m, \\u202eback
    """
    return _UNSEEN.sub(_spelled, text)


def legible_lines(text: str) -> str:
    """How does a text of several lines look? Like `legible`, but it keeps its line breaks.

    >>> print(legible_lines("first\\nsecond\\x07"))
    first
    second\\x07
    """
    return _UNSEEN_BUT_LINES.sub(_spelled, text)


def shortened(text: str, limit: int = LONGEST) -> str:
    """How does a long text look where there is little room? Cut at the end, never inside an emoji.

    >>> shortened("a name that goes on and on", 12)
    'a name that…'
    >>> shortened("short", 12)
    'short'
    """
    if len(text) <= limit:
        return text
    end = limit - 1
    while end > 1 and (_joins(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    return text[:end].rstrip() + "…"


def _joins(character: str) -> bool:
    """Does this character belong to the one before it?"""
    skin = "\U0001f3fb" <= character <= "\U0001f3ff"
    return character == "\u200d" or skin or unicodedata.category(character).startswith("M")


def _spelled(found: re.Match[str]) -> str:
    character = found[0]
    if character in _SEEN_AS:
        return _SEEN_AS[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
