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
