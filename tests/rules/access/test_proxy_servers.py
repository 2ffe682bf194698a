"""Which proxy has its turn, how many requests it has at a time, and how long a failing one is left alone."""

from __future__ import annotations

import pytest
from support.sentences import sentence

from ultracrawl.rules.access.proxies import Proxy, ProxyPool
from ultracrawl.sources.sections.fetching.access_options import ProxyServer


def roster(*limits: int | None, rest: float = 60) -> ProxyPool:
    names = "abcdef"
    return ProxyPool(
        [Proxy(name, f"http://{name}:1", "", n) for name, n in zip(names, limits, strict=False)], rest
    )


def taken(proxies: ProxyPool, now: float = 0, without: str = "") -> str:
    proxy = proxies.acquire_proxy(now, set(without))
    return proxy.name if proxy else ""


def test_fast_25_proxies_are_used_in_turn() -> None:
    proxies = roster(None, None, None)
    assert "".join(taken(proxies) for _ in range(7)) == "abcabca"


def test_a_request_that_failed_through_a_proxy_is_sent_through_another() -> None:
    proxies = roster(None, None, None)
    assert [taken(proxies, without=one) for one in ("a", "a", "ab", "abc")] == ["b", "c", "c", ""]
    assert [proxies.has_other(set(one)) for one in ("", "ab", "abc")] == [True, True, False]


def test_fast_26_a_full_proxy_is_passed_over_until_a_place_is_given_back() -> None:
    proxies = roster(1, 2)
    chosen = [proxies.acquire_proxy(0) for _ in range(3)]
    assert [one.name for one in chosen if one] == ["a", "b", "b"]
    assert taken(proxies) == ""
    assert chosen[0] is not None
    proxies.release_proxy(chosen[0])
    assert taken(proxies) == "a"


@pytest.mark.parametrize(("now", "expected"), [(30, "bbb"), (61, "bab"), (0, "bbb")])
def test_a_failing_proxy_rests_while_another_works(now: float, expected: str) -> None:
    proxies = roster(None, None)
    first = proxies.acquire_proxy(0)
    assert first is not None
    assert proxies.note_failure(first, 0)
    assert not proxies.note_failure(first, 0), "once is news"
    assert "".join(taken(proxies, now) for _ in range(3)) == expected


def test_a_single_proxy_is_tried_whatever_happened() -> None:
    proxies = roster(None)
    first = proxies.acquire_proxy(0)
    assert first is not None
    proxies.note_failure(first, 0)
    assert taken(proxies, 1) == "a"


def test_a_proxy_that_worked_needs_no_rest() -> None:
    proxies = roster(None, None)
    first = proxies.acquire_proxy(0)
    assert first is not None
    proxies.note_failure(first, 0)
    proxies.note_answer(first, 1)
    assert taken(proxies, 1) + taken(proxies, 1) == "ba"


@pytest.mark.parametrize(
    ("written", "address"),
    [
        pytest.param("proxy.example.com:3128", "http://proxy.example.com:3128", id="fast_25-no-scheme"),
        pytest.param("proxy.example.com", "http://proxy.example.com:80", id="fast_25-no-port"),
        pytest.param("https://proxy.example.com/", "https://proxy.example.com:443", id="tls"),
        pytest.param("http://[::1]:8080", "http://[::1]:8080", id="ipv6"),
    ],
)
def test_addresses_of_proxies(written: str, address: str) -> None:
    assert ProxyServer(url=written).url == address


@pytest.mark.parametrize("written", ["http://u:p@proxy:3128", "http://proxy:3128/path", ""])
def test_what_is_no_address_of_a_proxy(written: str) -> None:
    with pytest.raises(ValueError, match=sentence("access.not_address_proxy")):
        ProxyServer(url=written)


@pytest.mark.parametrize("written", ["socks5://proxy:1080", "socks4a://proxy", "ftp://proxy:21"])
def test_fast_25_proxies_of_other_kinds_are_refused_with_a_reason(written: str) -> None:
    with pytest.raises(ValueError, match=sentence("access.only_http_proxies_supported")):
        ProxyServer(url=written)


def test_fast_25_a_proxy_hangs_if_nothing_came_through_it_meanwhile() -> None:
    proxies = roster(None, None)
    first, second = proxies.acquire_proxy(0), proxies.acquire_proxy(0)
    assert first is not None
    assert second is not None
    proxies.note_answer(second, 5)
    assert proxies.is_silent(first, 1)
    assert [proxies.is_silent(second, since) for since in (1, 5, 6)] == [False, False, True]
