"""A Scrapyd that runs nothing: its jobs begin and end as a test says."""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from support.free_port import free_port

PROJECT = "intranet_sources"


@dataclass
class FakeScrapyd:
    """What it knows of its jobs, and how it is to answer."""

    url: str = ""
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By key: spider, phase and settings."""
    signals: list[tuple[str, str]] = field(default_factory=list)
    """Of each order to end a job its key, and the signal."""
    log_in: str = ""
    """`user:password`, if it wants one."""
    fails: bool = False
    """Whether it answers with an error of a server."""
    spiders: tuple[str, ...] = ("handbook", "news")
    asked: int = 0
    logs: dict[str, str] = field(default_factory=dict)
    """What it shows of the logs of jobs, by their paths below `/logs/`."""

    def add(self, key: str, phase: str, spider: str = "handbook") -> None:
        self.jobs[key] = {"spider": spider, "phase": phase, "settings": []}

    def end(self) -> None:
        for job in self.jobs.values():
            job["phase"] = "finished"

    @property
    def keys(self) -> list[str]:
        return list(self.jobs)

    @contextmanager
    def served(self) -> Iterator[FakeScrapyd]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = unquote(urlsplit(self.path).path)
                if path.startswith("/logs/"):
                    return self.show_log(path.removeprefix("/logs/"))
                return self.answer(parse_qs(urlsplit(self.path).query))

            def do_POST(self) -> None:
                self.answer(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))

            def show_log(self, path: str) -> None:
                if path not in fake.logs:
                    return self.send_error(404, "Not Found")
                self.send_response(200)
                self.end_headers()
                self.wfile.write(fake.logs[path].encode())
                return None

            def answer(self, given: dict[str, list[str]]) -> None:
                fake.asked += 1
                wanted = f"Basic {b64encode(fake.log_in.encode()).decode()}"
                if fake.log_in and self.headers["Authorization"] != wanted:
                    return self.send_error(401, "Unauthorized")
                if fake.fails:
                    return self.send_error(502, "Bad Gateway")
                body = json.dumps(fake.carry_out(urlsplit(self.path).path, given)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                return None

            def log_message(self, *_: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", free_port()), Handler) as server:
            self.url = f"http://127.0.0.1:{server.server_address[1]}"
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()

    def carry_out(self, path: str, given: dict[str, list[str]]) -> dict[str, Any]:
        if given["project"] != [PROJECT]:
            return {"status": "error", "message": f"project '{given['project'][0]}' not found"}
        if path == "/schedule.json":
            (spider,), (key,) = given["spider"], given["jobid"]
            if spider not in self.spiders:
                return {"status": "error", "message": f"spider '{spider}' not found"}
            self.jobs[key] = {"spider": spider, "phase": "pending", "settings": given.get("setting", [])}
            return {"status": "ok", "jobid": key}
        if path == "/cancel.json":
            (key,) = given["job"]
            self.signals.append((key, given.get("signal", ["INT"])[0]))
            if self.jobs[key]["phase"] == "pending":
                del self.jobs[key]
            else:
                self.jobs[key]["phase"] = "finished"
            return {"status": "ok"}
        assert path == "/listjobs.json"
        phases = ("pending", "running", "finished")
        return {
            "status": "ok",
            **{
                phase: [
                    {"id": key, "spider": job["spider"]}
                    for key, job in self.jobs.items()
                    if job["phase"] == phase
                ]
                for phase in phases
            },
        }
