"""Who changed what is recorded, from the API and from the command line; no query, no secret, no flood."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from service.api.conftest import Api

from ultracrawl.service.access.failed_logins import FAILURE_WINDOW, MAX_FAILED_LOGINS, FailedLogins
from ultracrawl.service.access.requester import Role
from ultracrawl.sources import Project
from ultracrawl.stores.audit_log import FILE, FILES_KEPT, Actor, record_action


def rows_of(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.logs.path / "audit.jsonl").read_text().splitlines()]


def test_requests_that_change_something_are_recorded(api: Api) -> None:
    begun = len(rows_of(api.project))
    removal = {"decision": "remove", "prefixes": ["http"]}
    asked: list[tuple[str, dict[str, Any], Role]] = [
        ("/sources/site/approvals", {"json": removal}, Role.EDITOR),
        ("/sources/site/start", {}, Role.READER),
        ("/sources/site/start", {}, Role.EDITOR),
        ("/sources/site/start", {}, Role.EDITOR),
        ("/sources/site/pause", {}, Role.EDITOR),
        ("/sources/site/deletions", {"json": {"decision": "discard"}}, Role.EDITOR),
        ("/sources/site/changes", {"json": {"decision": "accept"}}, Role.EDITOR),
        ("/schedules/nightly/launch", {}, Role.ADMINISTRATOR),
        ("/reload", {}, Role.ADMINISTRATOR),
    ]
    for path, options, role in asked:
        api.ask("POST", f"/api/v1{path}", role=role, **options)
    api.get("/search", q="secretwords")
    rows = rows_of(api.project)[begun:]
    assert [(row["who"], row["action"], row["targets"], row["result"], row["status"]) for row in rows] == [
        ("token:editor", "approve", ["site"], "done", 200),
        ("token:reader", "crawl", ["site"], "refused", 403),
        ("token:editor", "crawl", ["site"], "done", 202),
        ("token:editor", "crawl", ["site"], "refused", 409),
        ("token:editor", "pause", ["site"], "done", 202),
        ("token:editor", "approve-deletions", ["site"], "done", 200),
        ("token:editor", "approve-changes", ["site"], "done", 200),
        ("token:administrator", "schedule launch", ["nightly"], "done", 202),
        ("token:administrator", "reload", [], "done", 200),
    ]
    assert (rows[0]["decision"], rows[0]["deleted"], rows[0]["from"]) == ("remove", 3, "127.0.0.1")
    text = (api.project.logs.path / "audit.jsonl").read_text()
    assert "secretwords" not in text
    assert not any(secret in text for secret in api.secrets.values())
    assert (api.project.logs.path / "audit.jsonl").stat().st_mode & 0o777 == 0o600


def test_failed_logins_are_recorded_but_not_each_of_a_flood(api: Api) -> None:
    requests = [("POST", "/api/v1/reload", {})] * (2 * MAX_FAILED_LOGINS)
    begun = len(rows_of(api.project))
    api.ask_all(requests, role=None, token="uc_no_no")
    rows = rows_of(api.project)[begun:]
    assert [(row["who"], row["from"], row["action"], row["result"]) for row in rows] == [
        ("unknown", "127.0.0.1", "log-in", "refused")
    ] * 2


def test_floods_from_many_addresses_are_bounded() -> None:
    now = 0.0
    failures = FailedLogins(lambda: now)
    assert sum(failures.note_failure(f"2001:db8:0:{number:x}::1") for number in range(5000)) == 60
    now = 2 * FAILURE_WINDOW
    assert failures.note_failure("2001:db8:0:1::1")


def test_no_line_is_made_of_what_a_request_says(api: Api) -> None:
    begun = len(rows_of(api.project))
    forged = 'x\n{"who": "user:administrator", "action": "crawl", "targets": ["site"]}\n\u2028\x1b[31m'
    path = f"/api/v1/sources/{quote(forged, safe='')}/start"
    assert api.ask("POST", path, role=Role.READER).status_code == 403
    (row,) = rows_of(api.project)[begun:]
    assert (row["who"], row["targets"], row["result"]) == ("token:reader", [forged], "refused")
    data = (api.project.logs.path / FILE).read_bytes()
    assert data.count(b"\n") == len(data.splitlines()) == begun + 1
    assert data.isascii()
    assert b"\x1b" not in data


def test_verbs_that_change_something_are_recorded(api: Api) -> None:
    workspace, project = api.workspace, api.project
    begun = len(rows_of(project))
    assert rows_of(project)[0]["action"] == "crawl"
    assert rows_of(project)[0]["result"] == "begun"
    workspace.command("token", "create", "portal", "--role", "reader")
    workspace.command("token", "list")
    workspace.command("token", "revoke", "none")
    workspace.command("approve", "site", "--list")
    workspace.command("approve", "site", "--remove", "--prefix", "http")
    workspace.command("search", "secretwords")
    workspace.command("status")
    workspace.command("backup", "../saved.tgz")
    rows = rows_of(project)[begun:]
    assert [(row["action"], row["targets"], row["result"]) for row in rows] == [
        ("token create", ["portal"], "done"),
        ("token revoke", ["none"], "refused"),
        ("approve", ["site"], "done"),
        ("backup", ["../saved.tgz"], "done"),
    ]
    assert all(row["who"].startswith("user:") for row in rows)
    assert (rows[0]["role"], rows[2]["options"], rows[2]["deleted"]) == ("reader", ["remove"], 3)


def test_a_log_that_cannot_be_written_is_reported_and_stops_nothing(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    log = api.project.logs.path / "audit.jsonl"
    log.unlink()
    log.symlink_to("/dev/full")
    assert api.ask("POST", "/api/v1/sources/site/start", role=Role.EDITOR).status_code == 202
    assert "audit.jsonl cannot be written" in caplog.text


def test_full_logs_are_kept_up_to_a_number(api: Api, tmp_path: Path) -> None:
    project = api.project.model_copy(
        update={"logs": api.project.logs.model_copy(update={"path": tmp_path / "logs", "size": 300})}
    )
    for number in range(40):
        record_action(project, Actor("user:ann", "/dev/pts/1"), "crawl", [f"source {number}"])
    files = sorted(os.listdir(tmp_path / "logs"))
    assert files == [*(f"audit.{number}.jsonl" for number in range(1, FILES_KEPT + 1)), "audit.jsonl"]
    assert all((tmp_path / "logs" / name).stat().st_size < 600 for name in files)
    assert rows_of(project)[-1]["targets"] == ["source 39"]
