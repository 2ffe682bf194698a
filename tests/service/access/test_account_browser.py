"""The page of the own account in a browser: a new password, sessions that end, and nothing that axe finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from support.chromium import axe_violations, chromium
from support.pages import Watched, served

from ultracrawl.service.access.requester import Role

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from service.access.conftest import Service

PASSWORD, NEW = "a long pass phrase", "seventeen wet herons"
FORM, SESSIONS = "form[action='/account/password']", "form[action='/account/sessions']"
SIZES = ({"width": 1280, "height": 900}, {"width": 390, "height": 844})


def log_in(page: Page, address: str, password: str = PASSWORD) -> None:
    page.goto(f"{address}/login")
    page.fill("#name", "ben")
    page.fill("#password", password)
    page.click("form.login button")
    page.wait_for_url(f"{address}/")


@pytest.mark.servers
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no JavaScript"])
def test_a_user_changes_the_password_and_ends_sessions(service: Service, scripts: bool) -> None:
    service.users.add_user("ben", Role.READER, PASSWORD, ())
    with served(service.app) as address, chromium() as browser:
        pages = [browser.new_context(java_script_enabled=scripts).new_page() for _ in range(3)]
        for one in pages:
            log_in(one, address)
        own, phone, library = pages
        own.click("summary:has-text('ben')")
        own.click("a[href='/account']")
        expect(own.locator(".sessions li")).to_have_count(3)
        own.fill("#proof", PASSWORD)
        own.locator(".sessions button").first.click()
        own.wait_for_url(f"{address}/account?done=sessions")
        expect(own.locator(".sessions li")).to_have_count(2)
        for one in (phone, library):
            one.goto(f"{address}/account")
        assert sorted(one.url.startswith(f"{address}/login") for one in (phone, library)) == [False, True]
        own.fill("#password", "wrong")
        own.fill("#new", NEW)
        own.fill("#again", NEW)
        own.click(f"{FORM} > button")
        expect(own.locator(f"{FORM} [role=alert]")).to_be_visible()
        own.fill("#password", PASSWORD)
        own.fill("#new", NEW)
        own.fill("#again", NEW)
        own.click(f"{FORM} > button")
        own.wait_for_url(f"{address}/account?done=password")
        expect(own.locator(".sessions li")).to_have_count(1)
        expect(own.locator("#proof")).to_have_count(0)
        phone.goto(f"{address}/account")
        assert phone.url.startswith(f"{address}/login")
        log_in(phone, address, NEW)


@pytest.mark.servers
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_on_the_page(service: Service, colours: str) -> None:
    service.users.add_user("ben", Role.READER, PASSWORD, ())
    with served(service.app) as address, chromium() as browser:
        log_in(browser.new_page(), address)
        for size in SIZES:
            context = browser.new_context(
                bypass_csp=True, color_scheme=colours, viewport=size, reduced_motion="reduce"
            )
            watched = Watched(context, address)
            page = watched.page
            log_in(page, address)
            for language in ("en", "de"):
                page.goto(f"{address}/account?language={language}&done=sessions")
                assert page.locator(".sessions button").count() > 0
                assert axe_violations(page) == []
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.fill("#proof", "wrong")
            page.click(f"{SESSIONS} > button")
            expect(page.locator(f"{SESSIONS} [role=alert]")).to_be_visible()
            assert axe_violations(page) == []
            assert watched.foreign == []
            assert [one for one in watched.complaints if "400" not in one] == []
