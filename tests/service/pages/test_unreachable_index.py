"""The server of an index refuses, is silent or lost a part: page, API, metrics and overview say so, and recover."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from lxml.html import document_fromstring
from support.free_port import free_port
from support.pages import Pages
from support.project import Workspace
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.errors import IndexStoreError
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api.problems import FailureLog
from ultracrawl.service.metrics.indexes import IndexFactsReader

if TYPE_CHECKING:
    from httpx import Response

pytest.importorskip("opensearchpy")

JSON = (("Content-Type", "application/json"),)
SECRET = "egret-password-7"
NODE = "node-of-the-lake"
"""A name that only answers of the server contain."""


def reply(status: int, body: object) -> Reply:
    return Reply(status, JSON, json.dumps(body).encode())


def found(request: Request) -> object:
    """Answer a search: nothing is found, and no word occurs."""
    asked = json.loads(request.body).get("aggs", {})
    numbers = {name: len(one.get("filters", {}).get("filters", ())) for name, one in asked.items()}
    counted = {name: {"buckets": [{"doc_count": 0}] * number} for name, number in numbers.items()}
    return {"hits": {"total": {"value": 0}, "hits": []}, "aggregations": counted}


@dataclass
class Server:
    """A server with an empty index, until it is told to fail."""

    fault: Callable[[], Reply] | None = None
    silence: threading.Event = field(default_factory=threading.Event)
    """Ends the silence."""

    def lose(self, status: int, kind: str) -> None:
        """Answer everything with this error from now on."""
        error = {"type": kind, "reason": f"{kind} on {NODE}"}
        self.fault = lambda: reply(status, {"error": {**error, "root_cause": [error]}, "status": status})

    def fall_silent(self) -> None:
        """Answer nothing from now on."""

        def waited() -> Reply:
            self.silence.wait()
            return reply(503, {})

        self.fault = waited

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve; gives the URL."""
        behind = {"birds-1": {"mappings": {"_meta": {"ultracrawl": {"schema": 1, "attributes": {}}}}}}
        numbers = {"docs": {"count": 0, "deleted": 0}, "segments": {"count": 0}}
        stats = {"_all": {"primaries": {**numbers, "store": {"size_in_bytes": 0}}}}
        site = Site()
        answers: dict[str, Callable[[Request], object]] = {
            "/": lambda _: {"version": {"distribution": "opensearch", "number": "3.0.0"}},
            "/birds/_mapping": lambda _: behind,
            "/birds/_search*": found,
            "/birds-1/_stats*": lambda _: stats,
        }

        def answering(make: Callable[[Request], object]) -> Callable[[Request], Reply]:
            return lambda request: self.fault() if self.fault is not None else reply(200, make(request))

        for path, make in answers.items():
            site.dynamic(path, answering(make))
        with site.serve() as url:
            try:
                yield url
            finally:
                self.silence.set()


def pages_of(folder: Path, url: str, **index: object) -> Pages:
    workspace = Workspace(folder)
    options = {
        "engine": "opensearch",
        "url": url,
        "name": "birds",
        "user": "crane",
        "password": SECRET,
        **index,
    }
    options = {name: one for name, one in options.items() if one is not None}
    sources = {"site": {"start_urls": ["http://lake.example/"], "public": "confirmed"}}
    (folder / "ultracrawl.yaml").write_text(yaml.safe_dump({"index": options, "sources": sources}))
    return Pages(workspace)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def pages(server: Server, tmp_path: Path) -> Iterator[Pages]:
    with server.serving() as url:
        yield pages_of(tmp_path, url, timeout=0.5)


@pytest.fixture
def of_editors(pages: Pages) -> Callable[[str], Response]:
    """Ask with the token of an editor."""
    secret = TokenStore.of_project(pages.project).create_token("editor", Role.EDITOR)
    return lambda path: pages.ask(path, signed_in=False, headers={"Authorization": f"Bearer {secret}"})


FAULTS: dict[str, Callable[[Server], None]] = {
    "silent": Server.fall_silent,
    "red": lambda server: server.lose(500, "search_phase_execution_exception"),
    "wrong password": lambda server: server.lose(401, "security_exception"),
}


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest) -> Callable[[Server], None]:
    return FAULTS[request.param]


def test_page_and_api_say_that_it_fails_and_recover(
    server: Server, pages: Pages, fault: Callable[[Server], None], caplog: pytest.LogCaptureFixture
) -> None:
    assert pages.ask("/?q=heron").status_code == 200
    caplog.clear()
    fault(server)
    found = pages.ask("/?q=egret")
    check_page(found)
    part = pages.ask("/?q=egret", headers={"HX-Request": "true"})
    assert (part.status_code, "<html" in part.text) == (503, False)
    for path in ("/", "/suggestions?q=egr"):
        assert is_refused(pages.ask(path))
    for path in ("/api/v1/search?q=egret", "/api/v1/suggest?q=egr"):
        answer = pages.ask(path)
        assert is_refused(answer)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]
        assert not {NODE, SECRET, "crane", "127.0.0.1"} & set(answer.text.replace('"', " ").split())
    logged = [one for one in caplog.records if one.name.endswith("api.problems")]
    assert len(logged) == 1, [one.getMessage() for one in logged]
    assert logged[0].levelno == logging.WARNING
    assert "\n" not in logged[0].getMessage()
    server.silence.set()
    server.fault = None
    for path in ("/?q=egret", "/", "/suggestions?q=egr", "/api/v1/search?q=egret"):
        assert pages.ask(path).status_code == 200


def check_page(answer: Response) -> None:
    """Check that a page says that a query cannot be answered now, and keeps it."""
    assert is_refused(answer)
    page = document_fromstring(answer.text)
    assert page.cssselect("#results [role=alert]")[0].text_content().strip()
    assert page.cssselect("#query")[0].get("value") == "egret"
    assert [one.get("href") for one in page.cssselect(".no-answer a")] == ["/?q=egret"]


def is_refused(answer: Response) -> bool:
    """Whether an answer says that it may be tried again, and nothing of the server."""
    assert (answer.status_code, int(answer.headers["retry-after"]) > 0) == (503, True), answer.text
    return not any(one in answer.text for one in ("Traceback", NODE, SECRET, "Exception", "Error"))


def test_the_reason_is_for_editors_and_has_no_password(
    server: Server, of_editors: Callable[[str], Response]
) -> None:
    server.lose(401, "security_exception")
    answer = of_editors("/api/v1/search?q=egret")
    assert NODE in answer.json()["detail"]
    assert SECRET not in answer.text


def test_the_overview_names_the_index(
    server: Server, pages: Pages, of_editors: Callable[[str], Response]
) -> None:
    now = [0.0]
    pages.app.state.api.indexes._clock = lambda: now[0]
    assert not notices(of_editors("/admin"))
    server.lose(401, "security_exception")
    now[0] += 60
    (notice,) = notices(of_editors("/admin"))
    assert "default" in notice
    assert NODE in notice
    assert SECRET not in notice
    assert not notices(pages.ask("/admin")), "readers need not know of servers"
    server.fault = None
    now[0] += 60
    assert not notices(of_editors("/admin"))


def notices(answer: Response) -> list[str]:
    assert answer.status_code == 200
    found = document_fromstring(answer.text).cssselect("main .notice[role=alert], .notice[role=alert]")
    return [one.text_content() for one in found]


def test_metrics_say_which_index_can_be_read(server: Server, pages: Pages) -> None:
    now = [0.0]
    pages.app.state.api.indexes._clock = lambda: now[0]
    line = 'ultracrawl_index_readable{index="default"} '
    assert f"{line}1.0" in pages.ask("/metrics").text
    server.fall_silent()
    assert f"{line}1.0" in pages.ask("/metrics").text, "servers are not asked each time"
    now[0] += 60
    assert f"{line}0.0" in pages.ask("/metrics").text


def test_a_command_says_it_in_one_line(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, f"http://127.0.0.1:{free_port()}", user=None, password=None)
    check_page(pages.ask("/?q=egret"))
    for words in (
        ["search", "egret"],
        ["search", "--json", "--as-typed", "egret"],
        ["search", "--complete", "egr"],
    ):
        ended = pages.workspace.command(*words)
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1)


def test_a_search_waits_for_a_server_no_longer_than_it_may_take(tmp_path: Path) -> None:
    server = Server()
    with server.serving() as url:
        project = pages_of(tmp_path, url, timeout=60).project
        hurried: Any = IndexFactsReader()
        server.fall_silent()
        assert isinstance(hurried.facts_of(project, "default"), str)


def test_the_same_failure_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    log = FailureLog(lambda: now[0])
    for at in (0, 1, 59, 61, 62):
        now[0] = at
        log.note(IndexStoreError("down"))
    log.note(IndexStoreError("another"))
    assert [one.getMessage() for one in caplog.records] == ["down", "down", "another"]
