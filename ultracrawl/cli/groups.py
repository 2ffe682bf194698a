"""Groups of verbs: found by name, imported when they are used, suggested when they are mistyped."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import click

from ultracrawl.cli.mistakes import Mistake

REMOTE_VERBS = "ultracrawl.cli.remote_verbs"
"""The key in the `meta` of a context under which `cli.main` puts the function that returns the verbs for services."""


class VerbGroup(click.Group):
    """A group that answers a word which is no verb with what may be meant."""

    other_words: Mapping[str, str] = {}
    """What people type for verbs that are named otherwise."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names. Raises `CommandLineError` with what may be meant."""
        name = args[0]
        if self.get_command(ctx, name) is None and not (name.startswith("-") or ctx.resilient_parsing):
            typed = " ".join((ctx.command_path, name)).partition(" ")[2]
            raise Mistake.NO_SUCH_VERB.error(verb=typed, instead=self.meant(ctx, args))
        return super().resolve_command(ctx, args)

    def meant(self, ctx: click.Context, words: list[str]) -> str:
        """Return what to type in place of words that begin with no verb."""
        from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

        word = words[0].lower()
        close = self.other_words.get(word) or next(iter(get_close_matches(word, self.list_commands(ctx))), "")
        return " ".join((ctx.command_path, *((close, *words[1:]) if close else ("--help",))))


class LazyGroup(VerbGroup):
    """A group with lazily imported verbs, so that `--help` and small verbs start quickly."""

    lazy_commands: Mapping[str, tuple[str, str]] = {}
    """Module, and name of the command there, by verb."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all verbs."""
        return sorted({*super().list_commands(ctx), *self.lazy_commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a verb."""
        if cmd_name not in self.lazy_commands:
            return super().get_command(ctx, cmd_name)
        return import_command(*self.lazy_commands[cmd_name])


def import_command(module: str, name: str) -> click.Command:
    """Return the command of a module."""
    command = getattr(importlib.import_module(module), name)
    assert isinstance(command, click.Command)
    return command
