"""`public`: which sources the public may search, and which of them must confirm it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracrawl.model import Finding
from ultracrawl.sources import Project, load_project

WEB = {"start_urls": ["https://docs.example.com/"]}
PASSWORD = "${PW}"
BEYOND_PUBLIC: dict[str, dict[str, Any]] = {
    "logins": {
        **WEB,
        "logins": {"a": {"page": "https://docs.example.com/login", "fields": {"u": "x", "pw": PASSWORD}}},
    },
    "authentication": {
        **WEB,
        "authentication": {"a": {"url": "https://docs.example.com/", "user": "u", "password": PASSWORD}},
    },
    "client_certificates": {**WEB, "client_certificates": {"a": {"certificate": "tls/client.pem"}}},
    "site_headers": {
        **WEB,
        "site_headers": {"a": {"url": "https://docs.example.com/", "headers": {"Authorization": PASSWORD}}},
    },
    "cookies": {**WEB, "cookies": {"enabled": True}},
    "networks": {**WEB, "boundary": {"networks": ["10.0.0.0/8"]}},
    "ftp": {
        "start_urls": ["ftp://ftp.example.com/"],
        "boundary": {"schemes": ["ftp"]},
        "ftp": {"accounts": {"a": {"host": "ftp.example.com", "user": "u", "password": PASSWORD}}},
    },
    "table password": {
        "type": "table", "connection": "postgresql://reader@db.example.com/t", "password": PASSWORD,
        "table": "pages", "key": ["id"], "text": ["body"],
    },
    "table url": {
        "type": "table", "connection": "postgresql://reader:x@db.example.com/t",
        "table": "pages", "key": ["id"], "text": ["body"],
    },
    "mail password": {
        "type": "mail", "server": "imaps://imap.example.com", "user": "reader", "password": PASSWORD,
    },
    "mail token": {"type": "mail", "server": "imaps://imap.example.com", "user": "reader", "token": PASSWORD},
    "agent": {
        "type": "agent", "class": "support.agent_system.Tracker", "parameters": {"folder": "x", "credential": PASSWORD},
    },
}  # fmt: skip
PLAIN: dict[str, dict[str, Any]] = {
    "web": WEB,
    "file": {"type": "file", "paths": ["/srv/docs"]},
    "table": {
        "type": "table", "connection": "sqlite:///t.db", "table": "pages", "key": ["id"], "text": ["body"],
    },
}  # fmt: skip


def read(folder: Path, **sources: dict[str, Any]) -> tuple[Project | None, list[Finding]]:
    path = folder / "ultracrawl.yaml"
    path.write_text(yaml.safe_dump({"sources": sources}, sort_keys=False))
    loaded = load_project(path)
    return loaded.project or loaded.partial_project, [
        one for one in loaded.findings if one.key.endswith(".public")
    ]


def test_a_source_that_reaches_more_than_the_public_has_to_confirm(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name, options in BEYOND_PUBLIC.items():
        with subtests.test(name):
            project, findings = read(tmp_path, a={"public": True, **options})
            (finding,) = findings
            assert (finding.fatal, finding.key, finding.line) == (True, "sources.a.public", 3)
            assert Path(finding.file).name == "ultracrawl.yaml"
            assert "confirmed" in finding.instead
            assert project is None or project.public_sources == ()
            for more in ({"public": "confirmed"}, {"public": True, "acl": ["staff"]}):
                project, findings = read(tmp_path, a={**options, **more})
                assert findings == []
                assert project is not None
                assert project.public_sources == ("a",)
            for more in ({}, {"public": False}):
                project, findings = read(tmp_path, a={**options, **more})
                assert (findings, project and project.public_sources) == ([], ())


@pytest.mark.parametrize("options", PLAIN.values(), ids=PLAIN)
def test_every_kind_of_source_may_be_public(tmp_path: Path, options: dict[str, Any]) -> None:
    project, findings = read(tmp_path, a={**options, "public": True}, b=options)
    assert findings == []
    assert project is not None
    assert project.public_sources == ("a",)


@pytest.mark.parametrize("value", ["confirmd", 3, None, ["confirmed"], {}])
def test_other_values_are_mistakes(tmp_path: Path, value: object) -> None:
    project, findings = read(tmp_path, a={**WEB, "public": value}, b=WEB | {"public": True})
    assert [(one.key, one.fatal) for one in findings] == [("sources.a.public", True)]
    assert project is None or project.public_sources in {(), ("b",)}


def test_all_sources_at_once_cannot_be_made_public(tmp_path: Path) -> None:
    path = tmp_path / "ultracrawl.yaml"
    path.write_text(yaml.safe_dump({"defaults": {"public": True}, "sources": {"a": WEB}}))
    loaded = load_project(path)
    assert any(one.key == "defaults.public" and one.fatal for one in loaded.findings)


def test_a_source_with_a_mistake_is_not_public(tmp_path: Path) -> None:
    project, _ = read(tmp_path, a={**WEB, "public": True, "dept": 3}, b={**WEB, "public": True})
    assert project is None or project.public_sources == ("b",)
