"""Pages of a project, requested without sockets or served over loopback, and a browser that notes what they do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import yaml

from support import search_processes
from support.chromium import PATIENCE, axe_violations
from support.network import NetworkSite
from support.present import present
from support.project import Workspace
from support.supervision import FakeSupervision
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api.app import ApiOptions, make_app
from ultracrawl.service.api.serving import make_server, open_socket
from ultracrawl.service.pages.app import add_pages
from ultracrawl.settings.locations import with_location
from ultracrawl.sources import Project
from ultracrawl.sources import require as required
from ultracrawl.sources.dialects import read_definitions

if TYPE_CHECKING:
    from fastapi import FastAPI
    from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request


def bird_site() -> NetworkSite:
    """Return a site of three pages."""
    site = NetworkSite()
    site.page("/", title="Birds", links=["/heron", "/egret"], text="all birds of the lake")
    site.page("/heron", title="Heron", text="the grey heron stands in the water")
    site.page("/egret", title="Egret", text="the egret is white")
    return site


class Pages:
    """The pages of a project, requested by the token of a reader."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.supervisor = FakeSupervision(["site"])
        self.secret = TokenStore.of_project(self.project).create_token("reader", Role.READER)
        self.app = make_app(
            present(workspace.directory / "ultracrawl.yaml", lambda: self.project),
            self.supervisor,
            ApiOptions(),
        )
        search_processes.end_after_test(self.app)
        add_pages(self.app)

    def as_reader_of(self, *principals: str) -> Pages:
        """Let the following requests be those of somebody with these principals."""
        store = TokenStore.of_project(self.project)
        self.secret = store.create_token("-".join(principals), Role.READER, principals)
        return self

    @property
    def project(self) -> Project:
        path = self.workspace.directory / "ultracrawl.yaml"
        return with_location(required(read_definitions(path)), path)

    def ask(
        self, path: str, *, method: str = "GET", signed_in: bool = True, root: str = "", **options: Any
    ) -> httpx.Response:
        """Send one request; redirects are not followed."""
        headers = {"Authorization": f"Bearer {self.secret}"} if signed_in else {}
        headers |= options.pop("headers", {})

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False, root_path=root)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8480") as client:
                return await client.request(method, path, headers=headers, **options)

        return asyncio.run(asked())


def define_project(workspace: Workspace, url: str, head: dict[str, Any], **options: Any) -> None:
    """Write a definition with one source `site` and options of the whole project."""
    workspace.define(f"{url}/", **options)
    workspace.write(head | yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text()))


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """Serve an application; gives its address."""
    server, opened = make_server(app), open_socket("127.0.0.1", 0)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([opened])), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{opened.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        opened.close()


class Watched:
    """A page of a browser; what it complains of, and what it asks of other hosts, is noted."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self.requests: list[Request] = []
        context.set_default_timeout(PATIENCE)
        self.page: Page = context.new_page()
        self.page.on("console", self._note_message)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._note_request)

    def _note_message(self, message: ConsoleMessage) -> None:
        is_ours = urlsplit(message.location["url"]).netloc in {urlsplit(self.address).netloc, ""}
        if message.type in {"error", "warning"} and is_ours:
            self.complaints.append(message.text)

    def _note_request(self, request: Request) -> None:
        self.requests.append(request)
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc:
            self.foreign.append(request.url)

    def open(self, path: str) -> Page:
        """Go to a page of the service."""
        self.page.goto(f"{self.address}{path}")
        return self.page

    def findings(self) -> list[str]:
        """Return what axe-core finds in the present page."""
        return [
            f"{one['id']}: {node['html'][:120]} ({node['failureSummary'].splitlines()[-1].strip()})"
            for one in axe_violations(self.page)
            for node in one["nodes"]
        ]
