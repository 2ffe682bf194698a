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


@pair(
    config=FILE,
    kill_at=5,
    look=("/news/1", "/a", "/forbidden"),
    then=(("search", "--json", "--group", "handbook", "text"),),
)
def fast_sub_collections(on: Stage) -> list[Change]:
    """Sub-collections own a part; a collection sends links to another one."""
    news = section("include_uris", strings("prefix", f"{on.url}/news/")) + section(
        "crawlmode", one("mode", "string", "DEPTH:1")
    )
    write(
        on,
        collection(
            on,
            f'<SubDomain name="news">{news}</SubDomain>\n'
            + section("include_domains", strings("exact", "127.0.0.1"))
            + one("send_links_to", "string", "outside"),
        ),
        collection(
            on,
            section("include_domains", strings("exact", "127.0.0.2")),
            name="outside",
            starts=(f"{on.second}/",),
        ),
    )
    site = on.site
    site.write("/", "Start", "text", ["/a", "/news/1", f"{on.second}/b"])
    site.write("/a", "A", "text of a", ["/news/2"])
    site.write("/news/1", "News 1", "text of news", ["/news/3", "/c"])
    for path in ("/news/2", "/news/3", "/b", "/c"):
        site.write(path, path, f"text of {path}", ["/news/4"] if path == "/news/3" else [])

    def change() -> None:
        site.write("/news/2", "/news/2", "text that changed")

    return [change, lambda: site.gone("/c")]


@pair(config=FILE, kill_at=6, look=("/staff/a", "http://elsewhere.example/", "/forbidden"))
def fast_access(on: Stage) -> Change:
    """Passwords, a login, cookies, headers, redirects to other hosts, data that are posted."""
    login = (
        f'<Login name="members">{one("html_form", "string", f"{on.url}/login")}{one("autofill", "boolean", "yes")}'
        f"{one('scheme', 'string', 'http')}{one('site', 'string', f'127.0.0.1:{on.port}')}"
        f"{one('form', 'string', '/session')}"
        f"{one('action', 'string', 'POST')}{strings('sites', '127.0.0.1')}"
        f"{section('parameters', one('user', 'string', 'crawler'), one('password', 'string', 'secret'))}</Login>\n"
    )
    write(
        on,
        collection(
            on,
            section("passwd", one(f"{on.url}/staff/", "string", "crawler:secret:Staff:basic"))
            + one("use_cookies", "boolean", "yes")
            + strings("headers", "User-Agent: golden", "X-Golden: yes")
            + section("crawlmode", one("mode", "string", "FULL"), one("fwdredirects", "boolean", "no"))
            + section("include_domains", strings("exact", "127.0.0.1", "127.0.0.2"))
            + section("post_payload", one(f"{on.url}/form", "string", "view=full"))
            + section("exclude_headers", strings("X-State", "draft"))
            + login,
        ),
    )
    site = on.site
    form = "<form method=post action=/session><input type=hidden name=token value=t1><input name=user>"
    site.file("/login", f"{form}<input type=password name=password></form>".encode(), "text/html")
    site.redirect("/session", "/welcome", status=303, headers={"Set-Cookie": "session=1; Path=/"})
    site.write("/welcome", "Welcome")
    site.write("/", "Start", "", ["/staff/a", "/away", "/form", "/draft", "/set"])
    site.write("/staff/a", "Staff", "text")
    site.redirect("/away", f"{on.second}/there", status=302)
    site.write("/there", "There", "on another host")
    site.write("/form", "Form", "was posted")
    site.write("/draft", "Draft", "", headers={"X-State": "draft"})
    site.write("/set", "Set", "a cookie", headers={"Set-Cookie": "seen=1; Path=/"})

    def change() -> None:
        site.write("/draft", "No draft", "any more")

    return change


@pair(config=FILE, kill_at=6)
def fast_feeds_and_refresh(on: Stage) -> list[Change]:
    """Feeds, sitemaps, adaptive cycles, orphans."""
    write(
        on,
        collection(
            on,
            section(
                "rss",
                strings("start_uris", f"{on.url}/feed.xml"),
                *(one("auto_discover", "boolean", "yes"), one("index_feed", "boolean", "yes")),
                *(one("del_expired_links", "boolean", "yes"), one("max_link_count", "integer", 2)),
            )
            + one("use_sitemaps", "boolean", "yes")
            + one("refresh_mode", "string", "scratch")
            + one("dbswitch", "integer", 1)
            + one("dbswitch_delete", "boolean", "yes"),
        ),
    )
    site = on.site

    def feed(*paths: str) -> None:
        items = "".join(f"<item><title>{path}</title><link>{on.url}{path}</link></item>" for path in paths)
        site.file(
            "/feed.xml",
            f"<rss version='2.0'><channel><title>Feed</title>{items}</channel></rss>".encode(),
            "application/rss+xml",
        )

    feed("/item-1", "/item-2")
    site.sitemap("/sitemap.xml", ["/listed"])
    site.write("/", "Start", "", ["/a", "/b"])
    for path in ("/a", "/b", "/item-1", "/item-2", "/item-3", "/listed"):
        site.write(path, path, f"text of {path}")

    def change() -> None:
        feed("/item-2", "/item-3")
        site.write("/", "Start", "", ["/a"])

    def adaptive() -> None:
        write(
            on,
            collection(
                on,
                one("refresh_mode", "string", "adaptive")
                + section("adaptive", one("refresh_count", "integer", 1), one("coverage_min", "integer", 50)),
            ),
        )

    return [change, adaptive]


@pair(config=FILE, kill_at=5)
def fast_content(on: Stage) -> Change:
    """Types, cuts, kinds of links, META robots, languages, duplicates."""
    inside = (
        strings("allowed_types", "text/html", "text/csv")
        + one("cut_off", "integer", 900)
        + one("truncate", "boolean", "yes")
        + one("force_mimetype_detection", "boolean", "yes")
        + section(
            "link_extraction",
            one("img", "boolean", "yes"),
            one("comment", "boolean", "no"),
            one("action", "boolean", "no"),
        )
        + one("near_duplicate_detection", "boolean", "yes")
        + one("use_meta_csum", "boolean", "yes")
        + one("extract_links_from_dupes", "boolean", "yes")
        + one("html_redir_thresh", "integer", 1)
    )
    write(on, collection(on, inside))
    site = on.site
    site.write(
        "/",
        "Start",
        "",
        ["/table", "/long", "/disguised", "/noindex", "/same-1", "/same-2", "/meta-1", "/meta-2", "/quick"],
        body='<img src="/by-img"><!-- <a href="/by-comment">x</a> --><form action="/by-form"></form>',
    )
    site.file("/table", b"a,b,c", "text/csv")
    site.write("/long", "Long", "words " * 300)
    site.file("/disguised", b"<html><body>in truth a page</body></html>", "image/png")
    site.write("/noindex", "No index", "", ["/behind"], head='<meta name="robots" content="noindex">')
    for path in ("/same-1", "/same-2"):
        site.write(path, "Same", "the same", ["/of-a-duplicate"])
    for path in ("/meta-1", "/meta-2"):
        site.write(path, "Meta", "the same but for META", head=f'<meta name="team" content="{path[-1]}">')
    site.write("/quick", "Quick", "read", head='<meta http-equiv="refresh" content="2; url=/quick-target">')
    for path in ("/behind", "/of-a-duplicate", "/quick-target"):
        site.write(path, path, f"text of {path}")

    def change() -> None:
        write(on, collection(on, inside.replace("> yes <", "> no <")))

    return change


@pair(
    config=FILE,
    kill_at=5,
    then=(("feeding", "status", "--json"), ("admin", "reprocess", "handbook", "--json")),
    files=("var/links/*.txt", "var/log/handbook.[fdp]*.log"),
)
def fast_processing(on: Stage) -> Change:
    """Storage, destinations, what documents tell of others, logs."""
    write(
        on,
        collection(
            on,
            section(
                "storage",
                one("datastore", "string", "bstore"),
                one("store_dupes", "boolean", "yes"),
                one("uri_dir", "string", "var/links"),
            )
            + section(
                "pp",
                strings("ds_meta_info", "duplicates", "redirects", "metadata"),
                *(one("ds_send_links", "boolean", "yes"), one("max_dupes", "integer", 3)),
            )
            + one("max_reflinks", "integer", 3)
            + section(
                "feeding",
                section("main", one("collection", "string", "handbook"), one("primary", "boolean", "yes")),
            )
            + section(
                "log",
                one("fetch", "string", "text"),
                one("postprocess", "string", "text"),
                one("dsfeed", "string", "text"),
            ),
        ),
    )
    site = on.site
    site.write("/", "Start", "", ["/a", "/copy", "/moved"])
    site.write("/a", "A", "text", head='<meta name="team" content="red">')
    site.write("/copy", "A", "text", head='<meta name="team" content="red">')
    site.redirect("/moved", "/a")

    def change() -> None:
        site.write("/copy", "No copy", "other text")

    return change


@pair(
    config=FILE,
    kill_at=5,
    look=("/a", "/b", "/forbidden"),
    then=(("admin", "list", "--json"), ("admin", "export", "handbook")),
)
def fast_layers_forgiven(on: Stage) -> Change:
    """Defaults beside the file, a node, levels of the queue, and much that is forgiven with a hint."""
    on.file(
        "crawlercollectiondefaults.xml",
        f'<?xml version="1.0"?><CrawlerConfig><DomainSpecification name="default">{one("max_redirects", "integer", 2)}'
        f"{strings('exclude_exts', '.gif')}</DomainSpecification></CrawlerConfig>\n",
    )
    write(
        on,
        collection(
            on,
            one("info", "string", "a remark")
            + one("no_such_option", "string", "x")
            + one("hmtl_redir_threshold", "integer", 2)
            + one("robots", "boolean", "YES")
            + one("max_uri_recursion", "integer", -4)
            + one("umlogs", "boolean", "no")
            + one("passwd", "string", "misplaced")
            + strings("exclude_exts", ".png")
            + section(
                "workqueue_priority",
                one("levels", "integer", 2),
                one("pop_scheme", "string", "pri"),
                section("1", one("share", "integer", 3)),
            )
            + section("limits", one("max_doc", "integer", 5), one("max_doc_slack", "integer", 1))
            + section("http_errors", one("4xx", "string", "DELETE:2, RETRY:0"))
            + f'<Node name="nowhere">{one("max_redirects", "integer", 9)}</Node>\n',
        ),
    )
    site = on.site
    site.write("/", "Start", "", ["/a", "/b", "/c.gif", "/d.png", "/e", "/f", "/hop-1"])
    for path in ("/a", "/b", "/e", "/f"):
        site.write(path, path, f"text of {path}")
    for hop in (1, 2, 3):
        site.redirect(f"/hop-{hop}", f"/hop-{hop + 1}")
    site.write("/hop-4", "Hop", "too far")

    def change() -> None:
        site.remove("/a")
        site.write("/b", "/b", "changed")

    return change


@pair(
    config=FILE,
    kill_at=6,
    look=("/a", "http://127.0.0.2/deep", "/forbidden"),
    then=(("admin", "consistency", "handbook", "--json"),),
)
def fast_copies_and_parts(on: Stage) -> list[Change]:
    """A part of hosts begins at a page that its collection links to, too; copies beyond a number, one of them kept."""
    press = section("include_domains", strings("exact", "127.0.0.2")) + section(
        "crawlmode", one("mode", "string", "DEPTH:1")
    )
    write(
        on,
        collection(
            on,
            section("subdomains", section("press", press))
            + section("include_domains", strings("exact", "127.0.0.1", "127.0.0.2"))
            + section(
                "pp",
                one("max_dupes", "integer", 2),
                one("ecl_override", "string", r".*/copy/index\.html"),
                strings("ds_meta_info", "duplicates", "redirects"),
            ),
            starts=("/", f"{on.second}/press"),
        ),
    )
    site = on.site
    copies = [f"/copy/{number}" for number in range(4)] + ["/copy/index.html"]
    site.write("/", "Start", "text", ["/a", *copies, f"{on.second}/press", "/moved"])
    site.write("/a", "A", "text of a")
    for path in copies:
        site.write(path, "Copy", "text of all copies", etag=False, modified=False)
    site.redirect("/moved", "/a")
    site.write("/press", "Press", "text of the press", ["/deep"])
    site.write("/deep", "Deep", "text one step further", ["/deeper"])
    site.write("/deeper", "Deeper", "text that is too far")

    def change() -> None:
        site.write("/press", "Press", "text of the press", ["/deep", "/new"])
        site.write("/new", "New", "text that came later")

    return [change, lambda: site.gone("/copy/0")]
