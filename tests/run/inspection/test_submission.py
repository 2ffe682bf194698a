"""URLs that somebody submits, and the numbers of the answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import LOOPBACK
from support.sentences import sentence

from ultracrawl.run.inspection.submission import SubmissionCode
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import open_state


@pytest.fixture
def site() -> NetworkSite:
    site = NetworkSite()
    site.page("/", title="Birds", links=["/heron"], text="all birds")
    site.page("/heron", title="Heron", text="the grey heron")
    site.page("/lonely", title="Lonely", text="nothing leads here")
    return site


@pytest.fixture
def url(site: NetworkSite) -> Iterator[str]:
    with site.serve() as address:
        yield address


@pytest.fixture
def workspace(tmp_path: Path, url: str) -> InProcessWorkspace:
    workspace = InProcessWorkspace(tmp_path)
    workspace.define(f"{url}/")
    return workspace


def answer(workspace: InProcessWorkspace, *words: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code of a submission, and its answer."""
    ended = workspace.command("submit", *words, "--json")
    return ended.code, ended.json


def test_ultra_search_136_out_of_scope_is_6_and_what_is_known_is_4(
    workspace: InProcessWorkspace, url: str
) -> None:
    workspace.crawl()
    code, told = answer(workspace, "http://elsewhere.example/")
    assert (code, told["code"], told["url"]) == (1, 6, "http://elsewhere.example/")
    assert answer(workspace, f"{url}/heron#part")[1]["code"] == 4


def test_a_submitted_url_is_fetched_by_the_next_crawl_and_known_from_then_on(
    workspace: InProcessWorkspace, site: NetworkSite, url: str
) -> None:
    assert answer(workspace, f"{url}/lonely", "--source", "site") == (
        0,
        {"url": f"{url}/lonely", "code": 0, "text": sentence("orders.next_crawl_of_site_fetches")},
    )
    assert answer(workspace, f"{url}/lonely")[1]["code"] == 4
    workspace.crawl()
    assert workspace.search("lonely") == ["/lonely"]
    assert site.count("/heron") == 1


def test_the_first_source_that_includes_a_url_gets_it(workspace: InProcessWorkspace, url: str) -> None:
    one = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    nowhere = one | {"start_urls": ["http://127.0.0.77/"]}
    workspace.write({"sources": {"nowhere": nowhere, "first": one, "second": one}})
    assert workspace.command("submit", f"{url}/lonely").out == sentence("orders.next_crawl_of_first_fetches")
    assert answer(workspace, f"{url}/lonely", "--source", "second")[1]["code"] == 0


@pytest.mark.parametrize("word", ["nonsense", "javascript:alert(1)", "http://"])
def test_what_is_no_url_is_2(workspace: InProcessWorkspace, word: str) -> None:
    assert answer(workspace, word)[1]["code"] == SubmissionCode.INVALID_URL


def test_a_source_may_refuse_what_people_submit(workspace: InProcessWorkspace, url: str) -> None:
    workspace.define(f"{url}/", takes_submissions=False)
    assert answer(workspace, f"{url}/lonely")[1] == {
        "url": f"{url}/lonely",
        "code": 3,
        "text": "site takes no submissions",
    }


def test_7_is_for_what_fails_as_while_another_process_has_the_source(
    workspace: InProcessWorkspace, url: str
) -> None:
    workspace.crawl()
    definition = workspace.directory / "ultracrawl.yaml"
    with closing(open_state(require(read_definitions(definition)), "site")):
        assert answer(workspace, f"{url}/lonely")[1]["code"] == 7


def test_an_unknown_source_is_a_mistake(workspace: InProcessWorkspace, url: str) -> None:
    ended = workspace.command("submit", f"{url}/lonely", "--source", "nobody")
    assert (ended.code, ended.out) == (2, "")
