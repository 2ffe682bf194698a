"""The entry point: finds the verb, shows errors as people want them, sets the exit code."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
from contextlib import suppress
from typing import NoReturn

import click

from ultracrawl import __version__
from ultracrawl.errors import UserError, WorkError
from ultracrawl.garbage import collect_seldom

VERBS = {
    "admin": "admin",
    "approve": "approve",
    "approve-deletions": "approve_deletions",
    "convert": "convert",
    "crawl": "crawl",
    "explain": "explain",
    "export": "export",
    "feeding": "feeding",
    "index": "index",
    "init": "init",
    "lint": "lint",
    "lists": "lists",
    "load-metadata": "load_metadata",
    "pause": "pause",
    "plan": "plan",
    "probe": "probe",
    "queue": "queue",
    "reindex": "reindex",
    "resume": "resume",
    "robot": "robot",
    "schema": "schema",
    "screened": "screened",
    "search": "search",
    "secret": "secret",
    "simulate": "simulate",
    "status": "status",
    "stop": "stop",
    "urls": "urls",
}
"""Verb to module; a module is imported only when its verb is used."""


class Verbs(click.Group):
    """The group of verbs, loaded on demand so that `--help` and small verbs start quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all verbs."""
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of a verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"ultracrawl.cli.{VERBS[cmd_name]}")
        command = module.command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ultracrawl")
def cli() -> None:
    """Keep a full-text search index in step with web sites and other data sources.

    \b
    Try it without any file:
      ultracrawl crawl --url https://docs.example.com/
      ultracrawl search "create index"

    With a definition file (ultracrawl.yaml) every source in it is crawled by name. Exit codes: 0 done, 1 work
    failed, 2 a mistake in what you wrote.
    """  # noqa: D301 - click's mark for a block that keeps its lines


def main() -> NoReturn:
    """Run the command line of this process, and end it."""
    collect_seldom()
    _leave(_run())


def _leave(code: int) -> NoReturn:
    """End the process at once, when all is done that was registered for its end.

    Python would take apart everything that it has loaded, object by object: 40 ms, a tenth of a small command.
    """
    if (
        sys.getprofile() or sys.gettrace()
    ):  # who looks on (a profiler, coverage) has something to say at the end
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a full disk; a stream that is closed
            stream.flush()
    os._exit(code)


def _run() -> int:
    """Run the command line and return its exit code; errors are told."""
    try:
        code = _invoke()
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return _told("Interrupted.", 1)
    except UserError as error:
        return _told(f"ultracrawl: {error}", 2)
    except WorkError as error:
        return _told(f"ultracrawl: {error}", 1)
    except BrokenPipeError:
        # The reader of our output (head, less) has left; nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        # Most of all: the output is redirected to a disk that is full.
        place = error.filename or "the output"
        return _told(f"ultracrawl: {place}: {error.strerror or error}", 1)
    return code


def _invoke() -> int:
    try:
        cli(standalone_mode=False)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def _told(line: str, code: int) -> int:
    click.echo(line, err=True)
    return code
