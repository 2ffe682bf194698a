"""The API of a real `ultracrawl serve`: crawls are begun, watched and stopped by it, and people are told."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from support.client import dial
from support.project import LOOPBACK, Workspace
from support.requirement import require
from support.site import Site
from support.started import address, end, start
from support.until import until

pytestmark = pytest.mark.processes

NAMES = ("one", "two")
SCHEMATHESIS = Path(__file__).parents[3] / "var/requests/bin/st"
RULED = """
[parameters]
"path.name" = ["one", "two", "yearly", "none"]

[checks]
# A name that nothing has, and text that is no definition, have the described form; their status is 400.
positive_data_acceptance.enabled = false
# 413 for a body that is too large.
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429]
"""


class ServedApi:
    """A service over two sources, asked over loopback."""

    def __init__(self, folder: Path, urls: list[str]) -> None:
        self.workspace, self.log = Workspace(folder), folder / "serve.log"
        self.starts = dict(zip(NAMES, urls, strict=True))
        self.told = folder / "told"
        program = folder / "tell.sh"
        program.write_text(f'#!/bin/sh\necho "$ULTRACRAWL_NOTICE" >> {self.told}\n')
        program.chmod(0o700)
        politeness = {"delay": 0, "backoff": {"longest": 0}}
        options = {"boundary": LOOPBACK, "politeness": politeness, "limits": {"retries": 0}}
        sources = {name: {"start_urls": [url], **options} for name, url in zip(NAMES, urls, strict=True)}
        schedule = {"sources": ["two"], "cron": "0 3 1 1 *"}
        notices = {"to": {"file": {"command": str(program)}}, "certificate_days": 0}
        self.workspace.write({
            "processes": {"default_interval": None},
            "sources": sources,
            "schedules": {"yearly": schedule},
            "notices": notices,
        })  # fmt: skip
        self.token = self._token("administrator")
        self.process = start(self.log, "serve", "--port", "0")
        self.url = address(self.log, self.process)

    def _token(self, role: str) -> str:
        return self.workspace.command("token", "create", role, "--role", role).out.strip()

    def ask(
        self, method: str, path: str, status: int, token: str | None = None, body: object = None
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        answer = httpx.request(
            method, self.url + path, headers=headers, json=body, timeout=30, trust_env=False
        )
        assert answer.status_code == status, answer.text
        return answer

    def phase(self, name: str) -> str:
        return str(self.ask("GET", f"/api/v1/sources/{name}", 200).json()["service"]["phase"])


@pytest.fixture
def sites() -> dict[str, Site]:
    sites = {name: Site() for name in NAMES}
    for name, site in sites.items():
        site.page("/", title=f"Home of {name}", links=["/a"], text="herons")
        site.page("/a", title="A", text="egrets")
    return sites


@pytest.fixture
def served(sites: dict[str, Site], tmp_path: Path) -> Iterator[ServedApi]:
    with sites["one"].serve() as one, sites["two"].serve() as two:
        served = ServedApi(tmp_path, [f"{one}/", f"{two}/"])
        yield served
        end(served.process, served.log)


def test_crawls_are_begun_watched_and_stopped(served: ServedApi, sites: dict[str, Site]) -> None:
    assert served.ask("GET", "/healthz", 200, "none").text == "ok\n"
    served.ask("GET", "/api/v1/sources", 401, "uc_no_no")
    served.ask("POST", "/api/v1/sources/one/start", 202)
    until(lambda: served.phase("one") == "idle" and sites["one"].count("/a"))
    found = served.ask("GET", "/api/v1/search?q=egrets&limit=5", 200).json()
    assert (found["total"], found["hits"][0]["source"]) == (1, "one")
    held: threading.Event = sites["two"].hold("/a")
    served.ask("POST", "/api/v1/sources/two/start", 202)
    until(lambda: sites["two"].count("/a"))
    served.ask("POST", "/api/v1/sources/two/start", 409)
    served.ask("POST", "/api/v1/sources/two/stop", 202)
    held.set()
    until(lambda: served.phase("two") == "idle")
    (schedule,) = served.ask("GET", "/api/v1/schedules", 200).json()["schedules"]
    assert (schedule["name"], schedule["status"]) == ("yearly", "scheduled")
    assert served.ask("POST", "/api/v1/schedules/yearly/disable", 202).json()["status"] == "disabled"
    numbers = served.ask("GET", "/metrics", 200).text
    assert 'ultracrawl_runs_total{result="done",source="one"} 1.0' in numbers
    assert 'ultracrawl_runs_total{result="stopped",source="two"} 1.0' in numbers


@pytest.mark.night
@pytest.mark.timeout(1800)
def test_the_api_is_as_it_is_described(served: ServedApi, tmp_path: Path) -> None:
    """Requests made from the description, valid and not: no status 5xx, no answer that it does not describe."""
    require(SCHEMATHESIS.exists(), "Schemathesis", get="make sites")
    (tmp_path / "schemathesis.toml").write_text(RULED)
    found = subprocess.run(
        [
            *(SCHEMATHESIS, "run", f"{served.url}/api/v1/openapi.json", "--workers", "1", "--no-color"),
            *("--header", f"Authorization: Bearer {served.token}", "--request-timeout", "120"),
            *("--max-time", os.environ.get("ULTRACRAWL_REQUESTS_SECONDS", "600")),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout
    assert "Traceback" not in served.log.read_text()


def test_what_is_decided_while_a_source_is_crawled_is_done_by_its_crawl(
    served: ServedApi, sites: dict[str, Site]
) -> None:
    site, base = sites["one"], served.starts["one"]
    site.page("/b", title="B", text="stilts")
    site.page("/c", title="C", text="avocets")
    site.page("/", title="Home", links=["/a", "/b"], text="herons")
    held = site.hold("/a")
    served.ask("POST", "/api/v1/sources/one/start", 202)
    until(lambda: site.count("/b") and site.count("/a"))
    removal = {"decision": "remove", "urls": [f"{base}b"]}
    answer = served.ask("POST", "/api/v1/sources/one/approvals", 200, body=removal).json()
    assert (answer["kept"], answer["removed"]) == (True, 0)
    answer = served.ask("POST", "/api/v1/sources/one/urls", 200, body={"urls": [f"{base}c"]}).json()
    assert answer["accepted"] == [f"{base}c"]
    until(lambda: site.count("/c"))
    held.set()
    until(lambda: served.phase("one") == "idle")
    assert served.workspace.outcomes()["/b"] == "REMOVED"


def test_slow_and_silent_connections_shut_nobody_out(served: ServedApi, sites: dict[str, Site]) -> None:
    served.ask("POST", "/api/v1/sources/one/start", 202)
    until(lambda: served.phase("one") == "idle" and sites["one"].count("/a"))
    beginnings = [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ",
        b"POST /api/v1/reload HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n{",
    ]
    with ExitStack() as opened:
        for number in range(500):
            one = opened.enter_context(dial(served.url))
            one.sendall(beginnings[number % len(beginnings)])
        assert served.ask("GET", "/healthz", 200, "none").text == "ok\n"
        assert served.ask("GET", "/readyz", 200, "none").text == "ready\n"
        assert served.ask("GET", "/api/v1/search?q=egrets", 200).json()["total"] == 1


def test_people_are_notified_of_a_run_that_failed(served: ServedApi, sites: dict[str, Site]) -> None:
    sites["one"].respond("/", status=500)
    served.ask("POST", "/api/v1/sources/one/start", 202)
    until(served.told.exists)
    assert served.told.read_text().startswith("one: ")
    (served.workspace.directory / "ultracrawl.yaml").write_text("sources: {one: {start_urls: 3}}\n")
    answer = served.ask("POST", "/api/v1/reload", 409).json()
    assert (answer["reloaded"], answer["findings"][0]["key"]) == (False, "sources.one.start_urls")
