"""Redirects in real crawls: boundary, outcome of the old URL, display URL, loops, credentials."""

from __future__ import annotations

import pytest
from support.network import NetworkSite
from support.project import Workspace
from support.site import Site


@pytest.mark.parametrize(
    ("status", "fetched", "code"),
    [
        pytest.param(301, False, 954, id="ultra_search_85-301-outside"),
        pytest.param(308, False, 954, id="308-outside"),
        pytest.param(302, True, 954, id="ultra_search_84-302-outside"),
        pytest.param(307, True, 954, id="ultra_search_84-307-outside"),
        pytest.param(303, True, 954, id="303-outside"),
    ],
)
def test_redirects_out_of_the_boundary(
    site: Site, url: str, workspace: Workspace, status: int, fetched: bool, code: int
) -> None:
    other = NetworkSite()
    other.page("/target", title="Elsewhere", text="words of another host", links=["/more"])
    other.page("/more", title="More", text="more of another host")
    with other.serve(host="127.0.0.2") as elsewhere:
        site.redirect("/", f"{elsewhere}/target", status=status)
        workspace.define(f"{url}/")
        workspace.crawl(code=None)
    assert (other.count("/target") == 1) is fetched
    assert other.count("/more") == 0, "links found out there are checked as always"
    assert workspace.urls()["/"]["status_code"] == code


@pytest.mark.parametrize("status", [302, 307])
def test_strict_policy_refuses_temporary_redirects_too(
    site: Site, url: str, workspace: Workspace, status: int
) -> None:
    other = NetworkSite()
    other.page("/target", title="Elsewhere")
    with other.serve(host="127.0.0.2") as elsewhere:
        site.redirect("/", f"{elsewhere}/target", status=status)
        workspace.define(f"{url}/", redirects="strict")
        workspace.crawl(code=None)
    assert other.requests == []
    assert workspace.urls()["/"]["outcome"] == "REJECTED"


@pytest.mark.parametrize(("status", "shown"), [(301, "/new"), (308, "/new"), (302, "/old"), (307, "/old")])
def test_which_url_the_document_is_shown_under(
    site: Site, url: str, workspace: Workspace, status: int, shown: str
) -> None:
    site.page("/", title="Home", links=["/old"])
    site.redirect("/old", "/new", status=status)
    site.page("/new", title="Target", text="needle")
    workspace.define(f"{url}/")
    run = workspace.crawl().run
    assert run["outcomes"] == {"NEW": 2, "REDIRECTED": 1}
    assert workspace.search("needle") == [shown]


def test_a_chain_longer_than_the_limit_ends_with_1005(site: Site, url: str, workspace: Workspace) -> None:
    for number in range(20):
        site.redirect(f"/r{number}", f"/r{number + 1}")
    workspace.define(f"{url}/r0", limits={"redirects": 3})
    workspace.crawl(code=None)
    rows = workspace.urls()
    assert sorted(rows) == ["/r0", "/r1", "/r2", "/r3"]
    assert rows["/r3"]["status_code"] == 1005
    assert rows["/r2"]["status_code"] == 954


def test_loops_end(site: Site, url: str, workspace: Workspace) -> None:
    site.redirect("/self", "/self")
    site.redirect("/ping", "/pong")
    site.redirect("/pong", "/ping")
    site.page("/", title="Home", links=["/self", "/ping"])
    workspace.define(f"{url}/")
    run = workspace.crawl().run
    assert sum(run["outcomes"].values()) == run["scheduled"] == 4
    assert workspace.urls()["/self"]["status_code"] == 1005
    assert max(site.counts().values()) == 1


def test_a_redirect_without_location_is_1003(site: Site, url: str, workspace: Workspace) -> None:
    site.respond("/", status=302)
    workspace.define(f"{url}/")
    workspace.crawl(code=None)
    assert workspace.urls()["/"]["status_code"] == 1003


def test_ultra_search_86_87_a_meta_refresh_is_checked_and_recorded_with_953(
    site: Site, url: str, workspace: Workspace
) -> None:
    other = NetworkSite()
    other.page("/target", title="Elsewhere")
    with other.serve(host="127.0.0.2") as elsewhere:
        site.page("/", title="Home", links=["/out", "/in"])
        site.page("/out", title="x", head=f'<meta http-equiv="refresh" content="0; url={elsewhere}/target">')
        site.page("/in", title="x", head='<meta http-equiv="refresh" content="0; url=/inside">')
        site.page("/inside", title="Inside", text="needle")
        workspace.define(f"{url}/")
        workspace.crawl()
    rows = workspace.urls()
    assert other.requests == []
    assert (rows["/out"]["status_code"], rows["/out"]["outcome"]) == (953, "REJECTED")
    assert (rows["/in"]["status_code"], rows["/in"]["outcome"]) == (953, "REDIRECTED")
    assert workspace.search("needle") == ["/inside"]


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/html,x", "javascript:1"]
)
def test_no_redirect_leads_to_another_scheme(site: Site, url: str, workspace: Workspace, target: str) -> None:
    site.redirect("/", target, status=302)
    workspace.define(f"{url}/")
    workspace.crawl(code=None)
    assert list(workspace.urls()) == ["/"]
    assert workspace.urls()["/"]["outcome"] == "REJECTED"


def test_links_of_a_page_whose_meta_refresh_is_refused_are_followed(
    site: Site, url: str, workspace: Workspace
) -> None:
    head = '<meta http-equiv=refresh content="2; url=http://127.0.0.77:9/">'
    site.page("/", title="Home", head=head, links=["/a"])
    site.page("/a", title="A", text="needle")
    workspace.define(f"{url}/")
    workspace.crawl(code=None)
    assert workspace.urls()["/"]["status_code"] == 953
    assert workspace.search("needle") == ["/a"]
    workspace.crawl(code=None)
    assert workspace.search("needle") == ["/a"]


def test_links_of_a_page_whose_meta_refresh_is_followed_are_not(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", head='<meta http-equiv=refresh content="2; url=/b">', links=["/a"])
    site.page("/a", title="A", text="needle")
    site.page("/b", title="B", text="needle")
    workspace.define(f"{url}/")
    workspace.crawl()
    assert site.count("/a") == 0


def test_redirects_in_a_row_are_counted_on_by_later_runs(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/r0"])
    for number in range(8):
        site.redirect(f"/r{number}", f"/r{number + 1}")
    workspace.define(f"{url}/", limits={"redirects": 2})
    for _ in range(3):
        workspace.crawl(code=None)
        outcomes = workspace.outcomes()
        assert outcomes.pop("/") in ("NEW", "NOT_MODIFIED")
        assert outcomes == {"/r0": "REDIRECTED", "/r1": "REDIRECTED", "/r2": "REJECTED"}
        assert workspace.urls()["/r2"]["status_code"] == 1005


# ---- what stands in `noscript`, and one target of most pages

NOTICE = '<meta http-equiv="refresh" content="0; url=/notice">'
PAGES = [f"/p{number}" for number in range(12)]


def put_pages(site: Site, head: str = "") -> None:
    """Put pages with this in their heads, each with a link to a page that nothing else links to."""
    site.page("/", title="Home", text="home", links=PAGES)
    site.page("/notice", title="Notice", text="please enable scripts")
    for name in PAGES:
        site.page(name, title=name, text="needle", head=head, links=[f"{name}/child"])
        site.page(f"{name}/child", title="Child", text=f"child of {name}")


@pytest.mark.parametrize("begin", ["", "</head><body>"], ids=["head", "body"])
def test_a_refresh_in_noscript_moves_no_page(site: Site, url: str, workspace: Workspace, begin: str) -> None:
    put_pages(site, f"{begin}<noscript><p>No scripts?{NOTICE}</noscript>")
    workspace.define(f"{url}/")
    for outcome in ("NEW", "NOT_MODIFIED"):
        run = workspace.crawl().run
        assert (run["outcomes"], run["problems"]) == ({outcome: 25}, [])
        assert len(workspace.search("needle")) == len(PAGES)
    assert site.count("/notice") == 0


def test_a_run_in_which_most_pages_lead_to_one_says_so(site: Site, url: str, workspace: Workspace) -> None:
    put_pages(site, NOTICE)
    workspace.define(f"{url}/")
    for _ in range(2):
        run = workspace.crawl(code=1).run
        assert run["outcomes"]["REDIRECTED"] == len(PAGES)
        (problem,) = run["problems"]
        assert f"{url}/notice" in problem
        assert "`links.refresh_redirects`" in problem
    workspace.define(f"{url}/", links={"refresh_redirects": False})
    assert workspace.crawl().run["problems"] == []
    assert len(workspace.search("needle")) == len(PAGES)


@pytest.mark.parametrize("target", ["/notice", "http://127.0.0.2:1/consent"], ids=["inside", "outside"])
def test_redirects_of_the_server_to_one_target_are_reported_too(
    site: Site, url: str, workspace: Workspace, target: str
) -> None:
    put_pages(site)
    for name in PAGES:
        site.redirect(name, target, status=302)
    workspace.define(f"{url}/", redirects="strict")
    run = workspace.crawl(code=1).run
    (problem,) = run["problems"]
    assert target in problem
    assert "refresh" not in problem


def test_a_few_redirects_to_one_target_are_no_problem(site: Site, url: str, workspace: Workspace) -> None:
    put_pages(site)
    for name in PAGES[:10]:
        site.redirect(name, "/notice")
    for name in PAGES[:9]:
        site.page(f"/other{name}", title=name)
    site.page("/", title="Home", links=[*PAGES, *(f"/other{name}" for name in PAGES[:9])])
    workspace.define(f"{url}/")
    assert workspace.crawl().run["problems"] == []
