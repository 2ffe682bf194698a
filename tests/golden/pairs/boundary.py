"""What belongs to a source: boundary rules, rewriting, redirects, robots.txt, limits."""

from __future__ import annotations

from golden.pair import Change, pair
from golden.stage import Stage


@pair(look=("/docs/a?x=1", "/private/x", "/forbidden"), kill_at=6, then=(("screened", "--json"),))
def boundary(on: Stage) -> Change:
    """Hosts, paths, ports, whole URLs, extensions, rules in a file, links for reading only."""
    on.file("rules/hosts.txt", "# hosts that belong to it\nexact 127.0.0.2\n")
    on.define(
        boundary={
            "domains": {"include": [{"file": "rules/hosts.txt"}, "127.0.0.1"], "exclude": ["127.0.0.3"]},
            "paths": {
                "127.0.0.1": {"exclude": ["/private/"], "follow_only": ["/toc/"]},
                "*": {"include": ["/"]},
            },
            "ports": {"*": {"include": [on.port]}},
            "uris": {
                "exclude": [
                    {"suffix": "/print.html"},
                    {"regexp": r".*[?&]action=edit.*"},
                    {"exact": f"{on.url}/no"},
                ],
                "follow_only": [f"{on.url}/list"],
            },
            "exclude_extensions": [".zip"],
            "index_dynamic": False,
        },
        log={"screened": True},
    )
    site = on.site
    site.write(
        "/",
        "Start",
        "everything begins here",
        [
            *(
                "/docs/a",
                "/docs/a?x=1",
                "/private/x",
                "/toc/",
                "/list",
                "/no",
                "/print.html",
                "/e?action=edit",
            ),
            *("/file.zip", "/forbidden", f"{on.second}/there", f"{on.third}/away", "http://127.0.0.1:1/port"),
            *("mailto:me@site.example", "ftp://127.0.0.1/x", "https://127.0.0.1/tls"),
        ],
    )
    site.write("/docs/a", "A", "a document")
    site.write("/docs/a?x=1", "Dynamic", "only its links count", ["/docs/behind"])
    site.write("/docs/behind", "Behind", "found by a dynamic page")
    site.write("/toc/", "Contents", "read for its links", ["/docs/listed"])
    site.write("/docs/listed", "Listed", "from the contents")
    site.write("/list", "List", "read for its links, too", ["/docs/a"])
    site.write("/there", "There", "on the second host", ["/docs/a"])
    site.robots("User-agent: *\nDisallow: /forbidden\n")

    def change() -> None:
        site.write("/toc/", "Contents", "read for its links", ["/docs/new", "/private/new"])
        site.write("/docs/new", "New", "came later")
        site.remove("/docs/listed")

    return change


@pair(look=("/docs/a", "/docs/gone", "/x/x/x/x/x"), kill_at=3, then=(("plan", "--json"),))
def changed_boundary(on: Stage) -> Change:
    """A boundary that becomes narrower drops what is outside, within what the deletion guard allows."""
    on.define(boundary={"elsewhere": {"news": {"uris": [{"prefix": f"{on.url}/news/"}]}}})
    on.site.write("/", "Start", "", ["/docs/a", "/docs/b", "/docs/gone", "/news/1", "/x/x/x/x/x/x/x"])
    for path in ("/docs/a", "/docs/b", "/docs/gone", "/news/1"):
        on.site.write(path, path, f"text of {path}")

    def change() -> None:
        on.define(boundary={"paths": {"*": {"exclude": ["/docs/b"]}}}, deletion={"percent": 50})
        on.site.remove("/docs/gone")

    return change


@pair(kill_at=7)
def redirects(on: Stage) -> Change:
    """Redirects of all kinds, inside and outside, in a chain, in a loop, and by META."""
    on.define(limits={"redirects": 3}, boundary={"domains": {"include": ["127.0.0.1"]}})
    site = on.site
    ways = [
        "/301",
        "/302",
        "/303",
        "/307",
        "/308",
        "/out-301",
        "/out-302",
        "/chain-1",
        "/loop",
        "/long-1",
        "/meta",
        "/slow",
    ]
    site.write("/", "Start", "", [*ways, "/none"])
    for status in (301, 302, 303, 307, 308):
        site.redirect(f"/{status}", f"/to-{status}", status=status)
        site.write(f"/to-{status}", f"Target {status}", f"where {status} leads")
    site.redirect("/out-301", f"{on.second}/out-1")
    site.redirect("/out-302", f"{on.second}/out-2", status=302)
    site.write("/out-1", "Outside 1", "not ours")
    site.write("/out-2", "Outside 2", "temporarily ours", ["/not-followed"])
    site.redirect("/chain-1", "/chain-2")
    site.redirect("/chain-2", "/chain-3")
    site.write("/chain-3", "End of the chain", "three hops")
    site.redirect("/loop", "/loop")
    for number in range(1, 6):
        site.redirect(f"/long-{number}", f"/long-{number + 1}")
    site.write("/meta", "Quick", "", head='<meta http-equiv="refresh" content="0; url=/by-meta">')
    site.write("/by-meta", "By META", "where META leads")
    site.write("/slow", "Slow", "is read", head='<meta http-equiv="refresh" content="30; url=/later">')
    site.write("/later", "Later", "a link like others")
    site.respond("/none", status=302)
    site.robots("User-agent: *\nDisallow: /forbidden\n")

    def change() -> None:
        site.redirect("/301", "/to-302")
        site.write("/302", "No longer a redirect", "a page now")
        site.redirect("/to-303", "/forbidden")

    return change


@pair(look=("/open", "http://elsewhere.example/", "/closed/a"), kill_at=5)
def robots(on: Stage) -> Change:
    """robots.txt for a name, META robots, X-Robots-Tag, rel=nofollow, reservations."""
    on.define(
        robots={"name": "bookworm", "obey_reservations": ["search", "ai", "tdm"], "ttl": 0},
        user_agent="bookworm (+http://site.example/)",
    )
    site = on.site
    site.robots(
        "User-agent: *\nDisallow: /\n\n"
        "User-agent: bookworm\nDisallow: /closed/\nAllow: /closed/but-open\nDisallow: /*.bak$\n"
    )
    paths = (
        "/open",
        "/closed/a",
        "/closed/but-open",
        "/x.bak",
        "/noindex",
        "/nofollow",
        "/none",
        "/header",
        "/noai",
        "/tdm",
    )
    site.write("/", "Start", "", paths, body='<a rel="nofollow" href="/marked">marked</a>')
    site.write("/open", "Open", "for all")
    site.write("/closed/but-open", "Open all the same", "an exception")
    site.write(
        "/noindex", "Not indexed", "", ["/behind-noindex"], head='<meta name="robots" content="noindex">'
    )
    site.write(
        "/nofollow",
        "Not followed",
        "x",
        ["/behind-nofollow"],
        head='<meta name="bookworm" content="nofollow">',
    )
    site.write("/none", "None", "", ["/behind-none"], head='<meta name="robots" content="none">')
    site.write("/header", "Header", "", ["/behind-header"], headers={"X-Robots-Tag": "bookworm: noindex"})
    site.write("/noai", "No AI", "reserved", head='<meta name="robots" content="noai">')
    site.write("/tdm", "TDM", "reserved", headers={"tdm-reservation": "1"})
    for name in ("noindex", "nofollow", "none", "header"):
        site.write(f"/behind-{name}", f"Behind {name}", f"a page behind {name}")
    site.write("/marked", "Marked", "by rel=nofollow")

    def change() -> None:
        site.robots("User-agent: bookworm\nDisallow: /open\n")
        site.write("/noindex", "Indexed now", "", ["/behind-noindex"])

    return change
