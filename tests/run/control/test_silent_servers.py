"""Servers that never answer do not hold up those that do, in one source and with the defaults."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

pytestmark = pytest.mark.processes

HOSTS = 100
PAGES = 100
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n"
MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Silent:
    """Listeners on addresses of their own; counts the connections that the other side closed."""

    def __init__(self, answer: Callable[[socket.socket, bytes], bool]) -> None:
        self._answer = answer
        self._lock = threading.Lock()
        self.given_up = 0
        """Requests without an answer that were given up."""
        self.met = 0
        """Requests that get none."""
        self.urls: list[str] = []
        self._listeners: list[socket.socket] = []
        for number in range(HOSTS):
            listener = socket.create_server((f"127.0.1.{number + 1}", 0))
            self._listeners.append(listener)
            self.urls.append(f"http://127.0.1.{number + 1}:{listener.getsockname()[1]}/")
            threading.Thread(target=self._serve, args=(listener,), daemon=True).start()

    def _serve(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            request = connection.recv(65536)
            if not request or self._answer(connection, request):
                return
            with self._lock:
                self.met += 1
            with contextlib.suppress(OSError):
                while connection.recv(65536):
                    pass
            with self._lock:
                self.given_up += 1

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()


def says_nothing(_connection: socket.socket, _request: bytes) -> bool:
    return False


def has_robots_only(connection: socket.socket, request: bytes) -> bool:
    if b"/robots.txt" in request:
        connection.sendall(MISSING)
        return True
    return False


def trickles(connection: socket.socket, request: bytes) -> bool:
    if has_robots_only(connection, request):
        return True
    connection.sendall(HEAD + b"<title>")
    return False


@pytest.fixture(params=[says_nothing, has_robots_only, trickles], ids=lambda answer: answer.__name__)
def silent(request: pytest.FixtureRequest) -> Iterator[Silent]:
    servers = Silent(request.param)
    yield servers
    servers.close()


def test_silent_servers_do_not_hold_up_the_others(
    site: Site, url: str, workspace: Workspace, silent: Silent
) -> None:
    for number in range(PAGES):
        site.page(f"/{number}", title=str(number), text=f"needle {number}", links=[f"/{number + 1}"])
    starts = [f"{one}{page}" for one in silent.urls for page in "ab"] + [f"{url}/0"]
    source = {
        "start_urls": starts,
        "politeness": {"delay": 0},
        "boundary": {"networks": ["127.0.0.0/8"]},
        "limits": {"timeout": 300},
        "sites": {"max_sites": HOSTS + 1},
    }
    workspace.write({"sources": {"site": source}})
    crawl = workspace.start("crawl", "--json")
    try:
        until(lambda: site.count(f"/{PAGES - 1}"), crawl)
        assert silent.met >= 40, "they were asked too"
        assert silent.given_up == 0, "no time-out had to end for that"
    finally:
        kill_group(crawl)


@pytest.fixture
def few(site: Site, url: str, workspace: Workspace) -> Workspace:
    """A site of few pages, for which a crawl would wait for five minutes."""
    site.page("/", title="Home", links=["/1", "/2", "/3"], text="needle")
    for number in (1, 2, 3):
        site.page(f"/{number}", title=str(number), text=f"needle {number}")
    site.robots("User-agent: *\nDisallow: /private\n")
    workspace.define(f"{url}/", limits={"timeout": 300}, robots={"timeout": 300})
    return workspace


@pytest.mark.parametrize("path", ["/robots.txt", "/2"])
def test_a_crawl_that_is_stopped_does_not_wait_for_silent_servers(
    site: Site, few: Workspace, path: str
) -> None:
    answer = site.hold(path)
    crawl = few.start("crawl", "--json")
    try:
        until(lambda: site.count(path), crawl)
        crawl.send_signal(signal.SIGTERM)
        out, err = crawl.communicate(timeout=60)
        assert not answer.is_set()
    finally:
        answer.set()
        if crawl.poll() is None:
            kill_group(crawl)
    (run,) = json.loads(out)["runs"]
    assert (crawl.returncode, run["interrupted"], run["problems"]) == (1, True, [])
    assert len(err.splitlines()) == 1, "it names the command that goes on"
    assert "NETWORK_ERROR" not in run["outcomes"]
    resumed = few.crawl().run
    assert resumed["resumed"] is True
    assert (site.count(path), len(few.search("needle"))) == (2, 4), "nothing is taken for broken"


def test_but_for_an_answer_that_has_begun(site: Site, few: Workspace) -> None:
    site.drip("/2", b"<p>needle</p>", pause=0.5, times=14)
    crawl = few.start("crawl", "--json")
    try:
        until(lambda: site.count("/2"), crawl)
        crawl.send_signal(signal.SIGTERM)
        crawl.communicate(timeout=60)
    finally:
        if crawl.poll() is None:
            kill_group(crawl)
    assert few.outcomes()["/2"] == "NEW"
    assert site.count("/2") == 1
