"""The administration of a project, asked by users of each role who are signed in with a browser, without sockets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lxml.html import HtmlElement, document_fromstring
from service.access.conftest import Browser, cheap_hashes
from support.crawled import CrawledProjects
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.pages import Pages

from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.users import UserStore
from ultracrawl.settings.locations import with_location
from ultracrawl.sources import Project, usable_project
from ultracrawl.sources.dialects import read_definitions

__all__ = ["cheap_hashes"]
PASSWORD = "correct horse battery"
TOLD = frozenset({"done", "removed", "removed_from"})
"""Parameters that say what a form has done."""


Form = tuple[str, dict[str, str]]
"""Where a form is sent, and its fields."""


class Administration(Pages):
    """The pages of a project, whose definitions may have mistakes, seen by users of each role."""

    def __init__(self, workspace: InProcessWorkspace) -> None:
        super().__init__(workspace)
        self.users = UserStore.of_project(self.project)
        self._browsers: dict[Role, Browser] = {}

    @property
    def project(self) -> Project:
        path = self.workspace.directory / "ultracrawl.yaml"
        return with_location(usable_project(read_definitions(path)), path)

    def browser(self, role: Role | None = Role.ADMINISTRATOR) -> Browser:
        """Return the browser of a user; None: nobody is signed in."""
        if role is None:
            return Browser(self)  # type: ignore[arg-type] # it asks for the application only
        if role not in self._browsers:
            self.users.add_user(role.value, role, PASSWORD, ())
            self._browsers[role] = Browser(self)  # type: ignore[arg-type]
            self._browsers[role].log_in(role.value)
        return self._browsers[role]

    def get(self, path: str, role: Role | None = Role.ADMINISTRATOR) -> HtmlElement:
        """Return a page that must be there."""
        answer = self.browser(role).get(path)
        assert answer.status_code == 200, answer.text
        return document_fromstring(answer.text)

    def status(self, path: str, role: Role | None = Role.ADMINISTRATOR) -> int:
        return self.browser(role).get(path).status_code

    def send(self, path: str, role: Role | None = Role.ADMINISTRATOR, **fields: str | list[str]) -> Any:
        """Send a form of a page, with its CSRF token."""
        browser = self.browser(role)
        token = {"csrf_token": browser.session_token} if role is not None else {}
        return browser.ask("POST", path, data={**token, **fields})

    def form(self, part: str, decision: str, url: str = "") -> Form:
        """Return the form of a button of the page of approvals."""
        for one in self.get("/admin/approvals").cssselect(f"form[action$='/{part}']"):
            boxes = [box.get("value") for box in one.cssselect("[type=checkbox]")]
            marked = next((box for box in boxes if box.endswith(f" {url}")), "") if url else ""
            if marked:
                return one.get("action"), {"decision": decision, "document": marked}
            fields = {field.get("name"): field.get("value") for field in one.cssselect("[name]")}
            if not (url or boxes) and fields["decision"] == decision and "revision" in fields:
                del fields["csrf_token"]
                return one.get("action"), fields
        raise AssertionError(f"no button of {part} sends {decision!r} for {url!r}")

    def send_many(self, path: str, **fields: str | list[str]) -> int:
        """Send a form with several values of a field; returns the status."""
        return int(self.send(path, **fields).status_code)

    def press(self, form: Form, role: Role = Role.ADMINISTRATOR) -> int:
        """Send a form; returns the status."""
        path, fields = form
        return int(self.send(path, role, **fields).status_code)


@pytest.fixture
def make_administration(workspace: InProcessWorkspace) -> Callable[[], Administration]:
    return lambda: Administration(workspace)


@pytest.fixture
def administration(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects
) -> Administration:
    """One source, `site`, that was crawled once."""
    workspace.define(f"{url}/", refresh={"interval": "1 h"})
    crawled_projects.crawl(workspace, site)
    return Administration(workspace)


def led_to(answer: Any) -> str:
    """Return where a form has led, without what that page is told to say."""
    address, _, query = answer.headers["location"].partition("?")
    kept = [pair for pair in query.split("&") if pair and pair.partition("=")[0] not in TOLD]
    return f"{address}?{'&'.join(kept)}" if kept else str(address)


def texts(page: HtmlElement, selector: str) -> list[str]:
    """Return the texts of elements, with single blanks."""
    return [" ".join(one.text_content().split()) for one in page.cssselect(selector)]
