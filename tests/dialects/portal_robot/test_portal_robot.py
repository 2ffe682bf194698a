"""A robot.conf in real crawls: the two filters decide what is fetched, enumerated and described."""

from __future__ import annotations

import pytest
from support import files
from support.project import Workspace
from support.robot import RobotFiles
from support.sentences import sentence
from support.site import Site

FILTERS = """<Filter name="e">
{e}
</Filter>
<Filter name="g">
{g}
</Filter>
"""


@pytest.fixture
def robot(workspace: Workspace) -> RobotFiles:
    return RobotFiles(workspace)


@pytest.fixture
def pages(site: Site) -> Site:
    site.page("/", title="Home", text="welcome needle", links=["/a", "/b.zip", "/deep/c"])
    site.page("/a", title="A", text="needle in a", links=["/a/1"])
    site.page("/a/1", title="A1", text="needle in a1")
    site.page("/deep/c", title="C", text="needle in c", head='<meta name="author" content="Jordan">')
    site.page("/b.zip", title="B", text="needle in b")
    return site


def filters(
    robot: RobotFiles, e: str = "Enumerate fn=enumerate-urls", g: str = "Generate fn=extract-html-text"
) -> None:
    robot.write("filter.conf", FILTERS.format(e=e, g=f"{g}\nGenerate fn=extract-html-meta"))
    robot.properties(enumeration_filter="e", generation_filter="g")


def test_the_default_filters_make_descriptions(pages: Site, url: str, robot: RobotFiles) -> None:
    robot.site(f"{url}/", rules="   Use rule=archive-files\n")
    robot.write("classification.conf", 'Classify source=path by=begins-with string=/deep category="Deep:C"\n')
    run = robot.crawl().run
    assert run["outcomes"] == {"NEW": 4, "REJECTED": 1}
    assert run["rejected_by"] == {"filter rules": 1}
    assert pages.count("/b.zip") == 0, "portal_robot_11: denied by both filters before the fetch"
    assert all(pages.count(path) == 1 for path in ("/", "/a", "/a/1", "/deep/c")), "portal_robot_12"
    (hit,) = robot.found("--where", "Classification=Deep:C", "needle")
    attributes = hit["attributes"]
    assert isinstance(attributes, dict)
    assert (hit["title"], attributes["Author"], attributes["Depth"]) == ("C", ["Jordan"], [1.0])
    assert len(attributes["MD5"][0]) == 32


def test_portal_robot_2_3_enumeration_and_generation_decide_apart(
    pages: Site, url: str, robot: RobotFiles
) -> None:
    filters(
        robot,
        e="MetaData fn=filter-by-exact src=path deny=/a\nEnumerate fn=enumerate-urls",
        g="MetaData fn=filter-by-exact src=path deny=/\nGenerate fn=extract-html-text",
    )
    robot.site(f"{url}/")
    robot.crawl()
    rows = robot.urls()
    assert {path: row["outcome"] for path, row in rows.items()} == {
        "/": "NOT_INDEXED",
        "/a": "NEW",
        "/b.zip": "NEW",
        "/deep/c": "NEW",
    }
    assert "filter-by-exact" in str(rows["/"]["reason"])


def test_a_filter_that_denies_in_data_has_the_page_fetched_once(
    pages: Site, url: str, robot: RobotFiles
) -> None:
    filters(robot, g="Data fn=filter-by-exact src=author deny=Jordan\nGenerate fn=extract-html-text")
    robot.site(f"{url}/")
    robot.crawl()
    assert robot.urls()["/deep/c"]["outcome"] == "NOT_INDEXED"
    assert pages.count("/deep/c") == 1


@pytest.mark.parametrize(
    ("source", "depth", "expected"),
    [(10, "", 5), (0, "", 1), (1, "", 4), (1, "-1", 5), (10, "0", 1)],
    ids=["portal_robot_117", "start only", "portal_robot_43", "portal_robot_116", "portal_robot_115"],
)
def test_depth(pages: Site, url: str, robot: RobotFiles, source: int, depth: str, expected: int) -> None:
    filters(robot)
    robot.properties(depth=source, enumeration_filter="e", generation_filter="g")
    robot.site(f"{url}/", depth=depth)
    assert robot.crawl().run["outcomes"]["NEW"] == expected


def test_portal_robot_106_only_enabled_sites_are_visited(pages: Site, url: str, robot: RobotFiles) -> None:
    pages.page("/", title="Home", text="needle", links=["http://127.0.0.9/x"])
    robot.site(f"{url}/")
    run = robot.crawl().run
    assert run["rejected_by"] == {"site not allowed": 1}
    row = robot.urls()["/x"]
    assert (row["outcome"], row["reason"]) == (
        "REJECTED",
        sentence("robot.no_site_covers_address"),
    )


@pytest.mark.parametrize("enable", [None, "off"], ids=["no site", "a site that is off"])
def test_portal_robot_132_without_a_site_nothing_starts(
    url: str, robot: RobotFiles, enable: str | None
) -> None:
    if enable:
        robot.site(f"{url}/", enable=enable)
    ended = robot.command("crawl")
    assert ended.code == 2
    assert "Starting Points: 0 defined" in ended.err


def test_portal_robot_114_starting_points_of_robot_conf(pages: Site, url: str, robot: RobotFiles) -> None:
    filters(robot)
    robot.properties(start=f"{url}/a", enumeration_filter="e", generation_filter="g")
    assert robot.crawl().run["outcomes"]["NEW"] == 2


def test_portal_robot_15_16_the_filters_that_robot_conf_names(url: str, robot: RobotFiles) -> None:
    filters(robot)
    robot.site(f"{url}/")
    robot.properties(enumeration_filter="e", generation_filter="h")
    ended = robot.command("crawl")
    assert ended.code == 2
    assert sentence("robot.no_such_filter") in ended.err


def test_portal_robot_65_82_a_second_run_finds_no_duplicates_of_itself(
    pages: Site, url: str, robot: RobotFiles
) -> None:
    pages.page("/a/1", title="A", text="needle in a", links=["/a/1"])
    robot.site(f"{url}/")
    first = robot.crawl().run["outcomes"]
    assert first == {"NEW": 4, "NOT_INDEXED": 1}
    assert robot.crawl().run["outcomes"].get("NEW", 0) == 0


def test_portal_robot_125_the_address_goes_with_the_user_agent(
    pages: Site, url: str, robot: RobotFiles
) -> None:
    robot.properties(email="me@example.com", user_agent="iPlanetRobot/4.0")
    robot.site(f"{url}/")
    robot.crawl()
    assert pages.requests[-1].headers["user-agent"] == "iPlanetRobot/4.0 (me@example.com)"


def test_portal_robot_152_functions_of_your_own(pages: Site, url: str, robot: RobotFiles) -> None:
    (robot.workspace.directory / "mine.py").write_text(
        "def tag(pb, csf, csr):\n    csr.rd['keywords'] = [pb['word'] + csr.source('path')]\n"
    )
    filters(robot, g="Generate fn=extract-html-text\nGenerate fn=tag word=x")
    robot.write(
        "filter.conf", 'Setup fn=load-modules module="mine" funcs="tag"\n' + robot.text("filter.conf")
    )
    robot.site(f"{url}/a/1")
    robot.workspace.command("crawl", "-c", "config/robot.conf")
    (hit,) = robot.found("needle")
    attributes = hit["attributes"]
    assert isinstance(attributes, dict)
    assert attributes["Keywords"] == ["x/a/1"]


def test_mistakes_in_all_four_files_are_said_at_once(url: str, robot: RobotFiles) -> None:
    robot.properties(loglevel=9)
    robot.write("filter.conf", robot.text("filter.conf").replace("fn=generate-md5", "fn=generate-md6"))
    robot.write("filterrules.conf", "<Site name=a kind=huge>\n</Site>")
    robot.write("classification.conf", "Classify by=regex string=( category=c")
    ended = robot.workspace.command("lint", "config/robot.conf")
    assert ended.code == 2
    for name, line in [
        ("robot.conf", 5),
        ("filter.conf", 18),
        ("filterrules.conf", 1),
        ("classification.conf", 1),
    ]:
        assert f"config/{name}:{line} - " in ended.out


@pytest.mark.parametrize("name", ["filter.conf", "filterrules.conf"])
def test_a_file_that_is_missing_is_said(url: str, robot: RobotFiles, name: str) -> None:
    (robot.config / name).unlink()
    ended = robot.command("crawl")
    assert (ended.code, f"config/{name} - file - cannot be read" in ended.err) == (2, True)


@pytest.mark.parametrize("converts", [True, False])
def test_portal_robot_72_a_document_is_converted_for_the_filters_that_ask_for_it(
    site: Site, url: str, robot: RobotFiles, converts: bool
) -> None:
    site.page("/", title="Home", links=["/paper.pdf"])
    site.file("/paper.pdf", files.pdf(["needle in a paper"], title="The paper"), "application/pdf")
    convert = "Data fn=convert-to-html type=application/pdf\n" if converts else ""
    filters(
        robot, g=f"Data fn=assign-source dst=type src=content-type\n{convert}Generate fn=extract-html-text"
    )
    robot.site(f"{url}/")
    run = robot.crawl().run
    assert run["outcomes"] == {"NEW": 2}
    titles = [hit["title"] for hit in robot.found("needle")]
    assert titles == ["The paper" if converts else ""], "without, its bytes are taken as they are"


def test_robot_state_dir_holds_the_data(pages: Site, url: str, robot: RobotFiles) -> None:
    filters(robot)
    robot.properties(enumeration_filter="e", generation_filter="g", robot_state_dir="elsewhere/data")
    robot.site(f"{url}/")
    robot.crawl()
    assert len(robot.found("needle")) == 5
    assert (robot.workspace.directory / "elsewhere/data").is_dir()
    assert not (robot.workspace.directory / "robot").exists()


def test_the_filters_of_a_definition_are_found_from_its_folder(
    pages: Site, url: str, workspace: Workspace
) -> None:
    folder = workspace.directory / "conf"
    folder.mkdir()
    text = FILTERS.format(e="Enumerate fn=enumerate-urls", g="Generate fn=extract-html-meta")
    (folder / "filter.conf").write_text(text)
    filters = {"file": "filter.conf", "enumeration": "e", "generation": "g"}
    workspace.define(f"{url}/", filters=filters, sitemaps={"use": False})
    (workspace.directory / "ultracrawl.yaml").rename(folder / "ultracrawl.yaml")
    assert workspace.crawl("-c", "conf/ultracrawl.yaml").run["outcomes"] == {"NEW": 5}
    shown = workspace.command("convert", "conf/ultracrawl.yaml").out
    assert "file: filter.conf\n" in shown, "as it was"


@pytest.mark.parametrize(
    ("obeyed", "indexed", "asked"), [("yes", 2, 0), ("no", 4, 1)], ids=["obeyed", "not obeyed"]
)
def test_the_wishes_of_a_page_hold_whatever_filters_say(
    site: Site, url: str, robot: RobotFiles, obeyed: str, indexed: int, asked: int
) -> None:
    site.page("/", title="Home", text="needle", links=["/a", "/b"])
    site.page("/a", title="A", text="needle a", head='<meta name="robots" content="noindex">')
    site.page("/b", title="B", text="needle b", head='<meta name="robots" content="nofollow">', links=["/c"])
    site.page("/c", title="C", text="needle c")
    robot.site(f"{url}/")
    robot.properties(enable_robots_txt=obeyed)
    robot.crawl()
    assert len(robot.found("needle")) == indexed
    assert site.count("/c") == asked
    reasons = {row["reason"] for row in robot.command("robot", "report", "excluded", "--json").lines}
    assert (reasons == set()) == (obeyed == "no"), reasons
