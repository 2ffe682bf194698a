"""The domain that the owner of a host has registered: below it, hosts may share cookies."""

from __future__ import annotations

import pytest

from ultracrawl.rules.urls.registrable import is_public_suffix, widest_own_domain


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


@pytest.mark.parametrize(
    ("domain", "public"),
    [
        ("com", True),
        ("co.uk", True),
        ("github.io", True),
        ("example.com", False),
        ("corp.intranet", False),
        ("intranet", False),
        ("192.0.2.7", False),
    ],
)
def test_below_a_public_suffix_anybody_registers_names(domain: str, public: bool) -> None:
    assert is_public_suffix(domain) is public
