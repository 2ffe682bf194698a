"""Forms that give orders: what they do, who may send them, and that no other site can."""

from __future__ import annotations

import json

import pytest
from service.pages.admin.conftest import Administration, led_to, texts

from ultracrawl.service.access.requester import Role

ORDERS = ("start", "stop", "pause", "resume")


def test_a_source_is_started_and_stopped(administration: Administration) -> None:
    orders = administration.supervisor.orders
    answer = administration.send("/admin/sources/site/start", Role.EDITOR)
    assert (answer.status_code, led_to(answer)) == (303, "/admin/sources/site")
    assert administration.send("/admin/sources/site/stop", Role.EDITOR).status_code == 303
    assert administration.send("/admin/sources/site/start", Role.EDITOR, force="1").status_code == 303
    assert orders == [("start", "site", ""), ("stop", "site"), ("start", "site", "force")]
    rows = (administration.project.logs.path / "audit.jsonl").read_text().splitlines()
    recorded = [(row["who"], row["action"], row["targets"]) for row in map(json.loads, rows)]
    assert ("user:editor", "crawl", ["site"]) in recorded


def test_the_buttons_fit_what_the_source_does(administration: Administration) -> None:
    assert "Crawl" in texts(administration.get("/admin/sources/site"), ".orders button")
    administration.send("/admin/sources/site/start")
    assert texts(administration.get("/admin/sources/site"), ".orders button") == ["Pause", "Stop"]
    assert not administration.get("/admin/sources/site", Role.READER).cssselect(".orders")


def test_what_is_impossible_now_is_said(administration: Administration) -> None:
    answer = administration.send("/admin/sources/site/stop")
    assert answer.status_code == 409
    assert "is not being crawled" in answer.text


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_needs_a_session_a_role_and_a_token(administration: Administration, order: str) -> None:
    path = f"/admin/sources/site/{order}"
    refused = administration.send(path, None)
    assert (refused.status_code, refused.headers["location"]) == (303, "/login?next=%2Fadmin")
    assert administration.send(path, Role.READER).status_code == 403
    browser = administration.browser(Role.EDITOR)
    assert browser.ask("POST", path).status_code == 403
    assert browser.ask("POST", path, data={"csrf_token": "forged"}).status_code == 403
    token = {"csrf_token": browser.session_token}
    foreign = browser.ask("POST", path, data=token, headers={"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    assert browser.get(path).status_code in {404, 405}
    assert administration.supervisor.orders == []
    assert administration.send("/admin/sources/nothing/pause").status_code == 404
