"""Mistakes in the files of a robot: one finding each, in the right file and line, fatal or not."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from ultracrawl.dialects.portal_robot.reader import read_robot
from ultracrawl.model import Finding

DEFAULTS = files("ultracrawl.dialects.portal_robot") / "defaults"
SITE = "\n<Site name=www.example.com>\n</Site>\n"
ROBOT, FILTER, RULES, CLASSES = "robot.conf", "filter.conf", "filterrules.conf", "classification.conf"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "config"
    folder.mkdir()
    for name in (ROBOT, FILTER, RULES, CLASSES, "mime.types"):
        (folder / name).write_text((DEFAULTS / name).read_text() + (SITE if name == RULES else ""))
    return folder


def changed(config: Path, name: str, old: str, new: str) -> list[Finding]:
    """Return the findings after the first `old` in a file was replaced."""
    text = (config / name).read_text()
    assert old in text
    (config / name).write_text(text.replace(old, new, 1))
    return list(read_robot(config / ROBOT).findings)


def line_of(config: Path, name: str, text: str) -> int:
    lines = (config / name).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


MAX = "MetaData  fn=filterrules-process"
MISTAKES = {
    "a misspelt word of an indented line": (
        FILTER,
        "Enumerate enable=true ",
        "Enumerte enable=true ",
        "Enumerte",
    ),
    "a misspelt word of a line that another needs": (
        FILTER,
        "Data      fn=generate-md5",
        "Dta       fn=generate-md5",
        "Dta",
    ),
    "a misspelt function that another line needs": (FILTER, "fn=generate-md5", "fn=genrate-md5", "genrate"),
    "a filter without a name": (FILTER, '<Filter name="enumeration-default">', "<Filter>", "<Filter>"),
    "a line in the wrong filter that another needs": (
        FILTER,
        "Data      fn=generate-md5",
        "Enumerate fn=generate-md5",
        "Enumerate fn=generate-md5",
    ),
    "a filter that is not there": (
        ROBOT,
        'enumeration-filter="enumeration-default"',
        'enumeration-filter="nix"',
        "nix",
    ),
    "a negative limit": (FILTER, "extract-html-text truncate=4096", "extract-html-text truncate=-5", "=-5"),
    "a level that headings do not have": (FILTER, "truncate=255 level=3", "truncate=255 level=9", "level=9"),
    "a maximum below zero": (
        FILTER,
        MAX,
        f"MetaData fn=filter-by-max src=hosts value=-1\n   {MAX}",
        "value=-1",
    ),
    "single quotes": (
        FILTER,
        '<Filter name="enumeration-default">',
        "<Filter name='e'>",
        "'e'",
    ),
    "two arrows": (
        FILTER,
        "Generate  fn=generate-rd-expires",
        "Generate  fn=rename-attribute src=a->b->c",
        "a->b->c",
    ),
    "a back-reference": (
        RULES,
        SITE,
        '\n<FilterRule name=x>\n   Match source=path by=regex string="(a)\\1"\n</FilterRule>\n' + SITE,
        r"\1",
    ),
    "look-around": (
        RULES,
        SITE,
        '\n<FilterRule name=x>\n   Match source=path by=regex string="(?!a)"\n</FilterRule>\n' + SITE,
        "(?!a)",
    ),
    "a port that no host has": (ROBOT, "   depth=10", "   command-port=99999999\n   depth=10", "99999999"),
}
DOUBTS = {
    "blanks around an equals sign": (
        FILTER,
        "Enumerate enable=true  fn=",
        "Enumerate enable=true  fn = ",
        " = ",
    ),
    "a blank behind an equals sign": (ROBOT, "depth=10", "depth= 3", "depth= 3"),
    "a start outside of all sites": (
        RULES,
        SITE,
        f"{SITE}<Site name=a.com>\n   Start url=http://b.com/\n</Site>\n",
        "b.com",
    ),
    "a start with a protocol that its site refuses": (
        RULES,
        SITE,
        f"{SITE}<Site name=a.com>\n   Host name=a.com protocol=https\n   Start url=http://a.com/\n</Site>\n",
        "url=http://a.com/",
    ),
    "a program that is not there": (
        ROBOT,
        "   depth=10",
        '   cmd-hook="/no/hook x"\n   depth=10',
        "/no/hook",
    ),
    "a folder that is not there": (ROBOT, "   depth=10", '   bindir="/no/bin"\n   depth=10', "/no/bin"),
    "a type that nothing converts": (
        FILTER,
        "convert-to-html type=application/pdf",
        "convert-to-html type=application/x-nix",
        "x-nix",
    ),
}


@pytest.mark.parametrize(("name", "old", "new", "sign"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_finding_in_its_line(config: Path, name: str, old: str, new: str, sign: str) -> None:
    assert [finding for finding in read_robot(config / ROBOT).findings if finding.fatal] == []
    (found,) = [finding for finding in changed(config, name, old, new) if finding.fatal]
    assert (found.file, found.line) == (str(config / name), line_of(config, name, sign))


@pytest.mark.parametrize(("name", "old", "new", "sign"), DOUBTS.values(), ids=DOUBTS)
def test_a_doubt_is_one_hint_in_its_line(config: Path, name: str, old: str, new: str, sign: str) -> None:
    assert read_robot(config / ROBOT).findings == ()
    (found,) = changed(config, name, old, new)
    assert (found.file, found.line, found.fatal) == (str(config / name), line_of(config, name, sign), False)


def test_blanks_around_an_equals_sign_change_nothing(config: Path) -> None:
    changed(config, ROBOT, "depth=10", "depth = 3")
    project = read_robot(config / ROBOT).project
    assert project is not None
    (source,) = project.sources.values()
    assert source.depth == 3


def test_a_missing_file_is_one_mistake(config: Path) -> None:
    (config / RULES).unlink()
    (found,) = read_robot(config / ROBOT).findings
    assert (found.file, found.fatal) == (str(config / RULES), True)


def test_a_misspelt_source_of_a_classification_is_a_hint(config: Path) -> None:
    lines = (
        "Classify source=hots by=is string=x category=a\nClassify source=author by=is string=x category=b\n"
    )
    (config / CLASSES).write_text(lines)
    (found,) = read_robot(config / ROBOT).findings
    assert (found.file, found.line, found.fatal) == (str(config / CLASSES), 1, False)
