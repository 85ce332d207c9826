"""How is the documentation built? From Markdown pages, docstrings, and scripts that are run.

The scripts in `examples` become the pages in `gallery`. `make docs` treats every warning, and every
script that fails, as an error.
"""

import re
from importlib import metadata
from typing import Any

from sphinx_gallery.sorting import ExplicitOrder

project = "causalfairness"
author = "The CausalFairness authors"
project_copyright = author
release = metadata.version("causalfairness")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build", "examples"]
myst_enable_extensions = ["attrs_inline", "deflist"]
myst_heading_anchors = 3
default_role = "code"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signature of a dataclass is the list of its fields already

GALLERY = (
    "plot_five_minutes.py",
    "plot_groups.py",
    "plot_estimators_compared.py",
    "plot_compas_revisited.py",
    "plot_predictive_parity.py",
    "plot_frontier.py",
    "plot_invariance.py",
    "plot_sensitivity.py",
    "plot_imaging.py",
)
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": ExplicitOrder(GALLERY),
    "abort_on_example_error": True,
    "run_stale_examples": True,  # the library may have changed where the script has not
    "image_srcset": ["2x"],  # sharp on dense screens
    "download_all_examples": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 3600,  # how long a script takes says nothing about the next machine
    "inspect_global_variables": False,
}

html_theme = "furo"
html_title = f"causalfairness {release}"
html_static_path = ["static"]
html_css_files = ["pages.css"]


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
