"""What concerns more than one page: engines, destinations, several sources, priorities, logs, approval."""

from __future__ import annotations

import yaml

from golden.pair import Change, pair
from golden.stage import Stage


@pair(
    kill_at=4,
    then=(
        ("feeding", "status", "--json"),
        ("search", "--json", "--index", "archive", "words"),
        ("index", "check", "--json"),
    ),
)
def destinations(on: Stage) -> list[Change]:
    """Two engines: the first index is fed at once, the second when it may."""
    top = {
        "index": {"engine": "tantivy", "path": "var/index"},
        "indexes": {"archive": {"engine": "whoosh", "path": "var/archive"}},
    }

    def define(*, paused: bool) -> None:
        destinations = {"public": {"primary": True}, "copy": {"index": "archive", "paused": paused}}
        on.define(top, feeding={"destinations": destinations})

    define(paused=True)
    site = on.site
    site.write("/", "Start", "words", ["/a", "/b"])
    site.write("/a", "A", "words of a")
    site.write("/b", "B", "words of b")

    def change() -> None:
        site.write("/a", "A", "other words")
        site.remove("/b")

    return [change, lambda: define(paused=False)]


@pair(
    kill_at=5,
    look=("/inner/a", "/outer/a", "/forbidden"),
    then=(("search", "--json", "--group", "outer", "text"), ("search", "--json", "text")),
)
def several_sources(on: Stage) -> list[Change]:
    """Sources that hand each other links, defaults for all, groups, start URLs in files, a second file of sources."""
    on.file("starts.txt", f"# where it begins\n{on.url}/inner/\n{on.url}/inner/more\n")
    inner = on.source(
        start_urls=[],
        start_url_files=["starts.txt"],
        send_links_to=["outer"],
        groups=["inner", "all"],
        boundary={"uris": {"include": [f"{on.url}/inner/"]}},
    )
    outer = on.source(
        start_urls=[],
        takes_links=True,
        own_sites=[f"{on.url}/"],
        groups=["outer", "all"],
        boundary={"domains": {"include": ["127.0.0.1"]}, "uris": {"exclude": [f"{on.url}/inner/"]}},
    )
    on.file("ultracrawl.yaml", yaml.safe_dump({"defaults": {"depth": 3}, "sources": {"inner": inner}}))
    on.file("sources/outer.yaml", yaml.safe_dump({"sources": {"outer": outer}}))
    site = on.site
    site.write("/inner/", "Inner", "text", ["/inner/a", "/outer/a", "/forbidden"])
    site.write("/inner/more", "More", "text", ["/outer/b"])
    site.write("/inner/a", "Inner a", "text of a")
    site.write("/outer/a", "Outer a", "text out of the first source", ["/inner/by-outer", "/outer/c"])
    site.write("/outer/b", "Outer b", "text out of it, too")
    site.write("/outer/c", "Outer c", "text found by the second")
    site.robots("User-agent: *\nDisallow: /forbidden\n")

    def change() -> None:
        site.write("/inner/a", "Inner a", "text of a", ["/outer/d"])
        site.write("/outer/d", "Outer d", "text that came later")

    return [change, lambda: site.remove("/outer/b")]


LOGS = ("fetch", "postprocess", "header", "dsfeed", "site", "screened", "scheduler")


@pair(
    kill_at=5,
    look=("/news/1", "http://elsewhere.example/", "/forbidden"),
    files=("var/log/site.[!hr]*.log", "var/log/site.run-*.log", "done.txt"),
)
def priorities_and_logs(on: Stage) -> Change:
    """Levels of the queue, turns of sites, spans of delays, all logs, a command at the end."""
    on.file(
        "note.sh", '#!/bin/sh\necho "$ULTRACRAWL_SOURCE $ULTRACRAWL_RUN $ULTRACRAWL_REGISTERED" >> done.txt\n'
    ).chmod(0o755)
    on.define(
        priority={
            **{"levels": 3, "default": 3, "start": 2, "pop_scheme": "pri", "put_scheme": "include"},
            "level": {1: {"share": 2, "uris": [f"{on.url}/news/"]}, 2: {"hosts": ["127.0.0.2"]}},
        },
        sites={"max_sites": 2, "max_inter_docs": 2},
        politeness={"variable_delay": {"Mon:00-Sun:23.59": 0}, "per_address": True},
        boundary={"domains": {"include": ["127.0.0.1", "127.0.0.2"]}},
        log={**dict.fromkeys(LOGS, True), "postprocess": "text", "runs": 2},
        completion={"command": f"{on.directory}/note.sh", "timeout": 60},
    )
    site = on.site
    site.write(
        "/",
        "Start",
        "",
        ["/old/1", "/news/1", f"{on.second}/b", "/old/2", "/news/2", "/moved", "/lost", f"{on.third}/no"],
    )
    for path in ("/old/1", "/old/2", "/news/1", "/news/2", "/b"):
        site.write(path, path, f"text of {path}", ["/news/3"] if path == "/old/1" else [])
    site.redirect("/moved", "/news/3")
    site.write("/news/3", "/news/3", "text of /news/3")

    def change() -> None:
        site.write("/news/1", "/news/1", "changed")
        site.gone("/old/2")

    return change


@pair(
    kill_at=5,
    then=(
        ("approve", "site", "--list", "--json"),
        ("approve", "site", "--remove", "--regexp", ".*/draft.*", "--json"),
        ("approve", "site", "--prefix", "http://127.0.0.1", "--json"),
        ("search", "--json", "text"),
    ),
)
def examine(on: Stage) -> list[Change]:
    """Documents wait until they are approved; some are removed for good; then another mode."""
    on.define(crawling_mode="examine")
    site = on.site
    site.write("/", "Start", "", ["/a", "/draft-1", "/draft-2"])
    for path in ("/a", "/draft-1", "/draft-2"):
        site.write(path, path, f"text of {path}")

    def change() -> None:
        site.write("/a", "/a", "another text", ["/new"])
        site.write("/new", "/new", "text that came later")

    def index_only() -> None:
        on.define(crawling_mode="index-only")
        site.write("/a", "/a", "a third text", ["/unknown"])

    return [change, index_only]
