"""Passwords and proxies of a robot.conf."""

from __future__ import annotations

import base64

import pytest
from support.network import NetworkSite
from support.project import Workspace
from support.proxy import Proxy
from support.resource import Reply
from support.robot import RobotFiles
from support.server import Request
from support.site import Site

from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions

BASIC = "Basic " + base64.b64encode(b"jack:boots").decode()


def protected(site: Site, path: str) -> None:
    def answer(request: Request) -> Reply:
        if request.header("Authorization") == BASIC:
            return Reply(200, (("Content-Type", "text/html"),), b"<title>P</title><p>secretword</p>")
        return Reply(401, (("WWW-Authenticate", 'Basic realm="Staff"'),), b"no")

    site.dynamic(path, answer)


@pytest.fixture
def robot(workspace: Workspace) -> RobotFiles:
    return RobotFiles(workspace)


@pytest.mark.parametrize("password", ["boots", ""], ids=["password", "no password"])
def test_user_and_password_go_to_the_sites_of_the_robot_and_to_no_other(
    site: Site, url: str, robot: RobotFiles, password: str
) -> None:
    other = NetworkSite()
    protected(other, "/staff")
    protected(site, "/staff")
    with other.serve() as elsewhere:
        site.page("/", title="Home", text="needle", links=["/staff", f"{elsewhere}/staff"])
        robot.site(f"{url}/")
        robot.properties(username="jack", **({"password": password} if password else {}))
        robot.crawl()
    assert len(robot.found("secretword")) == (1 if password else 0)
    assert other.count("/staff") >= 1
    assert not any(one.header("Authorization") for one in other.requests)


def test_the_password_of_a_robot_is_in_no_log(site: Site, url: str, robot: RobotFiles) -> None:
    protected(site, "/")
    robot.site(f"{url}/")
    robot.properties(username="jack", password="boots", loglevel=5)
    robot.crawl()
    for path in robot.workspace.directory.rglob("*"):
        if path.is_file() and path.name != "robot.conf":
            assert b"boots" not in path.read_bytes(), path
    assert "boots" not in robot.workspace.command("lint", "config/robot.conf").out


@pytest.mark.parametrize(("kind", "used"), [("manual", True), ("auto", True), ("direct", False)], ids=str)
@pytest.mark.processes
def test_proxy_type_says_whether_the_proxy_is_used(
    site: Site, url: str, robot: RobotFiles, kind: str, used: bool
) -> None:
    site.page("/", title="Home", text="needle")
    robot.site(f"{url}/")
    with Proxy({"127.0.0.1": int(url.rpartition(":")[2])}) as proxy:
        robot.properties(proxy_type=kind, auto_proxy=f"{proxy.url}/")
        robot.crawl()
        assert bool(proxy.heads) is used
    assert len(robot.found("needle")) == 1


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        ({"proxy_type": "auto", "auto_proxy": "http://p.example/proxy.pac"}, "which is not run"),
        ({"proxy_type": "manual"}, "has no effect without auto-proxy"),
        ({"auto_proxy": "http://p.example:3128/"}, "proxy-type is not set"),
        ({"proxy_type": "direct", "auto_proxy": "http://p.example/proxy.pac"}, ""),
        ({"enable_rdm_probe": "true"}, "enable-rdm-probe - has no effect: servers are not asked"),
        (
            {"remote_access": "yes"},
            "remote-access - has no effect: commands from other hosts are not accepted",
        ),
        ({"remote_access": "no"}, ""),
    ],
    ids=["a script", "no proxy", "no type", "direct", "RDM", "remote access", "no remote access"],
)
def test_what_has_no_effect_is_reported(
    url: str, robot: RobotFiles, properties: dict[str, str], told: str
) -> None:
    robot.site(f"{url}/")
    robot.properties(**properties)
    ended = robot.workspace.command("lint", "config/robot.conf")
    assert ended.code == 0
    assert told in ended.out if told else not ended.out


def test_user_and_password_may_stand_in_the_address_of_the_proxy(workspace: Workspace) -> None:
    robot = RobotFiles(workspace)
    robot.site("http://h/")
    robot.properties(auto_proxy="http://me:se%40cret@proxy:3128/", proxy_type="manual")
    (source,) = require(read_definitions(robot.config / "robot.conf")).sources.values()
    (server,) = source.proxy.servers.values()
    assert server.password is not None
    assert (str(server.url), server.user) == ("http://proxy:3128", "me")
    assert server.password.get_secret_value() == "se@cret"
