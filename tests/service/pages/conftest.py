"""A project that was crawled in this process, and its pages requested without sockets."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from support import clock
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.supervision import FakeSupervision

from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api.app import ApiOptions, make_app
from ultracrawl.service.pages.app import add_pages
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions


class Pages:
    """The pages of a project, requested by the token of a reader."""

    def __init__(self, workspace: InProcessWorkspace) -> None:
        self.workspace = workspace
        self.supervisor = FakeSupervision(["site"])
        self.secret = TokenStore.of_project(self.project).create_token("reader", Role.READER)
        self.app = make_app(lambda: self.project, self.supervisor, ApiOptions())
        add_pages(self.app)

    @property
    def project(self) -> Project:
        return require(read_definitions(self.workspace.directory / "ultracrawl.yaml"))

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


@pytest.fixture
def site() -> NetworkSite:
    site = NetworkSite()
    site.page("/", title="Birds", links=["/heron", "/egret"], text="all birds of the lake")
    site.page("/heron", title="Heron", text="the grey heron stands in the water")
    site.page("/egret", title="Egret", text="the egret is white")
    return site


@pytest.fixture
def workspace(tmp_path: Path) -> InProcessWorkspace:
    clock.take_back_leaps()
    return InProcessWorkspace(tmp_path)


@pytest.fixture
def pages(workspace: InProcessWorkspace, url: str) -> Pages:
    workspace.define(f"{url}/")
    workspace.crawl()
    return Pages(workspace)
