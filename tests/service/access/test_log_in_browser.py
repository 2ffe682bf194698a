"""The log-in form in a browser: wrong and right passwords, the session, and logging out; axe finds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from support.chromium import axe_violations, chromium
from support.oidc import CLIENT, SECRET, Provider
from support.pages import served

from ultracrawl.service.access.requester import Role

if TYPE_CHECKING:
    from service.access.conftest import Service

PASSWORD = "a long pass phrase"


@pytest.mark.servers
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no JavaScript"])
def test_people_log_in_and_out(service: Service, scripts: bool) -> None:
    service.users.add_user("ben", Role.READER, PASSWORD, ())
    with served(service.app) as address, chromium() as browser:
        context = browser.new_context(java_script_enabled=scripts, bypass_csp=True)
        page = context.new_page()
        page.goto(f"{address}/?q=heron")
        assert page.url.startswith(f"{address}/login?next=")
        if scripts:
            assert axe_violations(page) == []
        page.fill("#name", "ben")
        page.fill("#password", "wrong")
        page.click("form.login button")
        expect(page.locator("[role=alert]")).to_be_visible()
        expect(page.locator("#name")).to_have_value("ben")
        page.fill("#password", PASSWORD)
        page.click("form.login button")
        page.wait_for_url(f"{address}/?q=heron")
        assert page.locator(".hit").count() > 0
        session = [cookie for cookie in context.cookies() if cookie["httpOnly"]]
        assert session
        assert {cookie["sameSite"] for cookie in session} == {"Lax"}
        page.click("summary:has-text('ben')")
        page.click("form[action='/logout'] button")
        page.goto(f"{address}/")
        assert "/login" in page.url


@pytest.mark.servers
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no JavaScript"])
def test_a_log_out_goes_on_to_the_provider(service: Service, scripts: bool) -> None:
    """A browser follows no redirect of a form to another site here: the policy of the pages stays as it is."""
    with Provider() as provider, served(service.app) as address, chromium() as browser:
        provider.ends_sessions = True
        oidc = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret": SECRET}
        service.define(sign_in={"oidc": oidc})
        page = browser.new_context(java_script_enabled=scripts).new_page()
        page.goto(f"{address}/login/oidc")
        page.goto(provider.sign_in(page.url))
        assert page.url == f"{address}/"
        page.click("summary:has-text('ida')")
        page.click("form[action='/logout'] button")
        page.wait_for_url(f"{provider.issuer}/log-out?*")
        page.goto(f"{address}/")
        assert "/login" in page.url
