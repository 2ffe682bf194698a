"""`ultracrawl robot export-rds` and `import-rds`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.sentences import sentence
from support.site import Site

from ultracrawl.rules.filters.soif import read_soif, write_soif

pytestmark = pytest.mark.processes

SOON = {"title": ["Other"], "full-text": ["needle of a partner"], "classification": ["Partner", "Portal"]}


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[RobotFiles]:
    site = Site()
    site.page("/", title="Hömepage", text="needle", head='<meta name="author" content="Jordan">')
    files = RobotFiles(Workspace(tmp_path))
    with site.serve() as url:
        files.site(f"{url}/")
        files.write("classification.conf", 'Classify source=path by=is string=/ category="Site:Home"\n')
        files.crawl()
    return files


def put(robot: RobotFiles, name: str, data: bytes) -> str:
    path = robot.workspace.directory / name
    path.write_bytes(data)
    return str(path)


def hits(robot: RobotFiles, *words: str) -> dict[str, Any]:
    return {str(hit["title"]): hit["attributes"] for hit in robot.found(*words)}


@pytest.mark.parametrize("form", ["soif", "json"])
def test_what_is_exported_is_imported_again(robot: RobotFiles, form: str) -> None:
    told = robot.command("robot", "export-rds", "--format", form, "-o", "out.rds")
    assert "1 description written to out.rds" in told.err
    again = robot.command("robot", "import-rds", "out.rds", "--as", "copy", "--json")
    assert again.json == {"added": 1, "expired": 0, "removed": 0}
    assert len(robot.found("needle")) == 1, "one URL is one hit"
    dumped = {row["source"]: row for row in robot.command("index", "dump").lines}
    copy = dumped.pop("copy")
    (before,) = dumped.values()
    for name in ("Author", "Classification", "MD5", "Depth", "RD_Expires", "Content_Type"):
        assert copy["attributes"][name] == before["attributes"][name], name
    assert copy["title"] == "Hömepage"


def test_soif_on_standard_output(robot: RobotFiles) -> None:
    out = robot.command("robot", "export-rds").out
    ((url, fields),) = read_soif(out.encode())
    assert url.startswith("http://127.0.0.1")
    assert (fields["title"], fields["classification"], fields["author"]) == (
        ["Hömepage"],
        ["Site:Home"],
        ["Jordan"],
    )


@pytest.mark.parametrize("whole", [True, False])
def test_what_is_exported_has_the_language_and_the_fields_of_the_page(
    tmp_path: Path, site: Site, url: str, whole: bool
) -> None:
    body = '<html lang="ja"><head><title></title></head><body><p>\u65e5\u672c\u8a9e needle</p></body></html>'
    headers = {"Content-Type": "text/html; charset=utf-8"}
    site.respond("/", headers=headers, body=body.encode())
    robot = RobotFiles(Workspace(tmp_path))
    robot.site(f"{url}/")
    if whole:
        text = robot.text("filter.conf").replace("enable=false fn=extract-full-text", "fn=extract-full-text")
        robot.write("filter.conf", text)
    for _ in range(2):
        robot.crawl()
        (row,) = robot.command("robot", "export-rds", "--format", "json").lines
        fields = row["fields"]
        assert "title" not in fields, "the page has none"
        assert fields["language"] == ["ja"]
        assert fields.keys() & {"full-text", "partial-text"} == {"full-text" if whole else "partial-text"}
        assert len(robot.found("--where", "Language=ja")) == 1
    ((_, soif),) = read_soif(robot.command("robot", "export-rds").out.encode())
    assert soif == fields


def test_descriptions_of_others_are_found_and_replaced(robot: RobotFiles) -> None:
    two = write_soif("http://p/1", SOON) + write_soif("http://p/2", {**SOON, "title": ["Second"]})
    assert robot.command("robot", "import-rds", put(robot, "p.soif", two), "--as", "partner").code == 0
    assert set(hits(robot, "--where", "Classification=Partner", "needle")) == {"Other", "Second"}
    robot.crawl(code=1)  # the site is down; nothing of this belongs to it
    assert set(hits(robot, "--where", "Classification=Partner", "needle")) == {"Other", "Second"}
    one = put(robot, "p.soif", write_soif("http://p/2", {**SOON, "title": ["Third"]}))
    told = robot.command("robot", "import-rds", one, "--as", "partner", "--replace", "--json")
    assert told.json == {"added": 1, "expired": 0, "removed": 1}
    assert set(hits(robot, "--where", "Classification=Partner", "needle")) == {"Third"}


def test_what_has_expired_is_left_out(robot: RobotFiles) -> None:
    old = {**SOON, "rd-expires": ["Wed, 01 Jan 2020 00:00:00 GMT"]}
    file = put(robot, "p.json", json.dumps({"url": "http://p/1", "fields": old}).encode())
    assert robot.command("robot", "import-rds", file, "--json").json["expired"] == 1


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (write_soif("http://p/1", SOON) + b"@D { http://p/2\na{900}:\tx\n}\n", "line 8, byte"),
        (write_soif("http://p/1", SOON) + b"@D { nowhere\n}\n", "has no whole URL"),
        (b'{"url": "http://p/1", "fields": {"title": ["T"]}}\n{"url": 1}\n', "line 2, byte 50"),
        (b'{"url": "http://p/1"' + b"[" * 100_000, "line 1, byte 0: no JSON"),
        (b"\x89PNG\r\n\x1a\n", "line 1, byte 0"),
    ],
    ids=["lying length", "no URL", "wrong JSON", "deep JSON", "something else"],
)
def test_a_file_with_a_mistake_changes_nothing(robot: RobotFiles, data: bytes, told: str) -> None:
    ended = robot.command("robot", "import-rds", put(robot, "bad", data))
    assert (ended.code, told in ended.err) == (2, True), ended.err
    assert set(hits(robot, "needle")) == {"Hömepage"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["missing.soif"], "cannot be read"),
        (["missing.soif", "--as", "robot"], sentence("robot.source_crawled")),
    ],
    ids=["no file", "a crawled source"],
)
def test_what_cannot_be_imported_is_said(robot: RobotFiles, words: list[str], told: str) -> None:
    ended = robot.command("robot", "import-rds", *words)
    assert (ended.code, told in ended.err) == (2, True)
