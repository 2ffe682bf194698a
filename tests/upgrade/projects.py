"""The projects whose data are kept: definitions, sites, and what a later version is asked to do.

Sites have names that a proxy on loopback leads to the server of the tests, so that no URL depends on a port. What is
here once belongs to archives that were made: a later archive may need more projects, but these stay as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from support.fast import fast_xml
from support.site import Site

PROXY = "127.0.0.1:9"
"""Stands in definitions for the address of the proxy."""

CRAWL = ("crawl", "--json")
REINDEX = ("reindex", "--json")
APPROVE = ("approve", "drafts", "--json")
APPROVE_DELETIONS = ("approve-deletions", "copies", "--json")
LOSE_INDEX = ("rm", "index")
"""A step that is no command: the index is lost."""


@dataclass(frozen=True)
class Project:
    """A folder with a definition, the site that it crawls, and what is asked of its data later."""

    files: Mapping[str, str]
    """The definition, by name of the file."""
    fill: Callable[[Site, int], None]
    """Puts pages on the site, as they are from its first or its second run on."""
    runs: int = 1
    searches: tuple[str, ...] = ("heron",)
    steps: tuple[tuple[str, ...], ...] = (CRAWL, CRAWL)
    """What a later version does with the data, in order, after a first look at them."""
    definition: str = "ultracrawl.yaml"
    extra_looks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Commands that print JSON about these data, beside those that are asked of all."""
    special: str = ""
    """What `make` does beside crawling."""

    @property
    def config(self) -> tuple[str, ...]:
        """The words that name the definition."""
        return () if self.definition == "ultracrawl.yaml" else ("-c", self.definition)


def page(
    site: Site, path: str, text: str, *links: str, head: str = "", lang: str = "en", **more: object
) -> None:
    """Put a page whose bytes and validators are made here, and nowhere else."""
    linked = "".join(f'<li><a href="{link}">link {link.strip("/") or "home"}</a>' for link in links)
    title = f"Page {path.strip('/') or 'home'}"
    body = f"<!doctype html><html lang={lang}><meta charset=utf-8><title>{title}</title>{head}<body><p>{text}</p>"
    data = f"{body}<ul>{linked}</ul>".encode()
    tag = f'"{zlib.crc32(data):08x}"'
    site.file(path, data, "text/html; charset=utf-8", etag=tag, **more)  # type: ignore[arg-type]  # headers


def yaml(name: str, *lines: str, top: str = "") -> str:
    """Return a definition with one source."""
    return f"{top}sources:\n{source(name, *lines)}"


def source(name: str, *lines: str) -> str:
    """Return a source of a definition, whose site has its name."""
    own = (
        f"start_urls: [http://{name}.example/]",
        f"proxy: {{servers: {{main: {{url: 'http://{PROXY}'}}}}}}",
        "politeness: {delay: 0, concurrency: 4}",
        *lines,
    )
    if not any(line.startswith("limits:") for line in lines):
        own = (*own, "limits: {retries: 0}")
    return f"  {name}:\n" + "".join(f"    {line}\n" for line in own)


def handbook(site: Site, run: int) -> None:
    """Pages in several languages, with attributes; in the second run some are others, gone or failing."""
    meta = '<meta name=country content={}><meta name=size content={}><meta name=published content="{}">'
    links = (
        "/a",
        "/b",
        "/c",
        "/old",
        "/private/x",
        "/noindex",
        "/gone",
        "/error",
        "/de",
        "/zh",
        "/notes.txt",
    )
    page(site, "/", "Where the heron stands", *links, head=meta.format("de", 10, "2024-03-01"))
    page(
        site,
        "/a",
        "The herons were standing in running water",
        "/b",
        head=meta.format("fr", 20, "2024-05-07"),
    )
    page(site, "/b", "An egret is a white heron", "/a", head=meta.format("de", 30, "2023-12-24"))
    page(site, "/c", "Bitterns boom" if run == 1 else "Bitterns boom louder than any heron", "/", "/new")
    page(
        site, "/noindex", "a heron that is not shown", "/hidden", head='<meta name=robots content="noindex">'
    )
    page(site, "/hidden", "a heron behind a page that is not shown")
    page(site, "/de", "Der Graureiher fischt, die Reiher fischen; Straße und Übergang", lang="de")
    page(site, "/zh", "苍鹭站在水里", lang="zh")
    page(site, "/private/x", "forbidden heron")
    site.robots("User-agent: *\nDisallow: /private/\n")
    site.redirect("/old", "/a")
    site.file("/notes.txt", b"plain notes of a heron", "text/plain", etag='"notes"')
    page(site, "/gone", "a heron that has flown")
    page(site, "/error", "a heron whose server fails")
    if run == 2:
        page(site, "/new", "a heron that has come")
        site.gone("/gone")
        site.respond("/error", status=500)


HANDBOOK_TOP = """index: {{engine: {}}}
attributes: {{Country: string, Size: number, Published: date}}
lists: {{Size: [10, 20]}}
"""
HANDBOOK = (
    "attributes: {country: Country, size: Size, published: Published}",
    "relations: {tell: [redirects, metadata], referrers: 5}",
)
LISTS = """<lists><attribute name="country" type="string"><value v="de"><display lang="en">Germany</display>
<display lang="de">Deutschland</display></value><value v="fr"/></attribute></lists>
"""
HANDBOOK_SEARCHES = (
    "heron", "stand", '"running water"', "country:de", "Size:>=20", "Published:<2024", "reiher", "苍鹭", "louder",
)  # fmt: skip


def crowd(site: Site, run: int) -> None:
    """Ten pages in the first run, and twenty more in the second, in which others are gone."""
    first, all_pages = [f"/p{n}" for n in range(10)], [f"/p{n}" for n in range(30)]
    page(site, "/", f"A heronry, as it was in year {run}", *(first if run == 1 else all_pages))
    for number, path in enumerate(first if run == 1 else all_pages):
        page(site, path, f"heron number{number} " + f"stands{number % 7} in water " * 6, "/")
    if run == 2:
        for path in ("/p1", "/p2"):
            site.gone(path)


def drafts(site: Site, run: int) -> None:
    """Pages of which one becomes another while it waits."""
    page(site, "/", "A heron that waits", "/a", "/b", "/c")
    page(site, "/a", "An egret that waits")
    page(site, "/b", "A bittern that waits" if run == 1 else "A bittern that still waits")
    page(site, "/c", "A stork that waits")


def copies(site: Site, run: int) -> None:
    """Pages with copies; in the second run most are gone, more than may leave at once."""
    names = [f"/p{number}" for number in range(18)]
    page(site, "/", "A heron and its reflections", *names, "/copy?of=p17", "/copy/of/p16", "/copy/of/p0")
    for name in names:
        page(site, name, f"heron {name}", "/") if run == 1 or int(name[2:]) >= 12 else site.gone(name)
    for path, of in (("/copy?of=p17", "/p17"), ("/copy/of/p16", "/p16"), ("/copy/of/p0", "/p0")):
        title = f"<title>Page {of.strip('/')}</title>"
        site.file(
            path, f"<html lang=en>{title}<p>heron {of}</p><a href=/>link home</a>".encode(), "text/html"
        )


def announced(site: Site, run: int) -> None:
    """A site with a sitemap, a feed, and a robots.txt that has something to say."""
    host = "http://announced.example"
    site.robots(f"User-agent: *\nDisallow: /secret\n\nSitemap: {host}/map.xml\n")
    dates = {"/": "2024-01-01", "/m1": "2024-01-01", "/m2": "2024-02-01", "/secret": "2024-01-01"}
    urls = "".join(
        f"<url><loc>{host}{path}</loc><lastmod>{date}</lastmod></url>" for path, date in dates.items()
    )
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    site.file("/map.xml", f"<urlset {space}>{urls}</urlset>".encode(), "application/xml", etag='"map"')
    items = "".join(f"<item><link>{host}/f{n}</link><title>Item {n}</title></item>" for n in range(3))
    feed = f"<rss version='2.0'><channel><title>News of herons</title>{items}</channel></rss>"
    site.file("/feed.xml", feed.encode(), "application/rss+xml", etag='"feed"')
    page(site, "/", "A heron in the news", "/secret", "/linked")
    for path in ("/m1", "/m2", "/f0", "/f1", "/f2", "/linked", "/secret"):
        page(site, path, f"heron of {path}")


def fast(site: Site, run: int) -> None:
    """Pages for a FAST collection."""
    page(site, "/", "A heron in a collection", "/a", "/b", "/out/c")
    for path in ("/a", "/b", "/out/c"):
        page(site, path, f"heron of {path}", "/deep")
    page(site, "/deep", "heron in the deep")


def described(site: Site, run: int) -> None:
    """Pages for a portal robot, whose descriptions expire in a far future."""
    later = {"Expires": "Thu, 01 Jan 2099 00:00:00 GMT"}
    head = '<meta name=author content="Jordan Lee"><meta name=area content=Ponds>'
    page(site, "/", "A heron that is described", "/a", "/b", "/a.zip", head=head, headers=later)
    page(site, "/a", "An egret that is described", "/deeper", headers=later)
    page(site, "/b", "A bittern that is described", headers=later)
    page(site, "/deeper", "A stork that is described", headers=later)
    site.file("/a.zip", b"PK\x05\x06" + bytes(18), "application/zip")


ROBOT = f"""<Process
   csid="x-catalog://described.example:80/robot"
   email="robot@described.example"
   server-delay="0"
   onCompletion="quit"
   enable-ip="false"
   proxy-type="manual"
   auto-proxy="http://{PROXY}/"
</Process>
"""
PARTNER = """{"url": "http://partner.example/one", "fields": {"title": ["One"], "author": ["Morgan"],
 "full-text": ["the heron of a partner"]}}"""

FAST = {
    "delay": 0.0,
    "enforce_delay_per_ip": False,
    "use_sitemaps": False,
    "start_uris": ("http://fast.example/",),
    "proxy": (f"http://{PROXY}",),
    "allowed_types": ("text/html",),
    "exclude_uris/prefix": ("http://fast.example/out/",),
}

TWO_INDEXES = "indexes: {copy: {path: var/copy}}\n"
TO_BOTH = "feeding: {destinations: {public: {primary: true}, second: {index: copy}}}"

PROJECTS: dict[str, Project] = {
    "whoosh": Project(
        {"ultracrawl.yaml": yaml("handbook", *HANDBOOK, top=HANDBOOK_TOP.format("whoosh")), "lists.xml": LISTS},
        handbook, 2, HANDBOOK_SEARCHES, special="lists", extra_looks={"lists": ("lists", "--json")},
    ),
    "tantivy": Project(
        {"ultracrawl.yaml": yaml("handbook", *HANDBOOK, top=HANDBOOK_TOP.format("tantivy")), "lists.xml": LISTS},
        handbook, 2, ("heron", "Size:>=20", "苍鹭"), special="lists", steps=(CRAWL,),
    ),
    "killed": Project(
        {"ultracrawl.yaml": yaml("crowd", top="cache: {size: 1 KB}\n")},
        crowd, 2, ("heron", "stands3", "number21"), special="killed",
    ),
    "stored": Project(
        {"ultracrawl.yaml": "sources:\n" + source("crowd", "storage: {keep: true, clusters: 2}")
            + source("drafts", "storage: {keep: true, form: files}")},
        lambda site, run: (crowd(site, 1), None)[1],
        steps=(LOSE_INDEX, REINDEX, ("export", "--warc", "stored.warc"), CRAWL),
    ),
    "examined": Project(
        {"ultracrawl.yaml": yaml("drafts", "crawling_mode: examine")},
        drafts, 2, special="approve-one", extra_looks={"pending": ("approve", "drafts", "--list", "--json")},
        steps=(CRAWL, APPROVE, CRAWL),
    ),
    "duplicates": Project(
        {"ultracrawl.yaml": yaml("copies")},
        copies, 2, extra_looks={"leaving": ("approve-deletions", "copies", "--list", "--json")},
        steps=(CRAWL, APPROVE_DELETIONS, CRAWL),
    ),
    "announced": Project(
        {"ultracrawl.yaml": yaml("announced", "feeds: {urls: ['http://announced.example/feed.xml'], max_links: 2}",
            "sitemaps: {trust_lastmod: false}")},  # dates of a sitemap are believed for 30 days, and archives are older
        announced, 2,
    ),
    "fed": Project(
        {"ultracrawl.yaml": yaml("crowd", TO_BOTH, top=TWO_INDEXES)},
        crowd, 2, special="pause-second", extra_looks={
            "feeding": ("feeding", "status", "--json"), "second": ("index", "dump", "--index", "copy"),
        },
        steps=(CRAWL, ("feeding", "resume", "crowd", "second", "--json"), CRAWL),
    ),
    "fast": Project(
        {"collection.xml": fast_xml(FAST, name="fast")}, fast, 2, definition="collection.xml", steps=(CRAWL,),
    ),
    "robot": Project(
        {"config/robot.conf": ROBOT, "partner.json": PARTNER.replace("\n", "")},
        described, 2, definition="config/robot.conf", special="robot",
        extra_looks={"descriptions": ("robot", "export-rds", "--format", "json")},
    ),
}  # fmt: skip
"""All projects by name; each lies in a folder of this name in an archive."""
