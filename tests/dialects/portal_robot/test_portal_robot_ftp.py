"""A portal robot on an FTP server."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.ftp import FtpSite
from support.project import Workspace
from support.robot import RobotFiles


@pytest.fixture
def ftp(tmp_path: Path) -> FtpSite:
    (tmp_path / "served").mkdir()
    served = FtpSite(tmp_path / "served")
    served.put("pub/index.html", "<title>Home</title><a href=more.html>more</a> needle")
    served.put("pub/more.html", "<title>More</title> needle")
    served.put("pub/deep/far.html", "<title>Far</title> needle")
    served.put("pub/picture.gif", b"GIF89a" + b"\0" * 1000)
    return served


@pytest.fixture
def robot(workspace: Workspace) -> RobotFiles:
    return RobotFiles(workspace)


def test_portal_robot_5_files_of_a_directory_are_described_and_the_directory_is_not(
    ftp: FtpSite, robot: RobotFiles
) -> None:
    with ftp.serve() as url:
        robot.site(f"{url}/pub/", rules="   Use rule=image-files\n")
        robot.crawl()
    rows = robot.urls()
    assert {path for path in rows if rows[path]["outcome"] == "NEW"} == {
        "/pub/index.html", "/pub/more.html", "/pub/deep/far.html",
    }  # fmt: skip
    assert rows["/pub/"]["outcome"] == "LIST"
    assert len(robot.found("needle")) == 3
    assert rows["/pub/picture.gif"]["outcome"] != "NEW", "a filter rule denies its type"


@pytest.mark.parametrize("password", ["boots", ""], ids=["password", "anonymous"])
def test_user_and_password_of_a_robot_are_for_its_ftp_servers_too(
    ftp: FtpSite, robot: RobotFiles, tmp_path: Path, password: str
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret.html").write_text("<title>S</title> secretword")
    ftp.users["jack"] = ("boots", private)
    with ftp.serve() as url:
        robot.site(f"{url}/")
        robot.properties(
            username="jack", email="me@example.com", **({"password": password} if password else {})
        )
        robot.crawl()
    assert len(robot.found("secretword")) == (1 if password else 0)
    assert ftp.got("USER")[0] == ("jack" if password else "anonymous")
