"""Which browser do the tests drive? Chromium on the PATH, or the one that Debian installs.

    python tools/browser.py

prints its path. Where there is none, root on Debian gets the package `chromium`; everybody else
is told what to do, and the exit status is 1. `CHROMIUM=path` names one that lies elsewhere. Needs
nothing but Python, so that it can run before anything is installed.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL = (
    "apt-get -qq update",
    "apt-get -qq -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends chromium",
)
ADVICE = (
    "The tests drive a real browser, and none of {names} is on the PATH. Install Chromium (Debian: "
    "apt-get install chromium; Fedora: dnf install chromium; macOS: brew install --cask chromium) "
    "or Google Chrome, or name one that lies elsewhere: make test CHROMIUM=/path/to/chromium. As "
    "root on Debian, this command installs it."
)


class NoBrowserError(Exception):
    """There is no browser to drive, and the message says what to do."""


def main() -> int:
    """Which browser is there, after installing one where that is possible?"""
    try:
        print(find() or install())
    except NoBrowserError as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


def find() -> str | None:
    """Which browser is there already? The one that `CHROMIUM` names, or the first on the PATH."""
    named = os.environ.get("CHROMIUM")
    if not named:
        return next((path for path in map(shutil.which, NAMES) if path), None)
    path = shutil.which(named)
    if path is None:
        raise NoBrowserError(
            f"CHROMIUM is {named!r}, and no program is found there. Give the path of Chromium or "
            "Google Chrome, or leave CHROMIUM out to look for one on the PATH."
        )
    return path


def install() -> str:
    """Where is the browser that Debian installs? Refused where that is not possible."""
    advice = ADVICE.format(names=", ".join(NAMES))
    if not (is_debian() and is_root() and shutil.which("apt-get")):
        raise NoBrowserError(advice)
    print("Installing Debian's chromium for the browser tests ...", file=sys.stderr)
    for command in INSTALL:
        done = subprocess.run(
            command.split(),
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if done.returncode != 0:
            said = done.stdout[-2_000:].strip()
            raise NoBrowserError(
                f"{command} failed with status {done.returncode}:\n{said}\n\n{advice}"
            )
    path = find()
    if path is None:
        raise NoBrowserError(f"Debian's chromium is installed, but not on the PATH. {advice}")
    return path


def is_root() -> bool:
    """May this process install packages? As root, Chromium also runs without its sandbox only."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def is_debian() -> bool:
    """Is this Debian itself? Ubuntu's package of that name only points to a snap."""
    try:
        return platform.freedesktop_os_release().get("ID") == "debian"
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
