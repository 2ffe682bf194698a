"""Nonsense for every verb and every option: one line that names it, exit code 2, and never a traceback."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
import pytest
from support.fast import fast_xml
from support.in_process import InProcessWorkspace
from support.project import Ended, Workspace
from support.robot import RobotFiles
from support.verbs import mistyped, walk

from ultracrawl.cli.mistakes import Mistake

NONSENSE = "?!"
URL = "http://127.0.0.1:9/"
COMMANDS = {name.removeprefix("ultracrawl "): one for name, one in walk() if not isinstance(one, click.Group)}
GROUPS = {name: one for name, one in walk() if isinstance(one, click.Group)}
WORDS = {
    "directory": "new",
    "file": "some.xml",
    "name": "docs",
    "names": "docs",
    "place": "handbook",
    "seconds": "60",
    "site": "127.0.0.1",
    "source": "docs",
    "sources": "docs",
    "uris": URL,
    "url": URL,
}
"""What is typed for arguments, by name."""
ARGUMENTS = {
    "admin reprocess": ["handbook"],
    "check-answers": ["golden.yaml"],
    "crawl": ["http://127.0.0.2:9/"],
    "init": [URL, "--force", "--yes"],
    "load-metadata": ["lists.xml"],
    "robot create-category": ["Some"],
    "robot create-directive": ["generation-default", "Generate", "fn=extract-html-toc"],
    "robot delete-categories": ["1", "--yes"],
    "robot delete-directives": ["generation-default", "17", "--yes"],
    "robot disable-directives": ["generation-default", "17"],
    "robot edit-category": ["1", "--category", "Some"],
    "robot edit-directive": ["generation-default", "17", "enable=true"],
    "robot edit-rule": ["log-files"],
    "robot enable-directives": ["generation-default", "17"],
    "robot set-properties": ["depth=3"],
    "robot unset-properties": ["depth"],
    "robot edit-site": ["127.0.0.1"],
    "robot import-rds": ["some.soif"],
}
"""What is typed for all arguments of a command."""
NEEDED = {
    "--days": "mon",
    "--key": "password.key",
    "--name": "a",
    "--role": "reader",
    "--start": "03:00 am",
    "--string": "x",
    "--to": "var/copy",
    "--type": "lov",
    "--warc": "new.warc",
}
"""What is typed for options that a command needs."""
_ROBOT = ["-c", "config/robot.conf"]
FILES = {"admin": ["-c", "some.xml"], "robot": _ROBOT, "simulate": _ROBOT}
"""What names the file of another crawler, by the first word of its commands."""
ANY_TEXT = {
    ("admin reprocess", "--site"),  # is read when documents are stored
    ("approve", "--prefix"),  # selects nothing
    ("approve", "--regexp"),  # is read when there is something to approve
    ("convert", "--output"),  # the name of a file
    ("export", "--warc"),
    ("init", "--output"),
    ("lists", "--language"),  # a language without display names
    ("queries", "--origin"),  # selects nothing
    ("reindex", "--site"),
    ("robot create-category", "--source"),  # any field
    ("robot create-category", "--string"),
    ("robot edit-category", "--category"),
    ("robot edit-category", "--source"),
    ("robot edit-category", "--string"),
    ("robot create-rule", "--string"),
    ("robot create-rule", "--title"),
    ("robot edit-rule", "--string"),
    ("robot edit-rule", "--title"),
    ("robot export-rds", "--output"),
    ("robot report excluded", "--reason"),  # selects nothing
    ("screened", "--rule"),
    ("search", "--language"),
    ("search", "--principal"),  # principals are defined elsewhere
    ("stats", "--plot"),  # the name of a file
    ("store copy", "--to"),  # the name of a folder
    ("token create", "--principal"),
    ("user add", "--principal"),
    ("user change", "--principal"),
}
"""Options that any text is right for."""
ANY_WORD = {
    "backup",  # the name of a file
    "convert",
    "explain",  # a path below the start URL
    "robot create-category",  # a name
    "robot create-rule",
    "search",
    "secret new-key",
    "token create",
}
"""Commands whose arguments may be any text."""
FINDINGS = {"admin verify", "lint"}
"""Commands that say what is wrong with a file in findings, which are their result."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a definition, a robot, a collection and a key."""
    folder = tmp_path_factory.mktemp("prepared")
    workspace = InProcessWorkspace(folder)
    workspace.write({
        "notices": {"to": {"operators": {"command": "true"}}},
        "sources": {"docs": {"start_urls": [URL], "boundary": {"networks": ["127.0.0.0/8"]}}},
    })  # fmt: skip
    RobotFiles(workspace).site(URL)
    (folder / "some.xml").write_text(fast_xml({"start_uris": [URL]}))
    (folder / "golden.yaml").write_text(f"- query: words\n  pages: {URL}\n")
    (folder / "lists.xml").write_text('<attribute name="Author"><value v="a"/></attribute>')
    (folder / "some.soif").write_text(f"@DOCUMENT {{ {URL}\n}}\n")
    for words in (
        ["secret", "new-key", "password.key"],
        ["robot", "schedule", "add", "--start", "03:00 am", "--days", "mon", *_ROBOT],
        ["robot", "create-category", "Some", "--string", "x", *_ROBOT],
    ):
        assert workspace.command(*words).code == 0, words
    return folder


def copied(prepared: Path, folder: Path, name: str) -> Workspace:
    """Return a workspace with a copy of that folder, for a command."""
    kind = Workspace if name == "serve" else InProcessWorkspace  # `serve` takes over the log of its process
    return kind(Path(shutil.copytree(prepared, folder)))


def arguments_of(name: str) -> list[str]:
    """Return the arguments of a command as they are typed rightly."""
    needed = (one for one in COMMANDS[name].params if isinstance(one, click.Argument) and one.required)
    return ARGUMENTS.get(name) or [WORDS[one.name or ""] for one in needed]


def options_of(name: str, *, without: str = "") -> list[str]:
    """Return the options that a command needs, but for one, and the file of the crawler that it is for."""
    words = []
    for option in COMMANDS[name].params:
        written = max(option.opts, key=len)
        if isinstance(option, click.Option) and option.required and written != without:
            words += [written, NEEDED[written]]
        if option.name == "config" and written != without:
            words += FILES.get(name.split(maxsplit=1)[0], [])
    return words


def values(option: click.Option) -> list[str]:
    """Return values that an option must not take."""
    match option.type:
        case click.IntRange(min=least, max=most):
            ends = [least - 1 if least is not None else None, most + 1 if most is not None else None]
            return [NONSENSE, "1.5", *(str(end) for end in ends if end is not None)]
        case click.FloatRange(min=least):
            return [NONSENSE, "nan", "inf", *([str(least - 1)] if least is not None else [])]
    return [NONSENSE]


def reported(name: str, ended: Ended) -> str:
    """Return the one line of a command that was refused, or the findings that it printed."""
    assert ended.code == 2, ended
    if name in FINDINGS and ended.out:
        return ended.out
    assert ended.out == "", ended
    assert ended.err.startswith("ultracrawl: "), ended
    assert ended.err.count("\n") == 1, ended
    return ended.err


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_refuses_nonsense_in_a_line_that_names_it(
    prepared: Path, tmp_path: Path, name: str
) -> None:
    for number, option in enumerate(COMMANDS[name].params):
        written = max(option.opts, key=len)
        if not isinstance(option, click.Option) or option.is_flag:
            continue
        ready = copied(prepared, tmp_path / str(number), name)
        words = [*name.split(), *arguments_of(name), *options_of(name, without=written)]
        for value in values(option):
            ended = ready.command(*words, written, *[value] * option.nargs)
            assert "Traceback" not in ended.err
            if (name, written) not in ANY_TEXT:
                line = reported(name, ended)
                assert written in line or value in line


@pytest.mark.parametrize(
    "name",
    [name for name, one in COMMANDS.items() if any(isinstance(two, click.Argument) for two in one.params)],
)
def test_each_argument_refuses_nonsense(prepared: Path, tmp_path: Path, name: str) -> None:
    ready = copied(prepared, tmp_path / "ready", name)
    given = [NONSENSE for one in COMMANDS[name].params if isinstance(one, click.Argument)]
    ended = ready.command(*name.split(), *given, *options_of(name))
    assert "Traceback" not in ended.err
    if name not in ANY_WORD:
        line = reported(name, ended)
        numbers = (one.name for one in COMMANDS[name].params if isinstance(one.type, click.IntRange))
        assert NONSENSE in line or any((number or "").upper() in line for number in numbers)


def test_no_verb_takes_an_option_that_it_does_not_have(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name in COMMANDS:
        with subtests.test(name):
            found = mistyped(tmp_path, *name.split(), "--nonsense")
            assert (found.mistake, found.values["option"]) == (Mistake.NO_SUCH_OPTION, "--nonsense")
            assert found.values["command"] == f"ultracrawl {name}"


def test_no_group_has_a_verb_of_nonsense(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name in GROUPS:
        with subtests.test(name):
            words = name.split()[1:]
            found = mistyped(tmp_path, *words, NONSENSE)
            assert (found.mistake, found.values["instead"]) == (Mistake.NO_SUCH_VERB, f"{name} --help")
            assert found.values["verb"] == " ".join((*words, NONSENSE))


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("crawl",), "$ULTRACRAWL_JOBS"),
        (("crawl", "--jobs", "0"), "--jobs"),
        (("serve", "--jobs", "many"), "--jobs"),
    ],
)
def test_a_bad_value_is_named_where_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], option: str
) -> None:
    monkeypatch.setenv("ULTRACRAWL_JOBS", "none")
    found = mistyped(tmp_path, *words)
    assert (found.mistake, found.values["option"]) == (Mistake.BAD_VALUE, option)
