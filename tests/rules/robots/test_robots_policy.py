"""What an answer for robots.txt means (RFC 9309 2.3.1, FAST options 31-36, Ultra Search 11)."""

import pytest

from ultracrawl.rules.robots.policy import RobotsPolicy, origin_of
from ultracrawl.rules.robots.rules import RobotsRules

BODY = b"User-agent: *\nDisallow: /private\nCrawl-delay: 7\nSitemap: https://example.com/s.xml"
PRIVATE = "https://example.com/private"


@pytest.mark.parametrize(
    ("policy", "status", "accept"),
    [
        pytest.param(RobotsPolicy(), 200, False, id="ultra_search_77-obeyed-by-default"),
        pytest.param(RobotsPolicy(obey=False), 200, True, id="ultra_search_78-override"),
        pytest.param(RobotsPolicy(obey=False), 503, True, id="override-503"),
        pytest.param(RobotsPolicy(), 204, False, id="2xx-is-read"),
        pytest.param(RobotsPolicy(), 301, True, id="redirects-without-end"),
        pytest.param(RobotsPolicy(), 404, True, id="404"),
        pytest.param(RobotsPolicy(auth_ignore=False), 404, True, id="404-always"),
        pytest.param(RobotsPolicy(auth_ignore=False), 410, True, id="410-always"),
        pytest.param(RobotsPolicy(), 403, True, id="403-ignored"),
        pytest.param(RobotsPolicy(auth_ignore=False), 401, False, id="401-counts"),
        pytest.param(RobotsPolicy(auth_ignore=False), 402, False, id="402-counts"),
        pytest.param(RobotsPolicy(auth_ignore=False), 403, False, id="403-counts"),
        pytest.param(RobotsPolicy(auth_ignore=False), 407, False, id="407-counts"),
        pytest.param(RobotsPolicy(), 429, False, id="429-wait"),
        pytest.param(RobotsPolicy(), 500, False, id="500"),
        pytest.param(RobotsPolicy(), 503, False, id="503"),
    ],
)
def test_robots_answer(policy: RobotsPolicy, status: int, accept: bool) -> None:
    assert policy.judge_response(status, BODY).allowed(PRIVATE).accept is accept


@pytest.mark.parametrize(
    ("policy", "timed_out", "accept"),
    [
        pytest.param(RobotsPolicy(), True, False, id="timed-out"),
        pytest.param(RobotsPolicy(timeout_ignore=True), True, True, id="timed-out-ignored"),
        pytest.param(RobotsPolicy(timeout_ignore=True), False, False, id="refused-is-no-time-out"),
        pytest.param(RobotsPolicy(obey=False), False, True, id="override"),
    ],
)
def test_robots_silence(policy: RobotsPolicy, timed_out: bool, accept: bool) -> None:
    rules = policy.judge_response(None, error="connection refused", timed_out=timed_out)
    assert rules.allowed("https://example.com/").accept is accept


def test_robots_unavailable_says_why() -> None:
    decision = RobotsPolicy().judge_response(503).allowed("https://example.com/")
    assert (decision.stage, decision.rule) == ("robots", "robots.txt unavailable")
    assert "503" in decision.reason


@pytest.mark.parametrize(("obey_delay", "delay"), [(False, 2.0), (True, 7.0)])
def test_fast_31_36_without_obeying_sitemaps_stay_and_the_delay_has_an_option_of_its_own(
    obey_delay: bool, delay: float
) -> None:
    policy = RobotsPolicy(obey=False, obey_delay=obey_delay)
    rules = policy.judge_response(200, BODY)
    assert rules.sitemaps == ("https://example.com/s.xml",)
    assert policy.delay(rules, 2.0) == delay
    assert policy.needed is obey_delay


@pytest.mark.parametrize(
    ("obey_delay", "body", "expected"),
    [
        pytest.param(False, BODY, 1.0, id="ignored"),
        pytest.param(True, BODY, 7.0, id="crawl-delay"),
        pytest.param(True, b"User-agent: *\nRequest-rate: 2/60", 30.0, id="request-rate"),
        pytest.param(True, b"User-agent: *\nDisallow:", 1.0, id="none"),
        pytest.param(True, b"User-agent: *\nCrawl-delay: nan", 1.0, id="not-a-number"),
    ],
)
def test_robots_delay(obey_delay: bool, body: bytes, expected: float) -> None:
    assert RobotsPolicy(obey_delay=obey_delay).delay(RobotsRules.parse(body), 1.0) == expected


def test_robots_expiry() -> None:
    policy = RobotsPolicy(ttl=60)
    assert not policy.expired(1000.0, 1059.9)
    assert policy.expired(1000.0, 1060.0)


@pytest.mark.parametrize(("age", "fresh"), [(-0.1, False), (0.0, True), (59.9, True), (60.0, False)])
def test_robots_are_fresh_from_their_first_moment(age: float, fresh: bool) -> None:
    assert RobotsPolicy(ttl=60).is_fresh(age, unavailable=False) is fresh
    assert RobotsPolicy(ttl=60).is_fresh(age, unavailable=True) is fresh


def test_a_silence_is_a_time_out_only_if_it_is_said() -> None:
    policy = RobotsPolicy(timeout_ignore=True)
    said = policy.judge_response(None, error="refused", timed_out=False).allowed("http://a.example/x")
    assert policy.judge_response(None, error="refused").allowed("http://a.example/x") == said


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://Example.com/a?b", "http://example.com:80"),
        ("https://example.com/", "https://example.com:443"),
        ("https://example.com:8443/", "https://example.com:8443"),
        ("http://user:pw@example.com/", "http://example.com:80"),
        ("http://[::1]:81/x", "http://[::1]:81"),
        ("http://e.com:99999/", ""),
        ("http://[", ""),
        ("/relative", ""),
        ("mailto:a@b", ""),
        ("https:///x", ""),
        ("gopher://e.com/", ""),
    ],
)
def test_robots_origin(url: str, origin: str) -> None:
    assert origin_of(url) == origin
