"""A service with users, asked by browsers that keep their cookies, without sockets."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from argon2 import PasswordHasher
from support import search_processes
from support.present import present
from support.supervision import FakeSupervision

from ultracrawl.index import IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.service.access import passwords
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.users import UserStore
from ultracrawl.service.api.app import ApiOptions, make_app
from ultracrawl.service.pages.app import add_pages
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions

PASSWORD = "correct horse battery"
DOCUMENTS = (
    IndexDocument("lake", "http://lake.example/heron", "Heron", "the grey heron stands in the water"),
    IndexDocument("lake", "http://lake.example/ring", "Ring", "the ringed heron", acl=("staff",)),
    IndexDocument("sea", "http://sea.example/gull", "Gull", "the gull steals what the heron leaves"),
)


class Service:
    """A service whose source `lake` is public, beside `sea`."""

    def __init__(self, folder: Path, engine: str = "whoosh") -> None:
        self.folder = folder
        self._engine = engine
        self.define()
        self.users = UserStore.of_project(self.project)
        index = open_index(self.project)
        index.apply(DOCUMENTS)
        index.close()
        self.restart()

    def restart(self, options: ApiOptions | None = None) -> None:
        """Begin a new process of the service."""
        project = present(self.folder / "ultracrawl.yaml", lambda: self.project)
        self.app = make_app(project, FakeSupervision(["lake", "sea"]), options or ApiOptions())
        search_processes.end_after_test(self.app)
        add_pages(self.app)

    def define(self, **sections: object) -> None:
        """Write the definitions, with further sections."""
        sources = {
            "lake": {"start_urls": ["http://lake.example/"], "groups": ["birds"], "public": True},
            "sea": {"start_urls": ["http://sea.example/"], "groups": ["birds", "coast"]},
        }
        written = {"index": {"engine": self._engine}, "sources": sources, **sections}
        (self.folder / "ultracrawl.yaml").write_text(yaml.safe_dump(written))

    @property
    def project(self) -> Project:
        return require(read_definitions(self.folder / "ultracrawl.yaml"))

    @property
    def audit(self) -> list[dict[str, Any]]:
        """The rows of the audit log."""
        path = self.project.logs.path / "audit.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def add(
        self, name: str, role: Role | None = Role.READER, principals: tuple[str, ...] | None = ()
    ) -> None:
        """Add a user with the password `PASSWORD`."""
        self.users.add_user(name, role, PASSWORD, principals)


class Browser:
    """A browser at an address; it keeps cookies, and follows no redirects."""

    def __init__(
        self, service: Service, address: str = "192.0.2.1", base: str = "http://127.0.0.1:8480"
    ) -> None:
        self.service = service
        self.address = address
        self.base = base
        self.cookies = httpx.Cookies()

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request."""
        return self.ask_all([(method, path, options)])[0]

    def ask_all(self, requests: list[tuple[str, str, dict[str, Any]]]) -> list[httpx.Response]:
        """Send requests at once."""

        async def asked() -> list[httpx.Response]:
            transport = httpx.ASGITransport(
                self.service.app, raise_app_exceptions=False, client=(self.address, 5)
            )
            async with httpx.AsyncClient(
                transport=transport, base_url=self.base, cookies=self.cookies
            ) as client:
                answers = await asyncio.gather(
                    *(client.request(method, path, **options) for method, path, options in requests)
                )
                self.cookies = client.cookies
            return list(answers)

        return asyncio.run(asked())

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Send a GET request."""
        return self.ask("GET", path, **options)

    def csrf_token(self, path: str = "/login") -> str:
        """Return the CSRF token of a form."""
        return csrf_token_of(self.get(path).text)

    def log_in(
        self, name: str = "anna", password: str = PASSWORD, next_: str = "", **fields: str
    ) -> httpx.Response:
        """Send the log-in form."""
        form = {"csrf_token": self.csrf_token(), "name": name, "password": password, "next": next_, **fields}
        return self.ask("POST", "/login", data=form)

    @property
    def session_token(self) -> str:
        """The CSRF token of the session."""
        (identifier,) = (value for name, value in self.cookies.items() if "_session_" in name)
        found = self.service.app.state.api.accounts.session_of(identifier)
        return str(found[1].csrf_token)


def csrf_token_of(text: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', text)
    assert found is not None, text
    return found[1]


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords with the least effort."""
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", lambda: hasher)
    passwords.hash_of_nobody.cache_clear()


@pytest.fixture
def service(tmp_path: Path) -> Service:
    made = Service(tmp_path)
    made.add("anna", Role.ADMINISTRATOR, None)
    return made


@pytest.fixture
def browser(service: Service) -> Browser:
    return Browser(service)
