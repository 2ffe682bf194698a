"""Robots of the portal, as its four files."""

from __future__ import annotations

from golden.pair import Change, pair
from golden.stage import Stage

ROBOT = "config/robot.conf"


def robot(on: Stage, *, site: str = "", **properties: object) -> None:
    """Write a robot as `robot create` does, without delay, with a site; names have `_` for `-`."""
    if not (on.directory / "config").exists():
        made = on.workspace.command("robot", "create", ".", "--email", "me@site.example")
        assert made.code == 0, made.err
    given = {
        "csid": "x-catalog://h:80/robot",
        "server_delay": 0,
        "onCompletion": "quit",
        "site_max_concurrent": 1,
    }
    given |= {"enable_ip": "false", **properties}
    lines = "".join(f'   {name.replace("_", "-")}="{value}"\n' for name, value in given.items())
    on.file(ROBOT, f"<Process\n{lines}</Process>\n")
    rules = on.directory / "config" / "filterrules.conf"
    rules.write_text(rules.read_text() + site)


def server(on: Stage, rules: str = "", *, start: str = "/", depth: int = 10) -> str:
    """Return a site of the first address."""
    return (
        f"<Site name=127.0.0.1 kind=server enable=on>\n   Host name=127.0.0.1 port={on.port} protocol=http\n"
        f"   Start url={on.url}{start} depth={depth}\n{rules}</Site>\n"
    )


@pair(
    config=ROBOT,
    kill_at=5,
    look=("/a", "http://elsewhere.example/", "/forbidden"),
    then=(("robot", "report", "excluded", "--json"),),
)
def robot_plain(on: Stage) -> Change:
    """A robot with its default filters and the rules that are on."""
    robot(on, site=server(on, "   Use rule=archive-files\n"))
    site = on.site
    site.write(
        "/",
        "Start",
        "the beginning",
        ["/a", "/b", "/x.zip", "/a.gif", "/forbidden", "/copy", "/lost", f"{on.second}/there"],
    )
    site.write(
        "/a",
        "A",
        "with META",
        ["/c"],
        head='<meta name="author" content="Jo Lee"><meta name="keywords" content="one, two">',
    )
    site.write("/b", "B", "plain")
    site.write("/c", "C", "one further")
    site.write("/copy", "B", "plain")
    site.robots("User-agent: *\nDisallow: /forbidden\n")

    def change() -> None:
        site.write("/a", "A", "has changed", ["/new"])
        site.write("/new", "New", "came later")
        site.remove("/c")

    return change


EXCLUDED = (("robot", "report", "excluded", "--json"), ("robot", "report", "servers", "--json"))


def filters(on: Stage, enumeration: str, generation: str, rules: str = "", *, head: str = "") -> None:
    """Write both filters by the directives that they have."""
    text = head
    for name, inside in (("enumeration", enumeration), ("generation", generation)):
        lines = "".join(f"   {line.strip()}\n" for line in inside.strip().splitlines())
        text += f'<Filter name="{name}-default">\n{lines}</Filter>\n'
    on.file("config/filter.conf", text)
    if rules:
        on.file("config/filterrules.conf", rules)


@pair(
    config=ROBOT,
    kill_at=5,
    look=("/docs/a", "/private/x", "/forbidden"),
    then=(*EXCLUDED, ("robot", "list-rules", "--json")),
)
def robot_rules(on: Stage) -> Change:
    """Sites of both kinds, rules that include and exclude, expressions, types, depth."""
    robot(on)
    rule = '<FilterRule name="{}" title="{}" enable=on behavior={}>\n{}</FilterRule>\n'
    on.file(
        "config/filterrules.conf",
        rule.format(
            "private", "Private", "exclude", '   Match source=path by=begins-with string="/private/"\n'
        )
        + rule.format(
            "but-this", "But this", "include", '   Match source=path by=is string="/private/open"\n'
        )
        + rule.format(
            "numbers", "Numbers", "exclude", '   Match source=path by=regex string="/docs/[0-9]+"\n'
        )
        + rule.format("text", "Text", "exclude", '   Match source=type by=is string="text/plain"\n')
        + rule.format("off", "Off", "exclude", '   Match source=path by=contains string="docs"\n').replace(
            "enable=on", "enable=off"
        )
        + server(
            on,
            "".join(f'   Use rule="{name}"\n' for name in ("but-this", "private", "numbers", "text", "off")),
            depth=2,
        )
        + f"<Site name=127.0.0.2 kind=server enable=off>\n   Host name=127.0.0.2 port={on.port}\n</Site>\n"
        + f"<Site name=third kind=domain enable=on>\n   Host name=127.0.0.3 port={on.port}\n"
        f"   Start url={on.third}/third depth=1\n</Site>\n",
    )
    site = on.site
    links = [
        "/docs/a",
        "/docs/12",
        "/private/x",
        "/private/open",
        "/plain",
        "/forbidden",
        f"{on.second}/off",
        f"{on.third}/third",
    ]
    site.write("/", "Start", "", links)
    site.write("/docs/a", "A", "one step", ["/docs/b"])
    site.write("/docs/b", "B", "two steps", ["/docs/c"])
    site.write("/docs/c", "C", "three steps")
    site.write("/private/open", "Open", "let in")
    site.file("/plain", b"plain text", "text/plain")
    site.write("/third", "Third", "another site", ["/third/a"])
    site.write("/third/a", "Third a", "one step", ["/third/b"])
    site.write("/third/b", "Third b", "two steps")
    site.robots("User-agent: *\nDisallow: /forbidden\n")

    def change() -> None:
        rules = on.directory / "config" / "filterrules.conf"
        rules.write_text(rules.read_text().replace('"/docs/[0-9]+"', '"/docs/b"'))
        site.write("/docs/12", "Twelve", "let in now")

    return change


@pair(
    config=ROBOT,
    kill_at=5,
    look=("/a", "/deny/x", "/forbidden"),
    then=EXCLUDED,
    files=("robot/var/log/*.log",),
)
def robot_filters(on: Stage) -> Change:
    """Directives of every phase: what is compared, assigned, made, copied, renamed and cut."""
    robot(on, loglevel=2)
    filters(
        on,
        """
        Setup fn=filterrules-setup config=./config/filterrules.conf logtype=verbose
        Setup fn=setup-regex-cache cache-size=8
        MetaData fn=filterrules-process
        MetaData fn=filter-by-regex src=url deny=.*/deny/.*
        MetaData fn=filter-by-max src=depth value=2
        Data fn=assign-source dst=type src=content-type
        Enumerate fn=enumerate-urls max=20 type=text/html
        Enumerate fn=enumerate-urls-from-text max=5 type=text/plain
        Shutdown fn=filterrules-shutdown
        """,
        """
        Setup fn=filterrules-setup config=./config/filterrules.conf logtype=terse
        MetaData fn=filterrules-process
        MetaData fn=filter-by-prefix src=path deny=/list
        MetaData fn=generate-by-prefix dst=area value=Docs src=path match=/docs
        Data fn=assign-source dst=type src=content-type
        Data fn=generate-md5
        Data fn=filter-by-md5
        Data fn=assign-source dst=owner value=nobody
        Data fn=generate-by-exact dst=owner value=writers src=type match=text/plain
        Data fn=generate-by-regex dst=kind value=long src=path match=/.*long.*
        Data fn=clear-source src=server
        Data fn=convert-to-html type=application/rtf
        Generate fn=extract-source src="md5,depth,owner,area,kind,type->content-type"
        Generate fn=extract-html-meta truncate=40
        Generate fn=extract-html-text truncate=60 skip-headings=true
        Generate fn=extract-full-text truncate=80
        Generate fn=extract-html-toc truncate=40 level=2
        Generate fn=copy-attribute src=partial-text dst=description truncate=20 clean=true
        Generate fn=rename-attribute src="author->writer"
        Shutdown fn=filterrules-shutdown
        """,
        server(on),
    )
    site = on.site
    site.write(
        "/", "Start", "", ["/docs/a", "/deny/x", "/list", "/text", "/large", "/same", "/a.rtf", "/quite-long"]
    )
    head = '<meta name="author" content="Jo Lee, who has a rather long name that goes on and on">'
    site.write(
        "/docs/a",
        "A",
        "some text about a",
        ["/docs/b"],
        head=head,
        body="<h1>One</h1><p>under</p><h2>Two</h2><h3>Three</h3>",
    )
    site.write("/docs/b", "B", "two steps", ["/docs/c"])
    site.write("/docs/c", "C", "too far")
    site.write("/list", "List", "only links", ["/behind"])
    site.write("/behind", "Behind", "the list")
    site.file("/text", f"see URL: {on.url}/by-text here".encode(), "text/plain")
    site.write("/by-text", "By text", "found in a text")
    site.write("/large", "Large", "words " * 1200)
    site.write("/same", "Behind", "the list")
    site.file("/a.rtf", rb"{\rtf1\ansi rich words\par}", "application/rtf")
    site.write("/quite-long", "Long", "has a kind")

    def change() -> None:
        site.write("/docs/a", "A", "some other text about a", ["/docs/b"], head=head)
        site.remove("/same")

    return change


@pair(
    config=ROBOT,
    kill_at=5,
    look=("/hr/a", "/a", "/forbidden"),
    then=(
        ("search", "--json", "--where", "Classification=Siroe:Human Resources"),
        ("robot", "export-rds"),
        ("robot", "status", "--json"),
    ),
)
def robot_classification(on: Stage) -> Change:
    """Categories, dates of expiry that pages give, descriptions exported."""
    robot(on, site=server(on), max_classifications=2)
    rule = 'Classify source={} by={} string="{}" category="{}"\n'
    on.file(
        "config/classification.conf",
        rule.format("path", "begins-with", "/hr/", "Siroe:Human Resources")
        + rule.format("path", "ends-with", "/a", "Letters")
        + rule.format("title", "contains", "Start", "Beginnings")
        + rule.format("url", "regex", ".*/hr/.*", "Third"),
    )
    site = on.site
    site.write("/", "Start", "the beginning", ["/hr/a", "/a", "/expired"])
    site.write("/hr/a", "Staff", "of the staff")
    site.write("/a", "A", "a letter", headers={"Expires": "Thu, 01 Jan 2099 00:00:00 GMT"})
    site.write("/expired", "Expired", "is over", headers={"Expires": "Mon, 01 Jan 2024 00:00:00 GMT"})

    def change() -> None:
        site.write("/", "Start", "the beginning", ["/hr/a", "/a"])
        site.remove("/expired")

    return change


@pair(config="config/process.conf", kill_at=4, then=(("robot", "report", "configuration", "--json"),))
def robot_old_layout(on: Stage) -> Change:
    """Everything in a file of its elder, with a starting point in it, other names of properties, From and Referer."""
    filters(
        on,
        """
        MetaData fn=filter-by-exact src=protocol allow=http
        Data fn=assign-source dst=type src=content-type
        Enumerate fn=enumerate-urls max=1024 type=text/html
        """,
        """
        Data fn=assign-source dst=type src=content-type
        Generate fn=extract-html-meta truncate=255 type=text/html
        Generate fn=extract-full-text
        """,
    )
    on.file("config/filterrules.conf", "")
    on.file(
        "config/process.conf",
        f'<Process\n   csid="x-catalog://h:80/elder"\n   server-delay="0"\n   site-max-connections="1"\n'
        '   onCompletion="quit"\n'
        f'   enable-ip="false"\n   user-agent="golden"\n   email="me@site.example"\n   referer="http://site.example/"\n'
        f'   depth="1"\n   max-filesize-kb="2"\n   enable-robots-txt="false"\n   unknown-one="x"\n'
        f'   start="{on.url}/"\n</Process>\n',
    )
    site = on.site
    site.write("/", "Start", "", ["/a", "/forbidden", "/large"])
    site.write("/a", "A", "one step", ["/b"])
    site.write("/b", "B", "two steps")
    site.write("/forbidden", "Forbidden", "robots.txt is not asked")
    site.write("/large", "Large", "words " * 1000)
    site.robots("User-agent: *\nDisallow: /forbidden\n")

    def change() -> None:
        site.write("/large", "Small", "now")

    return change


@pair(
    config=ROBOT,
    kill_at=4,
    look=("/a", "/no", "/forbidden"),
    then=(("simulate", "--no-dns", "--no-redirects", "--json"),),
)
def robot_own_functions(on: Stage) -> Change:
    """Functions of its own, texts of links that they make, a password, addresses."""
    robot(on, site=server(on), username="crawler", password="secret", enable_ip="true")
    on.file("scrapy.cfg", "[settings]\n")
    on.file(
        "own_filters.py",
        "def mark(pb, csf, csr):\n    csr.rd['marked'] = [pb['name'], csr.source('host')]\n\n\n"
        "def refuse(pb, csf, csr):\n    if '/no' in csr.url:\n        raise ValueError('not this one')\n\n\n"
        "def more(pb, csf, csr):\n    if csr.url.endswith('/a'):\n"
        "        csr.spawn(csr.url.replace('/a', '/spawned'))\n",
    )
    filters(
        on,
        """
        Setup fn=filterrules-setup config=./config/filterrules.conf
        MetaData fn=filterrules-process
        MetaData fn=refuse
        Data fn=assign-source dst=type src=content-type
        Enumerate fn=enumerate-urls max=1024 type=text/html
        Enumerate fn=more
        Shutdown fn=filterrules-shutdown
        """,
        """
        Setup fn=filterrules-setup config=./config/filterrules.conf
        MetaData fn=filterrules-process
        MetaData fn=refuse
        Data fn=assign-source dst=type src=content-type
        Generate fn=extract-source src="ip"
        Generate fn=extract-html-meta truncate=255 type=text/html
        Generate fn=extract-full-text
        Generate fn=mark name=golden
        Shutdown fn=filterrules-shutdown
        """,
        head='Setup fn=load-modules module="own_filters" funcs="mark,refuse,more"\n',
    )
    site = on.site
    site.write("/", "Start", "", ["/a", "/no"])
    site.write("/a", "A", "leads further by a function")
    site.write("/spawned", "Spawned", "a function led here")

    def change() -> None:
        site.write("/spawned", "Spawned", "changed")

    return change


@pair(
    config=ROBOT,
    kill_at=6,
    look=("/papers/a", "/papers/deep/c", "/broken.pdf"),
    then=(
        ("search", "--json", "jordan"),
        ("search", "--json", "--where", "price>10", "--sort", "price", ""),
        ("robot", "export-rds", "--format", "json"),
        ("robot", "list-categories", "--json"),
    ),
)
def robot_fields(on: Stage) -> Change:
    """Fields with types and searched ones, two depths on one site, documents that cannot be converted."""
    second = f"   Start url={on.url}/papers/ depth=1\n"
    robot(on, site=server(on, second, depth=1))
    on.file("config/schema.conf", "Field name=author-name searched=on\nField name=price type=number\n")
    site = on.site
    head = '<meta name="author-name" content="{}"><meta name="price" content="{}">'
    site.write("/", "Start", "the beginning", ["/a", "/away", "/broken.pdf", "/broken.png", "/papers/"])
    site.write("/a", "A", "has an author", ["/too-far"], head=head.format("Jordan Lee", "9.5"))
    site.write("/papers/", "Papers", "of all kinds", ["/papers/a", "/papers/b"])
    site.write("/papers/a", "Paper", "one of them", ["/papers/deep/c"], head=head.format("Ann Roe", "20"))
    site.write("/papers/deep/c", "Deep", "too far from both")
    site.write(
        "/away",
        "Away",
        "leads out",
        [],
        head='<meta http-equiv="refresh" content="2; url=http://elsewhere.example/">',
    )
    site.write("/papers/b", "B", "another one")
    site.file("/broken.pdf", b"%PDF-1.4\nbroken", "application/pdf")
    site.file("/broken.png", b"\x89PNG\r\n\x1a\nbroken", "image/png")

    def change() -> None:
        site.write("/a", "A", "has another author", [], head=head.format("Kim Poe", "30"))
        site.remove("/papers/b")

    return change


@pair(config=ROBOT, kill_at=5, look=("/a", "/twin/1", "/forbidden"), then=EXCLUDED)
def robot_copies(on: Stage) -> list[Change]:
    """Equal resources have one description: that stays when links turn round, and goes to the next when it leaves."""
    robot(on, site=server(on, depth=2))
    site = on.site
    twins = [f"/twin/{number}" for number in range(3)]
    site.write("/", "Start", "the beginning", ["/a", *twins])
    site.write("/a", "A", "one of its own", [])
    for path in twins:
        site.write(path, "Twin", "three times the same", etag=False, modified=False)

    def turn() -> None:
        site.write("/", "Start", "the beginning", [*reversed(twins), "/a"])

    return [turn, lambda: site.gone("/twin/0")]
