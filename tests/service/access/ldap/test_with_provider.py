"""Users of a provider who are in a directory, too: each adds groups, and each takes away its own alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from service.access.conftest import Browser, Service, cheap_hashes
from support.oidc import CLIENT, SECRET, Provider
from support.slapd import BASE, directory_server

__all__ = ["cheap_hashes"]
pytestmark = pytest.mark.servers


def test_groups_of_a_provider_and_of_a_directory_add_up(tmp_path: Path) -> None:
    service = Service(tmp_path)
    browser = Browser(service)
    with Provider() as provider:
        with directory_server() as running:
            ida, ben = f"uid=ida,{BASE}", f"uid=ben,{BASE}"
            running.add("ida", "Ida")
            running.add_group("staff", ida)

            def define(expiry: object) -> None:
                oidc = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret": SECRET}
                ldap = {"url": running.url, "users": BASE, "groups": BASE, "expiry": expiry}
                roles = {"administrator": "operators"}
                service.define(sign_in={"oidc": oidc, "ldap": ldap, "roles": roles})

            def allowed() -> tuple[bool, bool]:
                """Return whether the browser may read the audit log, and the document for `staff` alone."""
                audit = browser.get("/admin/audit").status_code
                assert audit in {200, 403}
                return audit == 200, "lake.example/ring" in browser.get("/?q=ringed").text

            define(900)
            provider.claims = {"preferred_username": "ida", "groups": ["operators"]}
            way = browser.get("/login/oidc?next=/").headers["location"]
            browser.get(provider.sign_in(way))
            assert allowed() == (True, True), "a role of the provider, a document of the directory"
            running.set_members("staff", ben)
            assert allowed() == (True, True), "until the expiry"
            define("0.000001 s")
            assert allowed() == (True, False)
            running.set_members("staff", ida)
            assert allowed() == (True, True)
        assert allowed() == (True, False), "the directory is gone; the provider's groups stay"
        provider.claims = {"preferred_username": "ida", "groups": []}
        way = browser.get("/login/oidc?next=/").headers["location"]
        browser.get(provider.sign_in(way))
        assert allowed() == (False, False)
