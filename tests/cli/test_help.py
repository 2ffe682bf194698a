"""Every command says what it does in a line that fits, describes its options, and has examples that parse."""

import subprocess
import sys

import click
import pytest
from documentation.pages import commands, understand
from support.project import ROOT
from support.verbs import walk

from ultracrawl.cli.main import GROUPS as VERB_GROUPS
from ultracrawl.cli.main import OTHER_WORDS, VERBS

COMMANDS = dict(walk())
GROUPS = {name: one for name, one in COMMANDS.items() if isinstance(one, click.Group)}


def help_of(name: str) -> str:
    return COMMANDS[name].get_help(click.Context(COMMANDS[name], info_name=name, terminal_width=80))


def test_each_line_of_a_list_is_whole(subtests: pytest.Subtests) -> None:
    for name, group in GROUPS.items():
        with subtests.test(name):
            title = next(iter(VERB_GROUPS)) if name == "ultracrawl" else "Commands"
            listed = help_of(name).partition(f"{title}:\n")[2].splitlines()
            lines = [line for line in listed if line.startswith("  ")]
            assert len(lines) == len(group.list_commands(click.Context(group)))
            assert [line for line in lines if not line.endswith(".") or line.endswith("...")] == []


def test_options_are_described_and_examples_parse(subtests: pytest.Subtests) -> None:
    for name, command in COMMANDS.items():
        with subtests.test(name):
            assert [
                one.opts for one in command.params if isinstance(one, click.Option) and not one.help
            ] == []
            examples = list(commands(help_of(name)))
            assert any(f"ultracrawl {' '.join(words)}".startswith(name) for words in examples)
            for words in examples:
                understand(words)


def test_each_verb_stands_in_one_group() -> None:
    listed = [name for names in VERB_GROUPS.values() for name in names.split()]
    assert sorted(listed) == sorted(VERBS)
    assert set(OTHER_WORDS.values()) <= set(VERBS)
    assert set(OTHER_WORDS).isdisjoint(VERBS)


def test_the_list_of_verbs_imports_none() -> None:
    start = "import sys; from ultracrawl.cli.main import cli"
    program = f"{start}; cli(['--help'], standalone_mode=False); print(*sys.modules)"
    command = [sys.executable, "-c", program]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(f"  {verb} " in out for verb in (*VERBS, "admin", "robot", "simulate"))
    loaded = {name for name in out.split() if name.startswith("ultracrawl.")}
    few = (
        "cli",
        "cli.audit",
        "cli.groups",
        "cli.main",
        "cli.mistakes",
        "cli.plugin_verbs",
        "dataclass",
        "dialects",
        "dialects.fast_xml",
        "dialects.fast_xml.verbs",
        "dialects.portal_robot",
        "dialects.portal_robot.verbs",
        "errors",
        "stores",  # its face: the names in it are imported on first use
        "system",
        "system.files",
        "system.gc_tuning",
        "system.plugins",
        "system.process_exit",
    )
    assert loaded == {f"ultracrawl.{name}" for name in few}
