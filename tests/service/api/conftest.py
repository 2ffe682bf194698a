"""A project that was crawled in this process, and its API asked without sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.crawled import PORT, CrawledProjects
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.pages import bird_site
from support.present import present
from support.supervision import FakeSupervision

from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api.app import ApiOptions, make_app
from ultracrawl.settings.locations import with_location
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions


class Api:
    """The API of a project, asked by the token of a role."""

    def __init__(self, workspace: InProcessWorkspace, options: ApiOptions | None = None) -> None:
        self.workspace = workspace
        self.supervisor = FakeSupervision(["site"], ["nightly"])
        self.store = TokenStore.of_project(self.project)
        self.secrets = {role: self.store.create_token(role.value, role) for role in Role}
        self.app = make_app(
            present(workspace.directory / "ultracrawl.yaml", lambda: self.project),
            self.supervisor,
            options or ApiOptions(),
        )

    @property
    def project(self) -> Project:
        path = self.workspace.directory / "ultracrawl.yaml"
        return with_location(require(read_definitions(path)), path)

    def ask(
        self,
        method: str,
        path: str,
        *,
        role: Role | None = Role.ADMINISTRATOR,
        token: str = "",
        **options: Any,
    ) -> httpx.Response:
        """Send one request; `role` says whose token it has."""
        return self.ask_all([(method, path, options)], role=role, token=token)[0]

    def ask_all(
        self, requests: list[tuple[str, str, dict[str, Any]]], *, role: Role | None, token: str = ""
    ) -> list[httpx.Response]:
        """Send requests at once."""
        secret = token or (self.secrets[role] if role else "")
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}

        async def asked() -> list[httpx.Response]:
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(self.app.router.lifespan_context(self.app))
                transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
                client = await stack.enter_async_context(
                    httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8480", headers=headers)
                )
                return await asyncio.gather(
                    *(client.request(method, path, **options) for method, path, options in requests)
                )

        return asyncio.run(asked())

    def get(self, path: str, role: Role | None = Role.ADMINISTRATOR, **params: Any) -> Any:
        """Return the JSON of an answer that must be 200."""
        answer = self.ask("GET", f"/api/v1{path}", role=role, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def site() -> NetworkSite:
    return bird_site()


@pytest.fixture
def url(site: NetworkSite) -> Iterator[str]:
    with site.serve(port=PORT) as address:
        yield address


@pytest.fixture
def workspace(tmp_path: Path) -> InProcessWorkspace:
    return InProcessWorkspace(tmp_path)


@pytest.fixture
def api(workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects) -> Api:
    workspace.define(f"{url}/")
    crawled_projects.crawl(workspace, site)
    return Api(workspace)
