"""Collections of FAST, as XML."""

from __future__ import annotations

from xml.sax.saxutils import escape

from golden.pair import Change, pair
from golden.stage import Stage

FILE = "collection.xml"


def collection(on: Stage, inside: str, *, name: str = "handbook", starts: tuple[str, ...] = ("/",)) -> str:
    """Return a collection without delay; `inside` is XML."""
    return (
        f'<DomainSpecification name="{name}">\n'
        f"{strings('start_uris', *(one if '//' in one else on.url + one for one in starts))}"
        '<attrib name="delay" type="real">0</attrib><attrib name="max_pending" type="integer">1</attrib>\n'
        f"{inside}</DomainSpecification>\n"
    )


def write(on: Stage, *collections: str) -> None:
    """Write the file of collections."""
    on.file("networks.txt", "127.0.0.0/8\n")
    on.file(
        FILE,
        f'<?xml version="1.0" encoding="utf-8"?>\n<CrawlerConfig>\n{"".join(collections)}</CrawlerConfig>\n',
    )


def strings(name: str, *values: str) -> str:
    """Return an option that is a list."""
    members = "".join(f"<member> {escape(value)} </member>" for value in values)
    return f'<attrib name="{name}" type="list-string">{members}</attrib>\n'


def one(name: str, kind: str, value: object) -> str:
    """Return an option with one value."""
    return f'<attrib name="{name}" type="{kind}"> {escape(str(value))} </attrib>\n'


def section(name: str, *options: str) -> str:
    """Return a section."""
    return f'<section name="{name}">{"".join(options)}</section>\n'


@pair(config=FILE, kill_at=5, look=("/docs/a", "/drafts/x", "/forbidden"))
def fast_rules(on: Stage) -> Change:
    """Rules about hosts and URIs, rewriting, excluded endings, errors."""
    write(
        on,
        collection(
            on,
            section("include_domains", strings("exact", "127.0.0.1", "127.0.0.2"))
            + section("exclude_uris", strings("prefix", f"{on.url}/drafts/"), strings("suffix", "/print"))
            + strings("rewrite_rules", "@/index\\.html$@/@")
            + strings("exclude_exts", ".zip")
            + one("sort_query_params", "boolean", "yes")
            + section("crawlmode", one("mode", "string", "DEPTH:2"))
            + section(
                "http_errors", one("4xx", "string", "DELETE:0"), one("503", "string", "KEEP:0, RETRY:1")
            ),
        ),
    )
    site = on.site
    links = [
        "/docs/a",
        "/docs/index.html",
        "/drafts/x",
        "/docs/print",
        "/x.zip",
        "/q?b=1&a=2",
        "/q?a=2&b=1",
        "/busy",
        "/lost",
    ]
    site.write("/", "Start", "", [*links, f"{on.second}/there", f"{on.third}/away", "/forbidden"])
    site.write("/docs/a", "A", "one step", ["/docs/b"])
    site.write("/docs/b", "B", "two steps", ["/docs/c"])
    site.write("/docs/c", "C", "three steps, too far")
    site.write("/docs/", "Folder", "without index.html")
    site.write("/q?a=2&b=1", "Query", "sorted")
    site.write("/there", "There", "on the second host")
    site.respond("/busy", status=503)
    site.robots("User-agent: *\nDisallow: /forbidden\n")

    def change() -> None:
        site.write("/docs/a", "A", "has changed", ["/docs/b", "/docs/new"])
        site.write("/docs/new", "New", "came later")
        site.remove("/docs/b")
        site.write("/busy", "No longer busy", "answers now")

    return change
