"""Who sees what is crawled behind a log-in: `lint` says it until the definition does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sources.test_public_sources import BEYOND_PUBLIC, PASSWORD, PLAIN

from ultracrawl.sources import DataSource, load_project
from ultracrawl.sources.checking.access_checks import check_readers, exposure_note

SHARE = {
    "type": "file",
    "paths": ["sftp://reader@files.example.com/srv"],
    "connections": {"sftp://files.example.com": {"password": PASSWORD}},
}
LOG_INS = {
    "logins": ("logins", "a"),
    "authentication": ("authentication", "a"),
    "client_certificates": ("client_certificates", "a"),
    "site_headers": ("site_headers", "a"),
    "ftp": ("ftp", "accounts", "a"),
    "table password": ("password",),
    "table url": ("connection",),
    "mail password": ("password",),
    "mail token": ("token",),
}
EXPOSED = {
    **{name: (BEYOND_PUBLIC[name], path) for name, path in LOG_INS.items()},
    "share": (SHARE, ("paths",)),
}
CLOSED = {
    **PLAIN,
    "any cookies": BEYOND_PUBLIC["cookies"],
    "an intranet": BEYOND_PUBLIC["networks"],
    "an agent names readers": BEYOND_PUBLIC["agent"],
    "permissions": {**SHARE, "permissions": True},
    "a column of readers": {**BEYOND_PUBLIC["table url"], "acl_column": "readers"},
}


def source_of(folder: Path, source: dict[str, Any], **others: Any) -> DataSource:
    path = folder / "ultracrawl.yaml"
    path.write_text(yaml.safe_dump({"sources": {"s": source}, **others}))
    project = load_project(path).project
    assert project is not None
    return project.sources["s"]


@pytest.mark.parametrize(("options", "path"), EXPOSED.values(), ids=EXPOSED)
def test_what_is_read_behind_a_log_in_is_for_everybody_until_the_definition_says_who(
    tmp_path: Path, options: dict[str, Any], path: tuple[str, ...]
) -> None:
    source = source_of(tmp_path, options)
    (finding,) = check_readers(source)
    assert (finding.path, finding.fatal) == (path, False)
    assert finding.problem in exposure_note(source)
    for said in ({"acl": ["staff"]}, {"acl": "everybody"}, {"acl": "required"}, {"public": "confirmed"}):
        source = source_of(tmp_path, {**options, **said})
        assert list(check_readers(source)) == []
        assert exposure_note(source) == ""
    assert list(check_readers(source_of(tmp_path, options, defaults={"acl": ["staff"]}))) == []


@pytest.mark.parametrize("options", CLOSED.values(), ids=CLOSED)
def test_what_needs_no_log_in_or_has_readers_of_its_own_needs_no_word(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    assert list(check_readers(source_of(tmp_path, options))) == []


def test_everybody_is_no_name(tmp_path: Path) -> None:
    source = source_of(tmp_path, {**PLAIN["web"], "acl": "everybody"}, defaults={"acl": ["staff"]})
    assert source.acl == ()
