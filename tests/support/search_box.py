"""A real `ultracrawl serve` with public sources, and a browser that opens pages of other sites with its search box."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page

from support.chromium import axe_violations
from support.project import Workspace
from support.until import PATIENCE, until
from ultracrawl.index import IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.sources import load_project
from ultracrawl.sources import require as require_project

BOX = "ultracrawl-search"


class BoxService:
    """A service, with the means to fill its index and to make public keys."""

    def __init__(self, folder: Path, definition: dict[str, Any]) -> None:
        self.workspace, self.log = Workspace(folder), folder / "serve.log"
        self.workspace.write({"processes": {"default_interval": None}, **definition})
        self.url = ""

    def index(self, documents: Sequence[IndexDocument]) -> None:
        """Put documents into the index."""
        index = open_index(require_project(load_project(self.workspace.directory / "ultracrawl.yaml")))
        index.apply(documents)
        index.close()

    def key(self, name: str, *sites: str) -> str:
        """Return a new public key for these sites."""
        words = [word for site in sites for word in ("--site", site)]
        return self.workspace.command("token", "create", name, "--public", *words).out.strip()

    @contextmanager
    def serving(self, port: int) -> Iterator[BoxService]:
        """Run the service until the end."""
        self.url = f"http://127.0.0.1:{port}"
        with self.log.open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "ultracrawl", "serve", "--port", str(port)],
                cwd=self.workspace.directory, env=os.environ, stdout=log, stderr=log,
            )  # fmt: skip
        try:
            until(lambda: self.url in self.log.read_text(), None)
            yield self
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0, self.log.read_text()


class BoxPage:
    """A page with a search box, in a tab that records messages of the console and requests."""

    def __init__(self, context: BrowserContext) -> None:
        self.page: Page = context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on(
            "console",
            lambda said: said.type == "error" and self.errors.append(f"{said.location['url']} {said.text}"),
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.dialog = self.page.locator(f"{BOX} dialog")
        self.field = self.page.locator(f"{BOX} input[part=field]")
        self.options = self.page.locator(f"{BOX} [role=option]")
        self.note = self.page.locator(f"{BOX} .note")

    def go(self, url: str) -> BoxPage:
        """Load a page, and wait for its box."""
        self.page.goto(url)
        self.page.locator(f"{BOX} .opener").wait_for(state="attached")  # a function would need `unsafe-eval`
        return self

    def type(self, text: str, wait: str = "[role=option]") -> None:
        """Open the box by its keys, enter a text at once, and wait for what is shown then.

        Letter by letter, a busy machine would search in between: what is waited for would be of half a word.
        """
        if not self.dialog.is_visible():
            self.page.keyboard.press("Control+k")
        self.field.fill("")
        self.page.keyboard.insert_text(text)
        self.page.locator(f"{BOX} {wait}").first.wait_for()

    def chosen(self) -> str:
        """Return the title of the option that the field refers to; empty if there is none."""
        number = self.field.get_attribute("aria-activedescendant")
        return self.page.locator(f"{BOX} #{number} .name").inner_text() if number else ""

    def violations(self) -> list[str]:
        """Return what axe-core finds by its rules for WCAG 2.2, levels A and AA."""
        return [
            f"{one['id']}: {[node['html'] for node in one['nodes']]}"
            for one in axe_violations(self.page, BOX)
        ]
