"""The portal robot as it is shipped, over the policy manual that Debian brings along, behind nginx."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.nginx import nginx_site
from support.project import Workspace
from support.requirement import require
from support.robot import DEFAULTS, RobotFiles
from support.samples import POLICY

MANUAL = POLICY / "policy.html"

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


def test_the_default_filters_describe_a_real_site_by_category(workspace: Workspace, tmp_path: Path) -> None:
    require((MANUAL / "index.html").exists(), f"the Debian policy manual ({MANUAL})", "debian-policy")
    robot = RobotFiles(workspace)
    assert robot.text("filter.conf") == (DEFAULTS / "filter.conf").read_text(), (
        "the filters as they are shipped"
    )
    with nginx_site(MANUAL.resolve()) as server:
        start = server.url
        host = start.split("/")[2]
        robot.write(
            "classification.conf",
            'Classify source=path by=contains string="/ch-"    category="Debian:Policy:Chapters"\n'
            'Classify source=path by=contains string="/ap-"    category="Debian:Policy:Appendices"\n'
            'Classify source=title by=contains string="Policy" category="Debian:Policy"\n',
        )
        made = robot.command("robot", "create-site", host, "--start", start)
        assert "12 rules" in made.out
        assert robot.command("simulate").out.startswith("ACCEPTED")
        run = robot.crawl().run
        again = robot.crawl().run
    assert run["outcomes"]["NEW"] >= 30
    assert "NEW" not in again["outcomes"]
    assert again["status_codes"].get("304", 0) >= 30, "nothing is sent twice"
    chapters = robot.found("--where", "Classification=Debian:Policy:Chapters", "package")
    assert len(chapters) >= 8
    for hit in chapters:
        attributes = hit["attributes"]
        assert isinstance(attributes, dict)
        assert "/ch-" in str(hit["url"])
        assert attributes["RD_Expires"], hit["url"]
        assert len(attributes["MD5"][0]) == 32
        assert attributes["TOC"], hit["url"]
    assert robot.found("--where", "Classification=Debian:Policy:Appendices", "package")
    excluded = {row["reason"] for row in robot.command("robot", "report", "excluded", "--json").lines}
    assert excluded <= {"filter rules", "site not allowed", "file not found", "duplication", "errors"}
