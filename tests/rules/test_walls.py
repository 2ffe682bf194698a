"""Walls are recognised by headers and by marks in small pages; pages about walls are not."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.rules.walls import (
    ASKS,
    ASKS_LITERALS,
    BODIES,
    HEADERS,
    NEEDS_SCRIPTS,
    BodyMark,
    is_login_redirect,
    wall_of_body,
    wall_of_headers,
)

ARTICLE = "<p>" + "The heron stands in the shallow water and waits for a fish. " * 20 + "</p>"


def values_of(**headers: str) -> object:
    def values(name: str) -> Sequence[str]:
        value = headers.get(name.replace("-", "_"))
        return [] if value is None else [value]

    return values


DECLARED = {
    "cloudflare": ({"cf_mitigated": "challenge"}, "Cloudflare challenge"),
    "aws challenge": ({"x_amzn_waf_action": "Challenge "}, "AWS WAF challenge"),
    "aws captcha": ({"x_amzn_waf_action": "captcha"}, "AWS WAF challenge"),
    "vercel": ({"x_vercel_mitigated": "challenge"}, "Vercel challenge"),
    "sucuri": ({"x_sucuri_block": "BL-1"}, "Sucuri block page"),
    "served by cloudflare": ({"cf_ray": "8f2b3c4d5e6f7-SJC", "server": "cloudflare"}, ""),
    "another value": ({"cf_mitigated": "none"}, ""),
    "none": ({}, ""),
}


@pytest.mark.parametrize(("headers", "wall"), DECLARED.values(), ids=DECLARED)
def test_headers_declare_walls(headers: dict[str, str], wall: str) -> None:
    assert wall_of_headers(values_of(**headers)) == wall  # type: ignore[arg-type]  # a function


MARKED = {
    "cloudflare": "<title>Just a moment...</title><script>window._cf_chl_opt={cRay:'8f'}</script>",
    "akamai": "<h1>Access Denied</h1>Reference #18.7 <p>https://errors.edgesuite.net/18.7</p>",
    "akamai interstitial": "<div id=sec-if-cpt-container></div>",
    "imperva": '<iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=24&xinfo=9"></iframe>',
    "imperva text": "Request unsuccessful. Incapsula incident ID: 1234-5678",
    "datadome": '<script src="https://geo.captcha-delivery.com/captcha/x.js"></script>Please',
    "human": '<h1>Please verify</h1><div id="px-captcha"></div>',
    "aws": "<script>window.gokuProps = {}</script><div id=challenge-container></div>",
    "sucuri": "<script>var s='sucuri_cloudproxy_js'</script>",
    "fastly": '<title>Client Challenge</title><script src="/_fs-ch-1Ab/script.js"></script>',
    "vercel": '<script src="/.well-known/vercel/security/static/challenge.v2.min.js"></script>',
    "anubis": '<link href="/.within.website/x/cmd/anubis/static/x.css">Making sure you are not a bot!',
}


@pytest.mark.parametrize("body", MARKED.values(), ids=MARKED)
def test_pages_of_providers_are_walls_and_articles_with_the_same_marks_are_not(body: str) -> None:
    wall = wall_of_body(f"<html><body>{body}</body></html>".encode())
    assert wall in {mark.wall for mark in BODIES}
    assert wall_of_body(f"<html><body>{body}{ARTICLE}</body></html>".encode()) == ""


@pytest.mark.parametrize("mark", BODIES, ids=[mark.pattern.decode() for mark in BODIES])
@given(data=st.data())
def test_every_match_of_a_mark_has_one_of_its_literals(mark: BodyMark, data: st.DataObject) -> None:
    match = data.draw(st.from_regex(re.compile(mark.pattern), fullmatch=True))
    assert any(literal in match for literal in mark.literals)


@given(st.from_regex(ASKS, fullmatch=True))
def test_every_sentence_that_asks_for_scripts_has_one_of_the_literals(match: bytes) -> None:
    assert any(literal in match for literal in ASKS_LITERALS)


ASKING = {
    "noscript": "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
    "cookies": "<p>Please enable cookies to continue.</p>",
    "both": "<h2>Enable JavaScript and cookies to continue</h2>",
    "your browser": "<p>JavaScript is disabled in your browser.</p><p>Cookies and JavaScript are required.</p>",
    "German": "<p>Bitte JavaScript in Ihrem Browser aktivieren.</p>",
}


@pytest.mark.parametrize("body", ASKING.values(), ids=ASKING)
def test_a_page_that_only_asks_for_scripts_or_cookies_is_a_wall(body: str) -> None:
    assert wall_of_body(body.encode()) == NEEDS_SCRIPTS
    assert wall_of_body(body.encode(), scripts_run=True) == ""
    assert wall_of_body(f"{body}{ARTICLE}".encode()) == "", "it has a text"
    assert wall_of_body(f'{body}<a href="/next">next</a>'.encode()) == "", "it leads on"


PAGES = {
    "about cloudflare": "<h1>Just a moment</h1><p>Cloudflare shows this page when it verifies you are human.</p>",
    "its script beside the text": "<script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script><p>Heron</p>",
    "imperva's script": '<script src="/_Incapsula_Resource?SWJIYLWA=7"></script><p>Heron</p>',
    "datadome's script": '<script src="https://js.datadome.co/tags.js"></script><p>Heron</p>',
    "instructions": "<p>To enable JavaScript open the settings.</p>" + ARTICLE,
    "no mark-up": "enable javascript",
    "empty": "",
    "a script that is never closed": "<script>" + "x" * 100,
}


@pytest.mark.parametrize("body", PAGES.values(), ids=PAGES)
def test_ordinary_pages_are_no_walls(body: str) -> None:
    assert wall_of_body(body.encode()) == ""


def test_large_pages_are_not_searched() -> None:
    assert wall_of_body(b"<p>_cf_chl_opt" + b" " * 70_000) == ""


def test_names_of_headers_are_in_lower_case_as_are_the_marks() -> None:
    assert all(mark.name == mark.name.lower() for mark in HEADERS)
    assert all(mark.pattern.replace(rb"\Z", b"") == mark.pattern.lower() for mark in BODIES)


@pytest.mark.parametrize(
    ("target", "is_login"),
    [
        ("http://h.example/login?next=/p7", True),
        ("http://h.example/login?next=%2Fp7", True),
        ("http://h.example/login?next=%252Fp7", True),
        ("http://h.example/users/sign_in?lang=de&return_to=http://h.example/p7", True),
        ("http://h.example/Account/LogOn?ReturnUrl=%2fp7", True),
        ("https://sso.example/cas?service=http%3A%2F%2Fh.example%2Fp7", True),
        ("http://h.example/wp-login.php?redirect_to=http%3A%2F%2Fh.example%2Fp7&reauth=1", True),
        ("http://h.example/login?next=/other", False),
        ("http://h.example/login", False),
        ("http://h.example/login?", False),
        ("http://h.example/viewer?page=/p7", False),
        ("http://h.example/blogin/?next=/p7", False),
        ("http://h.example/login?next=http://[", False),
    ],
)
def test_redirects_to_log_in_pages(target: str, is_login: bool) -> None:
    assert is_login_redirect("http://h.example/p7", target) is is_login


def test_the_query_of_the_page_leads_back_too() -> None:
    assert is_login_redirect("http://h.example/p?a=1&b=2", "http://h.example/login?next=/p%3Fa%3D1%26b%3D2")
