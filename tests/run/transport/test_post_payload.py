"""URLs that are asked by POST (FAST 5.28)."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.resource import Reply
from support.server import Request
from support.site import Site


@pytest.fixture
def forms(site: Site) -> Site:
    def answer(request: Request) -> Reply:
        words = request.body.decode() or "nothing"
        return Reply(200, (("Content-Type", "text/plain"), ("ETag", '"same"')), f"got {words}".encode())

    site.page("/", links=["/q", "/list/1", "/plain", "/moved", "/kept"])
    for path in ("/q", "/list/1", "/plain", "/target"):
        site.dynamic(path, answer)
    site.redirect("/moved", "/target", status=302)
    site.redirect("/kept", "/target", status=307)
    return site


def test_fast_204_bodies_go_to_their_urls_only(forms: Site, url: str, workspace: Workspace) -> None:
    bodies = {f"{url}/q": "q=all&page=1", f"prefix:{url}/": "view=full", f"prefix:{url}/list/": "a=ä"}
    workspace.define(f"{url}/", post_payload=bodies)
    workspace.crawl()
    sent = {request.path: (request.method, request.body.decode()) for request in forms.requests}
    assert sent["/q"] == ("POST", "q=all&page=1")
    assert sent["/list/1"] == ("POST", "a=ä")
    assert sent["/plain"] == ("POST", "view=full")
    assert sent["/robots.txt"] == ("GET", "")
    kinds = {request.header("Content-Type") for request in forms.requests if request.method == "POST"}
    assert kinds == {"application/x-www-form-urlencoded"}
    assert workspace.search("all") == ["/q"]


@pytest.mark.parametrize("path", ["/moved", "/kept"], ids=["302", "307"])
def test_p4_a_redirect_takes_no_body_along(forms: Site, url: str, workspace: Workspace, path: str) -> None:
    workspace.define(f"{url}/", post_payload={f"{url}{path}": "secret=1"})
    workspace.crawl()
    sent = {request.path: (request.method, request.body) for request in forms.requests}
    assert (sent[path], sent["/target"]) == (("POST", b"secret=1"), ("GET", b""))


def test_if_modified_since_is_not_sent_with_a_body(forms: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", post_payload={f"{url}/q": "q=1"})
    workspace.crawl()
    forms.reset()
    outcomes = workspace.crawl().run["outcomes"]
    asked = {request.path: request.header("If-None-Match") for request in forms.requests}
    assert (asked["/q"], asked["/plain"]) == (None, '"same"')
    assert outcomes["UNMODIFIED"] >= 1


def test_what_is_no_url_is_a_finding(url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", post_payload={"/q": "q=1"})
    ended = workspace.command("lint")
    assert (ended.code, "post_payload./q" in ended.out + ended.err) == (2, True)
