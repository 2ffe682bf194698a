"""Links that lead to no URL are counted once, and not kept."""

from __future__ import annotations

import logging
import tracemalloc

import pytest

from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, UrlRule
from ultracrawl.scheduler import link_urls
from ultracrawl.scheduler.link_urls import LinkUrls

PAGE = "http://h.test/"


def test_what_leads_to_no_url_is_counted_once() -> None:
    counted: list[str] = []
    links = LinkUrls(DEFAULT_POLICY, counted.append)
    long = f"/{'a' * DEFAULT_POLICY.max_length}"
    for _ in range(2):
        assert links.resolve(["/a", long, "mailto:heron@h.test"], PAGE) == {"/a": f"{PAGE}a"}
    assert counted == [UrlRule.LENGTH]


def test_pictures_that_pages_hold_as_links_are_not_kept(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, link_urls.__name__)  # what pytest keeps of the log is not ours
    links = LinkUrls(DEFAULT_POLICY, lambda _: None)
    tracemalloc.start()
    try:
        for number in range(100):
            links.resolve([f"data:image/png;base64,{number}{'A' * 100_000}"], PAGE)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1_000_000
