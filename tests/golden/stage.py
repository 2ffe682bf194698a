"""Where a pair is played: a site on several addresses of loopback, a working directory, and the commands in it."""

from __future__ import annotations

import fcntl
import html
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from hashlib import md5, sha256
from pathlib import Path
from typing import Any

import yaml
from support.project import Ended, Workspace, kill_group
from support.resource import Reply
from support.site import Request, Site
from support.until import until

from ultracrawl.index.locking import LOCKS

HOSTS = {"127.0.0.1": "site", "127.0.0.2": "second", "127.0.0.3": "third"}
"""The addresses that the site is served on, all with one port, and the names that traces have for them."""
PATIENCE = 90.0
"""Seconds that a command may take, on a machine however busy."""


class GoldenSite(Site):
    """A site whose pages do not show its port, which remembers every ETag and can be stopped at a request."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: dict[str, str] = {}
        """What every ETag and every checksum of a body that was sent stands for."""
        self.reached = threading.Event()
        self._stop_at = 0
        self._killed = threading.Event()
        self._count = 0

    def write(
        self,
        path: str,
        title: str | None = None,
        text: str = "",
        links: Sequence[str] | Mapping[str, str] = (),
        *,
        head: str = "",
        lang: str | None = "en",
        body: str = "",
        headers: Mapping[str, str] | None = None,
        modified: datetime | bool | None = None,
        etag: str | bool | None = None,
    ) -> None:
        """Put a page at `path`; `links` may have texts, else each is called by what stands behind its host."""
        called = links if isinstance(links, Mapping) else {link: _tail(link) for link in links}
        anchors = "".join(f'<a href="{html.escape(link)}">{text}</a>\n' for link, text in called.items())
        name = "" if title is None else f"<title>{html.escape(title)}</title>"
        page = (
            f"<!DOCTYPE html><html{f' lang={lang}' if lang else ''}><head>{name}{head}</head>\n"
            f"<body><p>{html.escape(text)}</p>\n{body}{anchors}</body></html>\n"
        )
        kind = "text/html; charset=utf-8"
        self.file(path, page.encode(), kind, headers=headers, modified=modified, etag=etag)

    def stop_at(self, number: int) -> None:
        """Let the request of this number be the last one: it is kept waiting for the end of the client."""
        self._stop_at = number

    def go_on(self) -> None:
        """Answer all requests again."""
        self._stop_at = 0
        self._killed.set()

    def _answer(self, request: Request) -> Reply:
        reply = super()._answer(request)
        if reply.status == 200:
            self._mark("body", request.path, sha256(reply.body).hexdigest())
            self._mark("MD5", request.path, md5(reply.body, usedforsecurity=False).hexdigest())
        for name, value in reply.headers:
            if name == "ETag":
                self._mark("ETag", request.path, value)
        self._count += 1
        if self._stop_at and self._count >= self._stop_at:
            self.reached.set()
            return replace(reply, until=self._killed)
        return reply

    def _mark(self, kind: str, path: str, mark: str) -> None:
        """Name a mark by the path where it was seen first, and by how many were seen there."""
        if mark not in self.marks:
            known = sum(name.startswith(f"{kind} of {path} ") for name in self.marks.values())
            self.marks[mark] = f"{kind} of {path} {known + 1}"


def _tail(link: str) -> str:
    """Return a link without scheme and host."""
    return html.escape(link.split("/", 3)[-1] if "//" in link else link)


class Stage:
    """The site and the files of one pair, and the commands that are run for it."""

    def __init__(self, directory: Path, site: GoldenSite, port: int, config: str, engine: str = "") -> None:
        self.site = site
        self.engine = engine
        self.waits = False
        """Whether definitions that are written say when the next run is due: in a day."""
        self.port = port
        self.url, self.second, self.third = (f"http://{host}:{port}" for host in HOSTS)
        self.directory = directory
        self.closing = ExitStack()
        """What a pair has opened besides."""
        self.names: dict[str, str] = {}
        """Further texts that differ from run to run, and what traces have in their place."""
        self.heard: dict[str, list[str]] = {}
        """What other servers than the site heard, by their names; it is emptied after each run."""
        self.workspace = Workspace(directory)
        self._converted = config if engine else ""
        given = "" if self._converted else config
        self.config = given or "ultracrawl.yaml"
        """The name of the definition file that commands read."""
        self._config = ("-c", given) if given else ()

    def file(self, name: str, content: str | bytes) -> Path:
        """Write a file in the working directory."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def define(self, top: Mapping[str, Any] | None = None, **options: Any) -> None:
        """Write a definition with one source `site`: one request at a time, without delay, on loopback only."""
        self.define_source(self.source(**options), top)

    def define_source(self, source: Mapping[str, Any], top: Mapping[str, Any] | None = None) -> None:
        """Write a definition with one source `site`, for the engine of the stage if it has one."""
        engine = {"index": {"engine": self.engine}} if self.engine else {}
        made = (
            {**source, "refresh": {"interval": "24 h", **source.get("refresh", {})}} if self.waits else source
        )
        self.file(
            "ultracrawl.yaml", yaml.safe_dump({**engine, **(top or {}), "sources": {"site": dict(made)}})
        )

    def source(self, **options: Any) -> dict[str, Any]:
        """Return the options of a source."""
        given = {
            "start_urls": [f"{self.url}/"],
            "politeness": {"delay": 0, "concurrency": 1},
            "boundary": {"networks": ["127.0.0.0/8"]},
            "limits": {"retries": 1, "retry_delay": 0.05},
            "sitemaps": {"ttl": 0},
        }
        for name, value in options.items():
            given[name] = {**given.get(name, {}), **value} if isinstance(value, dict) else value
        return given

    def command(self, *words: str) -> Ended:
        """Run a command for the definition."""
        if self._converted and words[0] == "crawl":
            self._convert()
        return self.workspace.command(*words, *self._config, timeout=PATIENCE)

    def _convert(self) -> None:
        """Write the definition as YAML, because only there an engine can be chosen."""
        made = self.workspace.command("convert", self._converted)
        assert made.code == 0, made.err
        definition = yaml.safe_load(made.out)
        definition["index"] = {**definition.get("index", {}), "engine": self.engine}
        self.file("ultracrawl.yaml", yaml.safe_dump(definition, sort_keys=False))

    def crawl_killed(self, request: int) -> bool:
        """Crawl until a request came, and kill; False if there were fewer requests."""
        self.site.stop_at(request)
        process = self.workspace.start("crawl", *self._config)
        until(lambda: self.site.reached.is_set() or process.poll() is not None)
        hit = self.site.reached.is_set()
        kill_group(process)
        self.site.go_on()
        return hit

    def crawl_killed_waiting(self) -> None:
        """Crawl until the run has ended and the next one is waited for, and kill."""
        process = self.workspace.start("crawl", "--continuous", *self._config)
        until(lambda: process.poll() is not None or self._status("last_run", "finished"))
        waits = process.poll() is None
        kill_group(process)
        assert waits, "the crawl did not wait for a next run"

    def crawl_killed_indexing(self) -> None:
        """Crawl until nothing is left to fetch, and kill before anything of it is in an index, which must exist."""
        with ExitStack() as locks:
            for folder in {lock.parent for name in LOCKS for lock in self.directory.rglob(name)}:
                for name in LOCKS:
                    fcntl.flock(locks.enter_context((folder / name).open("ab")), fcntl.LOCK_EX)
            process = self.workspace.start("crawl", *self._config)
            until(lambda: process.poll() is not None or self._status("state") == "finishing")
            hit = process.poll() is None
            kill_group(process)
        assert hit, "the crawl did not wait for the index"

    def _status(self, *names: str) -> Any:
        """Return what `status` says of the source that is behind the others; None if it says nothing of that."""
        found = []
        for source in self.command("status", "--json").json["sources"]:
            value = source
            for name in names:
                value = (value or {}).get(name)
            found.append(value)
        return min(found, key=bool)


@contextmanager
def stage(directory: Path, config: str, engine: str = "") -> Iterator[Stage]:
    """Serve a site without anything on it."""
    site = GoldenSite()
    with _served(site) as port:
        made = Stage(directory, site, port, config, engine)
        with made.closing:
            yield made


@contextmanager
def _served(site: Site) -> Iterator[int]:
    """Serve a site on all addresses with one port of five digits, so that sizes are always the same."""
    for _ in range(20):
        with ExitStack() as stack:
            first, *others = HOSTS
            port = int(stack.enter_context(site.serve(first)).rpartition(":")[2])
            if port < 10_000:
                continue
            try:
                for host in others:
                    stack.enter_context(site.serve(host, port))
            except OSError:  # somebody has the port on that address
                continue
            yield port
            return
    raise RuntimeError("no port is free on all addresses")
