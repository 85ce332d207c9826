"""Do the examples in the documentation run and print what it says?"""

import pytest

from snippets import PAGES, check_same, run_page, snippets_of


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_examples_of_a_page_run(page, tmp_path):
    for snippet, printed in run_page(page, tmp_path):
        if snippet.shown:
            check_same(printed, snippet.shown[2], f"{page.name}, line {snippet.line}")


def test_the_pages_that_teach_have_examples():
    taught = {page.stem for page in PAGES if snippets_of(page)}
    assert {
        "README",
        "index",
        "getting-started",
        "statistical-parity",
        "estimators",
        "data",
    } <= taught


def test_other_words_or_other_numbers_are_noticed():
    check_same("direct 0.154", "direct  0.153", "here")
    with pytest.raises(AssertionError, match="here prints"):
        check_same("direct 0.154", "indirect 0.154", "here")
    with pytest.raises(AssertionError, match=r"the page says 0\.071"):
        check_same("direct 0.154", "direct 0.071", "here")
    with pytest.raises(AssertionError):
        check_same("direct 0.154", "direct", "here")
