"""A robot made from nothing by verbs, over a manual behind nginx and a directory of an FTP server."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from support.ftp import FtpSite
from support.nginx import nginx_site
from support.project import Ended, Workspace
from support.requirement import require
from support.samples import POLICY

DEFAULTS = files("ultracrawl.dialects.portal_robot") / "defaults"
MANUAL = POLICY / "policy.html"
CATEGORIES = """Classify source=path     by=contains string="/ch-" category="Debian:Policy:Chapters"
Classify source=protocol by=is       string=ftp    category="Files"
Classify source=title    by=contains string=Notes  category="Notes"
"""

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


class Docs:
    """A robot in the folder `docs` of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.config = workspace.directory / "docs" / "config"

    def tell(self, *words: str, code: int = 0) -> Ended:
        ended = self.workspace.command(*words, "-c", "docs/config/robot.conf", timeout=120)
        assert ended.code == code, (words, ended.out, ended.err)
        return ended

    def found(self, category: str, *words: str) -> set[str]:
        where = ("--where", f"Classification={category}", "--limit", "100", "--json")
        return {hit["url"] for hit in self.tell("search", *where, *words).json["hits"]}


@pytest.fixture
def places(tmp_path: Path) -> Iterator[tuple[str, str]]:
    require((MANUAL / "index.html").exists(), f"the Debian policy manual ({MANUAL})", "debian-policy")
    root = tmp_path / "ftp"
    root.mkdir()
    ftp = FtpSite(root)
    ftp.put("pub/notes.html", "<title>Notes on packages</title><h1>Notes</h1><p>how a package is made")
    ftp.put("pub/deep/more.html", "<title>Deeper</title><p>more on how a package is made")
    ftp.put("pub/tool.zip", b"PK")
    ftp.put("private/secret.html", "<title>Secret</title><p>a package of secrets")
    with nginx_site(MANUAL.resolve()) as server, ftp.serve() as files_url:
        yield server.url, files_url


def test_the_shipped_filters_crawl_a_manual_and_an_ftp_directory_found_by_classification(
    workspace: Workspace, places: tuple[str, str]
) -> None:
    manual, directory = places
    robot = Docs(workspace)
    assert workspace.command("robot", "create", "docs", "--email", "me@example.com").code == 0
    assert (robot.config / "filter.conf").read_text() == (DEFAULTS / "filter.conf").read_text()
    robot.tell("robot", "create-site", manual.split("/")[2], "--depth", "3")
    robot.tell("robot", "create-site", directory.split("/")[2], "--start", f"{directory}/pub/")
    (robot.config / "classification.conf").write_text(CATEGORIES)
    properties = robot.config / "robot.conf"
    properties.write_text(properties.read_text().replace("server-delay=1", "server-delay=0"))
    assert [line.split()[0] for line in robot.tell("simulate").out.splitlines() if line[0] != " "] == [
        "ACCEPTED",
        "ACCEPTED",
    ]
    run = robot.tell("crawl", "--json").run
    assert run["outcomes"]["NEW"] >= 40
    assert robot.found("Files", "package") == {
        f"{directory}/pub/notes.html",
        f"{directory}/pub/deep/more.html",
    }
    assert robot.found("Notes", "package") == {f"{directory}/pub/notes.html"}
    chapters = robot.found("Debian:Policy:Chapters", "package")
    assert len(chapters) >= 8
    assert all(url.startswith(f"{manual}/ch-") for url in chapters)
    told = {row["reason"]: row["urls"] for row in robot.tell("robot", "report", "excluded", "--json").lines}
    assert f"{directory}/pub/tool.zip" in [one["url"] for one in told["filter rules"]]
    assert set(told) <= {"filter rules", "site not allowed", "file not found", "duplication", "errors"}
    servers = {row["site"]: row for row in robot.tell("robot", "report", "servers", "--json").lines}
    assert servers[directory.partition("//")[2]]["indexed"] == 2
    again = robot.tell("crawl", "--json").run
    assert "NEW" not in again["outcomes"], "a second run finds everything as it was"
