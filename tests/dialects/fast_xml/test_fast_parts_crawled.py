"""Sub-collections of an intranet: what the collection may reach and show to servers, its parts may too (FAST 5.32)."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from support.fast import fast_options, fast_xml
from support.ftp import FtpSite
from support.project import Workspace
from support.resource import Reply
from support.server import Request
from support.site import Site

HTML = (("Content-Type", "text/html"),)
QUICK = {"delay": 0.0, "max_pending": 4}


def answer(text: str, status: int = 200, **headers: str) -> Reply:
    more = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Reply(status, (*HTML, *more), f"<title>{text}</title>needle {text}".encode())


@pytest.fixture
def named(site: Site, url: str) -> str:
    """Return the site by a name; its address is a private one, as in every intranet."""
    return f"http://localhost:{urlsplit(url).port}"


def crawl(workspace: Workspace, options: dict[str, object], inside: str) -> list[str]:
    """Crawl a collection; returns the paths that are found afterwards."""
    text = fast_xml({**QUICK, **options}, inside=inside)  # type: ignore[dict-item]
    (workspace.directory / "collection.xml").write_text(text)
    ended = workspace.command("crawl", "--json", "-c", "collection.xml")
    assert ended.code == 0, ended.err
    hits = workspace.command(
        "search", "--json", "--as-typed", "--limit", "99", "-c", "collection.xml", "needle"
    ).json["hits"]
    return sorted("/" + hit["url"].split("/", 3)[3] for hit in hits)


def part(named: str, **options: object) -> str:
    rules = fast_options({"include_uris/prefix": (f"{named}/news/",), **options})  # type: ignore[dict-item]
    return f'<SubDomain name="news">{rules}</SubDomain>'


def test_a_part_reaches_the_addresses_that_the_collection_begins_at(
    site: Site, named: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle", links=["/news/1"])
    site.page("/news/1", title="One", text="needle", links=["/a"])
    site.page("/a", title="A", text="needle")
    assert crawl(workspace, {"start_uris": (f"{named}/",)}, part(named)) == ["/", "/news/1"]
    explained = workspace.command(
        "explain", "--dns", "--json", "-c", "collection.xml", f"{named}/news/1"
    ).lines
    assert [one["accept"] for one in explained] == [True, False]


def test_a_collection_reaches_what_a_part_begins_at(site: Site, named: str, workspace: Workspace) -> None:
    """Its only start URI belongs to the part; what that finds is the collection's in the next cycle."""
    site.page("/news/", title="News", text="needle", links=["/a"])
    site.page("/a", title="A", text="needle")
    options = {"start_uris": (f"{named}/news/",)}
    assert crawl(workspace, options, part(named)) == ["/news/"]
    assert crawl(workspace, options, part(named)) == ["/a", "/news/"]


@pytest.mark.parametrize("option", ["start_uri_files", "rss/start_uri_files", "rss/start_uris"])
def test_every_kind_of_start_uri_goes_to_the_part_that_covers_it(
    site: Site, named: str, workspace: Workspace, option: str
) -> None:
    entry = f"<item><link>{named}/news/1</link></item>"
    feed = f"<rss version='2.0'><channel><title>t</title>{entry}</channel></rss>"
    site.page("/", title="Home", text="needle")
    site.page("/news/1", title="One", text="needle")
    if option.startswith("rss"):
        site.file("/news/feed", feed.encode(), "application/rss+xml")
    else:
        site.page("/news/feed", title="News", links=["/news/1"])
    start = f"{named}/news/feed"
    (workspace.directory / "seeds.txt").write_text(f"# seeds\n{start}\n")
    options = {"start_uris": (f"{named}/",), option: (start if option == "rss/start_uris" else "seeds.txt",)}
    assert crawl(workspace, options, part(named)) == ["/", "/news/1"]
    assert site.count("/news/feed") == 1


def test_fast_177_214_a_part_shows_the_passwords_of_the_collection(
    site: Site, named: str, workspace: Workspace
) -> None:
    def guarded(request: Request) -> Reply:
        if "s=ok" not in (request.header("Cookie") or ""):
            return answer("no login", 403)
        if not request.header("Authorization"):
            return answer("no password", 401, WWW_Authenticate='Basic realm="Staff"')
        return answer("inside")

    def session(request: Request) -> Reply:
        right = request.body == b"pw=s3cret"
        return answer("welcome", Set_Cookie="s=ok; Path=/") if right else answer("no", 403)

    site.page("/", title="Home", text="needle", links=["/news/1"])
    site.dynamic("/news/1", guarded)
    site.dynamic("/session", session)
    login = (
        f'<Login name="members"><attrib name="site" type="string">{named.partition("://")[2]}</attrib>'
        '<attrib name="form" type="string">/session</attrib>'
        '<section name="parameters"><attrib name="pw" type="string">s3cret</attrib></section></Login>'
    )
    options = {"start_uris": (f"{named}/",), "passwd/Staff": "robot:s3:cret"}
    assert crawl(workspace, options, login + part(named)) == ["/", "/news/1"]


@pytest.mark.parametrize("lists", ["use_sitemaps", "rss"])
def test_what_a_sitemap_or_a_feed_of_the_collection_names_is_crawled_by_the_part(
    site: Site, named: str, workspace: Workspace, lists: str
) -> None:
    """Nothing links to it, and it belongs to the part."""
    site.page("/", title="Home", text="needle")
    site.page("/news/listed", title="Listed", text="needle")
    site.sitemap("/sitemap.xml", ["/news/listed"])
    entry = f"<item><link>{named}/news/listed</link></item>"
    feed = f"<rss version='2.0'><channel><title>t</title>{entry}</channel></rss>"
    site.file("/feed", feed.encode(), "application/rss+xml")
    how = {"use_sitemaps": True} if lists == "use_sitemaps" else {"rss/start_uris": (f"{named}/feed",)}
    assert crawl(workspace, {"start_uris": (f"{named}/",), **how}, part(named)) == ["/", "/news/listed"]


def test_files_of_a_directory_go_to_the_part_that_covers_them(workspace: Workspace) -> None:
    root = workspace.directory / "served"
    root.mkdir()
    ftp = FtpSite(root)
    ftp.put("pub/a.txt", "needle a")
    ftp.put("pub/news/b.txt", "needle b")
    with ftp.serve() as url:
        options = {"start_uris": (f"{url}/pub/",), "allowed_schemes": ("ftp",)}
        inside = part(f"{url}/pub")
        assert crawl(workspace, options, inside) == ["/pub/a.txt", "/pub/news/b.txt"]
