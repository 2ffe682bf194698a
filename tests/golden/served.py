"""Plays `ultracrawl serve` with schedules, gives it every order there is, and returns the trace."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml
from support.project import kill_group
from support.until import until

from golden.normal import Names
from golden.stage import Stage, stage

ANSWERED = {"/handbook/", "/handbook/a"}
"""Pages that are answered in the run that is killed."""
RUN = ("run_id", "outcomes", "fetched", "indexed", "deleted", "ended_by", "resumed")
"""What the trace has of the last run of a source."""
SOURCES = ("handbook", "notes", "drafts")


class Service:
    """`ultracrawl serve` for three sources: one has a schedule, one is due by itself, one waits for approval."""

    def __init__(self, on: Stage, stack: ExitStack) -> None:
        self._on = on
        self._process: subprocess.Popen[str] | None = None
        self._token = on.command("token", "create", "golden", "--role", "administrator").out.strip()
        self._url = ""
        stack.callback(self.kill)

    def start(self) -> None:
        """Start the service, and wait until it answers."""
        self._process = self._on.workspace.start("serve", "--port", "0", "--jobs", "2")
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if "the API answers" in line and (found := re.search(r"http://127\.0\.0\.1:\d+", line)):
                self._url = found[0]
                return
        raise AssertionError("the service did not start")

    def kill(self) -> None:
        """Kill the service with all its crawls."""
        if self._process is not None:
            kill_group(self._process)
            self._process = None

    def end(self) -> int:
        """End the service as a person does; return its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=60)
        code, self._process = self._process.returncode, None
        return code

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return status and JSON of an answer of the API."""
        answer = httpx.request(
            method,
            f"{self._url}/api/v1{path}",
            headers={"Authorization": f"Bearer {self._token}"},
            json=body,
            timeout=100,
            trust_env=False,
        )
        return answer.status_code, answer.json() if answer.content else None

    def source(self, name: str) -> dict[str, Any]:
        """Return what the API says of a source."""
        found = self.ask("GET", f"/sources/{name}")[1]
        assert isinstance(found, dict)
        return found

    def phase(self, name: str) -> str:
        """Return what the service does with a source."""
        return str(self.source(name)["service"]["phase"])


class Play:
    """The orders, one after the other, and what came of each."""

    def __init__(self, on: Stage, service: Service) -> None:
        self._on, self._names, self._service = on, Names(on), service
        self.steps: dict[str, Any] = {}

    def step(
        self, name: str, *orders: tuple[str, Any], until_true: Callable[[], object] | None = None
    ) -> None:
        """Give orders (a path of the API and a body), wait for what comes of them, and note what there is then."""
        answers = []
        for path, body in orders:
            status, said = self._service.ask("POST", path, body)
            answers.append(f"POST {path} {status}")
            if status == 200 or status >= 400:
                answers.append(self._names.value(said))
        if until_true is not None:
            until(until_true)
        self.note(name, answers)

    def note(self, name: str, answers: list[Any]) -> None:
        """Note what there is: sources, schedules, and the requests since the step before."""
        requests = sorted(f"{one.path} {one.status}" for one in self._on.site.requests)
        self._on.site.reset()
        self.steps[name] = {
            "answers": answers,
            "requests": requests,
            "sources": {one: self._seen(one) for one in SOURCES},
            "schedules": {
                one["name"]: one["status"] for one in self._service.ask("GET", "/schedules")[1]["schedules"]
            },
        }

    def asked_and_idle(self, name: str, path: str) -> Callable[[], object]:
        """Return whether a source asked for a path since the step before, and is not crawled any more."""
        return lambda: self._on.site.count(path) and self._service.phase(name) == "idle"

    def _seen(self, name: str) -> Any:
        found = self._service.source(name)
        run = found.get("last_run") or {}
        kept = {part: run.get(part) for part in RUN}
        return self._names.value(
            {
                "state": found["state"],
                "phase": found["service"]["phase"],
                "by hand": found["service"].get("paused_by_hand"),
                **kept,
            }
        )


def served(directory: Path) -> dict[str, Any]:
    """Return what every order to a service does, and the documents in the end."""
    with stage(directory, "") as on, ExitStack() as stack:
        _build(on)
        service = Service(on, stack)
        service.start()
        play = Play(on, service)
        _first(play)
        _held(on, play, service)
        _orders(on, play, service)
        _killed(on, play, service)
        code = service.end()
        lines = on.command("index", "dump").out.splitlines()
        documents = sorted(
            (Names(on).document(json.loads(line)) for line in lines), key=lambda one: one["url"]
        )
        return {
            "steps": play.steps,
            "code": code,
            "documents": {one["url"]: f"{one['source']}: {one['text']}" for one in documents},
        }


def _build(on: Stage) -> None:
    for name in SOURCES:
        on.site.write(f"/{name}/", name, f"start of {name}", [f"/{name}/{page}" for page in "abc"])
        for page in "abc":
            on.site.write(f"/{name}/{page}", page, f"page {page} of {name}")
    on.site.write("/notes/new", "new", "a page without a link")
    _define(on)


def _define(on: Stage, exclude: str = "/excluded") -> None:
    """Write the definition; `exclude` is the end of what is outside."""
    boundary = {"networks": ["127.0.0.0/8"], "uris": {"exclude": [{"suffix": exclude}]}}
    sources = {
        name: on.source(
            start_urls=[f"{on.url}/{name}/"],
            boundary={**boundary, "paths": {"*": {"include": [f"/{name}/"]}}},
        )
        for name in SOURCES
    }
    sources["notes"]["refresh"] = {"interval": "24 h"}
    sources["drafts"] |= {"crawling_mode": "examine", "refresh": {"interval": "24 h"}}
    schedules = {"yearly": {"sources": ["handbook"], "cron": "0 3 1 1 *"}}
    on.file("ultracrawl.yaml", yaml.safe_dump({"sources": sources, "schedules": schedules}))


def _first(play: Play) -> None:
    both = (play.asked_and_idle(name, f"/{name}/c") for name in ("notes", "drafts"))
    first, second = both
    play.step("what is due is crawled at the start", until_true=lambda: first() and second())
    play.step(
        "launch",
        ("/schedules/yearly/launch", None),
        until_true=play.asked_and_idle("handbook", "/handbook/c"),
    )


def _held(on: Stage, play: Play, service: Service) -> None:
    """Orders to a crawl that is under way: it waits for the answer to one of its requests."""
    held = on.site.hold("/handbook/a")
    play.step(
        "start by force, and start again",
        ("/sources/handbook/start", {"force": True}),
        until_true=lambda: on.site.count("/handbook/a"),
    )
    play.step(
        "pause",
        ("/sources/handbook/start", None),
        ("/sources/handbook/pause", None),
        until_true=lambda: service.source("handbook")["state"] == "pausing",
    )
    held.set()
    play.step("the last answer came", until_true=lambda: service.source("handbook")["state"] == "paused")
    play.step(
        "resume",
        ("/sources/handbook/resume", None),
        until_true=play.asked_and_idle("handbook", "/handbook/c"),
    )
    held = on.site.hold("/handbook/b")
    play.step(
        "start by force",
        ("/sources/handbook/start", {"force": True}),
        until_true=lambda: on.site.count("/handbook/b"),
    )
    play.step(
        "stop: what has no answer after five seconds is left for the next crawl",
        ("/sources/handbook/stop", None),
        until_true=lambda: service.phase("handbook") == "idle",
    )
    held.set()
    play.step(
        "start", ("/sources/handbook/start", None), until_true=play.asked_and_idle("handbook", "/handbook/c")
    )


def _orders(on: Stage, play: Play, service: Service) -> None:
    """Orders that are carried out at once, or by the next crawl."""
    drafts = "/sources/drafts/approvals"
    waiting = sorted(one["url"] for one in service.ask("GET", drafts)[1]["documents"])
    play.note("what waits for approval", [Names(on).text(one) for one in waiting])
    play.step("approve, remove, restore",
        (drafts, {"decision": "approve", "urls": [f"{on.url}/drafts/a"]}),
        (drafts, {"decision": "remove", "prefixes": [f"{on.url}/drafts/b"]}),
        (drafts, {"decision": "restore", "urls": [f"{on.url}/drafts/b"]}),
        (drafts, {"decision": "remove", "urls": [f"{on.url}/drafts/c"]}),
    )  # fmt: skip
    play.step("submit", ("/sources/notes/urls", {"urls": [f"{on.url}/notes/new", f"{on.url}/handbook/a"]}))
    play.step(
        "start after submit",
        ("/sources/notes/start", None),
        until_true=play.asked_and_idle("notes", "/notes/new"),
    )
    for order in ("disable", "enable", "stop", "resume"):
        play.step(f"{order} the schedule", (f"/schedules/yearly/{order}", None))
    play.step("no such order", ("/schedules/yearly/shake", None), ("/sources/nobody/start", None))
    _define(on, "/handbook/b")
    play.step("reload", ("/reload", None))
    play.step(
        "launch after reload",
        ("/schedules/yearly/launch", None),
        until_true=play.asked_and_idle("handbook", "/handbook/c"),
    )


def _visits(on: Stage) -> set[tuple[str, str]]:
    """Return the stored times at which the pages were fetched that are not held."""
    rows = on.command("urls", "--source", "handbook", "--json").out.splitlines()
    found = {(urlsplit(row["access_url"]).path, row["last_fetched"]) for row in map(json.loads, rows)}
    return {visit for visit in found if visit[0] in ANSWERED}


def _killed(on: Stage, play: Play, service: Service) -> None:
    """Kills between runs and in one, and what the next service does."""
    service.kill()
    on.site.write("/handbook/c", "c", "page c of handbook, changed")
    service.start()
    play.step("killed between runs")
    held, before = on.site.hold("/handbook/c"), _visits(on)
    play.step(
        "start after the kill",
        ("/sources/handbook/start", None),
        # what was answered is on the disk, so that the next run asks for the rest alone
        until_true=lambda: on.site.count("/handbook/c") and len(_visits(on) - before) == len(ANSWERED),
    )
    service.kill()
    held.set()
    service.start()
    play.step("killed in a run", until_true=play.asked_and_idle("handbook", "/handbook/c"))
