"""How is the documentation built? Sphinx reads Markdown pages and the docstrings of the package.

`make docs` treats every warning as an error.
"""

import re
from importlib import metadata
from typing import Any

project = "causalfairness"
author = "The CausalFairness authors"
project_copyright = author
release = metadata.version("causalfairness")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "gallery"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
default_role = "code"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signature of a dataclass is the list of its fields already

html_theme = "furo"
html_title = f"causalfairness {release}"


def setup(app: Any) -> None:
    """How do docstrings, written to be read as they are, become reStructuredText?"""
    app.connect("autodoc-process-docstring", _protect)


def _protect(app: Any, what: str, name: str, it: Any, options: Any, lines: list[str]) -> None:
    """Keep bars and stars outside of code and examples from being read as markup."""
    in_example = False
    for at, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            pieces = re.split(r"(`[^`]*`)", line)
            pieces[::2] = [re.sub(r"([|*]|_(?=\W|$))", r"\\\1", piece) for piece in pieces[::2]]
            lines[at] = "".join(pieces)
