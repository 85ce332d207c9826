"""How are groups called, for readers?"""

from __future__ import annotations


def group_called(name: object) -> str:
    """How is a group called? A bare number is one of a simulation.

    >>> group_called("White"), group_called("1")
    ('White', 'group 1')
    """
    text = str(name)
    return f"group {text}" if text.isdigit() else text
