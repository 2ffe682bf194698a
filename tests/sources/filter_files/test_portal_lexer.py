"""The grammar of the portal robot's configuration files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.sources.filter_files.lexer import (
    Block,
    ConfigText,
    Directive,
    between_quotes,
    read_text,
)

WORDS = ("Setup", "MetaData", "Data", "Enumerate", "Generate", "Shutdown")


def read(text: str) -> ConfigText:
    return read_text(text, "filter.conf", WORDS)


def one(text: str) -> Directive:
    result = read(text)
    assert not result.findings
    assert len(result.directives) == 1
    return result.directives[0]


def pairs(directive: Directive | Block) -> dict[str, str]:
    return {pair.name: pair.value for pair in directive.parameters}


VALUES = {
    "plain": ("Data fn=a src=type", {"fn": "a", "src": "type"}),
    "tabs and order": ("Data\tsrc=type \t fn=a", {"src": "type", "fn": "a"}),
    "portal_robot_25-quotes where there are blanks": ('Data fn="a" src="b c"', {"fn": "a", "src": "b c"}),
    "portal_robot_25-empty value in quotes": ('Data fn=a src=""', {"fn": "a", "src": ""}),
    "escaped quote and backslash": (r'Data fn=a src="x \"y\" \\ \d"', {"fn": "a", "src": 'x "y" \\ \\d'}),
    "backslashes ahead of a star": (
        r'Data fn=a x="\\*.gov" y=\\*.gov z="\*"',
        {"fn": "a", "x": r"\\*.gov", "y": r"\\*.gov", "z": r"\*"},
    ),
    "backslash outside quotes": (r"Data fn=a src=.*\.tar", {"fn": "a", "src": r".*\.tar"}),
    "value with an equals sign": ("Data fn=a src=x=y", {"fn": "a", "src": "x=y"}),
    "arrow in a value": ("Data fn=a src=author->author-name", {"fn": "a", "src": "author->author-name"}),
    "hash later in a line is data": ("Data fn=a src=x#y", {"fn": "a", "src": "x#y"}),
    "portal_robot_26-names keep their case": ("Data fn=a SRC=x", {"fn": "a", "SRC": "x"}),
    "portal_robot_21-backslash joins": ("Data fn=a \\\n src=x", {"fn": "a", "src": "x"}),
    "portal_robot_21-two backslashes join": ("Data fn=a \\\\\nsrc=x", {"fn": "a", "src": "x"}),
    "portal_robot_22-leading blank continues": ("Data fn=a\n   src=x", {"fn": "a", "src": "x"}),
    "pair at the beginning of a line continues": ("Data fn=a\nsrc=x", {"fn": "a", "src": "x"}),
    "portal_robot_24-comment between continued lines": (
        "Data fn=a \\\n# no\n src=x",
        {"fn": "a", "src": "x"},
    ),
    "portal_robot_23-comment": ("# Data fn=b\nData fn=a\n  # c", {"fn": "a"}),
    "windows lines and BOM": ("\ufeffData fn=a \\\r\n src=x\r\n", {"fn": "a", "src": "x"}),
}


def test_pairs(subtests: pytest.Subtests) -> None:
    for name, (text, expected) in VALUES.items():
        with subtests.test(name):
            assert pairs(one(text)) == expected


def test_a_line_with_a_leading_blank_that_begins_with_a_directive_is_one() -> None:
    result = read("Data fn=a\n  metadata fn=b\n")
    assert [directive.word for directive in result.directives] == ["Data", "metadata"]


def test_portal_robot_17_a_filter_with_its_directives() -> None:
    result = read('<Filter name="n">\n Setup fn=a\n Data fn=b\n</Filter>\n<filter name=m>\n</filter>')
    assert [(block.kind, block.get("name")) for block in result.blocks] == [("filter", "n"), ("filter", "m")]
    assert [(one.word, one.line) for one in result.blocks[0].directives] == [("Setup", 2), ("Data", 3)]
    assert not result.findings


def test_lines_are_those_of_the_file() -> None:
    result = read("# one\nData fn=a \\\n  src=x\n")
    assert [(pair.name, pair.line) for pair in result.directives[0].parameters] == [("fn", 2), ("src", 3)]


def test_portal_robot_24_123_robot_conf_with_a_comment_in_its_block() -> None:
    head = '<Process csid="x-catalog://h:80/j" \\\n   depth="-1"\n'
    text = head + '   # email="u@d"\n   onCompletion=idle\n{end}</Process>'
    for end in ("", ">\n"):
        result = read_text(text.replace("{end}", end), "robot.conf", ())
        expected = {"csid": "x-catalog://h:80/j", "depth": "-1", "onCompletion": "idle"}
        assert pairs(result.blocks[0]) == expected
        assert not result.findings


DAMAGE = {
    "portal_robot_19-unclosed quote of a name": (
        '<Filter name="x>\nData fn=a\n</Filter>',
        1,
        "not closed",
        False,
    ),
    "portal_robot_20-fn- for fn=": ("Data fn-filter-by-max src=depth", 1, "is read as", False),
    "stray half line of a header": ("<Process csid=a \\\n/half/a/path\n</Process>", 2, "has no value", False),
    "unclosed quote of a directive": ('Data fn=a\nData fn=b src="x', 2, "not closed", True),
    "blank around =": ("Data fn=a src =x", 1, "blanks around", False),
    "quote inside a value": ('Data fn=a src=x"y', 1, "quote inside", True),
    "a comment behind an equals sign": ("Data fn=a src= # x", 1, "a comment behind", True),
    "a comment behind a blank and one": ("Data fn=a src = # x", 1, "has no value", True),
    "no name": ("Data fn=a =x", 1, "is not name=value", True),
    "block not closed": ("<Filter name=a>\nData fn=a", 1, "not closed", True),
    "blocks do not nest": ("<Filter name=a>\n<Filter name=b>\n</Filter>", 2, "not closed before", True),
    "another block is closed": ("<Filter name=a>\n</Site>", 2, "ends a block", True),
    "nothing to close": ("</Filter>", 1, "nothing is open", True),
    "no block": ("< 3", 1, "begins no block", True),
}


@pytest.mark.parametrize(("text", "line", "problem", "fatal"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_said_with_its_line(text: str, line: int, problem: str, fatal: bool) -> None:
    findings = read(text).findings
    assert any(f.line == line and problem in f.problem and f.fatal is fatal for f in findings), findings
    assert all(str(finding).startswith("filter.conf:") for finding in findings)


def test_portal_robot_20_the_function_is_there() -> None:
    assert pairs(read("MetaData fn-filter-by-max src=depth").directives[0]) == {
        "fn": "filter-by-max",
        "src": "depth",
    }


def test_a_directive_without_end_is_refused() -> None:
    text = "Data fn=a " + "x=1 " * 30_000
    assert "longer than" in read(text).findings[0].problem


@given(st.text(alphabet=st.sampled_from('<>/"\\=# \t\n\raDatfn-:.é\x00'), max_size=120))
def test_no_text_makes_the_lexer_raise(text: str) -> None:
    result = read(text)
    lines = text.count("\n") + 1
    assert all(1 <= finding.line <= lines for finding in result.findings)


@pytest.mark.parametrize(
    "text",
    [
        "<Process csid=x>\n depth=3\n server-delay=1\n</Process>",
        "<Process csid=x\n depth=3>\n server-delay=1\n</Process>",
        '<Process csid="x" \\\n depth=3 >\n server-delay=1\n</Process>',
    ],
    ids=["first line", "second line", "behind a blank"],
)
def test_a_header_ends_in_any_line_and_properties_stand_behind_it(text: str) -> None:
    read = read_text(text, "robot.conf", ["Start"])
    (block,) = read.blocks
    pairs = [*block.parameters, *(pair for one in block.directives for pair in one.parameters)]
    assert [(pair.name, pair.value) for pair in pairs] == [
        ("csid", "x"),
        ("depth", "3"),
        ("server-delay", "1"),
    ]
    assert read.findings == []


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30))
def test_a_value_between_quotes_is_read_unchanged(value: str) -> None:
    assert pairs(one(f'Data string="{between_quotes(value)}" by=is')) == {"string": value, "by": "is"}
