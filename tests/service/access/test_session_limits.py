"""How long sessions last: by default, and as the definition says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

import httpx
import pytest
import yaml
from service.access.conftest import Browser, Service

from ultracrawl.sources import load_project

DAY, HOUR, MINUTE = 86_400.0, 3600.0, 60.0


def age(service: Service, *, began: float = 0.0, seen: float = 0.0, renewed: float = 0.0) -> None:
    """Let what sessions note have been earlier, by seconds."""
    store = service.app.state.api.accounts.sessions
    for digest, one in store._sessions.items():
        times = {"began": one.began - began, "seen": one.seen - seen, "renewed": one.renewed - renewed}
        store._sessions[digest] = replace(one, **times)


@pytest.mark.parametrize(
    ("limits", "began", "seen", "goes_on"),
    [
        ({}, 30 * DAY - HOUR, 0, True),
        ({}, 30 * DAY, 0, False),
        ({}, 4 * DAY, 3 * DAY - HOUR, True),
        ({}, 4 * DAY, 3 * DAY, False),
        ({"expiry": "12 h"}, 12 * HOUR - MINUTE, 0, True),
        ({"expiry": "12 h"}, 12 * HOUR, 0, False),
        ({"expiry": "60 d"}, 59 * DAY, 0, True),
        ({"expiry": "60 d"}, 59 * DAY, 3 * DAY, False),
        ({"idle_timeout": "30 min"}, HOUR, 29 * MINUTE, True),
        ({"idle_timeout": "30 min"}, HOUR, 30 * MINUTE, False),
        ({"idle_timeout": "9 d"}, 9 * DAY, 9 * DAY - HOUR, True),
        ({"expiry": "12 h", "idle_timeout": "30 min"}, 12 * HOUR, 0, False),
    ],
)  # fmt: skip
def test_sessions_end_as_the_definition_says(
    service: Service, limits: Mapping[str, str], began: float, seen: float, goes_on: bool
) -> None:
    browser = Browser(service)
    browser.log_in()
    service.define(sign_in={"sessions": dict(limits)})
    age(service, began=began, seen=seen)
    listed = service.app.state.api.accounts.sessions.open_sessions()
    assert len(listed) == goes_on
    assert (browser.get("/").status_code == 200) is goes_on


def test_the_cookie_lasts_as_long(service: Service) -> None:
    lives = []
    for limits in ({}, {"expiry": "12 h"}, {"expiry": "60 d"}):
        service.define(sign_in={"sessions": limits})
        browser = Browser(service)
        began = browser.log_in()
        age(service, renewed=DAY)
        renewed = browser.get("/")
        lives.append([life for answer in (began, renewed) for life in session_lives(answer.headers)])
    assert lives == [[30 * DAY] * 2, [12 * HOUR] * 2, [60 * DAY] * 2]


def session_lives(headers: httpx.Headers) -> list[float]:
    """Return the seconds that cookies of sessions in an answer last."""
    cookies = [one.lower() for one in headers.get_list("set-cookie") if "_session_" in one]
    return [float(one.partition("max-age=")[2].partition(";")[0]) for one in cookies]


def test_sessions_that_never_or_always_end_are_mistakes(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, value in product(["expiry", "idle_timeout"], [None, 0, "0 h", "-1 h", "never", "2000 d", [1]]):
        with subtests.test(name=name, value=value):
            path = tmp_path / "ultracrawl.yaml"
            sources = {"lake": {"start_urls": ["https://lake.example/"]}}
            path.write_text(yaml.safe_dump({"sources": sources, "sign_in": {"sessions": {name: value}}}))
            (finding,) = load_project(path).findings
            assert (finding.key, finding.fatal) == (f"sign_in.sessions.{name}", True)
