"""Properties of robot.conf, each switched in a real crawl."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

from ultracrawl.dialects.portal_robot.properties import PROPERTIES
from ultracrawl.sources import compile_source, require
from ultracrawl.sources.dialects import read_definitions


@pytest.fixture
def robot(workspace: Workspace) -> RobotFiles:
    return RobotFiles(workspace)


@pytest.fixture
def start(site: Site, url: str, robot: RobotFiles) -> str:
    site.page("/", title="Home", text="needle", links=["/a"])
    site.page("/a", title="A", text="needle in a")
    robot.site(f"{url}/")
    return f"{url}/"


@pytest.mark.parametrize(
    ("properties", "sent"),
    [
        ({}, (None, None)),
        ({"referer": "http://portal.example/"}, ("http://portal.example/", None)),
        ({"email": "me@example.com"}, (None, "me@example.com")),
    ],
    ids=["default", "referer", "email"],
)
def test_headers_of_every_request(
    site: Site,
    start: str,
    robot: RobotFiles,
    properties: dict[str, str],
    sent: tuple[str | None, str | None],
) -> None:
    robot.properties(**properties)
    robot.crawl()
    assert {(one.headers.get("referer"), one.headers.get("from")) for one in site.requests} == {sent}


@pytest.mark.parametrize("enable", ["true", "false"])
def test_enable_ip_puts_the_address_into_the_description(start: str, robot: RobotFiles, enable: str) -> None:
    robot.properties(enable_ip=enable)
    robot.crawl()
    attributes = [hit["attributes"] for hit in robot.found("needle")]
    addresses = [one.get("IP") for one in attributes if isinstance(one, dict)]
    assert addresses == [["127.0.0.1"] if enable == "true" else None] * 2


def test_portal_robot_33_a_filter_by_address_denies_before_the_fetch(
    site: Site, start: str, robot: RobotFiles
) -> None:
    denying = "MetaData  fn=filter-by-prefix src=IP deny=127.\n   MetaData  fn=filterrules-process"
    text = robot.text("filter.conf").replace("MetaData  fn=filterrules-process", denying)
    robot.write("filter.conf", text)
    robot.crawl(code=1)
    assert site.count("/") == 0


def test_smart_host_heuristics_folds_urls_and_sites(robot: RobotFiles) -> None:
    robot.site("http://www2.siroe.com/")
    robot.properties(smart_host_heuristics="true")
    source, project = _source(robot.config / "robot.conf")
    rules = compile_source(source, project)
    assert rules.seeds == ("http://www.siroe.com/",)
    canonical = rules.url_policy.canonical
    assert canonical("http://WWW17.siroe.com:8080/a") == "http://www.siroe.com:8080/a"
    assert canonical("http://www-2.siroe.com/") == "http://www-2.siroe.com/"
    assert canonical("http://x.siroe.com/http://www2.a/") == "http://x.siroe.com/http://www2.a/"
    told = robot.command("simulate", "http://www3.siroe.com/", "--no-dns", "--no-redirects")
    assert told.out.startswith("ACCEPTED"), "the site that names www2 covers www3 as well"


def test_a_robot_crawls_any_port(robot: RobotFiles) -> None:
    robot.site("http://www.siroe.com/")
    source, project = _source(robot.config / "robot.conf")
    assert compile_source(source, project).boundary.rejects("http://www.siroe.com:8000/") is None


def test_without_smart_host_heuristics_hosts_are_what_they_are(robot: RobotFiles) -> None:
    robot.site("http://www2.siroe.com/")
    source, project = _source(robot.config / "robot.conf")
    assert compile_source(source, project).seeds == ("http://www2.siroe.com/",)
    told = robot.command("simulate", "http://www3.siroe.com/", "--no-dns", "--no-redirects")
    assert told.out.startswith("WARNING")


def _source(location: Path):  # type: ignore[no-untyped-def]  # what it returns is seen in one line
    project = require(read_definitions(location))
    (source,) = project.sources.values()
    return source, project


def test_index_after_ngenerated_is_how_long_descriptions_wait(robot: RobotFiles) -> None:
    robot.site("http://www.siroe.com/")
    assert require(read_definitions(robot.config / "robot.conf")).index.every == 1800
    robot.properties(index_after_ngenerated=3)
    assert require(read_definitions(robot.config / "robot.conf")).index.every == 180


def test_bindir_goes_ahead_of_path_for_programs(start: str, robot: RobotFiles) -> None:
    folder = robot.workspace.directory / "lib" / "gatherer"
    folder.mkdir(parents=True)
    (folder / "HTML.sum").write_text("#!/bin/sh\necho 'department: found by bindir'\n")
    (folder / "HTML.sum").chmod(0o755)
    lines = (
        "Generate  fn=harvest-summarizer summarizer=HTML.sum\n"
        "   Generate  fn=rename-attribute src=department->keywords"
    )
    robot.write("filter.conf", robot.text("filter.conf").replace("Generate  fn=generate-rd-expires", lines))
    robot.properties(bindir="lib/gatherer")
    home = {"HARVEST_HOME": str(robot.workspace.directory)}
    ended = robot.workspace.command("crawl", "-c", "config/robot.conf", **home)
    assert ended.code == 0, ended.err
    (hit, *_) = robot.found("needle")
    attributes = hit["attributes"]
    assert isinstance(attributes, dict)
    assert attributes["Keywords"] == ["found by bindir"]


SET = {
    "csid": ("x-catalog://h:80/other", "x-catalog://h:80/other"),
    "cmd-hook": ("true done", ("true", "done")),
    "connect-timeout": (7, 7.0),
    "convert-timeout": (9, 9.0),
    "enable-ip": ("false", False),
    "enable-robots-txt": ("false", False),
    "enumeration-filter": ("generation-free", "generation-free"),
    "generation-filter": ("all", "all"),
    "loglevel": (3, 3),
    "max-concurrent": (3, 3),
    "onCompletion": ("loop", "loop"),
    "referer": ("http://portal.example/", "http://portal.example/"),
    "server-delay": (4, 4.0),
    "site-max-concurrent": (5, 5),
    "smart-host-heuristics": ("true", True),
    "max-classifications": (2, 2),
}
FURTHER_FILTERS = """
<Filter name="generation-free">
   Enumerate fn=enumerate-urls
</Filter>
<Filter name="all">
   Generate fn=extract-full-text
</Filter>
"""


def test_every_property_that_sets_an_option_has_a_case() -> None:
    assert {one.name for one in PROPERTIES.values() if one.sets} == SET.keys()


@pytest.mark.parametrize(("name", "case"), SET.items(), ids=[f"portal_robot_122-{name}" for name in SET])
def test_a_property_sets_its_option(robot: RobotFiles, name: str, case: tuple[object, object]) -> None:
    """Without the property, the option has the documented default; with it, what it says."""
    robot.site("http://www.siroe.com/")
    robot.write("filter.conf", robot.text("filter.conf") + FURTHER_FILTERS)
    known, (written, expected) = PROPERTIES[name], case
    robot.write("robot.conf", "<Process\n</Process>\n")
    before = _option(robot, known.sets or "")
    assert before in (known.default, known.default or None, known.default or ())
    robot.properties(
        **{"csid": "x-catalog://h:80/a", "onCompletion": "idle", name.replace("-", "_"): written}
    )
    assert _option(robot, known.sets or "") == expected != before


def _option(robot: RobotFiles, path: str) -> object:
    """Return an option of the robot's source by its dotted path."""
    found, _ = _source(robot.config / "robot.conf")
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else getattr(found, key)
    return found


@pytest.mark.parametrize(("seconds", "outcome"), [(100, "NETWORK_ERROR"), (1000, "NEW")])
def test_portal_robot_124_connect_timeout_is_how_long_an_answer_is_awaited(
    site: Site, start: str, robot: RobotFiles, seconds: int, outcome: str
) -> None:
    site.slow("/a", 250.0, text="needle in a")
    robot.properties(connect_timeout=seconds)
    robot.command("crawl", "--json")
    assert robot.urls()["/a"]["outcome"] == outcome


@pytest.mark.parametrize(("seconds", "outcome"), [(100, "NETWORK_ERROR"), (1000, "NEW")])
def test_portal_robot_124_connect_timeout_holds_for_robots_txt(
    site: Site, start: str, robot: RobotFiles, seconds: int, outcome: str
) -> None:
    site.slow("/robots.txt", 500.0)
    robot.properties(connect_timeout=seconds)
    robot.command("crawl", "--json")
    assert robot.urls()["/"]["outcome"] == outcome


@pytest.mark.parametrize(("most", "described"), [(2, 1), (20, 2)])
def test_max_filesize_kb_is_the_size_of_the_largest_file(
    site: Site, start: str, robot: RobotFiles, most: int, described: int
) -> None:
    site.page("/a", title="A", text="needle in a " * 500)
    robot.properties(max_filesize_kb=most)
    robot.command("crawl", "--json")
    assert len(robot.found("needle")) == described
