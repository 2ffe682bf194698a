"""What keeps a start page from being read: the report says it once, with what to do."""

from __future__ import annotations

import pytest
from support.project import LOOPBACK, Workspace
from support.site import Site

from ultracrawl.model import Cause, CauseCode
from ultracrawl.model.advice import advice_at_wall, advice_for
from ultracrawl.run import rendering

WALL = {"cf-mitigated": "challenge", "Content-Type": "text/html"}


def test_a_wall_is_one_problem(site: Site, url: str, workspace: Workspace) -> None:
    site.respond("/", status=403, headers=WALL, body="<title>Just a moment...</title>")
    ended = workspace.command("crawl", "--json", f"{url}/")
    (problem,) = ended.run["problems"]
    assert (ended.code, advice_for(Cause(CauseCode.WALL)) in problem) == (1, True)


def test_the_browser_that_a_wall_of_scripts_needs_is_named(
    site: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "what_rendering_lacks", lambda: "INSTALL")
    site.respond("/", status=403, headers=WALL, body="<title>Just a moment...</title>")
    (problem,) = workspace.command("crawl", "--json", f"{url}/").run["problems"]
    assert advice_at_wall(has_logins=False, lacks="INSTALL") in problem


def test_redirects_that_never_end_are_shown_in_their_order(
    site: Site, url: str, workspace: Workspace
) -> None:
    for path, target in (("/", "/a"), ("/a", "/b"), ("/b", "/a")):
        site.redirect(path, target, status=302)
    (problem,) = workspace.command("crawl", "--json", f"{url}/").run["problems"]
    assert f"{url}/ -> {url}/a -> {url}/b -> {url}/a" in problem


def test_a_page_that_redirects_to_itself_has_advice(site: Site, url: str, workspace: Workspace) -> None:
    site.redirect("/", "/", status=302)
    (problem,) = workspace.command("crawl", "--json", f"{url}/").run["problems"]
    assert advice_for(Cause(CauseCode.REDIRECT_REFUSED)) in problem


@pytest.mark.parametrize("kind", ["logins", "authentication"])
def test_a_refused_log_in_has_advice(site: Site, url: str, workspace: Workspace, kind: str) -> None:
    form = '<form action="/login" method="post"><input name="user"><input type="password" name="pw"></form>'
    site.respond("/login", headers={"Content-Type": "text/html"}, body=form)
    site.respond("/", status=401, headers={"WWW-Authenticate": 'Basic realm="staff"'})
    entry = {
        "logins": {"page": f"{url}/login", "fields": {"user": "ada", "pw": "wrong"}},
        "authentication": {"url": f"{url}/", "user": "ada", "password": "wrong"},
    }
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, kind: {"staff": entry[kind]}}
    workspace.write({"sources": {"site": source}})
    problems = workspace.crawl(code=1).run["problems"]
    assert sum(advice_for(Cause(CauseCode.LOGIN_FAILED)) in one for one in problems) == 1
