"""Verbs for directives, properties, classification rules, single starting points and hosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

pytestmark = pytest.mark.processes

COMMENT = "#  the beginning of the text describes a page that has no description of its own\n"


@pytest.fixture
def robot(tmp_path: Path) -> RobotFiles:
    made = RobotFiles(Workspace(tmp_path))
    made.site("http://h.example/")
    return made


def did(robot: RobotFiles, *words: str) -> str:
    ended = robot.command("robot", *words)
    assert ended.code == 0, ended.err
    return ended.out


def directives(robot: RobotFiles, name: str = "generation-default") -> dict[int, tuple[bool, str]]:
    rows = {row["name"]: row for row in robot.command("robot", "list-filters", "--json").lines}
    assert rows["enumeration-default"]["used_as"] == "enumeration"
    return {one["number"]: (one["enabled"], one["directive"]) for one in rows[name]["directives"]}


def number_of(robot: RobotFiles, part: str) -> str:
    return next(str(number) for number, (_, line) in directives(robot).items() if part in line)


def test_directives_are_switched_edited_created_and_deleted(robot: RobotFiles) -> None:
    before = robot.text("filter.conf")
    whole = number_of(robot, "extract-full-text")
    did(robot, "enable-directives", "generation-default", whole)
    assert directives(robot)[int(whole)][0]
    did(robot, "disable-directives", "generation-default", whole)
    assert robot.text("filter.conf") == before
    text = number_of(robot, "extract-html-text")
    did(robot, "edit-directive", "generation-default", text, "truncate=99", "--remove", "type")
    assert directives(robot)[int(text)][1] == (
        "Generate fn=extract-html-text truncate=99 skip-headings=false"
    )
    did(robot, "create-directive", "generation-default", "Data", "fn=filter-by-exact", "src=type", "deny=a/b")
    made = number_of(robot, "filter-by-exact")
    assert int(made) == int(number_of(robot, "convert-to-html type=unknown")) + 1
    did(robot, "delete-directives", "generation-default", made, "--yes")
    after = robot.text("filter.conf")
    assert (COMMENT in after, len(after.splitlines())) == (True, len(before.splitlines()))


@pytest.mark.parametrize(
    "words",
    [
        ("create-directive", "generation-default", "Data", "fn=no-such"),
        ("create-directive", "enumeration-default", "Generate", "fn=extract-html-text"),
        ("edit-directive", "generation-default", "1", "logtype=much"),
        ("delete-directives", "generation-default", "1", "--yes"),
        ("delete-directives", "generation-default", "99"),
        ("enable-directives", "no-such", "1"),
        ("edit-directive", "generation-default", "1", "--remove", "nothing"),
        ("set-properties", "depth=many"),
        ("set-properties", "csid=other"),
        ("set-properties", "dept=3"),
        ("set-properties", "depth"),
        ("create-category", "A", "--by", "regex", "--string", "("),
        ("delete-categories", "99", "--yes"),
        ("edit-category", "1"),
        ("edit-category", "99", "--category", "A"),
        ("edit-category", "1", "--by", "regex", "--string", "("),
        ("edit-site", "h.example", "--disable-start", "http://h.example/other"),
        ("edit-site", "h.example", "--protocol", "https"),
        ("edit-site", "h.example", "--host", "h.example", "--protocol", "gopher"),
    ],
    ids=" ".join,
)
def test_what_would_be_a_mistake_changes_nothing(robot: RobotFiles, words: tuple[str, ...]) -> None:
    before = {path.name: path.read_bytes() for path in robot.config.iterdir()}
    ended = robot.command("robot", *words)
    assert (ended.code, bool(ended.err)) == (2, True)
    assert {path.name: path.read_bytes() for path in robot.config.iterdir()} == before


def test_properties_are_set_and_unset(robot: RobotFiles) -> None:
    robot.write(
        "robot.conf", "<Process csid=x-catalog://h:80/robot\n   # depth=3\n   max-connections=4\n</Process>\n"
    )
    did(robot, "set-properties", "max-concurrent=2", "depth=5", "email=two words")
    assert robot.text("robot.conf") == (
        "<Process csid=x-catalog://h:80/robot\n   # depth=3\n"
        '   max-connections="2"\n   depth="5"\n   email="two words"\n</Process>\n'
    )
    did(robot, "unset-properties", "depth", "max-concurrent")
    assert robot.text("robot.conf") == (
        '<Process csid=x-catalog://h:80/robot\n   # depth=3\n   email="two words"\n</Process>\n'
    )


def test_classification_rules_are_created_listed_edited_and_deleted(robot: RobotFiles) -> None:
    before = robot.text("classification.conf")
    words = ("--source", "path", "--by", "begins-with", "--string", "/hr /")
    did(robot, "create-category", "Siroe:HR", *words)
    did(robot, "create-category", "Other", "--string", "http://h/")
    rows = robot.command("robot", "list-categories", "--json").lines
    assert [(row["source"], row["by"], row["string"], row["category"]) for row in rows[-2:]] == [
        ("path", "begins-with", "/hr /", "Siroe:HR"),
        ("url", "is", "http://h/", "Other"),
    ]
    number = str(rows[-1]["number"])
    did(robot, "edit-category", number, "--category", 'Siroe:"A"', "--by", "contains")
    did(robot, "edit-category", str(rows[-2]["number"]), "--string", "/hr/", "--source", "url")
    rows = robot.command("robot", "list-categories", "--json").lines
    assert [(row["source"], row["by"], row["string"], row["category"]) for row in rows[-2:]] == [
        ("url", "begins-with", "/hr/", "Siroe:HR"),
        ("url", "contains", "http://h/", 'Siroe:"A"'),
    ]
    did(robot, "delete-categories", number, str(rows[-2]["number"]), "--yes")
    assert robot.text("classification.conf") == before


def test_single_starting_points_and_hosts(robot: RobotFiles) -> None:
    did(robot, "edit-site", "h.example", "--start", "http://h.example/new/")
    did(robot, "edit-site", "h.example", "--disable-start", "http://h.example/")
    did(robot, "edit-site", "h.example", "--host", "h.example:8443", "--protocol", "https")
    did(robot, "edit-site", "h.example", "--host", "h.example:8443", "--protocol", "http,https")
    (site,) = robot.command("robot", "list-sites", "--json").lines
    assert [(start["url"], start["enabled"]) for start in site["starts"]] == [
        ("http://h.example/", False),
        ("http://h.example/new/", True),
    ]
    assert [(host["name"], host["port"], host["protocols"]) for host in site["hosts"]] == [
        ("h.example", 8443, ["http", "https"])
    ]
    did(robot, "edit-site", "h.example", "--enable-start", "http://h.example/")
    (site,) = robot.command("robot", "list-sites", "--json").lines
    assert all(start["enabled"] for start in site["starts"])


def test_what_verbs_write_is_what_is_crawled(tmp_path: Path) -> None:
    site = Site()
    site.page("/", title="Home", text="needle", links=["/a"])
    site.page("/a", title="A", text="needle a")
    (tmp_path / "own").mkdir()
    robot = RobotFiles(Workspace(tmp_path / "own"))
    with site.serve() as url:
        robot.site(f"{url}/")
        did(robot, "create-category", "Both", "--source", "path", "--by", "begins-with", "--string", "/")
        did(robot, "set-properties", "depth=0")
        robot.crawl()
        assert [hit["title"] for hit in robot.found("--where", "Classification=Both", "needle")] == ["Home"]
        did(robot, "unset-properties", "depth")
        words = ("create-directive", "generation-default", "Data", "fn=filter-by-exact", "src=path", "deny=/")
        did(robot, *words)
        robot.crawl()
        assert [hit["title"] for hit in robot.found("needle")] == ["A"]


@pytest.mark.parametrize(
    "words",
    [
        ("delete-site", "h.example"),
        ("delete-rule", "archive-files"),
        ("delete-directives", "generation-default", "17"),
        ("delete-categories", "1"),
        ("clear",),
    ],
    ids=" ".join,
)
def test_verbs_that_delete_do_nothing_where_nobody_can_be_asked(
    robot: RobotFiles, words: tuple[str, ...]
) -> None:
    robot.write("classification.conf", 'Classify source=url by=is string="x" category="y"\n')
    before = {path.name: path.read_bytes() for path in robot.config.iterdir()}
    ended = robot.command("robot", *words)
    assert (ended.code, "--yes" in ended.err) == (2, True)
    assert {path.name: path.read_bytes() for path in robot.config.iterdir()} == before
