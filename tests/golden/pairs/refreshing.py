"""What is fetched again and what leaves: conditional requests, duplicates, sitemaps, recrawl policies, deletion."""

from __future__ import annotations

from datetime import UTC, datetime

from golden.pair import Change, pair
from golden.stage import Stage

BEFORE, AFTER = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC)


@pair(kill_at=5)
def conditional(on: Stage) -> Change:
    """Validators of all kinds, and what changes with and without them."""
    on.define()
    site = on.site
    site.write(
        "/", "Start", "", ["/both", "/etag", "/date", "/neither", "/a", "/gone", "/missing", "/touched"]
    )
    site.write("/both", "Both", "has both validators")
    site.write("/etag", "ETag", "has an ETag", modified=False)
    site.write("/date", "Date", "has a date", etag=False, modified=BEFORE)
    site.write("/neither", "Neither", "has none", etag=False, modified=False)
    site.write("/a", "A", "changes")
    site.write("/gone", "Gone", "will be gone")
    site.write("/missing", "Missing", "will be missing")
    site.write("/touched", "Touched", "gets another date only", etag=False, modified=BEFORE)

    def change() -> None:
        site.write("/a", "A", "has changed", ["/new"], modified=AFTER)
        site.write("/date", "Date", "has changed by its date", etag=False, modified=AFTER)
        site.write("/touched", "Touched", "gets another date only", etag=False, modified=AFTER)
        site.write("/new", "New", "came later")
        site.gone("/gone")
        site.remove("/missing")

    return change


@pair(kill_at=6, look=("/copy-1", "http://elsewhere.example/", "/forbidden"))
def duplicates(on: Stage) -> list[Change]:
    """Equal pages, nearly equal ones, canonical links, and who stands in when the first one goes."""
    on.define(duplicates={"near": True, "near_words": 10}, relations={"tell": ["duplicates", "redirects"]})
    site = on.site
    copies = [
        "/the-long-copy-of-all",
        "/copy-1",
        "/copy-22",
        "/near-1",
        "/near-2",
        "/canonical-copy",
        "/moved",
    ]
    site.write("/", "Start", "", copies)
    same = "the same text on several pages of this site, word for word and without any difference"
    for path in copies[:3]:
        site.write(path, "Same", same)
    near = (
        "a long text about the animals of the river: beavers, otters, badgers, herons, kingfishers and frogs. "
        * 6
    )
    site.write("/near-1", "Near", near + "one")
    site.write("/near-2", "Near", near + "two")
    canonical = '<link rel="canonical" href="/canonical">'
    site.write("/canonical-copy", "Canonical", "has a better address", head=canonical)
    site.write("/canonical", "Canonical", "has a better address", head=canonical)
    site.redirect("/moved", "/copy-1")

    def first_goes() -> None:
        site.remove("/copy-1")
        site.write("/near-1", "Near no more", "something else altogether")

    def it_comes_back() -> None:
        site.write("/copy-1", "Same", same)

    return [first_goes, it_comes_back]


@pair(kill_at=6)
def sitemaps(on: Stage) -> Change:
    """An index of sitemaps, one of text, dates that are trusted, entries outside, robots.txt that names them."""
    on.define(sitemaps={"ttl": 0, "urls": [f"{on.url}/more.txt"]}, robots={"ttl": 0})
    site = on.site
    site.robots(f"User-agent: *\nDisallow: /forbidden\nSitemap: {on.url}/index.xml\n")
    head = '<?xml version="1.0"?>'
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    site.file(
        "/index.xml",
        f"{head}<sitemapindex {space}><sitemap><loc>{on.url}/part.xml</loc></sitemap></sitemapindex>".encode(),
        "application/xml",
    )

    def part(date: str, *more: str) -> None:
        dated = f"<url><loc>{on.url}/dated</loc><lastmod>{date}</lastmod><changefreq>daily</changefreq></url>"
        others = "".join(
            f"<url><loc>{on.url}{path}</loc></url>" for path in ("/listed", "/forbidden", "/lost", *more)
        )
        outside = f"<url><loc>{on.second}/outside</loc></url>"
        site.file(
            "/part.xml",
            f"{head}<urlset {space}>{dated}{others}{outside}</urlset>".encode(),
            "application/xml",
        )

    part("2024-01-01T00:00:00Z")
    site.file("/more.txt", f"{on.url}/by-text\n{on.url}/a\n".encode(), "text/plain")
    for path in ("/", "/dated", "/listed", "/by-text", "/a"):
        site.write(path, f"Page {path}", f"text of {path}")

    def change() -> None:
        part("2024-01-01T00:00:00Z", "/fresh")
        site.write("/dated", "Changed, but not as the sitemap has it", "nobody asks")
        site.write("/fresh", "Fresh", "came with the sitemap")
        site.file("/more.txt", f"{on.url}/a\n".encode(), "text/plain")
        site.remove("/listed")

    return change


@pair(kill_at=5, then=(("queue", "--json"),), files=("var/log/site.scheduler.log",))
def adaptive(on: Stage) -> list[Change]:
    """Adaptive refreshing: minor cycles, scores, what a sitemap says of changes."""
    on.define(
        refresh={
            "mode": "adaptive",
            "adaptive": {"aim": "score", "refresh_count": 2, "coverage_min": 3, "coverage_max_pct": 40},
        },
        log={"scheduler": True},
    )
    site = on.site
    site.write(
        "/", "Start", "", ["/often", "/a/b/c/d/deep", "/folder/", *(f"/page-{number}" for number in range(6))]
    )
    entries = "".join(
        f"<url><loc>{on.url}{path}</loc><changefreq>{often}</changefreq></url>"
        for path, often in (
            *(("/often", "always"), ("/page-1", "never"), ("/page-2", "hourly"), ("/page-3", "daily")),
            *(("/page-4", "weekly"), ("/page-5", "monthly"), ("/page-0", "yearly")),
        )
    )
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    site.file("/sitemap.xml", f"<urlset {space}>{entries}</urlset>".encode(), "application/xml")
    for path in ("/often", "/a/b/c/d/deep", "/folder/", *(f"/page-{number}" for number in range(6))):
        site.write(path, path, f"text of {path}")

    def changed(text: str) -> Change:
        return lambda: site.write("/often", "/often", text)

    return [changed("once"), changed("twice")]


@pair(kill_at=3, then=(("queue", "--json"),))
def left_over(on: Stage) -> list[Change]:
    """A run that a limit ends leaves URLs; the next one goes on, a further cycle puts known ones first or last."""
    site = on.site
    pages = [f"/{number}" for number in range(1, 7)]
    site.write("/", "Start", "", pages)
    for path in pages:
        site.write(path, path, f"text of {path}", [f"{path}/more"])
        site.write(f"{path}/more", f"{path} more", f"more of {path}")
    on.define(limits={"pages": 5}, refresh={"mode": "append"})

    def prepend() -> None:
        on.define(limits={"pages": 4}, refresh={"mode": "prepend"})

    def soft() -> None:
        on.define(refresh={"mode": "soft", "conditional": False})

    return [prepend, soft]


@pair(kill_at=4)
def scratch(on: Stage) -> list[Change]:
    """From the start in every cycle; documents that nothing leads to any more become orphans."""
    site = on.site
    on.define(refresh={"mode": "scratch", "conditional": False}, orphans={"after": 1, "delete": True})
    site.write("/", "Start", "", ["/a", "/b", "/c"])
    for path in ("/a", "/b", "/c", "/c/1"):
        site.write(path, path, f"text of {path}", ["/c/1"] if path == "/c" else [])

    def unlinked() -> None:
        site.write("/", "Start", "", ["/a", "/c"])
        site.write("/c", "/c", "leads nowhere now")

    return [unlinked, lambda: on.define(orphans={"after": 1}, refresh={"mode": "known"})]


@pair(kill_at=6, then=(("approve-deletions", "site", "--json"), ("urls", "--json", "--outcome", "gone")))
def deletion_guard(on: Stage) -> list[Change]:
    """When many documents are to leave at once none does, until somebody says so."""
    site = on.site
    pages = [f"/{number}" for number in range(8)]
    on.define(deletion={"percent": 20, "always": 2})
    site.write("/", "Start", "", pages)
    for path in pages:
        site.write(path, path, f"text of {path}")

    def many_go() -> None:
        for path in pages[:5]:
            site.gone(path)

    def one_comes_back() -> None:
        site.write("/0", "/0", "is back")

    return [many_go, one_comes_back]


@pair(kill_at=5)
def errors(on: Stage) -> list[Change]:
    """Errors of servers and networks: tried again, counted, kept or deleted."""
    rules = {
        "5xx": "DELETE:2, RETRY:1",
        "503": "KEEP",
        "404": "DELETE:2",
        "410": "KEEP",
        "net": "DELETE:2, RETRY:1",
    }
    on.define(
        errors={"http": rules},
        deletion={"always": 20},
        limits={"retries": 1, "retry_delay": 0.02, "timeout": 20},
        politeness={"backoff": {"longest": 0}},
    )
    site = on.site
    paths = [
        "/500",
        "/503",
        "/404",
        "/410",
        "/cut",
        "/hang-up",
        "/fine",
        "/teapot",
        "/odd-length",
    ]
    site.write("/", "Start", "", paths)
    for path in paths:
        site.write(path, path, f"text of {path}")

    def fail() -> None:
        for path in ("/500", "/503", "/404", "/410"):
            site.respond(path, status=int(path[1:]))
        site.respond("/teapot", status=418, body="short and stout")
        site.raw(
            "/cut",
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 999\r\n\r\n<title>cut</title>",
        )
        site.raw("/hang-up", b"")

    return [fail, lambda: None]


@pair(kill_at=5)
def feeds(on: Stage) -> Change:
    """RSS and Atom, named and discovered, whose entries are over when they leave the feed."""
    on.file("feeds.txt", f"# more\n{on.url}/atom.xml\n")
    on.define(
        feeds={
            **{"urls": [f"{on.url}/rss.xml"], "url_files": ["feeds.txt"], "discover": True, "index": True},
            **{"follow_links": False, "delete_expired": True, "max_links": 3, "ignore_rules": True},
        },
        boundary={"paths": {"*": {"exclude": ["/secret/"]}}},
    )
    site = on.site

    def rss(*paths: str) -> None:
        items = "".join(
            f"<item><title>Item {path}</title><link>{on.url}{path}</link>"
            f"<pubDate>Mon, 01 Jan 2024 00:00:0{place} GMT</pubDate></item>"
            for place, path in enumerate(paths)
        )
        feed = f"<rss version='2.0'><channel><title>The feed</title>{items}</channel></rss>"
        site.file("/rss.xml", feed.encode(), "application/rss+xml")

    rss("/item-1", "/item-2", "/secret/item")
    entry = f"<entry><title>Entry</title><link href='{on.url}/entry'/><updated>2024-01-01T00:00:00Z</updated></entry>"
    atom = f"<feed xmlns='http://www.w3.org/2005/Atom'><title>Atom</title>{entry}</feed>"
    site.file("/atom.xml", atom.encode(), "application/atom+xml")
    found = f"<rss version='2.0'><channel><title>Found</title><item><link>{on.url}/found</link></item></channel></rss>"
    site.file("/found.xml", found.encode(), "application/rss+xml")
    site.write("/", "Start", "", head='<link rel="alternate" type="application/rss+xml" href="/found.xml">')
    for path in ("/item-1", "/item-2", "/item-3", "/item-4", "/secret/item", "/entry", "/found"):
        site.write(path, path, f"text of {path}", [f"{path}/behind"])

    def change() -> None:
        rss("/item-2", "/item-3", "/item-4", "/secret/item")

    return change
