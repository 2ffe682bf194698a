"""A site that has something to show for most options of a FAST collection, each page for one question or two."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from support.site import Site

LINKS = (
    '<a href="/via-a">x</a>',
    '<form action="/via-action"></form>',
    '<map><area href="/via-area"></map>',
    "<!-- see URL/via-comment -->",
    '<embed src="/via-embed">',
    '<iframe src="/via-frame"></iframe>',
    '<img src="/via-img">',
    '<layer src="/via-layer"></layer>',
    '<object data="/via-object"></object>',
    '<script src="/via-script"></script>',
    '<script>go("/via-script_java")</script>',
)
HEAD = (
    '<link rel="help" href="/via-link">',
    '<meta name="og:url" content="URL/via-meta">',
    '<meta http-equiv="refresh" content="60; url=/via-meta_refresh">',
    "<style>@import '/via-style';</style>",
)
DECK = '<?xml version="1.0"?><wml><card ontimer="/via-card"><do><go href="/via-go"/></do></card></wml>'
LONG = "<html><head><title>Long</title></head><body>" + "<p>word</p>" * 300 + "tail</body></html>"
TWINS = "the same long text about beavers, otters and badgers that live near the water of the river " * 4
GERMAN = "Dies ist eine Seite über die Regeln, die für alle Beschäftigten der Firma und ihre Familien gelten."
PAGES: dict[str, dict[str, Any]] = {
    "/after/x": {},
    "/before/x": {},
    "/q?b=1&a=2": {},
    "/q?a=2&b=1": {},
    "/w/w": {},
    "/file.zip": {},
    "/forbidden": {},
    "/noindex": {"robots": "noindex"},
    "/quick": {"head": '<meta http-equiv="refresh" content="2; url=/quick-target">'},
    "/lazy": {"head": '<meta http-equiv="refresh" content="9; url=/lazy-target">'},
    "/same-1": {"text": "exactly the same"},
    "/same-2": {
        "text": "exactly the same",
        "head": '<link rel="help" href="/only-in-a-duplicate">',
    },
    "/near-1": {"text": TWINS + "one"},
    "/near-2": {"text": TWINS + "two"},
    "/meta-1": {"text": "the same but for META", "head": '<meta name="team" content="one">'},
    "/meta-2": {"text": "the same but for META", "head": '<meta name="team" content="two">'},
    "/begins-1": {"text": "b" * 3000 + " one"},
    "/begins-2": {"text": "b" * 3000 + " two"},
    "/draft": {"headers": {"X-State": "draft"}},
    "/chain": {"links": ["/hop-1"]},
    "/deep/1": {"links": ["/deep/2"]},
    "/german": {"text": GERMAN, "links": ["/from-german"], "lang": None},
    "/x/exact.html": {},
    "/x/prefix/1": {},
    "/x/page.suffix": {},
    "/x/2024/regexp": {},
    "/x/listed": {},
    "/discover": {"head": '<link rel="alternate" type="application/rss+xml" href="/found.xml">'},
}
"""Pages that the start page links to; each belongs to one question, or to two."""
SEVERAL = ("/same-", "/near-", "/meta-", "/begins-")


def build(site: Site, url: str) -> None:
    """Fill a site with all that is asked about."""
    own = {
        "/": {"title": "home", "links": [*PAGES, *OTHERS, f"http://127.0.0.2:{urlsplit(url).port}/elsewhere"]}
    }
    for path, given in {**own, **PAGES}.items():
        shown = {"title": path if not path.startswith(SEVERAL) else "Same", "text": f"text of {path}"}
        site.page(path, **{**shown, **given})
    page = f"<html><head>{''.join(HEAD)}</head><body>{''.join(LINKS)}</body></html>".replace("URL", url)
    site.file("/kinds", page.encode(), "text/html")
    site.file("/deck.wml", DECK.encode(), "text/vnd.wap.wml")
    site.file("/long", LONG.encode(), "text/html")
    site.file("/table", b"a,b,c", "text/csv")
    site.file("/disguised", b"<html><body>in truth a page</body></html>", "image/png")
    site.file(
        "/strict.xhtml", b'<html><body><a href="/via-xhtml">x</a></body></html>', "application/xhtml+xml"
    )
    site.redirect("/hop-1", "/hop-2")
    site.redirect("/hop-2", "/hop-3")
    site.page("/hop-3", title="Hop")
    site.redirect("/away", f"http://127.0.0.2:{urlsplit(url).port}/redirected")
    site.page("/elsewhere", title="Elsewhere")
    site.page("/redirected", title="Redirected")
    site.page("/seeded", title="Seeded")
    site.page("/in-a-file", title="Listed")
    site.slow("/slow", 1.6, text="slow")
    site.robots("User-agent: *\nDisallow: /forbidden\n")
    site.sitemap("/sitemap.xml", ["/only-in-the-sitemap"])
    site.page("/cookie", title="Cookie", headers={"Set-Cookie": "seen=1; Path=/"}, links=["/after-cookie"])
    site.page("/after-cookie", title="After")
    for name in ("feed", "found"):
        items = "".join(
            f"<item><link>{url}/{one}</link></item>" for one in (f"{name}-item", f"secret/{name}")
        )
        feed = f"<rss version='2.0'><channel><title>the feed {name}</title>{items}</channel></rss>"
        site.file(f"/{name}.xml", feed.encode(), "application/rss+xml")
        site.page(f"/{name}-item", title=name, links=[f"/beyond-{name}"])
        site.page(f"/secret/{name}", title="Secret")
    for host in HOSTS:
        site.page(f"/on/{host}", title=host)


OTHERS = ("/long", "/table", "/disguised", "/strict.xhtml", "/hop-1", "/away", "/cookie", "/slow")
HOSTS = ("main", "exact", "prefix", "suffix", "regexp", "ipmask", "file")
ADDRESSES = dict(zip(HOSTS, ("1.0.1", "1.1.1", "2.1.1", "3.1.9", "4.1.5", "5.1.7", "6.1.1"), strict=True))
"""Hosts by the rule that is about them: 127 and these; every address of the machine itself is one."""
