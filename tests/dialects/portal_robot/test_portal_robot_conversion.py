"""`convert-to-html` in crawls: what is converted, and what a failed conversion leaves (portal robot 72); gzip (35)."""

from __future__ import annotations

import gzip

import pytest
from support import files
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

BROKEN = {
    "/broken.pdf": (b"%PDF-1.4\nbroken", "application/pdf"),
    "/broken.png": (b"\x89PNG\r\n\x1a\nbroken", "image/png"),
    "/broken.zip": (b"PK\x03\x04broken", "application/zip"),
}
FILTERS = """<Filter name="enumeration-default">
   Enumerate fn=enumerate-urls type=text/html
</Filter>
<Filter name="generation-default">
   {first}
   Data      fn=convert-to-html type=application/pdf
   Generate  fn=extract-html-meta
   Generate  fn=extract-html-text type=text/html
   Generate  fn=extract-source src="content-encoding,type"
</Filter>
"""


@pytest.fixture
def robot(workspace: Workspace, site: Site, url: str) -> RobotFiles:
    made = RobotFiles(workspace)
    made.site(f"{url}/")
    made.write("filter.conf", FILTERS.format(first=""))
    return made


def broken(site: Site) -> None:
    site.page("/", title="Home", text="start", links=list(BROKEN))
    for path, (body, media_type) in BROKEN.items():
        site.file(path, body, media_type)


def outcomes(robot: RobotFiles) -> dict[str, object]:
    return {path: row["outcome"] for path, row in robot.urls().items()}


def test_portal_robot_72_types_without_a_line_are_not_converted_and_broken_files_are_described(
    site: Site, robot: RobotFiles
) -> None:
    broken(site)
    for _ in range(3):
        robot.crawl()
        assert robot.command("status", "--json").json is not None
        exported = robot.command("robot", "export-rds", "--format", "json").lines
        fields = {"/" + row["url"].split("/", 3)[3]: row["fields"] for row in exported}
        assert {path: fields[path]["type"] for path in BROKEN} == {
            path: [media_type] for path, (_, media_type) in BROKEN.items()
        }
    assert set(outcomes(robot).values()) <= {"NEW", "UNMODIFIED", "NOT_MODIFIED"}


def test_portal_robot_72_what_data_denies_is_given_to_no_converter(site: Site, robot: RobotFiles) -> None:
    broken(site)
    site.file("/good.pdf", files.pdf(["needle"], title="Paper"), "application/pdf")
    site.page("/", title="Home", text="start", links=[*BROKEN, "/good.pdf"])
    robot.write("filter.conf", FILTERS.format(first="Data fn=filter-by-prefix src=type deny=application/pdf"))
    robot.properties(loglevel=2)
    robot.crawl()
    rows = robot.urls()
    for path in ("/good.pdf", "/broken.pdf"):
        assert rows[path]["outcome"] == "NOT_INDEXED"
        assert "filter-by-prefix" in str(rows[path]["reason"])
    log = (robot.workspace.directory / "robot/var/log/robot.robot.log").read_text()
    assert "converted" not in log
    assert "stays as it is" not in log


def test_portal_robot_72_a_document_of_the_type_is_converted(site: Site, robot: RobotFiles) -> None:
    site.page("/", title="Home", text="start", links=["/good.pdf"])
    site.file("/good.pdf", files.pdf(["needle in a paper"], title="Paper"), "application/pdf")
    for _ in range(2):
        robot.crawl()
        assert [hit["title"] for hit in robot.found("needle")] == ["Paper"]


def test_portal_robot_10_functions_under_data_run_once_for_a_converted_document(
    site: Site, robot: RobotFiles
) -> None:
    (robot.workspace.directory / "mine.py").write_text(
        "def note(pb, csf, csr):\n"
        "    with open('notes.txt', 'a') as notes:\n"
        "        print(pb['word'], csr.source('path'), file=notes)\n"
    )
    site.page("/", title="Home", text="start", links=["/good.pdf"])
    site.file("/good.pdf", files.pdf(["needle"], title="Paper"), "application/pdf")
    text = FILTERS.format(first="Data fn=note word=before").replace(
        "   Generate  fn=extract-html-meta", "   Data fn=note word=after\n   Generate  fn=extract-html-meta"
    )
    robot.write("filter.conf", f'Setup fn=load-modules module="mine" funcs="note"\n{text}')
    robot.crawl()
    notes = (robot.workspace.directory / "notes.txt").read_text().splitlines()
    assert sorted(notes) == ["after /", "after /good.pdf", "before /", "before /good.pdf"]


@pytest.mark.parametrize("denied", [True, False])
def test_portal_robot_35_content_encoding_is_that_of_the_server(
    site: Site, robot: RobotFiles, denied: bool
) -> None:
    site.page("/", title="Home", text="start", links=["/packed", "/plain"])
    site.page("/plain", title="Plain", text="needle")
    packed = gzip.compress(b"<title>Packed</title><p>needle")
    site.respond("/packed", headers={"Content-Type": "text/html", "Content-Encoding": "gzip"}, body=packed)
    line = "Data fn=filter-by-exact src=content-encoding deny=gzip" if denied else ""
    robot.write("filter.conf", FILTERS.format(first=line))
    for _ in range(2):
        robot.crawl()
        found = {hit["title"] for hit in robot.found("needle")}
        assert found == ({"Plain"} if denied else {"Plain", "Packed"})
    fields = robot.command("robot", "export-rds", "--format", "json").lines
    codings = {row["url"].rsplit("/", 1)[1]: row["fields"].get("content-encoding") for row in fields}
    assert codings == ({"": None, "plain": None} | ({} if denied else {"packed": ["gzip"]}))
