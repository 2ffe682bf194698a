"""The coming day and its schedules, statistics of queries, and the audit log."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from service.pages.admin.conftest import Administration, led_to, texts
from support.in_process import InProcessWorkspace

from ultracrawl.model import ScheduleStatus
from ultracrawl.service.access.requester import Role
from ultracrawl.service.orders import ScheduleState
from ultracrawl.stores.audit_log import FILE, Actor, record_action

LEAST_ROLES = {
    "/admin/schedules": Role.READER,
    "/admin/queries": Role.EDITOR,
    "/admin/queries?without_answers=true": Role.EDITOR,
    "/admin/audit": Role.ADMINISTRATOR,
    "/admin/audit.csv": Role.ADMINISTRATOR,
}


@pytest.mark.parametrize("path", LEAST_ROLES)
def test_a_page_needs_a_session_and_its_role(administration: Administration, path: str) -> None:
    assert administration.status(path, None) == 303
    for role in Role:
        expected = 200 if role.allows(LEAST_ROLES[path]) else 403
        assert administration.status(path, role) == expected, role


def test_the_coming_day_has_the_crawls_of_each_source(workspace: InProcessWorkspace, url: str) -> None:
    workspace.write(
        {
            "sources": {
                "hourly": {"start_urls": [f"{url}/"], "refresh": {"interval": "6 h"}},
                "nightly": {"start_urls": [f"{url}/"]},
            },
            "schedules": {"night": {"sources": ["nightly"], "every": "day", "at": "03:00"}},
        }
    )
    administration = Administration(workspace)
    rows = {
        row[0]: row
        for row in (
            texts(one, "td, th") for one in administration.get("/admin/schedules").cssselect("tbody tr")
        )
    }
    assert rows["hourly"][3] == "4"
    assert (rows["nightly"][1], rows["nightly"][3]) == ("night", "1")


@pytest.mark.parametrize("order", ["launch", "disable"])
def test_schedules_are_steered_by_administrators(administration: Administration, order: str) -> None:
    timed = administration.supervisor.timed
    timed["night"] = ScheduleState("night", ("site",), ScheduleStatus.SCHEDULED)
    path = f"/admin/schedules/night/{order}"
    assert administration.send(path, None).status_code == 303
    assert administration.send(path, Role.EDITOR).status_code == 403
    assert administration.browser().ask("POST", path).status_code == 403
    assert (timed["night"].status, administration.supervisor.orders) == (ScheduleStatus.SCHEDULED, [])
    assert led_to(administration.send(path)) == "/admin/schedules"
    done = ("launch", "night") in administration.supervisor.orders
    assert done if order == "launch" else timed["night"].status is ScheduleStatus.DISABLED
    assert administration.send("/admin/schedules/nothing/launch").status_code == 404
    assert administration.send("/admin/schedules/night/nonsense").status_code == 400


def test_buttons_of_schedules_are_those_of_administrators(administration: Administration) -> None:
    administration.supervisor.timed["night"] = ScheduleState("night", ("site",), ScheduleStatus.SCHEDULED)
    assert texts(administration.get("/admin/schedules"), ".orders button") == ["Launch", "Disable"]
    assert not administration.get("/admin/schedules", Role.EDITOR).cssselect(".orders")


def test_the_audit_log_shows_the_newest_first_by_one_or_all(administration: Administration) -> None:
    project = administration.project
    for number in range(120):
        record_action(project, Actor("token:portal", "10.0.0.7"), "crawl", [f"source {number}"])
    administration.browser()
    record_action(project, Actor("user:=cmd()", "<script>"), "approve", ["=1+1"])
    with (project.logs.path / FILE).open("ab") as file:
        file.write(b"no json\n[]\n")
    page = administration.get("/admin/audit")
    first = page.cssselect("tbody tr")
    assert "=1+1" in first[0].text_content()
    assert len(first) == 100
    assert administration.get(page.cssselect(".pages a[rel=next]")[0].get("href")).cssselect("tbody tr")
    one = administration.get("/admin/audit?who=token:portal")
    assert set(texts(one, "tbody td:nth-child(2)")) == {"token:portal"}
    rows = list(csv.DictReader(StringIO(administration.browser().get("/admin/audit.csv").text)))
    assert (rows[0]["targets"], rows[0]["who"]) == ("'=1+1", "user:=cmd()")
