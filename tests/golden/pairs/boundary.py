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


@pair(look=("/shop/a?utm_source=x&b=2&a=1", "/print/a", "/forbidden"), kill_at=5)
def rewriting(on: Stage) -> Change:
    """Rules, a rewriter, parameters, aliases of hosts, and URLs without end."""
    on.file("mirrors.txt", "127.0.0.1 127.0.0.3\n")
    on.file("scrapy.cfg", "[settings]\n")
    on.file(
        "own_rewriter.py",
        "try:\n    from ultracrawl.boundary import UrlRewriter\n"
        "except ImportError:\n    from ultracrawl.rules.boundary import UrlRewriter\n\n\n"
        "class Own(UrlRewriter):\n"
        "    def rewrite(self, candidate):\n"
        "        if '/print/' in candidate.candidate_url:\n"
        "            candidate.discard = True\n"
        "        if '/crash' in candidate.candidate_url:\n"
        "            raise ValueError('not this one')\n"
        "        if '/shown/' not in candidate.candidate_url:\n"
        "            return False\n"
        "        candidate.access_url = candidate.candidate_url.replace('/shown/', '/hidden/')\n"
        "        return True\n",
    )
    on.define(
        urls={
            "normalise": ["tracking", "session_ids", "query_order"],
            "remove_params": ["p*"],
            "rewrite_rules": ["@/index\\.html$@/@", "#/old/#/shop/#"],
            "rewriter": "own_rewriter.Own",
            "max_uri_recursion": 2,
        },
        sites={"alias_files": ["mirrors.txt"], "aliases": {"127.0.0.2": "127.0.0.1"}},
        boundary={"domains": {"include": ["*"]}},
        limits={"url_length": 120, "query_variations": 3},
    )
    site = on.site
    endless = ["/calendar?day=" + str(day) for day in range(6)]
    links = [
        *(
            "/shop/a?utm_source=x&b=2&a=1",
            "/shop/a?a=1&b=2&PHPSESSID=5",
            "/old/b",
            "/shop/index.html",
            "/print/a",
            "/crash",
        ),
        *(
            "/shown/c",
            "/x/y/x/y/x/y/x/y",
            "/long/" + "z" * 120,
            f"{on.second}/mirrored",
            f"{on.third}/mirrored",
            "/forbidden",
        ),
        *("/p?page=3&q=1", "/a%7Eb/../%41", "/UPPER?Q=%c3%a4", "//", "#here", "javascript:void(0)"),
    ]
    site.write("/", "Start", "", [*links, *endless])
    for path in (
        "/shop/a?a=1&b=2",
        "/shop/b",
        "/shop/",
        "/hidden/c",
        "/mirrored",
        "/p?q=1",
        "/A",
        "/UPPER?Q=%C3%A4",
        *endless,
    ):
        site.write(path, path, f"text of {path}")
    site.robots("User-agent: *\nDisallow: /forbidden\n")

    def change() -> None:
        on.define(urls={"rewrite_rules": ["#/old/#/shop/#"]}, sites={"aliases": {"127.0.0.2": "127.0.0.1"}})
        site.write("/shop/index.html", "Index", "by its own name")

    return change


@pair(look=("/1", "/1/2/3/4", "/forbidden"), kill_at=5)
def limits(on: Stage) -> Change:
    """Depth, pages of a site, links and nodes of a page, sizes, and known URLs only when the index is full."""
    on.define(
        depth=3,
        limits={
            **{"pages_per_site": 12, "links_per_page": 8, "nodes_per_page": 60, "max_size": "20 KB"},
            **{"documents": 9, "documents_slack": 2, "urls_per_site": 30},
        },
        robots={"obey": False},
    )
    site = on.site
    site.write("/", "Start", "", [f"/{number}" for number in range(1, 8)] + ["/large", "/beyond-the-links"])
    for number in range(1, 8):
        site.write(f"/{number}", f"Page {number}", f"text of {number}", [f"/{number}/2"])
        site.write(f"/{number}/2", f"Below {number}", f"second of {number}", [f"/{number}/2/3"])
        site.write(f"/{number}/2/3", f"Deep {number}", f"third of {number}", [f"/{number}/2/3/4"])
    site.write(
        "/2", "Many nodes", "", ["/2/2"], body="<p>word</p>" * 80 + '<a href="/behind-nodes">behind</a>'
    )
    site.file("/large", b"<title>Large</title>" + b"x" * 30_000, "text/html")
    site.robots("User-agent: *\nDisallow: /1\n")

    def change() -> None:
        on.define(depth=1, limits={"pages": 4})

    return change


@pair(look=("/via-a", "/nowhere", "/forbidden"), kill_at=5)
def kinds_of_links(on: Stage) -> Change:
    """Every kind of link, in HTML, WML and plain text."""
    kinds = (
        *(
            "a",
            "area",
            "frame",
            "iframe",
            "canonical",
            "alternate",
            "next",
            "meta_refresh",
            "link",
            "img",
            "script",
        ),
        *(
            "script_text",
            "style",
            "object",
            "embed",
            "applet",
            "form",
            "meta",
            "comment",
            "layer",
            "card",
            "go",
            "text",
        ),
    )
    on.define(
        links=dict.fromkeys(kinds, True) | {"refresh_seconds": 5}, robots={"follow_nofollow_links": True}
    )
    site = on.site
    site.write(
        "/",
        "Start",
        f"see {on.url}/via-text for more",
        ["/via-a", "/deck.wml", "/plain.txt", "/quick", "/base/"],
        head='<link rel="help" href="/via-link"><link rel="canonical" href="/"><link rel="next" href="/via-next">'
        '<link rel="alternate" hreflang="de" href="/via-alternate"><meta name="see" content="'
        + on.url
        + '/via-meta">'
        '<meta http-equiv="refresh" content="60; url=/via-refresh"><style>@import "/via-style.css";</style>',
        body='<map><area href="/via-area"></map><iframe src="/via-iframe"></iframe>'
        '<img src="/via-img" longdesc="/via-longdesc" '
        'srcset="/via-srcset 2x"><script src="/via-script.js"></script><script>go("/via-script-text")</script>'
        '<object data="/via-object"></object><embed src="/via-embed"><applet code="/via-applet"></applet>'
        '<form action="/via-form"></form><form method="post" action="/via-post"></form>'
        '<!-- <a href="/via-comment">x</a> -->'
        '<layer src="/via-layer"></layer><a rel="nofollow" href="/via-nofollow">x</a>',
    )
    deck = '<?xml version="1.0"?><wml><card ontimer="/via-card"><do><go href="/via-go"/></do></card></wml>'
    site.file("/deck.wml", deck.encode(), "text/vnd.wap.wml")
    site.file("/plain.txt", f"plain text names {on.url}/via-plain, too".encode(), "text/plain")
    site.write("/quick", "Quick", "", head='<meta http-equiv="refresh" content="4; url=/via-quick">')
    site.write("/base/", "Base", "", ["relative"], head='<base href="/other/">')
    for path in ("/via-a", "/via-quick", "/via-refresh", "/other/relative", "/via-comment"):
        site.write(path, path, f"text of {path}")

    def change() -> None:
        on.define(links={"a": False, "area": False})

    return change
