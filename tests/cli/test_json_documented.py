"""What `--json` prints has the fields that docs/commands.md names, and no others."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from cli.test_help import COMMANDS
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import LOOPBACK, ROOT, Workspace

PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
_REFERENCE = r"[Aa]s (?:in )?`([a-z -]+)`"
PARTS = {"record", "before", "after"}
"""Fields with an object of a shape that another verb has, too."""
OPTIONAL = {
    "search": {"anchor", "completions", "display_name", "text"},
    "status": {"bounded", "documents", "exclusion", "pages", "pattern", "problem", "same_start", "time"}
    | {"site", "until", "why"},
    "status SITE": {"machine", "pid", "since", "waiting"},  # of the crawl that asks it now
    "approve": {"kept"},  # while the source is being crawled
    "approve-changes": {"cause", "url"},
    "approve-deletions": {"cause", "url"},
    "index dump": {"acl", "section_anchors", "sections"},
}
"""Fields of what these calls find none of."""
ROWS = [line.split("|") for line in PAGE.splitlines() if line.startswith("| `") and line.count("|") == 4]

CALLS = {
    "status": ("status",),
    "status SITE": ("status", "{site}"),
    "search": ("search", "words", "--language", "en", "--sections", "3", "--count-sources"),
    "urls": ("urls",),
    "stats": ("stats", "site"),
    "stats --compare": ("stats", "site", "--compare", "1", "1"),
    "approve --list": ("approve", "waiting", "--list"),
    "approve": ("approve", "waiting"),
    "approve-changes": ("approve-changes", "site", "--list"),
    "approve-deletions": ("approve-deletions", "site", "--list"),
    "explain": ("explain", "{url}/a"),
    "explain --as-of-run": ("explain", "{url}/a", "--source", "site", "--as-of-run", "1"),
    "submit": ("submit", "{url}/submitted"),
    "plan": ("plan", "site"),
    "queue": ("queue", "site"),
    "lint": ("lint", "mistaken.yaml"),
    "screened": ("screened", "site"),
    "suggest": ("suggest", "site"),
    "lists": ("lists",),
    "feeding status": ("feeding", "status"),
    "feeding pause": ("feeding", "pause", "site"),
    "index info": ("index", "info"),
    "index check": ("index", "check"),
    "index rebuild": ("index", "rebuild"),
    "index dump": ("index", "dump"),
}
"""Every verb of the table that needs neither a running crawl nor a robot, with a call that has something to tell."""


def documented(verb: str) -> set[str]:
    """Return the fields that the page names for a verb, with those of the verbs that it refers to."""
    (fields,) = [row[3] for row in ROWS if f"`{verb}`" in row[1]]
    names = set(
        re.findall(r"`(\w+)`", re.sub(r"\(`(?:leaving|held)`.*?\)|or `null`|" + _REFERENCE, "", fields))
    )
    for other in re.findall(_REFERENCE, fields):
        names |= documented(other)
    if "as above" in fields:
        names |= documented("feeding status")
    _, _, without = fields.partition("`, without ")
    return names - set(re.findall(r"`(\w+)`", without))


def fields_of(value: Any) -> set[str]:
    """Return the keys of an object and of the objects in its lists."""
    if isinstance(value, list):
        return set().union(*map(fields_of, value))
    if not isinstance(value, dict):
        return set()
    parts = (one for name, one in value.items() if isinstance(one, list) or name in PARTS)
    return set(value).union(*map(fields_of, parts))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    """Return a project of two sources that was crawled twice, and the address of its site."""
    site, workspace = NetworkSite(), InProcessWorkspace(tmp_path_factory.mktemp("documented"))
    site.page(
        "/", title="Home", links=["/a", "/a?utm_source=x", "http://elsewhere.example/"], text="words here"
    )
    site.page("/a", title="Alpha", text="words there", head='<meta name="country" content="de">')
    site.page("/a?utm_source=x", title="Alpha", text="words there")
    with site.serve() as url:
        common = {"politeness": {"delay": 0}, "boundary": LOOPBACK, "attributes": {"country": "Country"}}
        source = {"start_urls": [f"{url}/"], "log": {"screened": True, "candidates": True}, **common}
        sources = {"site": source, "waiting": {**source, "crawling_mode": "examine"}}
        lists = {"Country": {"de": {"en": "Germany"}}}
        workspace.write({"attributes": {"Country": "string"}, "lists": lists, "sources": sources})
        workspace.crawl()
        (workspace.directory / "mistaken.yaml").write_text("sources: {a: {dept: 3}}\n")
        yield workspace, url


@pytest.mark.parametrize("verb", CALLS)
def test_the_fields_are_those_of_the_page(crawled: tuple[Workspace, str], verb: str) -> None:
    workspace, url = crawled
    words = [word.format(url=url, site=url.partition("//")[2]) for word in CALLS[verb]]
    ended = workspace.command(*words, *(() if verb == "index dump" else ("--json",)))
    printed = ended.lines
    assert printed, ended.err
    fields = fields_of(printed)
    assert fields - documented(verb) == set()
    assert documented(verb) - fields == OPTIONAL.get(verb, set())


def test_the_fields_of_a_report(crawled: tuple[Workspace, str]) -> None:
    workspace, _ = crawled
    section = PAGE[PAGE.index("### Reports") :]
    assert set(workspace.crawl("site").run) - set(re.findall(r"`(\w+)`", section)) == set()


def test_the_page_has_every_verb_with_json() -> None:
    with_json = {
        name.removeprefix("ultracrawl ")
        for name, command in COMMANDS.items()
        if any("--json" in one.opts for one in command.params)
    }
    assert [
        verb for verb in sorted(with_json) if f"`{verb}`" not in PAGE and not verb.startswith("admin ")
    ] == []
