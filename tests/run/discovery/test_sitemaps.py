"""Sitemaps in real crawls: where they are found, what they bring, and what they make unnecessary."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.network import NetworkSite
from support.project import DAY, Workspace
from support.sentences import sentence
from support.site import Site

OLD = "2020-05-01T12:00:00Z"
LATER = {"politeness": {"delay": 0, "concurrency": 1}}


def adds_up(run: dict[str, Any]) -> None:
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert sum(run["status_codes"].values()) == run["scheduled"]


def entry(loc: str, lastmod: str = "", more: str = "") -> str:
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return f"<url><loc>{loc}</loc>{date}{more}</url>"


def urlset(*entries: str) -> bytes:
    whole = "".join(one if one.startswith("<") else entry(one) for one in entries)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{whole}</urlset>'.encode()


def index(*children: str, lastmod: str = "") -> bytes:
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    whole = "".join(f"<sitemap><loc>{child}</loc>{date}</sitemap>" for child in children)
    return f"<sitemapindex>{whole}</sitemapindex>".encode()


def soon(**delta: float) -> str:
    return (datetime.now(UTC) + timedelta(**delta)).isoformat(timespec="seconds")


@pytest.fixture
def far(site: Site) -> Iterator[str]:
    """The same site under the name of another host."""
    with site.serve("127.0.0.2") as address:
        yield address


@pytest.fixture
def pages(site: Site, url: str, workspace: Workspace) -> Site:
    """A home page without links, and pages that only a sitemap can name."""
    site.page("/", title="Home", text="welcome")
    for name in "abc":
        site.page(f"/{name}", title=name, text=f"animal {name}")
    workspace.define(f"{url}/")
    return site


def test_with_sitemaps_only_no_links_are_followed(pages: Site, url: str, workspace: Workspace) -> None:
    pages.page("/", title="Home", text="welcome", links=["/a", "/b"])
    pages.page("/c", title="c", text="animal c", links=["/b"])
    pages.file("/sitemap.xml", urlset(f"{url}/c"), "application/xml")
    workspace.define(f"{url}/", sitemaps={"only": True})
    for _ in range(3):
        workspace.crawl()
        assert pages.page_paths() == {"/", "/c"}
    workspace.define(f"{url}/")
    workspace.crawl("--force")
    assert pages.page_paths() == {"/", "/a", "/b", "/c"}


def outcomes(run: dict[str, Any]) -> dict[str, int]:
    adds_up(run)
    found = run["outcomes"]
    assert isinstance(found, dict)
    return found


# ---- where sitemaps are found, and what they look like


def test_the_usual_place_is_asked_at_start_hosts(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", urlset(f"{url}/a", f"{url}/b"), "application/xml")
    run = workspace.crawl().run
    assert outcomes(run) == {"NEW": 3, "LIST": 1}
    assert (run["sitemaps"], run["fetched"]) == (1, 3), "a sitemap is no page"
    assert sorted(workspace.search("animal")) == ["/a", "/b"]
    rows = workspace.urls()
    assert {path: row["depth"] for path, row in rows.items()} == {"/": 0, "/a": 1, "/b": 1, "/sitemap.xml": 0}
    assert rows["/sitemap.xml"]["reason"] == "sitemap (urlset) with 2 entries"
    assert not rows["/sitemap.xml"]["indexed"]


@pytest.mark.parametrize(
    "prepare",
    [
        pytest.param(lambda site: None, id="404"),
        pytest.param(lambda site: site.gone("/sitemap.xml"), id="410"),
        pytest.param(lambda site: site.respond("/sitemap.xml", status=403), id="403"),
        pytest.param(lambda site: site.respond("/sitemap.xml", status=503), id="503"),
        pytest.param(lambda site: site.raw("/sitemap.xml", b""), id="hangs-up"),
        pytest.param(lambda site: site.redirect("/sitemap.xml", "/", status=302), id="redirect-to-home"),
        pytest.param(lambda site: site.page("/sitemap.xml", title="Not found"), id="page-for-all-else"),
        pytest.param(lambda site: site.file("/sitemap.xml", b"", "text/xml"), id="empty"),
    ],
)
def test_a_usual_place_without_a_sitemap_leaves_no_trace(
    pages: Site, workspace: Workspace, prepare: Any
) -> None:
    prepare(pages)
    run = workspace.crawl().run
    assert outcomes(run) == {"NEW": 1}
    assert (run["fetched"], run["rejected_by"]) == (1, {})
    assert pages.count("/sitemap.xml") == 1, "it is not tried again"
    assert set(workspace.urls()) == {"/"}
    assert outcomes(workspace.crawl().run) == {"NOT_MODIFIED": 1}


def test_robots_txt_names_sitemaps_and_spares_the_usual_place(
    pages: Site, url: str, workspace: Workspace
) -> None:
    pages.robots(f"User-agent: *\nDisallow:\nSitemap: {url}/one.xml\nSitemap: /two.txt\n")
    pages.file("/one.xml", urlset(f"{url}/a"), "application/xml")
    pages.file("/two.txt", f"{url}/b\n{url}/c\n".encode(), "text/plain")
    pages.file("/sitemap.xml", urlset(f"{url}/never"), "application/xml")
    assert outcomes(workspace.crawl().run) == {"NEW": 4, "LIST": 2}
    assert pages.count("/sitemap.xml") == 0


def test_sitemaps_are_read_from_a_robots_txt_that_is_not_obeyed(
    pages: Site, url: str, workspace: Workspace
) -> None:
    pages.robots(f"User-agent: *\nDisallow: /\nSitemap: {url}/one.xml\n")
    pages.file("/one.xml", urlset(f"{url}/a"), "application/xml")
    workspace.define(f"{url}/", robots={"obey": False})
    assert outcomes(workspace.crawl().run) == {"NEW": 2, "LIST": 1}


FEED = "<rss><channel><item><link>{}/a</link></item></channel></rss>"
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/a"/></entry></feed>'


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        pytest.param(lambda url: urlset(f"{url}/a"), "text/xml", id="xml"),
        pytest.param(lambda url: urlset(f"{url}/a"), "text/html", id="xml-declared-as-html"),
        pytest.param(lambda url: urlset(f"{url}/a")[:-12], "text/xml", id="cut-off"),
        pytest.param(lambda url: gzip.compress(urlset(f"{url}/a")), "application/x-gzip", id="gzip"),
        pytest.param(lambda url: gzip.compress(f"{url}/a".encode()), "application/gzip", id="gzip-text"),
        pytest.param(lambda url: f"{url}/a\n".encode(), "text/plain", id="text"),
        pytest.param(lambda url: FEED.format(url).encode(), "application/rss+xml", id="rss"),
        pytest.param(lambda url: ATOM.encode(), "application/atom+xml", id="atom"),
    ],
)
def test_every_kind_of_sitemap(
    pages: Site, url: str, workspace: Workspace, body: Any, content_type: str
) -> None:
    pages.file("/map", body(url), content_type, headers={"X-Robots-Tag": "noindex"})
    workspace.define(f"{url}/", sitemaps={"urls": [f"{url}/map"]})
    assert outcomes(workspace.crawl().run) == {"NEW": 2, "LIST": 1}
    pages.reset()
    assert outcomes(workspace.crawl().run) == {"NOT_MODIFIED": 3}
    assert pages.statuses("/map") == [304], "a noindex of the sitemap itself costs it nothing"


def test_an_index_of_indexes(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", index(f"{url}/more.xml", f"{url}/a.xml", f"{url}/sitemap.xml"), "text/xml")
    pages.file("/more.xml", index(f"{url}/b.xml.gz"), "text/xml")
    pages.file("/a.xml", urlset(f"{url}/a"), "text/xml")
    pages.file("/b.xml.gz", gzip.compress(urlset(f"{url}/b")), "application/gzip")
    run = workspace.crawl().run
    assert outcomes(run) == {"NEW": 3, "LIST": 4}
    assert run["sitemaps"] == 4
    assert pages.count("/sitemap.xml") == 1, "a loop is read once"
    pages.reset()
    assert outcomes(workspace.crawl().run) == {"NOT_MODIFIED": 7}
    assert pages.statuses("/b.xml.gz") == [304], "an index that did not change says again what it said"


def test_indexes_are_not_followed_for_ever(pages: Site, url: str, workspace: Workspace) -> None:
    def deeper(request: Any) -> Any:
        from support.site import Reply

        level = int(request.path.rpartition("/")[2]) + 1
        return Reply(200, (("Content-Type", "text/xml"),), index(f"{url}/level/{level}"))

    pages.dynamic("/level/*", deeper)
    workspace.define(f"{url}/", sitemaps={"urls": [f"{url}/level/0"]})
    run = workspace.crawl().run
    assert outcomes(run) == {"NEW": 1, "LIST": 4}
    assert run["rejected_by"] == {"sitemaps nested deeper than 3": 1}


def test_no_more_files_than_allowed(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", index(*(f"{url}/{number}.xml" for number in range(10))), "text/xml")
    for number in range(10):
        pages.file(f"/{number}.xml", urlset(f"{url}/a"), "text/xml")
    workspace.define(f"{url}/", sitemaps={"files": 4})
    run = workspace.crawl().run
    assert run["sitemaps"] == 4
    assert run["rejected_by"] == {"sitemaps.files 4": 7}


def test_a_redirected_sitemap_is_followed(pages: Site, url: str, workspace: Workspace) -> None:
    pages.redirect("/sitemap.xml", "/wp-sitemap.xml")
    pages.file("/wp-sitemap.xml", urlset(f"{url}/a"), "text/xml")
    assert outcomes(workspace.crawl().run) == {"NEW": 2, "LIST": 1}
    assert set(workspace.urls()) == {"/", "/a", "/wp-sitemap.xml"}
    assert outcomes(workspace.crawl().run) == {"NOT_MODIFIED": 3}


def test_a_redirect_loop_of_a_named_sitemap_ends(pages: Site, url: str, workspace: Workspace) -> None:
    pages.redirect("/map", "/map2")
    pages.redirect("/map2", "/map")
    workspace.define(f"{url}/", sitemaps={"urls": [f"{url}/map"]})
    assert outcomes(workspace.crawl().run) == {"NEW": 1, "REDIRECTED": 2}


def test_alternates_are_links(pages: Site, url: str, workspace: Workspace) -> None:
    alternate = f'<x:link xmlns:x="h" rel="alternate" hreflang="de" href="{url}/b"/>'
    pages.file("/sitemap.xml", urlset(entry(f"{url}/a", more=alternate)), "text/xml")
    workspace.crawl()
    assert sorted(workspace.search("animal")) == ["/a", "/b"]


@pytest.mark.parametrize("sitemaps", [{"use": False}, {"discover": False}], ids=["use", "discover"])
def test_fast_38_switched_off(pages: Site, url: str, workspace: Workspace, sitemaps: dict[str, Any]) -> None:
    pages.robots(f"Sitemap: {url}/one.xml\n")
    pages.file("/one.xml", urlset(f"{url}/a"), "text/xml")
    workspace.define(f"{url}/", sitemaps=sitemaps)
    assert outcomes(workspace.crawl().run) == {"NEW": 1}
    assert (pages.count("/one.xml"), pages.count("/sitemap.xml")) == (0, 0)


def test_switched_off_later_sitemaps_are_forgotten_and_pages_stay(
    pages: Site, url: str, workspace: Workspace
) -> None:
    pages.file("/sitemap.xml", urlset(f"{url}/a"), "text/xml")
    workspace.crawl()
    workspace.define(f"{url}/", sitemaps={"use": False})
    assert outcomes(workspace.crawl().run) == {"NOT_MODIFIED": 2}
    assert set(workspace.urls()) == {"/", "/a"}
    assert workspace.search("animal") == ["/a"]


def test_switched_on_later_nothing_is_made_again(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", urlset(f"{url}/a"), "text/xml")
    pages.page("/", title="Home", links=["/sitemap.xml"])
    workspace.define(f"{url}/", sitemaps={"use": False})
    assert outcomes(workspace.crawl().run) == {"NEW": 1, "NOT_INDEXED": 1}
    workspace.define(f"{url}/")
    pages.reset()
    assert outcomes(workspace.crawl().run) == {"NEW": 1, "LIST": 1, "NOT_MODIFIED": 1}
    assert pages.count("/sitemap.xml") == 1, "known as a page, it is read as a sitemap in its turn"
    assert outcomes(workspace.crawl().run) == {"NOT_MODIFIED": 3}


# ---- what a sitemap may name


def test_the_boundary_applies_to_entries(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", urlset(f"{url}/a", f"{url}/b", f"{url}/%61", f"{url}/a#x"), "text/xml")
    workspace.define(f"{url}/", boundary={"uris": {"exclude": [{"suffix": "/b"}]}})
    run = workspace.crawl().run
    assert outcomes(run) == {"NEW": 2, "LIST": 1}
    assert pages.count("/b") == 0
    assert (pages.count("/a"), pages.count("/%61")) == (1, 0)
    assert sum(run["rejected_by"].values()) == 1


def test_includes_are_about_pages_and_excludes_about_sitemaps_too(
    pages: Site, url: str, workspace: Workspace
) -> None:
    pages.robots(f"Sitemap: {url}/one.xml\nSitemap: {url}/private/two.xml\n")
    pages.file("/one.xml", urlset(f"{url}/a", f"{url}/b"), "text/xml")
    host = url.split("//")[1].split(":", maxsplit=1)[0]
    workspace.define(f"{url}/a", boundary={"paths": {host: {"include": ["/a"], "exclude": ["/private/"]}}})
    assert outcomes(workspace.crawl().run) == {"NEW": 1, "LIST": 1}
    assert pages.count("/private/two.xml") == 0


def test_entries_count_as_one_step(pages: Site, url: str, workspace: Workspace) -> None:
    pages.page("/a", title="a", links=["/b"])
    pages.file("/sitemap.xml", urlset(f"{url}/a"), "text/xml")
    workspace.define(f"{url}/", depth=1)
    assert outcomes(workspace.crawl().run) == {"NEW": 2, "LIST": 1}
    workspace.define(f"{url}/", depth=0)
    assert "/a" not in (workspace.crawl() and workspace.urls())


def test_robots_txt_applies_to_entries_and_to_sitemaps(pages: Site, url: str, workspace: Workspace) -> None:
    pages.robots(
        f"User-agent: *\nDisallow: /b\nDisallow: /hidden\nSitemap: {url}/one.xml\nSitemap: {url}/hidden.xml\n"
    )
    pages.file("/one.xml", urlset(f"{url}/a", f"{url}/b"), "text/xml")
    assert outcomes(workspace.crawl().run) == {"NEW": 2, "LIST": 1, "ROBOTS": 2}
    assert (pages.count("/b"), pages.count("/hidden.xml")) == (0, 0)


def test_a_sitemap_names_pages_of_its_own_site_only(
    pages: Site, url: str, far: str, workspace: Workspace
) -> None:
    pages.file("/sitemap.xml", urlset(f"{url}/a", f"{far}/b"), "text/xml")
    workspace.define(f"{url}/", boundary={"domains": {"include": ["127.0.0.1", "127.0.0.2"]}})
    run = workspace.crawl().run
    assert outcomes(run) == {"NEW": 2, "LIST": 1}
    assert run["rejected_by"] == {sentence("sitemaps.entry_of_another_site"): 1}


def test_robots_txt_lets_a_sitemap_elsewhere_name_pages_of_its_site(
    pages: Site, url: str, workspace: Workspace
) -> None:
    other = NetworkSite()
    with other.serve("127.0.0.2") as far:
        pages.robots(f"Sitemap: {far}/for-you.xml\n")
        other.robots(f"Sitemap: {far}/for-me.xml\n")
        other.file("/for-you.xml", urlset(f"{url}/a", f"{far}/x"), "text/xml")
        assert outcomes(workspace.crawl().run) == {"NEW": 2, "LIST": 1}
        assert other.paths() == ["/robots.txt", "/for-you.xml"], "that host itself is not crawled"


def test_an_index_names_sitemaps_of_its_own_site_only(pages: Site, url: str, workspace: Workspace) -> None:
    other = NetworkSite()
    with other.serve("127.0.0.2") as far:
        pages.file("/sitemap.xml", index(f"{far}/one.xml"), "text/xml")
        run = workspace.crawl().run
        assert outcomes(run) == {"NEW": 1, "LIST": 1}
        assert run["rejected_by"] == {"sitemap of another host": 1}
        assert other.paths() == []


def test_a_sitemap_of_the_definition_names_pages_anywhere_inside(
    pages: Site, url: str, workspace: Workspace
) -> None:
    other = NetworkSite()
    with other.serve("127.0.0.2") as far:
        other.file("/all.xml", index(f"{far}/1.xml"), "text/xml")
        other.file("/1.xml", urlset(f"{url}/a", f"{far}/outside"), "text/xml")
        workspace.define(f"{url}/", sitemaps={"urls": [f"{far}/all.xml"]})
        run = workspace.crawl().run
        assert outcomes(run) == {"NEW": 2, "LIST": 2}
        assert run["rejected_by"] == {"no include domain matches": 1}


def test_a_sitemap_that_two_sites_share(pages: Site, url: str, workspace: Workspace) -> None:
    second = NetworkSite()
    second.page("/", title="Second")
    second.page("/x", title="x", text="animal x")
    with second.serve("127.0.0.2") as far:
        pages.robots(f"Sitemap: {url}/both.xml\n")
        second.robots(f"Sitemap: {url}/both.xml\n")
        pages.file("/both.xml", urlset(f"{url}/a", f"{far}/x"), "text/xml")
        pages.page("/", title="Home", links=[f"{far}/"])
        workspace.define(f"{url}/", boundary={"domains": {"include": ["127.0.0.1", "127.0.0.2"]}})
        adds_up(workspace.crawl().run)
    assert sorted(workspace.search("animal")) == ["/a", "/x"]


# ---- files that mean harm


LAUGHS = b"<!DOCTYPE u [<!ENTITY a 'ha'>" + b"".join(
    b"<!ENTITY %c '%s'>" % (98 + level, b"&%c;" % (97 + level) * 10) for level in range(9)
)


@pytest.mark.parametrize("named", [True, False], ids=["named", "usual-place"])
@pytest.mark.parametrize(
    "prolog",
    [
        pytest.param(LAUGHS + b"]>", id="billion-laughs"),
        pytest.param(b"<!DOCTYPE u [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>", id="file"),
        pytest.param(b"<!DOCTYPE u SYSTEM 'http://127.0.0.1:1/x.dtd'>", id="outer-dtd"),
    ],
)
def test_hostile_xml_is_refused(
    pages: Site, url: str, workspace: Workspace, prolog: bytes, named: bool
) -> None:
    body = prolog + b"<urlset><url><loc>" + url.encode() + b"/a?&a;</loc></url></urlset>"
    pages.file("/sitemap.xml", body, "application/xml")
    workspace.define(f"{url}/", sitemaps={"urls": [f"{url}/sitemap.xml"]} if named else {})
    run = workspace.crawl().run
    assert outcomes(run) == {"NEW": 1, "FAILED": 1}
    row = workspace.urls()["/sitemap.xml"]
    assert "DTD" in row["reason"]
    assert row["status_code"] == 903


def test_a_gzip_bomb_is_bounded(pages: Site, url: str, workspace: Workspace) -> None:
    start = urlset(f"{url}/a")[: -len("</urlset>")]
    pages.file("/bomb.xml.gz", gzip.compress(start + b" " * 100_000_000), "application/gzip")
    workspace.define(f"{url}/", sitemaps={"urls": [f"{url}/bomb.xml.gz"]})
    assert outcomes(workspace.crawl().run) == {"NEW": 2, "LIST": 1}
    assert "too large" in workspace.urls()["/bomb.xml.gz"]["reason"]


def test_a_sitemap_may_be_larger_than_a_page(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", urlset(f"{url}/a", *(f"{url}/{'x' * 50}?{n}" for n in range(500))), "text/xml")
    uris = {"exclude": [f"{url}/xx"]}
    workspace.define(f"{url}/", limits={"max_size": 10_000}, boundary={"uris": uris})
    run = workspace.crawl().run
    assert outcomes(run) == {"NEW": 2, "LIST": 1}
    assert sum(run["rejected_by"].values()) == 500


def test_broken_sitemaps_do_not_stop_the_crawl(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/a.xml", b"\x1f\x8b\x08broken", "text/xml")
    pages.respond("/b.xml", status=500)
    pages.raw("/c.xml", b"")
    pages.gone("/d.xml")
    names = [f"{url}/{name}.xml" for name in "abcd"]
    workspace.define(f"{url}/", sitemaps={"urls": names})
    expected = {"NEW": 1, "FAILED": 1, "HTTP_ERROR": 1, "NETWORK_ERROR": 1, "GONE": 1}
    assert outcomes(workspace.crawl().run) == expected
    assert pages.count("/b.xml") == 2, "one that somebody named is tried again"
    again = outcomes(workspace.crawl().run)
    assert again == {**{k: n for k, n in expected.items() if k != "NEW"}, "NOT_MODIFIED": 1}


# ---- lastmod


def test_fast_38_pages_that_did_not_change_are_not_asked_for(
    pages: Site, url: str, workspace: Workspace
) -> None:
    for name in "abc":
        pages.page(f"/{name}", title=name, text=f"animal {name}", etag=False, modified=False)
    pages.file("/sitemap.xml", urlset(entry(f"{url}/a", OLD), entry(f"{url}/b", OLD), f"{url}/c"), "text/xml")
    workspace.crawl()
    pages.reset()
    run = workspace.crawl().run
    assert outcomes(run) == {"NOT_MODIFIED": 4, "UNMODIFIED": 1}
    assert run["not_asked"] == 2
    assert pages.paths()[:1] == ["/sitemap.xml"], "pages wait for it"
    assert (pages.count("/a"), pages.count("/b"), pages.count("/c")) == (0, 0, 1)
    row = workspace.urls()["/a"]
    assert (row["outcome"], row["cause"], row["status_code"]) == ("NOT_MODIFIED", "sitemap-date", 304)
    shown = {line.split()[2]: line for line in workspace.command("urls").out.splitlines() if "304" in line}
    assert shown.keys() == {f"{url}/", f"{url}/sitemap.xml"}, (
        "a status is shown only where a server has answered"
    )
    assert "304" not in workspace.command("explain", f"{url}/a").out
    assert sorted(workspace.search("animal")) == ["/a", "/b", "/c"]
    assert workspace.crawl().run["not_asked"] == 2, "the date of the fetch counts, not that of the run before"


def test_a_later_date_has_the_page_asked_for(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", urlset(entry(f"{url}/a", OLD), entry(f"{url}/b", OLD)), "text/xml")
    workspace.crawl()
    pages.change("/a", text="animal aardvark")
    pages.change("/b", text="animal badger")
    pages.change("/sitemap.xml", body=urlset(entry(f"{url}/a", soon()), entry(f"{url}/b", OLD)))
    run = workspace.crawl().run
    assert outcomes(run) == {"MODIFIED": 1, "LIST": 1, "NOT_MODIFIED": 2}
    assert workspace.search("aardvark") == ["/a"]
    assert workspace.search("badger") == []


@pytest.mark.parametrize(
    ("lastmod", "asked"),
    [
        pytest.param("", 1, id="none"),
        pytest.param("yesterday", 1, id="nonsense"),
        pytest.param("1970-01-01T00:00:00Z", 1, id="epoch"),
        pytest.param("2999-01-01", 1, id="future"),
        pytest.param("today", 1, id="today"),
        pytest.param("2020-05-01", 0, id="a-day"),
        pytest.param("2020-05", 0, id="a-month"),
        pytest.param("Fri, 01 May 2020 12:00:00 GMT", 0, id="as-in-headers"),
    ],
)
def test_what_a_lastmod_is_worth(
    pages: Site, url: str, workspace: Workspace, lastmod: str, asked: int
) -> None:
    lastmod = datetime.now(UTC).date().isoformat() if lastmod == "today" else lastmod
    pages.file("/sitemap.xml", urlset(entry(f"{url}/a", lastmod)), "text/xml")
    workspace.crawl()
    pages.reset()
    workspace.crawl()
    assert pages.count("/a") == asked


def test_of_two_dates_the_later_counts(pages: Site, url: str, workspace: Workspace) -> None:
    pages.robots(f"Sitemap: {url}/1.xml\nSitemap: {url}/2.xml\n")
    pages.file("/1.xml", urlset(entry(f"{url}/a", soon(hours=-1)), entry(f"{url}/b", OLD)), "text/xml")
    pages.file("/2.xml", urlset(entry(f"{url}/a", OLD), entry(f"{url}/b", OLD)), "text/xml")
    workspace.crawl()
    pages.file("/1.xml", urlset(entry(f"{url}/a", soon(seconds=-1)), entry(f"{url}/b", OLD)), "text/xml")
    pages.reset()
    workspace.crawl()
    assert (pages.count("/a"), pages.count("/b")) == (1, 0)


@pytest.mark.parametrize(
    ("words", "options"),
    [(("--force",), {}), ((), {"sitemaps": {"trust_lastmod": False}}), ((), {"depth": 5})],
    ids=["force", "not-trusted", "scope-changed"],
)
def test_when_pages_are_asked_for_all_the_same(
    pages: Site, url: str, workspace: Workspace, words: tuple[str, ...], options: dict[str, Any]
) -> None:
    pages.file("/sitemap.xml", urlset(entry(f"{url}/a", OLD)), "text/xml")
    workspace.crawl()
    workspace.define(f"{url}/", **options)
    pages.reset()
    run = workspace.crawl(*words).run
    adds_up(run)
    assert (run["not_asked"], pages.count("/a")) == (0, 1)


def test_a_page_that_failed_or_went_is_asked_for(pages: Site, url: str, workspace: Workspace) -> None:
    entries = [entry(f"{url}/{name}", OLD) for name in "abc"]
    pages.file("/sitemap.xml", urlset(*entries), "text/xml")
    pages.respond("/a", status=500)
    pages.remove("/b")
    pages.page("/c", title="c", text="animal c", robots="noindex")
    workspace.crawl()
    for name in "abc":
        pages.page(f"/{name}", title=name, text=f"animal {name}")
    run = workspace.crawl().run
    assert outcomes(run)["NEW"] == 2
    assert sorted(workspace.search("animal")) == ["/a", "/b", "/c"]


def test_a_page_that_robots_txt_forbids_now_leaves_whatever_the_sitemap_says(
    pages: Site, url: str, workspace: Workspace
) -> None:
    pages.robots(f"Sitemap: {url}/one.xml\n")
    pages.file("/one.xml", urlset(entry(f"{url}/a", OLD), entry(f"{url}/b", OLD)), "text/xml")
    workspace.crawl()
    workspace.age(DAY)
    pages.robots(f"User-agent: *\nDisallow: /a\nSitemap: {url}/one.xml\n")
    run = workspace.crawl().run
    assert outcomes(run) == {"NOT_MODIFIED": 3, "ROBOTS": 1}
    assert workspace.search("animal") == ["/b"]


def test_links_of_pages_not_asked_for_stay_alive(pages: Site, url: str, workspace: Workspace) -> None:
    pages.page("/a", title="a", text="animal", links=["/only-here"])
    pages.page("/only-here", title="child", text="creature")
    pages.file("/sitemap.xml", urlset(entry(f"{url}/a", OLD)), "text/xml")
    workspace.crawl()
    pages.remove("/only-here")
    for _ in range(4):
        workspace.crawl()
    assert workspace.outcomes()["/only-here"] == "GONE", (
        "still known: a page that was not asked for links to it"
    )
    pages.page("/only-here", title="child", text="creature")
    pages.reset()
    workspace.crawl()
    assert pages.count("/a") == 0
    assert workspace.search("creature") == ["/only-here"]


def test_entries_of_an_unchanged_sitemap_stay_alive(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", urlset(entry(f"{url}/a", OLD)), "text/xml")
    workspace.crawl()
    pages.remove("/a")
    workspace.define(f"{url}/", sitemaps={"trust_lastmod": False})
    for _ in range(5):
        workspace.crawl()
    assert workspace.outcomes()["/a"] == "GONE"
    pages.page("/a", title="a", text="animal is back")
    workspace.crawl()
    assert workspace.search("animal") == ["/a"]


def test_lastmod_of_an_index_spares_the_sitemap(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", index(f"{url}/one.xml", lastmod=OLD), "text/xml", etag=False, modified=False)
    pages.file("/one.xml", urlset(entry(f"{url}/a", OLD), f"{url}/b"), "text/xml")
    workspace.crawl()
    pages.reset()
    run = workspace.crawl().run
    assert outcomes(run) == {"NOT_MODIFIED": 4, "UNMODIFIED": 1}
    assert (pages.count("/one.xml"), pages.count("/a"), pages.count("/b")) == (0, 0, 1)
    assert workspace.crawl().run["not_asked"] == 2


def test_a_sitemap_that_goes_is_gone_once(pages: Site, url: str, workspace: Workspace) -> None:
    pages.file("/sitemap.xml", urlset(entry(f"{url}/a", OLD)), "text/xml")
    workspace.crawl()
    pages.remove("/sitemap.xml")
    assert outcomes(workspace.crawl().run) == {"GONE": 1, "NOT_MODIFIED": 2}
    assert outcomes(workspace.crawl().run) == {"NOT_MODIFIED": 2}
    assert workspace.search("animal") == ["/a"], "leaving a sitemap deletes nothing"
    assert set(workspace.urls()) == {"/", "/a"}


def test_pages_wait_for_sitemaps_of_the_definition_too(pages: Site, url: str, workspace: Workspace) -> None:
    other = NetworkSite()
    with other.serve("127.0.0.2") as far:
        other.slow("/all.txt", 0.5)
        other.respond("/all.txt", body=urlset(entry(f"{url}/a", OLD)), delay=0.5)
        workspace.define(f"{url}/", sitemaps={"urls": [f"{far}/all.txt"]})
        workspace.crawl()
        pages.reset()
        assert workspace.crawl().run["not_asked"] == 1
        assert pages.count("/a") == 0


def test_a_sitemap_that_never_answers_holds_nothing_up_for_ever(
    pages: Site, url: str, workspace: Workspace
) -> None:
    pages.robots(f"Sitemap: {url}/slow.xml\n")
    pages.file("/slow.xml", urlset(entry(f"{url}/a", OLD)), "text/xml")
    workspace.crawl()
    pages.slow("/slow.xml", 30)
    workspace.define(f"{url}/", limits={"timeout": 0.5})
    assert outcomes(workspace.crawl().run) == {"NETWORK_ERROR": 1, "NOT_MODIFIED": 2}


# ---- size


def test_fifty_thousand_entries_of_which_none_is_asked_for_again(
    pages: Site, url: str, workspace: Workspace
) -> None:
    """A page budget keeps the first run short; the others are known by their keys only."""
    pages.file("/sitemap.xml", urlset(*(f"{url}/p{n}" for n in range(50_000))), "text/xml")
    workspace.define(f"{url}/", limits={"pages": 5})
    run = workspace.crawl().run
    assert (run["sitemaps"], run["scheduled"]) == (1, 50_002)
