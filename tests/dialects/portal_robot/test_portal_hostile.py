"""Whatever stands in the files of a portal robot: mistakes are told with their line, and nothing is raised."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ultracrawl.dialects.portal_robot.properties import read_properties
from ultracrawl.dialects.portal_robot.schedule_file import read_schedule
from ultracrawl.rules.filters.function import Robot
from ultracrawl.rules.filters.phase import FilterKind
from ultracrawl.sources.filter_files.filter_file import read_filters
from ultracrawl.sources.filter_files.layout import ALL_WORDS
from ultracrawl.sources.filter_files.lexer import ConfigText, read_text
from ultracrawl.sources.filter_files.rules_file import read_classification, read_rules

PIECES = (
    '<Filter name="e">',
    "<Filter name=g",
    "</Filter>",
    "<Process csid=x",
    "</Process>",
    "<Site name=a kind=domain>",
    "</Site>",
    "<FilterRule name=r>",
    "</FilterRule>",
    "Match source=path by=regex string=(",
    "Host name=a port=x",
    "Start url=http://[/ depth=-9",
    "Use rule=none enable=maybe",
    "Classify source=x category=y",
    "MetaData fn=filter-by-regex src=host deny=\\\\*.gov",
    "Setup fn-load",
    "Data fn=filter-by-max src=depth value=99999999999999999999",
    "Generate fn=extract-source src=,",
    "depth=-2",
    "max-concurrent=0",
    "Start time=25:00 pm days=Foo",
    "# comment",
    "\\",
    '"',
    "=",
    "<",
    ">",
    "  fn=x",
    "\t",
    "\x00",
    "é",
    "\u2028",
    "enable=off",
)
texts = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.tuples(st.sampled_from(PIECES), st.sampled_from(["\n", " ", "", "\\\n", "\r\n"])), max_size=20
    ).map(lambda pairs: "".join(piece + end for piece, end in pairs)),
)


def _filters(text: str) -> ConfigText:
    read = read_filters(text)
    for name in ("e", "g"):
        read.compile(name, FilterKind.ENUMERATION, Robot())
    return read.text


READERS: dict[str, Callable[[str], ConfigText]] = {
    "lexer": lambda text: read_text(text, "f", ALL_WORDS),
    "filter.conf": _filters,
    "filterrules.conf": lambda text: read_rules(text)[1],
    "robot.conf": lambda text: read_properties(text)[1],
    "classification.conf": lambda text: read_classification(text)[1],
    "schedule.conf": lambda text: read_schedule(text)[1],
}
ABOUT_THE_FILE = ("there is no filter `", "there is no <Process ...> block")


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@example(text="<SITE\nSTART url=A://[")
@given(text=texts)
@settings(max_examples=150)
def test_portal_robot_28_every_mistake_has_its_line(read: Callable[[str], ConfigText], text: str) -> None:
    lines = text.count("\n") + 1
    for finding in read(text).findings:
        about_the_file = finding.problem.startswith(ABOUT_THE_FILE)
        assert 1 <= finding.line <= lines or (finding.line == 0 and about_the_file), finding
        assert "\n" not in str(finding)
        assert finding.problem
        assert finding.instead


@given(text=texts)
@settings(max_examples=150)
def test_rules_that_are_right_can_be_used(text: str) -> None:
    rules, read = read_rules(text)
    if not any(finding.fatal for finding in read.findings):
        rules.compiled(starts=["http://a/"]).judge("http://a/x?y", "text/html", 3)
