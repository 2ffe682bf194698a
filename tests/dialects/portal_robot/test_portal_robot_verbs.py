"""A robot.conf stands wherever `-c` does: each verb does its work on it, or says in one line why not."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site


@pytest.fixture
def robot(workspace: Workspace, site: Site, url: str) -> RobotFiles:
    site.page("/", title="Home", text="needle", links=["/a", "/b.zip", "http://127.0.0.9/"])
    site.page("/a", title="A", text="needle in a")
    files = RobotFiles(workspace)
    files.site(f"{url}/", rules="   Use rule=archive-files\n")
    return files


@pytest.mark.processes
def test_every_verb_takes_a_robot(robot: RobotFiles, url: str) -> None:
    """One crawl, and then all verbs over it: what each prints is about this robot."""
    robot.crawl()
    expected = {
        ("search", "needle"): "2 of 2 documents",
        ("status",): "robot: idle; 4 URLs known, 2 indexed",
        ("urls",): f"{url}/a",
        ("queue",): f"{url}/a",
        ("plan",): "4  stay",
        ("explain", f"{url}/a"): "would be crawled",
        ("explain", f"{url}/new.zip"): "both deny it: filter rules: 127.0.0.1: archive-files",
        ("index", "info"): "2 documents",
        ("simulate",): "ACCEPTED",
        ("robot", "status"): "2  descriptions in the index",
        ("robot", "report", "servers"): "127.0.0.9",
        ("robot", "export-rds"): "@DOCUMENT { ",
    }
    for words, told in expected.items():
        ended = robot.command(*words)
        assert (ended.code, ended.err) == (0, ""), (words, ended.err)
        assert told in ended.out, words


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("lint",), 0, ""),
        (("reindex",), 2, "no documents of robot are stored"),
        (("export", "--warc", "x.warc"), 2, "stored"),
        (("pause", "robot"), 2, "is not being crawled"),
        (("stop", "robot"), 2, "is not being crawled"),
        (("resume", "robot"), 2, "is not being crawled"),
        (("search", "--where", "Price>3", "x"), 2, "Price"),
        (("crawl", "nobody"), 2, "no source is named 'nobody'; the sources are: robot"),
        (("approve", "robot"), None, ""),
        (("screened",), 0, "keeps no such log"),
    ],
    ids=["lint", "reindex", "export", "pause", "stop", "resume", "search", "crawl", "approve", "screened"],
)
def test_what_a_verb_cannot_do_is_one_line(
    robot: RobotFiles, words: tuple[str, ...], code: int | None, told: str
) -> None:
    place = ("config/robot.conf",) if words == ("lint",) else ("-c", "config/robot.conf")
    ended = robot.workspace.command(*words, *place)
    assert code is None or ended.code == code, ended.err
    assert ended.err.count("\n") <= 1, ended.err
    assert "Traceback" not in ended.err
    assert told in ended.err


def test_a_mistake_in_any_of_the_files_is_reported_with_its_line(robot: RobotFiles) -> None:
    text = robot.text("filter.conf").replace("fn=enumerate-urls max", "fn=enumerate-url max")
    robot.write("filter.conf", text)
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "enumerate-url max" in one)
    told = f"filter.conf:{line} - fn - there is no function `enumerate-url`; did you mean"
    for words in (("crawl",), ("explain", "http://h/"), ("simulate",)):
        ended = robot.command(*words)
        assert (ended.code, ended.err.count("\n")) == (2, 1), (words, ended.err)
        assert told in ended.err
    assert told in robot.command("status").out
    for words in (("search", "x"), ("status",), ("urls",)):
        assert robot.command(*words).code == 0, "what only looks needs no rules"
