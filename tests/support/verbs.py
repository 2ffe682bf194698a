"""Every verb of the command line, and the mistakes that it finds in what is typed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ultracrawl.cli.main import cli, run_words
from ultracrawl.cli.mistakes import CommandLineError


def walk(
    command: click.Command = cli, words: tuple[str, ...] = ("ultracrawl",)
) -> Iterator[tuple[str, click.Command]]:
    """Yield each command with the words that name it, groups before their members."""
    yield " ".join(words), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from walk(found, (*words, name))


def mistyped(directory: Path, *words: str) -> CommandLineError:
    """Return the mistake that `ultracrawl WORDS` finds, run in this process and in a directory."""
    with contextlib.chdir(directory), pytest.raises(CommandLineError) as found:
        run_words(list(words))
    return found.value
