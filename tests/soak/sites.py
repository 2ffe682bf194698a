"""Thirty small sites on one server: some of their pages change, one site is silent for a while, and one is broken."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any
from urllib.parse import urlsplit

from support.project import LOOPBACK
from support.site import Reply, Site

SOURCES = 30
BROKEN = "s7"
SILENT = "s11"
OF_A_SCHEDULE = 3
OWN_INTERVAL = 6
"""So many sources have an interval of their own, and no schedule."""
ANSWERS_AFTER = 0.15
"""Seconds that an answer takes: crawls go on most of the time, and two of a source at once are seen."""
BY_CHANCE = {"change": 6, "add": 2, "remove": 2}
"""How often pages change, come, and go."""


class ThirtySites:
    """What each source finds at its own address."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._site = Site()
        self._site.dynamic(f"/{BROKEN}/*", lambda _: Reply(500, (), b"broken"))
        self._pages = {f"s{number}": self._dice.randint(5, 20) for number in range(SOURCES)}
        self._further: dict[str, list[int]] = {name: [] for name in self.healthy}
        self._version = 0
        self._port = 0
        self._held: list[Event] = []
        for name in self.healthy:
            for number in range(self._pages[name]):
                self._put(name, number)

    @property
    def healthy(self) -> list[str]:
        """The sources whose sites answer, but for a while."""
        return [name for name in self._pages if name != BROKEN]

    @contextmanager
    def served(self) -> Iterator[None]:
        """Serve them until the end of the block."""
        with self._site.serve("0.0.0.0") as url:
            self._port = urlsplit(url).port or 0
            yield

    def definition(self, *, kept: bool) -> dict[str, Any]:
        """Return the definition of all sources; `kept` ones are crawled every minute, the others when told."""
        names = list(self._pages)
        sources: dict[str, Any] = {
            name: {
                "start_urls": [f"http://127.0.1.{number + 1}:{self._port}/{name}/p0"],
                "boundary": LOOPBACK,
                "politeness": {"delay": 0.01, "concurrency": 1, "backoff": {"longest": 2, "limit": 2}},
                "limits": {"timeout": 4, "retries": 1, "retry_delay": 0.2},
            }
            for number, name in enumerate(names)
        }
        if not kept:
            return {"sources": sources}
        for name in names[-OWN_INTERVAL:]:
            sources[name]["refresh"] = {"interval": "1 m"}
        timed = names[:-OWN_INTERVAL]
        groups = [timed[first : first + OF_A_SCHEDULE] for first in range(0, len(timed), OF_A_SCHEDULE)]
        schedules = {f"group{number}": {"sources": group, "every": 1} for number, group in enumerate(groups)}
        return {"sources": sources, "schedules": schedules}

    def change_something(self) -> None:
        """Change a page, or have one more, or one less."""
        name = self._dice.choice([name for name in self.healthy if not (self._held and name == SILENT)])
        (kind,) = self._dice.choices(list(BY_CHANCE), BY_CHANCE.values())
        further = self._further[name]
        self._version += 1
        if kind == "change" or (kind == "remove" and not further):
            self._put(name, self._dice.choice([*range(1, self._pages[name]), *further]))
        elif kind == "add":
            number = 100 + self._version
            further.append(number)
            self._put(name, number)
            self._put(name, 0)
        else:
            number = further.pop(0)
            self._put(name, 0)
            self._site.gone(f"/{name}/p{number}")

    def fall_silent(self) -> None:
        """Have one of the sites answer nothing."""
        numbers = [*range(self._pages[SILENT]), *self._further[SILENT]]
        self._held = [self._site.hold(f"/{SILENT}/p{number}") for number in numbers]

    def speak_again(self) -> None:
        """Have it answer."""
        for one in self._held:
            one.set()
        self._held = []

    def asked_at_once(self) -> list[str]:
        """Return what was asked for while another answer to the same source was under way."""
        last: dict[str, float] = {}
        found = []
        for request in self._site.requests:
            name, _, page = request.path[1:].partition("/")
            if not page or request.status not in {200, 304}:
                continue
            if request.time < last.get(name, 0.0) + ANSWERS_AFTER:
                found.append(request.path)
            last[name] = request.time
        return found

    def _put(self, name: str, number: int) -> None:
        below = [one for one in (2 * number + 1, 2 * number + 2) if one < self._pages[name]]
        links = [f"/{name}/p{one}" for one in (*below, *(self._further[name] if not number else ()))]
        text = f"{name}x{number}x{self._version} " + f"words of page {number} in {name} " * 10
        title = f"{name} page {number}"
        self._site.slow(f"/{name}/p{number}", ANSWERS_AFTER, title=title, links=links, text=text)
