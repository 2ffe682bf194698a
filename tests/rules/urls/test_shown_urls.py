"""URLs that hits may show: by scheme, and what becomes of those that an older index has."""

from __future__ import annotations

import pytest

from ultracrawl.rules.urls.shown import harmless, is_display_url

SCRIPTS = ["javascript:alert(1)", "JavaScript:alert(1)", "vbscript:x", "data:text/html,<script>1</script>"]


@pytest.mark.parametrize(
    "url",
    [
        *("https://x.example/ü", "http://x.example/", "ftp://x.example/a", "ftps://x.example/a"),
        *("file:///srv/a", "mailto:ann@x.example", "news:comp.lang.python", "table:///t?id=1", "HTTPS://X/"),
    ],
)
def test_urls_of_known_schemes_are_shown(url: str) -> None:
    assert is_display_url(url)
    assert harmless(url) == url


@pytest.mark.parametrize(
    "url", [*SCRIPTS, "shelf:a", "/relative", "", "https://x.example/a b", "java\nscript:1"]
)
def test_other_urls_are_not(url: str) -> None:
    assert not is_display_url(url)


def test_a_kind_of_sources_adds_its_own_schemes() -> None:
    assert is_display_url("shelf:a", frozenset({"shelf"}))
    assert not is_display_url("javascript:a", frozenset({"shelf"}))


@pytest.mark.parametrize(
    "url", [*SCRIPTS, " javascript:alert(1)", "java\tscript:alert(1)", "\x01javascript:1"]
)
def test_a_url_that_runs_a_script_is_marked(url: str) -> None:
    assert harmless(url) == f"unsafe:{url}"


def test_urls_of_other_schemes_stay_as_they_are() -> None:
    assert [harmless(url) for url in ("shelf:a", "/relative", "")] == ["shelf:a", "/relative", ""]
