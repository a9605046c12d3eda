"""The site in a browser: every page opens without an error, at desk and at phone width."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

pytestmark = pytest.mark.site

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
).split()
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 800}
FAULTS = """() => {
  const faults = [];
  for (const img of document.images) {
    if (!img.naturalWidth) faults.push(`picture not loaded: ${img.src}`);
    if (!img.alt.trim()) faults.push(`picture without text: ${img.src}`);
  }
  for (const a of document.querySelectorAll('a[href^="#"]')) {
    const name = decodeURIComponent(a.getAttribute('href').slice(1));
    if (name && !document.getElementById(name)) faults.push(`no anchor: ${name}`);
  }
  return faults;
}"""
WIDTH = "() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"


class Silent(SimpleHTTPRequestHandler):
    """A file server that keeps its requests to itself."""

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium that this machine has."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip(f"no browser here: none of {', '.join(NAMES)} is on the path")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield launched
        launched.close()


def watched(browser: Browser, home: str, faults: list[str]) -> Page:
    """A page that writes down errors, failures, and whatever it asks of others."""
    page = browser.new_page(viewport=DESK)
    page.on("console", lambda m: m.type == "error" and faults.append(f"console: {m.text}"))
    page.on("pageerror", lambda error: faults.append(f"script: {error}"))
    gone = "net::ERR_ABORTED"  # we left the page before its icon came
    page.on("requestfailed", lambda r: r.failure == gone or faults.append(f"failed: {r.url}"))
    page.on("response", lambda r: r.status >= 400 and faults.append(f"{r.status}: {r.url}"))
    allowed = (home, "data:", "blob:", "about:")
    page.on("request", lambda r: r.url.startswith(allowed) or faults.append(f"asked: {r.url}"))
    return page


def test_every_page_opens_clean_at_desk_and_phone_width(browser, address, pages):
    faults: list[str] = []
    page = watched(browser, address, faults)
    found = {}
    for name in pages:
        page.goto(address + name, wait_until="load")
        faults += page.evaluate(FAULTS)
        page.set_viewport_size(PHONE)
        width = page.evaluate(WIDTH)
        if width > PHONE["width"]:
            faults.append(f"{width} pixels wide on a phone")
        page.set_viewport_size(DESK)
        if faults:
            found[name] = list(faults)
            faults.clear()
    page.close()
    assert not found


def test_the_watch_sees_what_it_should(browser, address, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<body style="margin:0"><img src="none.png"><div style="width:900px">x</div>'
        '<a href="#no">x</a><script>console.error("oh"); nothing()</script>'
    )
    faults: list[str] = []
    page = watched(browser, address, faults)
    page.goto(bad.as_uri())
    faults += page.evaluate(FAULTS)
    page.set_viewport_size(PHONE)
    assert page.evaluate(WIDTH) > PHONE["width"]
    page.close()
    kinds = {fault.split(":")[0] for fault in faults}
    assert kinds == {
        "asked", "console", "script", "failed", "no anchor", "picture not loaded",
        "picture without text",
    }  # fmt: skip


def test_the_site_works_from_a_folder_with_its_search(browser, site):
    faults: list[str] = []
    page = watched(browser, "file:///", faults)
    for name in ("index.html", "notebooks/03_discrimination.html", "api/mtrlib.evaluation.html"):
        page.goto((site / name).as_uri(), wait_until="load")
        faults += page.evaluate(FAULTS)
    page.goto((site / "index.html").as_uri())
    page.fill("input[name=q]", "discriminative power")
    page.press("input[name=q]", "Enter")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    page.close()
    assert not faults
