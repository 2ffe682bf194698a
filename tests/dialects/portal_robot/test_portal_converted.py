"""A portal robot as a YAML definition is the same source."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ultracrawl.sources import DataSource, definition_text, require
from ultracrawl.sources.dialects import read_definitions

DEFAULTS = files("ultracrawl.dialects.portal_robot") / "defaults"
ROBOT = """<Process csid="x-catalog://h:80/docs" depth=4 server-delay=2 email=me@siroe.com user-agent=iPlanetRobot/4.0
   connect-timeout=30 max-filesize-kb=512 loglevel=3 onCompletion=loop cmd-hook="mail 'to me'" referer=http://r/
   username=jack password=boots auto-proxy=http://proxy:3128/ proxy-type=manual max-classifications=3 enable-ip=off
   enumeration-filter=enumeration-default generation-filter=generation-default index-after-ngenerated=5
</Process>
"""
SITE = """
<Site name=a.example>
   Host  name=a.example port=8080
   Start url=https://a.example/ depth=1
   Use   rule=archive-files
</Site>
"""


def source_of(file: Path) -> DataSource:
    (source,) = require(read_definitions(file)).sources.values()
    return source


def test_a_robot_is_the_same_source_in_yaml(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    for name in ("filter.conf", "filterrules.conf", "mime.types"):
        (config / name).write_text((DEFAULTS / name).read_text())
    with (config / "filterrules.conf").open("a") as rules:
        rules.write(SITE)
    (config / "classification.conf").write_text('Classify source=path by=contains string=/x category="A:B"\n')
    robot = config / "robot.conf"
    robot.write_text(ROBOT)
    definition = tmp_path / "ultracrawl.yaml"
    definition.write_text(definition_text(require(read_definitions(robot)), tmp_path))
    assert source_of(definition).model_dump() == source_of(robot).model_dump()
