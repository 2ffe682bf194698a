"""A project from its first day to its last: each verb does once what it is for."""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from support.fast import fast_xml
from support.project import LOOPBACK, Workspace, kill_group
from support.site import Site
from support.started import address, end, kill, start
from support.until import PATIENCE, until

from ultracrawl.cli.plugin_verbs import plugin_verbs

pytestmark = [pytest.mark.essential, pytest.mark.processes]

COMMANDS = [
    line.split()
    for line in """\
startproject elsewhere
init URL/ -o new.yaml --yes --delay 0
secret new-key password.key
schema
lint --json
convert ultracrawl.yaml
probe URL/ --no-dns --json
simulate http://filtered.example/a --no-dns --no-redirects --json
plan --json
changelog stock
crawl site --json
search alpha --json
status --json
stats site --json
urls --json
explain URL/a --json
queue --json
screened --json
suggest site --json
queries --json
check-answers golden.yaml --json
load-metadata --type lov lists.xml
lists --json
submit URL/new --source site --json
approve-changes site --list --json
approve-deletions site --list --json
reindex site --json
index check --json
feeding pause site
feeding resume site
export site --warc kept.warc
approve site --remove URL/a --json
schedule list --json
notices test --json
user list --json
token create portal --role reader
store copy --to copied --json
backup saved.tar --json
remove site --yes --json
restore saved.tar --force --json
rename site other --yes --json
robot status --json
admin verify collections.xml
""".splitlines()
]
"""The commands of a life, in their order."""
BESIDE_A_CRAWL = ("pause", "resume", "stop")
OF_MACHINES = "node"
"""What needs PostgreSQL; `tests/service/nodes` has it."""


@pytest.fixture
def project(site: Site, workspace: Workspace) -> Iterator[str]:
    """Write the project of a site, a table and a robot; gives the address of the site."""
    site.page("/", title="Home", links=["/a", "http://elsewhere.example/"], text="words here")
    site.page("/a", title="Alpha", text="alpha words")
    folder = workspace.directory
    with closing(sqlite3.connect(folder / "stock.sqlite")) as db, db:
        db.execute("CREATE TABLE stock (id INTEGER PRIMARY KEY, name TEXT)")
    for name, text in {
        "lists.xml": '<lists><attribute name="Author" type="string"><value v="Miller"/></attribute></lists>',
        "collections.xml": fast_xml({"start_uris": ["http://handbook.example/"]}),
        "robot.filter": "<Filter name=all>\n</Filter>\n",
    }.items():
        (folder / name).write_text(text)
    with site.serve() as url:
        (folder / "golden.yaml").write_text(f"- query: alpha\n  pages: {url}/a\n")
        workspace.write(
            {
                "sources": {
                    "site": {
                        "start_urls": [f"{url}/"],
                        "boundary": LOOPBACK,
                        "politeness": {"delay": 0},
                        "storage": {"keep": True},
                        "log": {"screened": True},
                        "attributes": {"author": "Author"},
                        "refresh": {"interval": "24 h"},
                    },
                    "filtered": {
                        "start_urls": ["http://filtered.example/"],
                        "filters": {"file": "robot.filter", "enumeration": "all", "generation": "all"},
                    },
                    "stock": {
                        "type": "table",
                        "connection": "sqlite:///stock.sqlite",
                        "table": "stock",
                        "key": ["id"],
                        "text": ["name"],
                        "changes": {"log": "stock_log"},
                    },
                },
                "notices": {"to": {"desk": {"command": "true"}}},
            }
        )
        yield url


def test_the_life_of_a_project(project: str, workspace: Workspace) -> None:
    for words in COMMANDS:
        ended = workspace.command(*(word.replace("URL", project) for word in words))
        assert (words, ended.code) == (words, 0), ended.err


def test_a_crawl_is_paused_resumed_and_stopped(project: str, site: Site, workspace: Workspace) -> None:
    workspace.define(f"{project}/", politeness={"delay": 3600, "concurrency": 1})
    process = workspace.start("crawl", "site")
    try:
        until(lambda: site.requests, process)
        for verb in BESIDE_A_CRAWL:
            ended = workspace.command(verb, "site", "--json")
            assert (verb, ended.code) == (verb, 0), ended.err
        process.wait(PATIENCE)
    finally:
        kill_group(process)
        process.communicate()


def test_a_service_starts_and_ends(project: str, workspace: Workspace) -> None:
    log = workspace.directory / "serve.log"
    process = start(log, "serve", "--port", "0")
    try:
        address(log, process)
        end(process, log)
    finally:
        kill(process)


def test_each_verb_is_tried() -> None:
    main = importlib.import_module("ultracrawl.cli.main")
    tried = {words[0] for words in COMMANDS} | {*BESIDE_A_CRAWL, "serve", OF_MACHINES}
    assert tried == {*main.VERBS, *(name for name, _ in plugin_verbs())}
