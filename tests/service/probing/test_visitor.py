"""Looks at a site are as polite as a crawl, and end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from support.network import NetworkSite
from support.site import Site

from ultracrawl.model import CauseCode
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.robots.policy import RobotsPolicy
from ultracrawl.service.probing.client import ProbeClient, ProbeResponse, Trust
from ultracrawl.service.probing.generators import find_generator
from ultracrawl.service.probing.visitor import Limits, Visitor

HOST = "https://a.example"
USUAL = Limits()


class Answers(ProbeClient):
    """A client without network; notes when it was asked for what."""

    def __init__(self, bodies: Mapping[str, bytes], clock: Clock) -> None:
        super().__init__(AddressPolicy(), {}, 1.0, Trust())
        self._bodies, self._clock = bodies, clock
        self.asked: list[tuple[float, str]] = []

    def request_url(self, url: str, method: str = "HEAD", host: str = "") -> ProbeResponse:
        path = url.removeprefix(HOST)
        self.asked.append((self._clock.now, path))
        return ProbeResponse(url, 200 if path in self._bodies else 404, body=self._bodies.get(path, b""))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def visitor(clock: Clock, robots: bytes, limits: Limits = USUAL) -> tuple[Visitor, Answers]:
    client = Answers({"/robots.txt": robots, "/": b"", "/private": b""}, clock)
    policy = RobotsPolicy(obey_delay=True)
    return Visitor(client, policy, 0.5, limits, clock, clock.sleep), client


@pytest.mark.parametrize(("robots", "delay"), [(b"", 0.5), (b"User-agent: *\nCrawl-delay: 7", 7.0)])
def test_requests_to_a_site_are_apart(robots: bytes, delay: float) -> None:
    looking, client = visitor(Clock(), robots)
    looking.fetch(f"{HOST}/")
    looking.fetch(f"{HOST}/a")
    moments = [moment for moment, path in client.asked if path != "/robots.txt"]
    assert moments[1] - moments[0] == delay


def test_what_robots_txt_forbids_is_not_requested() -> None:
    looking, client = visitor(Clock(), b"User-agent: *\nDisallow: /private")
    assert looking.fetch(f"{HOST}/private").cause.code is CauseCode.ROBOTS
    assert [path for _, path in client.asked] == ["/robots.txt"]
    assert (looking.forbids(f"{HOST}/private"), looking.forbids(f"{HOST}/")) == (True, False)


@pytest.mark.parametrize(
    "limits", [Limits(requests=4), Limits(seconds=1.2)], ids=["number of requests", "time"]
)
def test_a_look_ends(limits: Limits) -> None:
    looking, client = visitor(Clock(), b"", limits)
    statuses = [looking.fetch(f"{HOST}/").status for _ in range(10)]
    assert (statuses[0], statuses[-1], looking.is_exhausted) == (200, 0, True)
    assert len(client.asked) <= 5


def test_a_delay_that_is_longer_than_the_look_is_not_waited_for() -> None:
    clock = Clock()
    looking, _ = visitor(clock, b"User-agent: *\nCrawl-delay: 3600")
    looking.fetch(f"{HOST}/")
    assert (looking.fetch(f"{HOST}/a").status, clock.now < 60) == (0, True)


@pytest.mark.processes
@pytest.mark.parametrize("part", ["nothing", "body"])
def test_a_server_that_sends_little_by_little_is_left(site: Site, url: str, part: str) -> None:
    assert not isinstance(site, NetworkSite)
    if part == "body":
        site.drip("/", b"x", pause=0.05)
    else:
        site.page("/")
        site.hold("/")
    client = ProbeClient(AddressPolicy.for_source((), ["127.0.0.0/8"]), {}, 0.2, Trust())
    response = client.request_url(f"{url}/", "GET")
    assert (response.cause.code, response.status) == (CauseCode.TIMEOUT, 0)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Sphinx 8.1", "Sphinx"),
        ("Astro v4.16.0", "Astro"),
        ("Confluence 7; build 12", "Confluence"),
        ("", None),
        ("\x1b[31m" * 50, "\x1b["),
    ],
)
def test_the_name_of_a_generator(written: str, name: str | None) -> None:
    found = find_generator({"generator": [written]}, b"")
    assert (found.name if found else None) == name
