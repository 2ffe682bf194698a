"""A system that an agent reads: its documents in a file, the agent's class beside the definition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.project import LOOPBACK

_AGENT = """
import json
import os
import time
from pathlib import Path

from ultracrawl.agents import AgentError, AgentParameter, CrawlerAgent, UrlData


class Tracker(CrawlerAgent):
    parameters = [AgentParameter("folder", required=True), AgentParameter("smart"), AgentParameter("pause")]
    parameters += [AgentParameter("credential")]

    def open(self, params):
        self.params, self.folder = params, Path(params["folder"])
        self.note("open")

    def note(self, *what):
        with (self.folder / "calls.log").open("a") as log:
            log.write(json.dumps(what) + "\\n")

    def is_delta_crawling_capable(self):
        return bool(self.params.get("smart"))

    def start_crawling(self, force_recrawl, last_crawl_time):
        self.note("start_crawling", force_recrawl, last_crawl_time and last_crawl_time.timestamp())
        system = json.loads((self.folder / "system.json").read_text())
        since = last_crawl_time if self.params.get("smart") and not force_recrawl else None
        self.left = [one for one in system if not since or one.pop("changed", True)]

    def fetch(self):
        self.note("fetch")
        time.sleep(self.params.get("pause", 0))
        if not self.left:
            return None
        one = self.left.pop(0)
        one.pop("changed", None)
        if "error" in one:
            raise AgentError(one["error"])
        return UrlData(**one)

    def received(self, url_data):
        self.note("received", str(url_data))

    def get_credential(self, host, realm, url):
        self.note("get_credential", host, realm, url)
        return self.params.get("credential", ("heron", "grey"))

    def stop_crawling(self):
        self.note("stop_crawling")

    def close(self):
        self.note("close")
"""


class AgentSystem:
    """The documents that the agent `tracker.Tracker` in a folder names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        (folder / "tracker.py").write_text(_AGENT)

    def put(self, *documents: dict[str, Any]) -> None:
        """Have exactly these documents: arguments of `UrlData`, `changed` for a smart agent, `error` to fail there."""
        (self.folder / "system.json").write_text(json.dumps(documents))

    @property
    def calls(self) -> list[list[Any]]:
        """What the agent was called for since this was asked the last time."""
        log = self.folder / "calls.log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [json.loads(line) for line in lines]


def agent_source(folder: Path, *, parameters: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """Return the definition of a source that the agent of a folder lists; its pages may be on this machine."""
    source = {
        "type": "agent",
        "class": "tracker.Tracker",
        "parameters": {"folder": str(folder), **(parameters or {})},
    }
    return {**source, "boundary": LOOPBACK, "politeness": {"delay": 0, "backoff": {"longest": 0}}, **options}
