"""`explain` says what would be shown to a server, and reads no secret for it."""

from __future__ import annotations

import pytest
from support.sentences import sentence

from ultracrawl.run.auth.stages import access_stages
from ultracrawl.sources import DataSource, compile_source

SOURCE = DataSource.model_validate({
    "name": "a",
    "start_urls": ["https://a.example/"],
    "authentication": {
        "staff": {"url": "https://a.example/staff/", "user": "u", "password": "${NOT_SET}", "scheme": "basic"},
        "realm": {"realm": "R", "user": "u", "password": "hidden-secret"},
    },
    "logins": {"club": {"page": "https://b.example/login", "fields": {"pw": "hidden-secret"}}},
    "site_headers": {"api": {"url": "https://a.example/api/", "headers": {"X-Key": "hidden-secret"}}},
    "client_certificates": {"c": {"certificate": "none.pem"}},
    "proxy": {"servers": {"p1": {"url": "proxy:1"}, "p2": {"url": "proxy:2"}}, "bypass": ["b.example"]},
})  # fmt: skip
PROXY = "proxy.servers: it is requested through p1 or p2"
REALM = "authentication.realm: user and password are sent when the server asks for the realm R"
CERTIFICATE = "client_certificates.c: the certificate is sent if the server requests one"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (
            "https://a.example/staff/x",
            ["authentication.staff: user and password are sent by basic at once", REALM, CERTIFICATE, PROXY],
        ),
        ("https://a.example/api/x", ["site_headers.api: requests carry X-Key", REALM, CERTIFICATE, PROXY]),
        (
            "https://b.example/x",
            [
                sentence("access.logins_club_requested_session_login"),
                sentence("access.proxy_bypass_requested_without_proxy"),
            ],
        ),
        ("http://c.example/", [PROXY]),
    ],
)
def test_what_would_be_shown(url: str, said: list[str]) -> None:
    stages = list(access_stages(SOURCE, compile_source(SOURCE), url))
    assert [f"{one.rule}: {one.reason}" for one in stages] == said
    assert all(one.accept and one.stage == "access" for one in stages)


def test_a_plain_source_shows_nothing() -> None:
    plain = DataSource(name="a", start_urls=("https://a.example/",))
    assert list(access_stages(plain, compile_source(plain), "https://a.example/")) == []
