"""What sites send does not steer the terminal of who reads about it."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.project import Workspace
from support.site import Site

from ultracrawl.cli.main import cli
from ultracrawl.cli.terminal import LineFormatter, escape_controls, wrapped
from ultracrawl.system.nouns import counted

BELL = "\x1b]0;owned\x07"
BYTE = "\x9b31m"
"""The same as ESC [ 31 m, in one character fewer."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain ümlaut 日本語 \u3000 \xa0", "plain ümlaut 日本語 \u3000 \xa0"),
        ("a\x1b[2Jb", r"a\u001b[2Jb"),
        ("a\x9bb\x7f", r"a\u009bb\u007f"),
        ("a\nb\r\u2028c", r"a\nb\r\u2028c"),
        ("gpj.\u202eexe", r"gpj.\u202eexe"),
        ("half \ud800", r"half \ud800"),
        ("\U000e0041", r"\udb40\udc41"),
    ],
    ids=["nothing to do", "escape", "c1", "line ends", "direction", "surrogate", "tag"],
)
def test_what_steers_a_terminal_is_shown_as_an_escape(text: str, expected: str) -> None:
    assert escape_controls(text) == expected
    assert json.loads(f'"{escape_controls(text)}"') == text, "JSON means the same with it"


def test_p11_no_verb_prints_what_a_site_would_have_steer_the_terminal(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.robots(f"User-agent: *\nDisallow: /p{BELL}\n")
    site.page(
        "/",
        title=f"Title {BELL}{BYTE}\u202e",
        text=f"needle {BELL}{BYTE}",
        links=["/p%1B]0;owned%07"],
        head=f'<meta name=author content="Ann {BELL}{BYTE}">',
    )
    workspace.define(f"{url}/")
    ended = [
        workspace.command("crawl"),
        workspace.command("urls"),
        workspace.command("urls", "--json"),
        workspace.command("explain", f"{url}/p%1B]0;owned%07"),
        workspace.command("status", url.removeprefix("http://")),
        workspace.command("search", "needle", "--facet", "Author"),
        workspace.command("search", "needle", "--json"),
    ]
    for one in ended:
        printed = one.out + one.err
        assert one.code == 0
        assert {character for character in printed if escape_controls(character) != character} <= {"\n"}
    assert r"\u001b]0;owned" in ended[1].out, "the rule is told nonetheless"
    assert "Title ]0;owned" in ended[5].out


def test_no_message_of_the_service_begins_a_line_or_steers_a_terminal() -> None:
    record = logging.LogRecord(
        "ultracrawl.x", logging.WARNING, "x.py", 1, "%s failed", (f"a\n2026 forged {BELL}",), None
    )
    written = LineFormatter("%(levelname)s %(message)s").format(record)
    assert written == r"WARNING a\n2026 forged \u001b]0;owned\u0007 failed"


@pytest.mark.parametrize("verb", ["serve", "node run --name a"])
def test_a_service_logs_by_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verb: str) -> None:
    handlers: list[logging.Handler] = []
    monkeypatch.setattr(logging, "basicConfig", lambda **options: handlers.extend(options["handlers"]))
    monkeypatch.setattr(logging.getLogger("ultracrawl"), "setLevel", lambda _: None)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, verb.split()).exit_code != 0, "there is no definition"
    assert [type(one.formatter) for one in handlers] == [LineFormatter]


def test_texts_are_wrapped_with_their_indent_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "one two three four five six"
    assert wrapped(text, "    ") == f"    {text}"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    assert wrapped(text, "    ") == "    one two three\n    four five six"


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "document", "0 documents"),
        (1, "document", "1 document"),
        (2, "query", "2 queries"),
        (1, "query", "1 query"),
        (1234, "entry", "1,234 entries"),
    ],
)
def test_a_number_has_its_noun_in_the_plural_unless_it_is_one(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text
