"""A crawl that cannot be opened says why in one line, and lets go of everything."""

import subprocess
import sys

import pytest
from cli.test_missing_extras import without
from support.project import LOOPBACK, ROOT, Workspace
from support.sentences import sentence
from support.site import Site

pytestmark = pytest.mark.processes

AGAIN = """
from ultracrawl.stores.project_stores import open_state
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.service.crawling import crawl_sources
from ultracrawl.sources import require

project = require(read_definitions("ultracrawl.yaml"))
for report in crawl_sources(project, project.sources.values()):
    print(report.source, report.begun, report.fetched, *report.problems)
open_state(project, "bad").close()
print("not locked")
"""


@pytest.fixture
def damaged(site: Site, url: str, workspace: Workspace) -> Workspace:
    """Return a project of two sources; where the cache of the first should be there is a file."""
    site.page("/", title="Home", text="words")
    source = {"start_urls": [f"{url}/"], "politeness": {"delay": 0}, "boundary": LOOPBACK}
    workspace.write({"sources": {"bad": source, "good": source}})
    folder = workspace.directory / "var" / "cache"
    folder.mkdir(parents=True)
    (folder / "bad").write_bytes(b"no folder\n")
    return workspace


def test_a_cache_that_cannot_be_opened_is_reported_without_what_follows_from_it(damaged: Workspace) -> None:
    ended = damaged.command("crawl", "bad")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith("ultracrawl: document cache ")
    assert "Traceback" not in ended.err


def run_again(workspace: Workspace, path: str = str(ROOT)) -> list[str]:
    """Crawl all sources from a program that then opens the state of the first; returns what it printed."""
    command = [sys.executable, "-W", "error", "-c", AGAIN]
    env = {"PYTHONPATH": path, "PATH": "/usr/bin:/bin"}
    ended = subprocess.run(
        command, cwd=workspace.directory, env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert "Traceback" not in ended.stderr
    return ended.stdout.splitlines()


def test_the_other_sources_are_crawled(damaged: Workspace) -> None:
    bad, good, last = run_again(damaged)
    assert bad.startswith("bad False 0 document cache ")
    assert (good, last) == ("good True 1", "not locked")


def test_a_source_that_was_opened_half_way_is_not_locked(damaged: Workspace) -> None:
    definition = damaged.directory / "ultracrawl.yaml"
    definition.write_text(definition.read_text() + "index: {engine: tantivy}\n")
    *reports, last = run_again(damaged, without(damaged, "tantivy")["PYTHONPATH"])
    assert [line.split(" needs")[0] for line in reports] == [
        sentence("index.bad_cannot_be_opened"),
        sentence("index.good_cannot_be_opened"),
    ]
    assert last == "not locked"
