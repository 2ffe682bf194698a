"""Nine sources of one project: two are healthy, and each of the others is trouble of its own kind."""

from __future__ import annotations

import grp
import os
import pwd
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from support.project import LOOPBACK
from support.resource import Reply
from support.server import Request
from support.site import Site

RIGHT, WRONG = "s3cret", "wrong"
PAGES = 12
HTML = (("Content-Type", "text/html; charset=utf-8"),)
HOURS = 36_000.0
"""Seconds after which the silent site would answer: later than anybody waits."""


class Neighbours:
    """What each source finds, in the run that `enter` has begun; `made` makes a site."""

    def __init__(self, made: Callable[[], Site], folder: Path) -> None:
        self.sites = {
            name: made() for name in ("steady", "lively", "silent", "endless", "equal", "private", "foreign")
        }
        self.elsewhere = made()
        """Another host, which no source may ask."""
        self.folder = folder
        self.owner = self.group = ""
        """Names of who may read the files of the folder that not everybody may read."""
        self.password = RIGHT
        self.lets_in = 10**9
        """So many pages of members are shown in a session before it expires."""
        self.urls: dict[str, str] = {}
        self._run = 0
        self._lay_down()

    @contextmanager
    def served(self) -> Iterator[None]:
        """Serve all sites until the end of the block, each at an address of its own."""
        with ExitStack() as stack:
            for number, (name, site) in enumerate(self.sites.items()):
                self.urls[name] = stack.enter_context(site.serve(f"127.0.2.{number + 1}"))
            self.urls["elsewhere"] = stack.enter_context(self.elsewhere.serve("127.0.3.1"))
            yield

    def definition(self, engine: str) -> dict[str, Any]:
        """Return the definition of the project."""
        sources = {name: self._web(name) for name in self.sites}
        sources["endless"]["limits"] |= {"pages": 30}
        sources["private"] |= {
            "logins": {
                "club": {
                    "page": f"{self.urls['private']}/login",
                    "fields": {"user": "ada", "password": "${PW}"},
                }
            },
            "acl": ["group:members"],
        }
        sources["rows"] = {
            "type": "table",
            "connection": f"sqlite:///{self.folder / 'rows.db'}",
            "table": "bird",
            "key": ["id"],
            "text": ["text"],
        }
        sources["folder"] = {"type": "file", "paths": [str(self.folder / "files")], "permissions": True}
        return {"index": {"engine": engine}, "sources": sources}

    def enter(self, run: int) -> None:
        """Have everything be as it is in this run, 1 to 5."""
        self._run = run
        self.password = WRONG if run == 2 else RIGHT
        self.lets_in = 4 if run == 3 else 10**9
        self._serve_lively()
        self._serve_foreign()

    def expected(self) -> dict[str, set[str]]:
        """Return the paths of the documents that each source has after this run."""
        pages = {"/", *(f"/{number}" for number in range(PAGES))}
        return {
            "steady": pages,
            "lively": {"/", *(f"/{number}" for number in self._lively())},
            "silent": set(),
            "endless": {request.path for request in self.sites["endless"].requests if self._is_page(request)},
            "equal": {"/", "/0"},
            "private": {"/", *(f"/members/{number}" for number in range(PAGES))},
            "foreign": pages,
            "rows": {f"/rows?id={key}" for key in (1, 2, 3)},
            "folder": {str(path) for path in (self.folder / "files").iterdir()},
        }

    def troubled(self) -> set[str]:
        """Return the sources that a person has to look at after this run."""
        return {
            "silent",
            *({"private"} if self._run in {2, 3} else ()),
            *({"foreign"} if self._run in {3, 4} else ()),
        }

    @staticmethod
    def _is_page(request: Request) -> bool:
        return request.status == 200 and request.path != "/flood"

    def _web(self, name: str) -> dict[str, Any]:
        return {
            "start_urls": [f"{self.urls[name]}/"],
            "boundary": LOOPBACK,
            "politeness": {"delay": 0, "concurrency": 2, "backoff": {"longest": 1, "limit": 2}},
            "limits": {"timeout": 3, "retries": 1, "retry_delay": 0.05},
            "robots": {"timeout": 3},
            "sitemaps": {"ttl": 0},
        }

    # ---- what is there ------------------------------------------------------------------------------------

    def _lay_down(self) -> None:
        sites = self.sites
        put_pages(sites["steady"], "steady", range(PAGES))
        sites["silent"].dynamic("/*", lambda _: Reply(200, HTML, b"late", delay=HOURS))
        sites["endless"].dynamic("/*", endless)
        sites["endless"].drip("/flood", b"<p>more and more of the same</p>" * 100, pause=0.05)
        sites["equal"].page("/", title="Equal", text="all alike", links=[f"/{n}" for n in range(PAGES)])
        for number in range(PAGES):
            sites["equal"].page(f"/{number}", title="The one", text="the very same text of a quokka")
        private = sites["private"]
        private.page(
            "/", title="Club", text="a club of friends", links=[f"/members/{n}" for n in range(PAGES)]
        )
        private.respond("/login", headers=HTML, body=FORM)
        private.dynamic("/enter", self._log_in)
        private.dynamic("/members/*", self._members)
        self.elsewhere.dynamic("/*", lambda _: Reply(200, HTML, b"<title>Elsewhere</title><p>We use cookies"))
        self._fill_table()
        self._fill_folder()

    def _lively(self) -> set[int]:
        """Return the pages of the lively site: one goes and one comes in each run but the first and the last."""
        gone = min(max(self._run - 1, 0), 3)
        return set(range(gone, PAGES + gone))

    def _serve_lively(self) -> None:
        site, there = self.sites["lively"], self._lively()
        put_pages(site, "lively", sorted(there), version=min(self._run, 4))
        for number in range(min(there)):
            site.gone(f"/{number}")

    def _serve_foreign(self) -> None:
        """A site whose pages are a wall in the third run, and all lead to another host in the fourth."""
        site, paths = self.sites["foreign"], ["/", *(f"/{number}" for number in range(PAGES))]
        put_pages(site, "foreign", range(PAGES))
        for path in paths:
            if self._run == 3:
                site.page(path, title="Before you go on", text="Please accept our cookies", links=["/agree"])
            if self._run == 4:
                site.redirect(
                    path, f"{self.urls['elsewhere']}/consent?from={path}", status=302 if path < "/5" else 301
                )
        site.page("/agree", title="Agreed", text="Please accept our cookies")

    def _log_in(self, request: Request) -> Reply:
        if f"password={self.password}".encode() not in request.body:
            return Reply(200, HTML, b"<p>wrong password</p>" + FORM.encode())
        return Reply(302, (("Location", "/"), ("Set-Cookie", "sid=1; Path=/")))

    def _members(self, request: Request) -> Reply:
        if "sid=1" not in (request.header("Cookie") or "") or self.lets_in <= 0:
            return Reply(302, (("Location", "/login"),))
        self.lets_in -= 1
        number = request.path.rpartition("/")[2]
        return Reply(200, HTML, f"<title>Member {number}</title><p>axolotl {words(number)}".encode())

    def _fill_table(self) -> None:
        with closing(sqlite3.connect(self.folder / "rows.db")) as db, db:
            db.execute("CREATE TABLE bird (id, text TEXT)")
            rows = [
                (1, "dodo one"),
                (2, "dodo two"),
                (None, "dodo nobody"),
                (3, "dodo three"),
                (2, "dodo again"),
            ]
            db.executemany("INSERT INTO bird VALUES (?, ?)", rows)

    def _fill_folder(self) -> None:
        files = self.folder / "files"
        files.mkdir()
        for name, mode in (("own", 0o600), ("shared", 0o640), ("open", 0o644)):
            path = files / f"{name}.txt"
            path.write_text(f"kakapo {name}")
            path.chmod(mode)
            if os.geteuid() == 0:
                os.chown(path, 5, 60)  # a user and a group of one name
            self.owner = pwd.getpwuid(path.stat().st_uid).pw_name
            self.group = grp.getgrgid(path.stat().st_gid).gr_name


FORM = (
    '<title>Log in</title><form action="/enter" method="post"><input name="user">'
    '<input type="password" name="password"><button>Log in</button></form>'
)


def words(seed: str) -> str:
    """Return words that no other page has."""
    dice = random.Random(seed)
    return " ".join("".join(dice.choices("abcdefghijklmnoprstuvw", k=7)) for _ in range(30))


def put_pages(site: Site, name: str, numbers: Any, version: int = 0) -> None:
    """Put a home page that links to pages of these numbers; a `version` changes a word of each."""
    site.page("/", title=f"Home of {name}", text=words(f"{name} home"), links=[f"/{n}" for n in numbers])
    for number in numbers:
        site.page(
            f"/{number}", title=f"{name} {number}", text=f"{words(f'{name} {number}')} version v{version}"
        )


def endless(request: Request) -> Reply:
    """Answer with a page that links to two more, which nobody has seen, and to a body that never ends."""
    path = request.path.rstrip("/")
    if "." in path:
        return Reply(404)
    links = "".join(f'<a href="{path}/{step}">on {step}</a>' for step in "ab")
    flood = '<a href="/flood">flood</a>' if not path else ""
    return Reply(200, HTML, f"<title>Endless {path}</title><p>{words(path)}{links}{flood}".encode())
