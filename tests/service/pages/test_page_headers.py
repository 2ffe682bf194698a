"""Headers of pages and static files: what browsers may load, keep and frame."""

from __future__ import annotations

import re

import pytest
from support.pages import Pages

from ultracrawl.service.pages.static_files import static_files


def policy_of(headers: dict[str, str]) -> dict[str, set[str]]:
    """Return the directives of a Content-Security-Policy with their sources."""
    directives = (part.split() for part in headers["content-security-policy"].split(";") if part.strip())
    return {name: set(sources) for name, *sources in directives}


def test_a_page_loads_nothing_from_elsewhere_and_no_inline_code(pages: Pages) -> None:
    answer = pages.ask("/", params={"q": "heron"})
    assert answer.status_code == 200
    assert answer.headers.get_list("content-security-policy") == [answer.headers["content-security-policy"]]
    policy = policy_of(answer.headers)
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == {"'none'"}
    assert policy["script-src"] == policy["style-src"] == {"'self'"}
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_one_who_is_not_signed_in_is_led_to_the_form_and_back(pages: Pages) -> None:
    answer = pages.ask("/", signed_in=False, params={"q": "grey heron"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=%2F%3Fq%3Dgrey%2Bheron"


def test_static_files_are_kept_by_browsers_under_their_version_only(pages: Pages) -> None:
    page = pages.ask("/").text
    link = re.search(r'href="(/static/pages\.css\?v=\w+)"', page)
    assert link is not None
    versioned = pages.ask(link[1], signed_in=False)
    assert "immutable" in versioned.headers["cache-control"]
    assert versioned.headers["content-type"].startswith("text/css")
    plain = pages.ask("/static/pages.css", signed_in=False)
    assert "no-cache" in plain.headers["cache-control"]
    again = pages.ask("/static/pages.css", signed_in=False, headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "name",
    [
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "/etc/passwd",
        "pages.css%00",
        "htmx.LICENSE",
        "PAGES.css",
        "",
    ],
)
def test_static_files_are_those_in_their_folder(pages: Pages, name: str) -> None:
    assert pages.ask(f"/static/{name}").status_code == 404


def test_all_urls_have_the_prefix_of_a_proxy(pages: Pages) -> None:
    text = pages.ask("/search/", root="/search", params={"q": "heron"}).text
    own = set(re.findall(r'(?:href|src|action)="(/[^"]*)"', text))
    assert own
    assert all(url.startswith("/search/") for url in own)
    assert f"/search/static/pages.css?v={static_files()['pages.css'].version}" in own
