"""A text of somebody else - of a site, a log-in, a query, a token, a definition or a log - is text on every page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from urllib.parse import quote, urlsplit

import pytest
from lxml.html import HtmlElement, document_fromstring
from service.pages.admin.conftest import Administration
from service.pages.test_page_attacks import QUOTES, SCRIPT, assert_harmless
from support.in_process import InProcessWorkspace
from support.network import NetworkSite

from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.statistics.report import LEAST_SHOWN
from ultracrawl.stores.audit_log import Actor, record_action

EVIL = SCRIPT + QUOTES
SHOWN = {
    "/admin",
    "/admin/access",
    "/admin/approvals",
    "/admin/audit",
    "/admin/definitions/new",
    "/admin/queries",
    "/admin/queries/query",
    "/admin/sources/mistaken/definition",
    "/admin/sources/site/definition",
    "/admin/sources/site/url",
}
"""Pages that show a text of others."""


@pytest.fixture
def hostile(workspace: InProcessWorkspace) -> Iterator[Administration]:
    """A project in which everything that somebody else may write is markup."""
    site = NetworkSite()
    site.page("/", title=EVIL, links=["/a?x=%3Cscript%3E", '/b"onload="x', "/gone"], text=EVIL)
    for path in ("/a?x=%3Cscript%3E", '/b"onload="x'):
        body = f"<html><head><title>{escape(EVIL)}</title></head><body>{escape(EVIL)} {path}</body></html>"
        site.file(path, body.encode(), "text/html")
    with site.serve() as url:
        workspace.define(f"{url}/", crawling_mode="examine")
        workspace.crawl(code=None)
        file = workspace.directory / "ultracrawl.yaml"
        mistaken = f"  mistaken: {{start_urls: http://b.example/, {json.dumps(EVIL)}: 1}} # {EVIL}\n"
        file.write_text(
            file.read_text()
            .replace("sources:\n", f"sources:\n{mistaken}")
            .replace("type: web", f"type: web # {EVIL}")
        )
        made = Administration(workspace)
        made.users.add_user("ben", Role.READER, "correct horse battery", (EVIL,))
        TokenStore.of_project(made.project).create_token(EVIL, Role.READER, (EVIL,))
        made.browser(None).log_in(EVIL, "wrong password of nobody")
        record_action(made.project, Actor(f"oidc:{EVIL}", EVIL), "log-in", [EVIL])
        for _ in range(LEAST_SHOWN + 1):
            assert made.ask(f"/api/v1/search?q={quote(SCRIPT)}").status_code == 200
        made.supervisor.known["site"] = replace(made.supervisor.known["site"], problem=EVIL)
        yield made


def pages_of(administration: Administration) -> Iterator[tuple[str, HtmlElement]]:
    """Yield every page of the administration that a link leads to, and those that repeat what a URL says."""
    waiting, found = ["/admin"], set[str]()
    evil = quote(EVIL)
    waiting += [
        f"/admin/{path}={evil}"
        for path in (
            "queries/query?q",
            "definitions/new?url",
            "sources/site/url?url",
            "audit?who",
            "approvals?source",
            "sources/site/urls?after",
            "sources/new/definition?start_url",
            "sources/site/url?who=x&url",
        )
    ]
    while waiting:
        path = waiting.pop()
        if path in found or "language=" in path:
            continue
        found.add(path)
        answer = administration.browser().get(path)
        if answer.headers.get("content-type", "").startswith("text/html"):
            page = document_fromstring(answer.text)
            yield path, page
            links = (one.get("href") for one in page.cssselect("a[href]"))
            waiting += [
                one for one in links if one.startswith("/admin") and ".csv" not in one and ".json" not in one
            ]


def test_every_page_shows_texts_of_others_as_text(hostile: Administration) -> None:
    shown = set[str]()
    for path, page in pages_of(hostile):
        assert_harmless(page)
        if SCRIPT in page.text_content() or any(
            SCRIPT in one.get("value", "") for one in page.cssselect("input")
        ):
            shown.add(urlsplit(path).path)
    assert shown >= SHOWN
