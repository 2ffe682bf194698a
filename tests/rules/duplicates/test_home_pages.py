"""Canonical links that name a home page."""

from __future__ import annotations

import pytest

from ultracrawl.rules.duplicates.home_pages import names_home_page


@pytest.mark.parametrize(
    ("url", "target", "is_mistake"),
    [
        pytest.param("https://x/a", "https://x/", True, id="page names root"),
        pytest.param("https://x/a", "https://x/index.html", True, id="page names index file"),
        pytest.param("https://x/a", "https://y/", True, id="root of another host"),
        pytest.param("https://x/en/a", "https://x/en/", True, id="page names start URL"),
        pytest.param("https://x/?sort=up", "https://x/", False, id="variant by query"),
        pytest.param("http://x/", "https://x/", False, id="variant by scheme"),
        pytest.param("https://x/index.php", "https://x/", False, id="variant by file"),
        pytest.param("https://x/", "https://x/en/", False, id="from home page to start URL"),
        pytest.param("https://x/print/a", "https://x/a", False, id="page names page"),
        pytest.param("https://x/a/b", "https://x/a/", False, id="page names its folder"),
        pytest.param("https://x/a/b", "https://x/a/index.html", False, id="index file of a folder"),
        pytest.param("https://x/?q=/", "https://x/a", False, id="slash in a query"),
    ],
)
def test_only_pages_that_are_no_home_page_misname_one(url: str, target: str, is_mistake: bool) -> None:
    assert names_home_page(url, target, {"https://x/en/"}) is is_mistake
