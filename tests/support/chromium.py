"""The Chromium of the system, and the accessibility checks of axe-core in its pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, Page, expect, sync_playwright

from support.requirement import require

_AXE = Path(__file__).parents[2] / "var/node_modules/axe-core/axe.min.js"
PATIENCE = 60_000
"""Milliseconds within which a page has to show what a test expects, on a machine where many tests run."""
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run the Chromium of the system."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    require(program, "Chromium", "chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        expect.set_options(timeout=PATIENCE)
        yield browser
        browser.close()


def end_network_process(ancestor: psutil.Process) -> None:
    """Kill the process of a browser that carries what its pages ask for; the browser starts another one."""
    for process in ancestor.children(recursive=True):
        # Some of the others may have ended, or end just now.
        with suppress(psutil.NoSuchProcess):
            if any("network.mojom.NetworkService" in word for word in process.cmdline()):
                process.kill()


def axe_violations(page: Page, part: str = "html") -> list[dict[str, Any]]:
    """Return the violations that axe-core finds in a page, or in the part that a selector names."""
    require(_AXE.exists(), "axe-core", get="make sites")
    page.evaluate(_AXE.read_text())
    found = page.evaluate("([part, rules]) => axe.run(part, {runOnly: rules})", [part, _RULES])
    return list(found["violations"])
