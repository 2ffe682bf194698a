"""`SiteTable`: which entry is that of a site, and which spellings name the same sites."""

from __future__ import annotations

import pytest

from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.rules.urls.site_table import NO_SITES, SiteTable, site_key


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("WWW.Example.COM", "www.example.com"),
        ("www.example.com:8080", "www.example.com:08080"),
        ("www.example.com:80", "www.example.com:443"),
        ("münchen.example", "xn--mnchen-3ya.example"),
        (".München.example", ".xn--mnchen-3ya.example"),
    ],
)
def test_spellings_that_mean_the_same(written: str, same: str) -> None:
    assert site_key(written) == site_key(same) is not None


@pytest.mark.parametrize(
    "written",
    [
        "",
        ".",
        "*.example.com",
        "https://www.example.com",
        "www.example.com/path",
        "user@www.example.com",
        "www.example.com:0",
        "www.example.com:65536",
        "www.example.com:http",
        ".example.com:80",
        "two words",
    ],
)
def test_texts_that_name_no_site(written: str) -> None:
    assert site_key(written) is None


TABLE = SiteTable(
    {
        str(site_key(name)): name
        for name in (
            ".example.com",
            ".shop.example.com",
            "www.shop.example.com",
            "www.shop.example.com:8080",
            "www.example.com:443",
            "[::1]",
            "127.0.0.1:81",
        )
    }
)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.com/", None),
        ("https://an-example.com/", None),
        ("https://a.b.example.com/", ".example.com"),
        ("https://a.shop.example.com/", ".shop.example.com"),
        ("https://shop.example.com/", ".example.com"),
        ("https://www.shop.example.com/", "www.shop.example.com"),
        ("http://www.shop.example.com:8080/", "www.shop.example.com:8080"),
        ("http://www.shop.example.com:8081/", "www.shop.example.com"),
        ("http://www.example.com/", "www.example.com:443"),
        ("http://www.example.com:8080/", ".example.com"),
        ("http://[::1]:99/", "[::1]"),
        ("http://127.0.0.1:81/", "127.0.0.1:81"),
        ("http://127.0.0.1/", None),
    ],
)
def test_the_most_special_entry_is_that_of_a_site(url: str, name: str | None) -> None:
    assert TABLE.find(site_of(url)) == name


def test_a_table_without_values_is_false() -> None:
    assert not NO_SITES
    assert NO_SITES.find("www.example.com") is None
