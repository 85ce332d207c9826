"""Is a film known again by what is in its file, wherever in the file that is?"""

import pytest

from causalfairness.errors import ImageFileError
from causalfairness.imaging.keeping import END, _key

LONG = 3 * END


@pytest.fixture
def film(tmp_path):
    def write(name, content):
        path = tmp_path / f"{name}.png"
        path.write_bytes(bytes(content))
        return path

    return write


@pytest.mark.parametrize("place", [0, END - 1, LONG - END, LONG - 1])
def test_another_byte_at_either_end_is_another_film(film, place):
    content = bytearray(LONG)
    first = _key(film("one", content))
    assert _key(film("copy", content)) == first
    content[place] = 1
    assert _key(film("other", content)) != first


@pytest.mark.parametrize("size", [1, END, END + 1, 2 * END, LONG])
def test_a_longer_file_is_another_film(film, size):
    assert _key(film("one", bytearray(size))) != _key(film("longer", bytearray(size + 1)))


def test_a_film_that_is_gone_is_named(tmp_path):
    with pytest.raises(ImageFileError, match=r"There is no image .*gone"):
        _key(tmp_path / "gone.png")
