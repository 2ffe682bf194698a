"""Known walls end as errors: nothing of them is indexed, what is in the index stays, and the site gets a rest."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.sentences import sentence
from support.site import Site

NAMES = [f"/p{number}" for number in range(6)]
CHALLENGE = (
    "<title>Just a moment...</title><script>window._cf_chl_opt={}</script><p>Verifying you are human</p>"
)
Headers = dict[str, str]

WALLS: dict[str, tuple[int, Headers, str, str, int]] = {
    "header, 403": (403, {"cf-mitigated": "challenge"}, "<p>words", "Cloudflare challenge", 403),
    "header, 200": (200, {"cf-mitigated": "challenge"}, "<p>words", "Cloudflare challenge", 958),
    "header, 202": (202, {"x-amzn-waf-action": "challenge"}, "", "AWS WAF challenge", 958),
    "header, 429": (429, {"x-vercel-mitigated": "challenge"}, "<p>words", "Vercel challenge", 429),
    "body, 200": (200, {}, CHALLENGE, "Cloudflare challenge", 958),
    "body, 503": (503, {}, CHALLENGE, "Cloudflare challenge", 503),
    "asks for scripts": (
        200,
        {},
        "<title>App</title><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
        "page that only asks for JavaScript or cookies",
        958,
    ),
}


def put_walls(site: Site, status: int, headers: Headers, body: str) -> None:
    for name in NAMES:
        site.respond(
            name, status=status, headers={"Content-Type": "text/html", **headers}, body=body.encode()
        )


@pytest.mark.parametrize("wall", WALLS.values(), ids=WALLS)
def test_a_wall_is_an_error_and_no_content(
    site: Site, url: str, workspace: Workspace, wall: tuple[int, Headers, str, str, int]
) -> None:
    status, headers, body, kind, code = wall
    site.page("/", title="Home", text="needle", links=NAMES)
    put_walls(site, status, headers, body)
    workspace.define(f"{url}/")
    run = workspace.crawl(code=1).run
    assert run["outcomes"] == {"NEW": 1, "FAILED": 6}, "in a first crawl, too"
    (problem,) = run["problems"]
    assert f"({kind})" in problem
    assert "`logins`" in problem
    row = workspace.urls()["/p0"]
    assert (row["cause"], row["status_code"]) == ("wall", code)
    assert row["reason"] == sentence("walls.in_place_of_page", kind=kind)
    assert kind in workspace.command("explain", f"{url}/p0").out
    assert workspace.indexed() == ["/"]


def test_what_is_in_the_index_stays_behind_a_wall(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle", links=NAMES)
    for name in NAMES:
        site.page(name, title=name, text=f"needle {name}")
    workspace.define(f"{url}/")
    workspace.crawl()
    put_walls(site, 200, {}, CHALLENGE)
    for _ in range(2):
        assert workspace.crawl(code=1).run["outcomes"] == {"NOT_MODIFIED": 1, "FAILED": 6}
        assert len(workspace.search("needle")) == 7
    for name in NAMES:
        site.page(name, title=name, text=f"needle {name}")
    run = workspace.crawl().run
    assert (run["problems"], run["outcomes"]) == ([], {"NOT_MODIFIED": 7})


def test_a_site_behind_a_wall_is_given_up_as_one_that_does_not_answer(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle", links=NAMES)
    put_walls(site, 403, {"cf-mitigated": "challenge"}, "")
    backoff = {"longest": 0, "limit": 3}
    workspace.define(f"{url}/", politeness={"delay": 0, "concurrency": 1, "backoff": backoff})
    run = workspace.crawl(code=1).run
    assert run["outcomes"] == {"NEW": 1, "FAILED": 3}
    assert sum(run["given_up"].values()) == 3


def test_a_page_that_asks_for_scripts_slows_nothing(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle", links=NAMES)
    put_walls(site, 200, {}, "<noscript>Please enable JavaScript to continue</noscript>")
    backoff = {"longest": 0, "limit": 2}
    workspace.define(f"{url}/", politeness={"delay": 0, "concurrency": 1, "backoff": backoff})
    run = workspace.crawl(code=1).run
    assert (run["outcomes"], run["given_up"]) == ({"NEW": 1, "FAILED": 6}, {})


def test_a_page_about_walls_is_indexed(site: Site, url: str, workspace: Workspace) -> None:
    text = (
        "Cloudflare says Just a moment, and asks visitors to enable JavaScript and cookies to continue. " * 5
    )
    site.page("/", title="Walls explained", text=text)
    workspace.define(f"{url}/")
    run = workspace.crawl().run
    assert (run["outcomes"], run["problems"]) == ({"NEW": 1}, [])


def put_login(site: Site, status: int) -> None:
    for name in NAMES:
        site.redirect(name, f"/login?next={name}", status=status)
        site.page(f"/login?next={name}", title="Log in", text=f"Sign in to go on to {name}")


@pytest.mark.parametrize("status", [301, 302, 307])
def test_log_in_pages_are_no_documents(site: Site, url: str, workspace: Workspace, status: int) -> None:
    """Pages that were always for members are no failure; none of the log-in pages is fetched."""
    site.page("/", title="Home", text="needle", links=NAMES)
    put_login(site, status)
    workspace.define(f"{url}/")
    for outcome in ("NEW", "NOT_MODIFIED", "NOT_MODIFIED"):
        run = workspace.crawl().run
        assert (run["outcomes"], run["problems"]) == ({outcome: 1, "REDIRECTED": 6}, [])
        assert len(run["remarks"]) == 1
    assert workspace.indexed() == ["/"]
    assert not any("login" in path for path in site.paths())
    assert workspace.urls()["/p0"]["cause"] == "wall"


def test_what_is_in_the_index_stays_while_the_server_asks_to_log_in(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle", links=NAMES)
    for name in NAMES:
        site.page(name, title=name, text=f"needle {name}")
    workspace.define(f"{url}/")
    workspace.crawl()
    put_login(site, 302)
    for _ in range(2):
        run = workspace.crawl(code=1).run
        assert run["outcomes"] == {"NOT_MODIFIED": 1, "FAILED": 6}
        assert len(run["problems"]) == 1
        assert len(workspace.search("needle")) == 7


def test_a_start_url_that_leads_to_a_log_in_page_is_a_problem(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.redirect("/", "/login?next=/")
    site.page("/login?next=/", title="Log in")
    workspace.define(f"{url}/")
    assert workspace.crawl(code=1).run["outcomes"] == {"FAILED": 1}
    assert workspace.indexed() == []
