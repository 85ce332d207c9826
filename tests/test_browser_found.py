"""Is the browser of the tests found, installed where that is possible, and asked for elsewhere?"""

import os
import platform
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tools import browser

TOOL = Path(browser.__file__)
APT = """#!/bin/sh
echo "$@" >> "{folder}/asked"
echo "$DEBIAN_FRONTEND" > "{folder}/frontend"
case "$*" in *{failing}*) echo "E: no network"; exit 100;; esac
case "$*" in *install*) {then};; esac
"""


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder of programs, and nothing else on the PATH; no browser is named."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CHROMIUM", raising=False)
    return folder


@pytest.fixture
def on(monkeypatch):
    """Who is asking, and on which system?"""

    def settle(system, user):
        def release():
            if system is None:
                raise OSError("no os-release")
            return {"ID": system}

        monkeypatch.setattr(platform, "freedesktop_os_release", release)
        monkeypatch.setattr(os, "geteuid", lambda: 0 if user == "root" else 1000)

    return settle


def program(path, text="#!/bin/sh\n"):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def apt_get(folder, then, failing="nothing"):
    """An apt-get that writes down what it is asked, and runs `then` to install."""
    program(folder / "apt-get", APT.format(folder=folder, then=then, failing=failing))


def installing(name, folder):
    """What a shell does, without other programs, to put a program there."""
    return f'echo "#!/bin/sh" > "{folder}/{name}"; /bin/chmod +x "{folder}/{name}"'


@pytest.mark.parametrize("name", browser.NAMES)
def test_a_browser_on_the_path_is_found_and_nothing_installed(programs, on, capsys, name):
    on("debian", "root")
    apt_get(programs, "false")
    path = program(programs / name)
    assert browser.main() == 0
    assert capsys.readouterr().out == f"{path}\n"
    assert not (programs / "asked").exists()


def test_chromium_goes_before_others(programs):
    for name in browser.NAMES:
        program(programs / name)
    assert browser.find() == str(programs / "chromium")


def test_a_file_that_cannot_run_is_no_browser(programs):
    (programs / "chromium").write_text("")
    assert browser.find() is None


def test_a_named_browser_goes_before_the_path(programs, monkeypatch, tmp_path):
    program(programs / "chromium")
    elsewhere = program(tmp_path / "my browser")
    monkeypatch.setenv("CHROMIUM", str(elsewhere))
    assert browser.find() == str(elsewhere)
    monkeypatch.setenv("CHROMIUM", "")
    assert browser.find() == str(programs / "chromium")


def test_a_named_browser_that_is_not_there_is_refused(programs, monkeypatch, capsys, on):
    on("debian", "root")
    apt_get(programs, installing("chromium", programs))
    program(programs / "google-chrome")
    monkeypatch.setenv("CHROMIUM", "/no/such/browser")
    assert browser.main() == 1
    assert "CHROMIUM is '/no/such/browser'" in capsys.readouterr().err
    assert not (programs / "asked").exists()


@pytest.mark.parametrize(
    ("system", "user", "has_apt"),
    [
        ("debian", "somebody", True),
        ("ubuntu", "root", True),
        ("fedora", "root", False),
        ("debian", "root", False),
        (None, "root", True),
    ],
)
def test_others_are_told_what_to_do(programs, on, capsys, system, user, has_apt):
    on(system, user)
    if has_apt:
        apt_get(programs, installing("chromium", programs))
    assert browser.main() == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1  # one paragraph
    for part in ["apt-get install chromium", "dnf", "brew", "CHROMIUM=", *browser.NAMES]:
        assert part in told.err
    assert not (programs / "asked").exists()


def test_root_on_debian_gets_one(programs, on, capsys):
    on("debian", "root")
    apt_get(programs, installing("chromium", programs))
    assert browser.main() == 0
    assert capsys.readouterr().out == f"{programs / 'chromium'}\n"
    update, install = (programs / "asked").read_text().splitlines()
    assert update.endswith("update")
    assert "--yes" in install.split()
    assert install.split()[-1] == "chromium"
    assert (programs / "frontend").read_text() == "noninteractive\n"


@pytest.mark.parametrize("failing", ["update", "install"])
def test_a_failed_installation_says_why(programs, on, capsys, failing):
    on("debian", "root")
    apt_get(programs, "true", failing=failing)
    assert browser.main() == 1
    told = capsys.readouterr().err
    assert "failed with status 100:\nE: no network\n" in told
    assert "CHROMIUM=" in told


def test_an_installation_without_a_browser_is_no_success(programs, on, capsys):
    on("debian", "root")
    apt_get(programs, "true")
    assert browser.main() == 1
    assert "installed, but not on the PATH" in capsys.readouterr().err


def test_the_command_prints_the_path_and_exits(programs):
    path = program(programs / "google-chrome")
    command = [sys.executable, str(TOOL)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}\n", "")
    named = os.environ | {"CHROMIUM": "/no/such/browser"}
    done = subprocess.run(command, capture_output=True, text=True, env=named)
    assert (done.returncode, done.stdout) == (1, "")
    assert "leave CHROMIUM out" in done.stderr
