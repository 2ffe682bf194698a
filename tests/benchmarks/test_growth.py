"""benchmarks/growth.py: its site is the same every time, and can be crawled to the last page."""

from __future__ import annotations

import multiprocessing
import re
from types import ModuleType

import pytest
from support.benchmarks import load_benchmark
from twisted.internet.testing import StringTransport

PAGES = 300


@pytest.fixture
def growth(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_benchmark("growth", monkeypatch)


def links_of(page: bytes) -> set[int]:
    return set(map(int, re.findall(rb'href="/(\d+)\.html"', page)))


def test_every_page_is_reached_and_no_link_is_dead(growth: ModuleType) -> None:
    found, new = {0}, {0}
    while new:
        new = set().union(*(links_of(growth.page(number, PAGES)) for number in new)) - found
        found |= new
    assert found == set(range(PAGES))


def test_a_page_is_the_same_every_time(growth: ModuleType) -> None:
    assert growth.page(17, PAGES) == growth.page(17, PAGES) != growth.page(18, PAGES)


def test_requests_that_come_in_pieces_are_answered_and_counted(growth: ModuleType) -> None:
    served = multiprocessing.Value("q", 0, lock=False)
    site, transport = growth.Site(PAGES, served), StringTransport()
    site._transport = transport
    for piece in (b"GET /1.html HTTP/1.1\r\nHost: a\r\n\r\nGET /robots.txt", b" HTTP/1.1\r\nHost: a\r\n\r\n"):
        site.data_received(piece)
    said = transport.value()
    assert said.count(b"HTTP/1.1 200 OK") == said.count(b"HTTP/1.1 404 Not Found") == 1
    assert growth.page(1, PAGES) in said
    assert served.value == 1
