"""Entry point of the command line: finds the verb, prints errors, sets the exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from ultracrawl import __version__
from ultracrawl.cli.audit import recorded
from ultracrawl.cli.groups import REMOTE_VERBS, LazyGroup, import_command
from ultracrawl.cli.mistakes import Mistake, of_usage
from ultracrawl.cli.plugin_verbs import PLUGIN_VERB, find_plugin_verb, plugin_verbs
from ultracrawl.errors import UserError, WorkError
from ultracrawl.system.files import cause_and_remedy, restrict_umask
from ultracrawl.system.gc_tuning import raise_gc_thresholds
from ultracrawl.system.process_exit import exit_process


class Verb(NamedTuple):
    """A verb: its module below `ultracrawl.cli`, its line in `ultracrawl --help`, the name of its command there."""

    module: str
    line: str
    name: str = "command"


VERBS = {
    "approve": Verb("manage.approve", "Approve waiting documents; remove URLs."),
    "approve-changes": Verb("manage.held_back", "Let in changes that a crawl held back.", "approve_changes"),
    "approve-deletions": Verb(
        "manage.held_back", "Carry out deletions that a crawl held back.", "approve_deletions"
    ),
    "backup": Verb("manage.backup", "Save states, documents and indexes to a file.", "backup"),
    "check-answers": Verb("look.check_answers", "Check that pages are among the first hits of queries."),
    "changelog": Verb("manage.changelog", "Print the SQL of a log of changes of a table."),
    "convert": Verb("manage.convert", "Print definitions as YAML."),
    "crawl": Verb("crawl.crawl", "Crawl sources and bring the index up to date."),
    "explain": Verb("look.explain", "Show which rule includes or excludes a URL."),
    "export": Verb("manage.export", "Write stored documents to a WARC file."),
    "feeding": Verb("manage.feeding", "Pause and resume what crawls send to the indexes."),
    "index": Verb("manage.index", "Inspect, check, optimise or rebuild the index."),
    "init": Verb("manage.init", "Look at a site and write a first definition file."),
    "lint": Verb("look.lint", "Report every mistake in definition files at once."),
    "lists": Verb("manage.lists", "Print the values that search attributes may have."),
    "load-metadata": Verb("manage.load_metadata", "Load lists of values, boosts or documents from XML."),
    "node": Verb("serve.node", "Crawl on several machines; list, drain and remove them."),
    "notices": Verb("serve.notices", "Send test notices over the configured channels."),
    "pause": Verb("crawl.steering", "Pause running crawls.", "pause"),
    "plan": Verb("look.plan", "Show what a change of the definition drops and adds."),
    "probe": Verb("look.probe", "Test a site: DNS, redirects, robots.txt, sitemaps, TLS."),
    "queries": Verb("look.queries", "Show what people search for, and do not find."),
    "queue": Verb("look.queue", "Show which URLs are next, in which order and why."),
    "reindex": Verb("crawl.reindex", "Index stored documents again, without requests."),
    "restore": Verb("manage.backup", "Put the contents of a backup back in place.", "restore"),
    "remove": Verb("manage.remove", "Remove a URL, or a source with all that is stored of it.", "remove"),
    "rename": Verb("manage.remove", "Give a source another name, and fetch nothing again.", "rename"),
    "resume": Verb("crawl.steering", "Resume paused crawls.", "resume"),
    "schedule": Verb("serve.schedule", "Show schedules, launch and stop them."),
    "schema": Verb("look.schema", "Print the JSON schema of the definition file."),
    "screened": Verb("look.screened", "List links that were excluded, and by which rule."),
    "search": Verb("search", "Search the index."),
    "secret": Verb("manage.secret", "Encrypt passwords for definitions."),
    "serve": Verb("serve.serve", "Run the service: crawls when they are due, and an API."),
    "startproject": Verb("manage.startproject", "Create a Scrapy project, ready for Scrapyd."),
    "stats": Verb("look.stats", "Show the numbers of the latest runs of a source."),
    "status": Verb("look.status", "Show what each source holds, and how its last run went."),
    "stop": Verb("crawl.steering", "End running crawls cleanly.", "stop"),
    "store": Verb("store", "Copy the state between SQLite and PostgreSQL."),
    "submit": Verb("manage.submit", "Have the next crawl fetch a URL."),
    "suggest": Verb("look.suggest", "Show what would make the crawl of a source better."),
    "token": Verb("serve.token", "Make and revoke tokens for the API."),
    "urls": Verb("look.urls", "List every known URL with its latest outcome."),
    "user": Verb("serve.user", "Add and remove users who can log in."),
}
"""The verbs by name; a module is imported when its verb is used."""

GROUPS = {
    "Crawl": "crawl plan submit pause resume stop reindex",
    "Search": "search queries check-answers lists",
    "Look": "status stats urls explain queue screened suggest probe",
    "Define": "init lint schema startproject secret load-metadata changelog",
    "Keep": "approve approve-changes approve-deletions remove rename index feeding export backup restore store",
    "Serve": "serve node schedule user token notices",
    "Other crawlers' files": "convert",
}
"""The verbs in the order of `ultracrawl --help`, under what a person wants; those of plug-ins stand behind them."""

OTHER_WORDS = {
    "check": "lint", "clear": "remove", "config": "lint", "delete": "remove", "fetch": "crawl", "find": "search",
    "index-site": "crawl", "info": "status", "list": "status", "log": "urls", "logs": "urls", "ls": "status",
    "query": "search", "reset": "remove", "rm": "remove", "run": "crawl", "spider": "crawl", "start": "crawl",
    "update": "crawl", "validate": "lint", "watch": "serve",
}  # fmt: skip
"""What people type for a verb that is named otherwise."""

_NAME_WIDTH = max(map(len, VERBS))


class Verbs(LazyGroup):
    """The verbs of `ultracrawl`; those that change something are recorded."""

    lazy_commands: Mapping[str, tuple[str, str]] = {
        name: (f"ultracrawl.cli.{verb.module}", verb.name) for name, verb in VERBS.items()
    }
    other_words = OTHER_WORDS

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all verbs, those of plug-ins included."""
        return sorted({*super().list_commands(ctx), *(name for name, _ in plugin_verbs())})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a verb; a plug-in cannot replace one of ours. Raises `PluginError`."""
        if (command := super().get_command(ctx, cmd_name)) is not None:
            return command
        if (plugin := find_plugin_verb(cmd_name)) is None:
            return None
        ctx.meta[PLUGIN_VERB] = plugin
        return import_command(*plugin.command.split(":"))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb."""
        with recorded(ctx):
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words before the verb. Raises `CommandLineError` for an option that belongs behind it."""
        if args and args[0].startswith(("-c", "--config")):
            raise Mistake.CONFIG_BEFORE_VERB.error(instead="ultracrawl crawl -c FILE")
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs in groups, without importing them."""
        sections = {
            title: {name: VERBS[name].line for name in names.split()} for title, names in GROUPS.items()
        }
        for name, verb in plugin_verbs():
            sections.setdefault(verb.section, {}).setdefault(name, verb.line)
        for title, lines in sections.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{_NAME_WIDTH}}", line) for name, line in lines.items()])

    def meant(self, ctx: click.Context, words: list[str]) -> str:
        """Return what to type in place of words that begin with no verb; of a URL its crawl."""
        if words[0] == "help" and words[1:]:
            return f"ultracrawl {' '.join(words[1:])} --help"
        return f"ultracrawl crawl {words[0]}" if "://" in words[0] else super().meant(ctx, words)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, wanted: _print_versions(ctx) if wanted else None,
    help="Show the version, and whether the compiled core is used.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Keep a full-text search index in sync with web sites and other data sources.

    \b
    Try it without any file:
      ultracrawl crawl https://docs.example.com/
      ultracrawl search "create index"

    With a definition file (ultracrawl.yaml) every source in it is crawled by name. Exit codes: 0 done, 1 work
    failed, 2 a mistake in what you wrote.
    """  # noqa: D301 - click's mark for a block that keeps its lines
    ctx.meta[REMOTE_VERBS] = _remote_verbs


def _print_versions(ctx: click.Context) -> None:
    from ultracrawl.system.compiled_core import core_state, core_version  # noqa: PLC0415 - no verb needs it here

    click.echo(f"ultracrawl, version {__version__}")
    version = core_version()
    click.echo(f"compiled core: {core_state()}" + (f", version {version}" if version else ""))
    ctx.exit()


def _remote_verbs() -> ModuleType:
    """Return the verbs that are sent to a service; only commands with `--server` load them."""
    from ultracrawl.cli.serve import remote  # noqa: PLC0415 - most commands use no service

    return remote


def main() -> NoReturn:
    """Run the command line and end the process."""
    is_output_closed = _open_streams()
    raise_gc_thresholds()
    if is_output_closed:
        exit_process(
            _print_error(
                "ultracrawl: standard output is closed; redirect it, to /dev/null if nobody reads it", 1
            )
        )
    exit_process(_run())


def _open_streams() -> bool:
    """Open closed standard streams, so that no file gets their descriptors; return whether output was closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is this one
    is_closed = sys.stdout is None
    null = open(os.devnull, "w")  # noqa: SIM115 - open as long as the process
    sys.stdout, sys.stderr = sys.stdout or null, sys.stderr or null
    return is_closed


def _run() -> int:
    """Run the command line and return its exit code; prints errors."""
    try:
        if sys.argv[1:2] not in (["init"], ["startproject"]):  # they write no data
            restrict_umask()
        code = run_words(sys.argv[1:])
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return _print_error("Interrupted.", 1)
    except UserError as error:
        return _print_error(f"ultracrawl: {error}", 2)
    except WorkError as error:
        return _print_error(f"ultracrawl: {error}", 1)
    except UnicodeEncodeError as error:
        wrong = next((word for word in sys.argv if not _is_text(word)), None)
        if wrong is None:
            raise
        return _print_error(f"ultracrawl: {wrong!r} is not UTF-8 ({error.reason})", 2)
    except BrokenPipeError:
        # The reader of the output (head, less) has ended.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        # Mostly: output redirected to a full disk, or a removed working directory.
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return _print_error(f"ultracrawl: {error.strerror}; allow more of them (ulimit -n)", 1)
        unnamed = "the working directory" if isinstance(error, FileNotFoundError) else "the output"
        path = error.filename or unnamed
        return _print_error(f"ultracrawl: {path}: {cause_and_remedy(error)}", 1)
    return code


def run_words(words: list[str]) -> int:
    """Run the command that is typed with these words behind `ultracrawl`, and return its exit code.

    Raises what the command raises, for mistakes in options and arguments `CommandLineError`.
    """
    color = False if os.environ.get("NO_COLOR") else None  # no-color.org
    try:
        cli(words, prog_name="ultracrawl", standalone_mode=False, color=color)
    except SystemExit as exit_:
        return int(exit_.code or 0)
    except NoArgsIsHelpError as error:  # a group without a verb: its help
        error.show()
        return error.exit_code
    except click.UsageError as error:
        raise of_usage(error) from None
    return 0


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _print_error(line: str, code: int) -> int:
    with suppress(OSError):  # the terminal is gone
        click.echo(line, err=True)
    return code
