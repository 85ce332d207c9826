"""Do pages, and the texts of the package, use plain words?

What is rendered of an audit is looked at where the tests have one: the bundled one in
`test_readme.py`, one with every kind of question in `test_report_study.py`.
"""

import ast

import pytest

from plain_words import words_out
from snippets import PAGES, PROJECT

SCRIPTS = sorted((PROJECT / "docs" / "examples").glob("*.py"))
SOURCES = sorted((PROJECT / "src").rglob("*.py"))
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
TEMPLATES = sorted((PROJECT / "src").rglob("templates/*.html"))


def texts_in(source):
    """The texts of a module that may reach a person: of several words, and no docstring."""
    tree = ast.parse(source.read_text("utf-8"))
    nodes = [*ast.walk(tree)]
    own = [node for node in nodes if isinstance(node, DOCUMENTED) and ast.get_docstring(node)]
    documented = {node.body[0].value for node in own}
    values = [
        node.value for node in nodes if isinstance(node, ast.Constant) and node not in documented
    ]
    texts = [value for value in values if isinstance(value, str)]
    return " | ".join(text for text in texts if " " in text.strip() and "\\" not in text)


@pytest.mark.parametrize("page", [*PAGES, PROJECT / "CONTRIBUTING.md"], ids=lambda path: path.stem)
def test_a_page_uses_plain_words(page):
    assert words_out(page.read_text("utf-8")) == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_comments_of_a_script_use_plain_words(script):
    tree = ast.parse(script.read_text("utf-8"))
    lines = script.read_text("utf-8").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    assert words_out("\n".join([ast.get_docstring(tree), *comments])) == []


def test_the_texts_of_the_package_use_plain_words():
    found = {path.name: words_out(texts_in(path)) for path in SOURCES}
    found |= {path.name: words_out(path.read_text("utf-8")) for path in TEMPLATES}
    assert {name: words for name, words in found.items() if words} == {}


def test_a_word_that_is_out_is_found_wherever_it_stands():
    (said,) = words_out("Each complainant,\nlaid out: `complainants` is a name.")
    assert "Each complainant, laid" in said
    assert (
        len(words_out("They were told\n\n```python\ntold = 1\n```\n of their other\nselves.")) == 2
    )
