"""The files of a robot as its manual has them, crawled on the hosts that they name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.hosts import Hosts
from support.project import Workspace
from support.resource import Reply

from ultracrawl.sources.dialects import read_definitions

FILES = Path(__file__).with_name("complete")
WWW, SECOND = "www.siroe.com", "www2.siroe.com"
ADDRESS = "10.1.2.3"


@pytest.fixture
def hosts(workspace: Workspace) -> Hosts:
    """The hosts of the files, whose folder is `config` of the workspace."""
    shutil.copytree(FILES, workspace.directory / "config")
    made = Hosts({WWW: ADDRESS, SECOND: ADDRESS, "www.siroe.org": ADDRESS})
    made.links(
        f"{WWW}/",
        "/hr/",
        "/tools.tar.gz",
        "/old.zip",
        f"http://{SECOND}/second",
        "http://www.siroe.org/",
        "/text",
    )
    made.links(f"{WWW}/hr/", "/hr/rules", head='<meta name="author" content="Jordan Lee">')
    made.put(
        f"{WWW}/text", Reply(200, (("Content-Type", "text/plain"),), b"URL: http://www.siroe.com/in-a-text")
    )
    return made


def test_the_site_of_the_files_is_described_and_classified(workspace: Workspace, hosts: Hosts) -> None:
    with hosts.up():
        ended = workspace.crawl("-c", "config/robot.conf")
    described = {f"{WWW}{path}" for path in ("/", "/hr/", "/hr/rules", "/second", "/text")}
    assert set(hosts.asked()) == described
    assert ended.run["indexed"] == len(described)
    (exported,) = [
        row["fields"]
        for row in workspace.command(
            "robot", "export-rds", "--format", "json", "-c", "config/robot.conf"
        ).lines
        if row["url"] == f"http://{WWW}/hr/"
    ]
    assert exported["classification"] == ["Siroe", "Siroe:Human Resources", "People:Jordan"]


@pytest.mark.usefixtures("hosts")
def test_what_the_files_lack_is_said_of_two_of_them(workspace: Workspace) -> None:
    """A filter whose name lacks its quote, and a property that has no effect."""
    loaded = read_definitions(workspace.directory / "config" / "robot.conf")
    assert loaded.project
    found = [(Path(one.file).name, one.line, one.key, one.fatal) for one in loaded.findings]
    assert sorted(found) == [("filter.conf", 1, "name", False), ("robot.conf", 19, "proxy-type", False)]
