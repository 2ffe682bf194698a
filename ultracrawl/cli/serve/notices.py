"""`ultracrawl notices`: sends test notices."""

from __future__ import annotations

import time

import click

from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import json_option, print_json, project_option
from ultracrawl.cli.terminal import print_line
from ultracrawl.errors import WorkError
from ultracrawl.service.notices.channels import open_channels
from ultracrawl.service.notices.notice import Notice
from ultracrawl.sources import Project
from ultracrawl.sources.sections.notices import NoticeKind


@click.group("notices", cls=VerbGroup)
def command() -> None:
    """Test the channels on which `ultracrawl serve` notifies people of failures.

    \b
    Example:
      ultracrawl notices test operators
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("test", short_help="Send a test notice on each channel.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@project_option
@json_option
def test(names: tuple[str, ...], project: Project, as_json: bool) -> None:
    """Send a test notice on the channels NAME of the section `notices`, or on all; exit code 1 if one fails.

    \b
    Examples:
      ultracrawl notices test
      ultracrawl notices test operators --json
    """  # noqa: D301 - as above
    channels = {channel.name: channel for channel in open_channels(project)}
    if not channels:
        raise Mistake.NO_CHANNEL.error()
    if unknown := [name for name in names if name not in channels]:
        raise Mistake.NO_SUCH_NAME.error(what="notice channel", name=unknown[0], known=channels)
    notice = Notice(NoticeKind.TEST, "", "test notice; nothing needs to be done", time.time())
    chosen, problems = names or tuple(channels), dict[str, str]()
    for name in chosen:
        try:
            channels[name].send([notice])
        except WorkError as error:
            problems[name] = str(error)
        if not as_json:
            print_line(problems.get(name) or f"notices.to.{name}: sent", err=name in problems)
    if as_json:
        rows = [
            {"name": name, "sent": name not in problems, "problem": problems.get(name)} for name in chosen
        ]
        print_json({"notices": rows})
    raise SystemExit(1 if problems else 0)
