"""Older layouts of the portal robot's family: `process.conf`, starting points in it, all blocks in one file."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sentences import sentence

from ultracrawl.run.filters.filtering import Filtering
from ultracrawl.sources import DataSource, require
from ultracrawl.sources.dialects import read_definitions

PROCESS = """# Compass Server
<Process csid="x-catalog://compass.siroe.com:8086/nikki" \\
   auto-proxy="http://proxy.siroe.com:80/"
   command-port=21445
   depth="3"
   email="user@siroe.com"
   enumeration-filter="enumeration1"
   generation-filter="generation1"
   server-delay=0
   start="http://www.siroe.com/"
   start="http://home.siroe.com:8080/x/"
   user-agent="CompassRobot/3.0"
</Process>
"""
RULES = """<FilterRule name="archives">
   Match source=path by=ends-with string=.zip
</FilterRule>
<Site name=docs.siroe.com>
   Start url=http://docs.siroe.com/ depth=1
   Use   rule=archives
</Site>
"""
FILTERS = """<Filter name="enumeration1">
   Setup     fn=filterrules-setup config={rules}
   MetaData  fn=filterrules-process
   Enumerate fn=enumerate-urls max=1024 type=text/html
</Filter>
<Filter name="generation1">
   Setup    fn=filterrules-setup config={rules}
   MetaData fn=filterrules-process
   Generate fn=extract-html-meta
</Filter>
"""
TOGETHER = PROCESS + FILTERS.format(rules="./config/process.conf") + RULES
APART = {"process.conf": PROCESS, "filter.conf": FILTERS.format(rules="./config/filterrules.conf")}

LAYOUTS = {
    "process.conf beside filter.conf": {**APART, "filterrules.conf": RULES},
    "all blocks in one file": {"process.conf": TOGETHER},
    "filters first in that file": {
        "process.conf": FILTERS.format(rules="./config/process.conf") + PROCESS + RULES
    },
}


def written(folder: Path, files: dict[str, str]) -> Path:
    config = folder / "config"
    config.mkdir()
    for name, text in files.items():
        (config / name).write_text(text)
    return config


def only(location: Path) -> DataSource:
    (source,) = require(read_definitions(location)).sources.values()
    return source


@pytest.mark.parametrize("files", LAYOUTS.values(), ids=LAYOUTS)
def test_portal_robot_114_older_layouts_are_read(tmp_path: Path, files: dict[str, str]) -> None:
    config = written(tmp_path, files)
    loaded = read_definitions(config / "process.conf")
    assert [str(one) for one in loaded.findings if one.fatal] == []
    source = only(config / "process.conf")
    assert (source.name, source.user_agent) == ("nikki", "CompassRobot/3.0 (user@siroe.com)")
    assert source.start_urls == (
        "http://www.siroe.com/",
        "http://home.siroe.com:8080/x/",
        "http://docs.siroe.com/",
    )
    filtering = Filtering(source.filters, lambda: 0.0)
    judged = {
        (url, depth): str(filtering.judge(url, depth).cause)
        for url, depth in (
            ("http://www.siroe.com/a", 3),
            ("http://www.siroe.com/a", 4),
            ("http://home.siroe.com:8080/a", 0),
            ("http://docs.siroe.com/a", 1),
            ("http://docs.siroe.com/a", 2),
            ("http://docs.siroe.com/a.zip", 0),
            ("http://other.siroe.com/", 0),
        )
    }
    assert judged == {
        ("http://www.siroe.com/a", 3): "",
        (
            "http://www.siroe.com/a",
            4,
        ): sentence("robot.more_than_3_steps"),
        ("http://home.siroe.com:8080/a", 0): "",
        ("http://docs.siroe.com/a", 1): "",
        (
            "http://docs.siroe.com/a",
            2,
        ): sentence("robot.more_than_1_step"),
        ("http://docs.siroe.com/a.zip", 0): "filter rules: docs.siroe.com: archives",
        ("http://other.siroe.com/", 0): sentence("robot.no_site_covers_other"),
    }


def test_without_rules_and_filters_that_use_them_starting_points_are_enough(tmp_path: Path) -> None:
    filters = "<Filter name=enumeration1>\nEnumerate fn=enumerate-urls\n</Filter>\n"
    filters += "<Filter name=generation1>\n</Filter>\n"
    config = written(tmp_path, {"process.conf": PROCESS, "filter.conf": filters})
    assert len(only(config / "process.conf").start_urls) == 2
    (config / "process.conf").write_text(PROCESS.replace("start=", "# start="))
    problems = [finding.problem for finding in read_definitions(config / "process.conf").findings]
    assert sentence("files.cannot_be_read") in problems


def test_a_disabled_site_is_not_opened_by_a_starting_point(tmp_path: Path) -> None:
    rules = "<Site name=www.siroe.com enable=off>\n</Site>\n<Site name=h>\n</Site>\n"
    config = written(tmp_path, {**APART, "filterrules.conf": rules})
    filtering = Filtering(only(config / "process.conf").filters, lambda: 0.0)
    assert str(filtering.judge("http://www.siroe.com/", 0).cause).startswith("site not allowed")
    assert str(filtering.judge("http://home.siroe.com:8080/x/", 0).cause) == ""


@pytest.mark.parametrize("name", ["filter.conf", "filterrules.conf"])
def test_a_part_leads_to_the_robot_beside_it(tmp_path: Path, name: str) -> None:
    config = written(tmp_path, {**APART, "filterrules.conf": RULES})
    assert only(config / name).name == "nikki"
    (config / "process.conf").unlink()
    (finding,) = read_definitions(config / name).findings
    assert (finding.problem, finding.instead) == (
        sentence("robot.only_a_part"),
        sentence("robot.put_it_beside"),
    )


def test_a_block_that_there_is_not_is_said(tmp_path: Path) -> None:
    config = written(tmp_path, {**APART, "filterrules.conf": RULES})
    (config / "process.conf").write_text(PROCESS + "<Robot name=x>\n</Robot>\n")
    findings = [(one.line, one.problem) for one in read_definitions(config / "process.conf").findings]
    assert (14, sentence("robot.no_robot_block")) in findings
