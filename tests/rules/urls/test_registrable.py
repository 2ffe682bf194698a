"""The domain that the owner of a host has registered: below it, hosts may share cookies."""

from __future__ import annotations

import pytest

from ultracrawl.rules.urls.registrable import widest_own_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("me.github.io", "me.github.io"),
        ("a.me.github.io", "me.github.io"),
        ("wiki.corp.intranet", "corp.intranet"),
        ("localhost", "localhost"),
        ("192.0.2.7", "192.0.2.7"),
        ("[2001:db8::1]", "[2001:db8::1]"),
    ],
)
def test_the_widest_domain_with_one_owner(host: str, domain: str) -> None:
    assert widest_own_domain(host) == domain
