"""Checksums that do not see what servers draw anew for each answer."""

import pytest
from support.until import bounded

from ultracrawl.rules.recrawl.change import checksum, steady_checksum

DRAWN = {
    "nonce": "<script nonce='{}' src=/app.js></script>",
    "nonce without quotes": "<script nonce={}>go()</script>",
    "META": '<meta name="csrf-token" content="{}">',
    "META, turned round": '<meta content="{}" name=csrf-token>',
    "field of Laravel": '<input type="hidden" name="_token" value="{}">',
    "field of Django": "<input type=hidden name=csrfmiddlewaretoken value={}>",
    "field of Rails": '<input name="authenticity_token" type="hidden" value="{}">',
    "field of ASP.NET": '<input name="__RequestVerificationToken" type="hidden" value="{}">',
    "attribute": '<div data-csrf="{}" id=app></div>',
    "script": "<script>window.csrfToken = '{}'; start()</script>",
    "header": "<script>headers = {{'X-CSRF-Token': '{}', Accept: 'text/html'}}</script>",
    "data": '{{"csrf_token":"{}","words":["heron"]}}',
    "data in an attribute": "<div data-page='{{&quot;xsrf&quot;:&quot;{}&quot;}}'>",
    "data in a script": r'<script>JSON.parse("{{\"nonce\":\"{}\"}}")</script>',
    "META of a document": '[{{"csrf-token": ["{}"], "author": ["Brehm"]}}]',
}
KEPT = {
    "a word": "<p>{}",
    "a description that names it": '<meta name=description content="what a csrf token is, {}">',
    "the address of a script": "<script nonce=1 src=/app.{}.js></script>",
    "data beside it": '{{"csrf_token":"1","words":["{}"]}}',
    "a script beside it": "<script nonce=1>show('{}')</script>",
    "a token that is none": "<a href='/next?page_token={}'>on</a>",
}


@pytest.mark.parametrize("body", DRAWN.values(), ids=DRAWN)
def test_what_is_drawn_anew_does_not_count(body: str) -> None:
    first, second = (steady_checksum(body.format(drawn).encode()) for drawn in ("Ab3+/=", "x-Y_9"))
    assert first == second


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_all_else_counts(body: str) -> None:
    first, second = (steady_checksum(body.format(drawn).encode()) for drawn in ("heron", "egret"))
    assert first != second


def test_a_body_without_any_has_its_own_checksum() -> None:
    assert steady_checksum(b"<p>heron") == checksum(b"<p>heron")


@pytest.mark.parametrize(
    "unit", [b"<meta name=", b"nonce", b"nonce=", b"csrf-", b"<input id=csrf", b'nonce="', b"csrf "]
)
def test_it_takes_time_that_grows_with_the_body(unit: bytes) -> None:
    with bounded():
        steady_checksum(b"nonce" + unit * 50_000)
