"""`schema.conf`: the types of fields of descriptions, and which of them every search finds words of."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

from ultracrawl.dialects.portal_robot.reader import read_robot
from ultracrawl.dialects.portal_robot.schema_file import read_schema
from ultracrawl.sources import definition_text, require
from ultracrawl.sources.dialects import read_definitions

HEAD = (
    '<meta name="author-name" content="%s"><meta name="price" content="%s"><meta name="area" content="Sales">'
)
SCHEMA = "Field name=author-name searched=on\nField name=price type=number\n"


@pytest.fixture
def robot(tmp_path: Path, site: Site, url: str) -> RobotFiles:
    site.page("/", links=["/b"], text="one heron", head=HEAD % ("Jordan Lee", "9.5"))
    site.page("/b", text="another heron", head=HEAD % ("Ann Roe", "20"))
    made = RobotFiles(Workspace(tmp_path))
    made.site(f"{url}/")
    return made


def paths(robot: RobotFiles, *words: str) -> list[str]:
    return sorted("/" + str(hit["url"]).split("/", 3)[3] for hit in robot.found(*words))


@pytest.mark.processes
def test_words_of_a_searched_field_are_found_by_any_search(robot: RobotFiles) -> None:
    robot.crawl()
    assert paths(robot, "jordan") == []
    robot.write("schema.conf", SCHEMA)
    robot.crawl()
    assert paths(robot, "jordan") == paths(robot, '"jordan lee"') == paths(robot, "jordan heron") == ["/"]
    assert paths(robot, "sales") == [], "the schema does not name this field"
    robot.write("schema.conf", SCHEMA.replace("searched=on", "searched=off"))
    robot.crawl()
    assert paths(robot, "jordan") == []


@pytest.mark.processes
def test_fields_have_the_types_and_the_names_of_the_schema(robot: RobotFiles) -> None:
    robot.write("schema.conf", SCHEMA)
    robot.crawl()
    assert paths(robot, "heron", "--where", "price>10") == ["/b"]
    assert paths(robot, "heron", "--where", "author-name=jordan lee") == ["/"]
    assert paths(robot, "Author_Name:ann") == ["/b"]
    assert paths(robot, "heron", "--where", "area=sales") == ["/", "/b"], "others are found as before"
    assert paths(robot, "heron", "--where", "content-type=text/html") == ["/", "/b"]
    assert [hit["attributes"]["Price"] for hit in robot.found("heron", "--sort", "price")] == [[9.5], [20.0]]
    exported = robot.command("robot", "export-rds", "--format", "json").lines
    assert sorted(row["fields"]["author-name"][0] for row in exported) == ["Ann Roe", "Jordan Lee"]


def test_a_robot_with_a_schema_is_the_same_in_yaml(robot: RobotFiles, tmp_path: Path) -> None:
    robot.write("schema.conf", SCHEMA + "Field name=author searched=on\n")
    project = require(read_definitions(robot.config / "robot.conf"))
    (tmp_path / "ultracrawl.yaml").write_text(definition_text(project, tmp_path))
    same = require(read_definitions(tmp_path / "ultracrawl.yaml"))
    assert same.schema_attributes == project.schema_attributes
    for one in (project, same):
        searched = {name for name, attribute in one.schema_attributes.items() if attribute.searched}
        assert searched == {"Author", "Author_Name"}


@pytest.mark.parametrize(
    ("line", "key", "fatal"),
    [
        ("Feild name=a", "Feild", True),
        ("Field name=a sort=on", "sort", True),
        ("Field type=string", "name", True),
        ("Field name=9a", "name", True),
        ("Field name=a type=text", "type", True),
        ("Field name=depth type=string", "type", True),
        ("Field name=a searched=perhaps", "searched", True),
        ("Field name=a type=date searched=on", "searched", True),
        ("Field name=author\nField name=author", "name", True),
        ("<Fields>\n</Fields>", "fields", True),
        ("Field name=title searched=on", "name", False),
    ],
)
def test_a_mistake_is_one_finding_in_its_line(robot: RobotFiles, line: str, key: str, fatal: bool) -> None:
    robot.write("schema.conf", f"# fields\n{line}\n")
    (found,) = read_robot(robot.config / "robot.conf").findings
    assert (found.file, found.key, found.fatal) == (str(robot.config / "schema.conf"), key, fatal)
    assert found.line == (3 if line.count("Field name=author") == 2 else 2)


def test_fields_that_differ_in_signs_fill_one_attribute() -> None:
    schema, read = read_schema("Field name=dc.date type=date\nField name=dc-date type=date\n")
    assert read.findings == []
    assert (schema.fields["dc.date"], schema.fields["dc-date"]) == ("Dc_Date", "Dc_Date")
    assert schema.attributes["Dc_Date"] == "date"
    _, read = read_schema("Field name=dc.date type=date\nField name=dc-date type=string\n")
    assert [finding.line for finding in read.findings] == [2]
