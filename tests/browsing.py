"""How does a test get a page of a report in a real browser? Fixtures around headless Chromium.

`visit(path)` opens a file, `visit(served(path))` the same file from a server on this machine, in a
window of its own; `tame_report` and `hostile_report` are paths of audit reports. A page has to get
by on its own: a message on its console, an error, a dialog, a further window or any request but the
one for the page itself fails the test that opened it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from tools.browser import find, is_root

import audit_pages
import causalfairness as cf

WIDTHS = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
PATIENCE = 30_000  # milliseconds to wait for a page on a busy machine before it counts as stuck


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a process; root has to go without its sandbox."""
    path = find()
    assert path, "no browser on the PATH; `make browser` installs one or says how"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, chromium_sandbox=not is_root())
        yield found
        found.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visitor]:
    """Opens pages, closes them after the test, and fails it if one of them was in trouble."""
    visitor = Visitor(browser)
    yield visitor
    visitor.leave()
    assert not visitor.troubles, "\n".join(visitor.troubles)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], str]]:
    """The address of a file of the tests on a server that only this machine can reach."""
    folder = tmp_path_factory.getbasetemp()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        host, port = server.server_address[:2]
        yield lambda path: f"http://{host}:{port}/{path.relative_to(folder).as_posix()}"
        server.shutdown()


@pytest.fixture(scope="session")
def tame_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an audit that asks everything."""
    folder = tmp_path_factory.mktemp("tame")
    return cf.report.write_html(audit_pages.tame(), folder / "report.html")


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an audit where every name that somebody chose is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    return cf.report.write_html(audit_pages.hostile(), folder / "report.html")


class Silent(SimpleHTTPRequestHandler):
    """A server of files that does not print what it is asked."""

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@dataclass(frozen=True)
class Visitor:
    """Who opens pages, and what went wrong on them?"""

    browser: Browser
    windows: list[BrowserContext] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def __call__(
        self,
        address: Path | str,
        *,
        width: str = "desktop",
        dark: bool = False,
        scripts: bool = True,
        fragment: str = "",
    ) -> Page:
        """The page at a path or address, in a new window of this width and color scheme."""
        window = self.browser.new_context(
            viewport=WIDTHS[width],  # type: ignore[arg-type]
            is_mobile=width == "phone",
            has_touch=width == "phone",
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            java_script_enabled=scripts,
        )
        self.windows.append(window)
        window.set_default_timeout(PATIENCE)
        page = window.new_page()
        url = address.as_uri() if isinstance(address, Path) else address
        self._listen(page, url)
        page.goto(url + fragment)
        return page

    def leave(self) -> None:
        """Closes the windows."""
        for window in self.windows:
            window.close()

    def _listen(self, page: Page, url: str) -> None:
        def trouble(what: str) -> None:
            self.troubles.append(f"{url.rpartition('/')[2]}: {what}")

        def on_request(request: Any) -> None:
            if request.url.partition("#")[0] != url and not request.url.startswith("data:image/"):
                trouble(f"asks for {request.url[:200]}")

        def said_of(request: Any) -> str:
            return f"{request.url[:200]}: {request.failure}"

        def on_dialog(dialog: Any) -> None:
            trouble(f"opens a dialog: {dialog.message}")
            dialog.dismiss()

        page.on("console", lambda said: trouble(f"console: {said.type}: {said.text}"))
        page.on("pageerror", lambda error: trouble(f"error: {error}"))
        page.on("request", on_request)
        page.on("requestfailed", lambda request: trouble(f"does not get {said_of(request)}"))
        page.on("dialog", on_dialog)
        page.on("popup", lambda other: trouble(f"opens a window: {other.url[:200]}"))
        page.on("download", lambda file: trouble(f"downloads {file.url[:200]}"))
        page.on("crash", lambda _: trouble("crashes"))
