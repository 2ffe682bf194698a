"""`ultracrawl robot edit-site` and `edit-rule`: change a site or a filter rule."""

from __future__ import annotations

from collections.abc import Mapping

import click

from ultracrawl.dialects.portal_robot.editing import RulesEditor
from ultracrawl.dialects.portal_robot.verbs.files import change_rules, config_option, host_line, host_pairs
from ultracrawl.errors import UserError
from ultracrawl.sources.filter_files.lexer import between_quotes


@click.command("edit-site", short_help="Change a site.")
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(["server", "domain"]),
    help="server: only its hosts; domain: also all hosts below them.",
)
@click.option(
    "--start", "starts", multiple=True, metavar="URL", help="Add a starting point, or set its depth."
)
@click.option("--depth", type=click.IntRange(-1), help="Link steps from the --start named with it; -1: all.")
@click.option("--no-start", "no_starts", multiple=True, metavar="URL", help="Remove a starting point.")
@click.option("--enable-start", "switched_on", multiple=True, metavar="URL", help="Use a starting point.")
@click.option("--disable-start", "switched_off", multiple=True, metavar="URL", help="Keep one unused.")
@click.option("--host", "hosts", multiple=True, metavar="HOST", help="Add a host, or host:port.")
@click.option(
    "--protocol", metavar="LIST", help="Protocols of the --host named with it: http,https,ftp,file."
)
@click.option("--no-host", "no_hosts", multiple=True, metavar="HOST", help="Remove a host.")
@click.option("--use", "uses", multiple=True, metavar="RULE", help="Use a rule, after those already used.")
@click.option("--no-use", "no_uses", multiple=True, metavar="RULE", help="Stop using a rule.")
@config_option
def edit_site(
    name: str,
    kind: str | None,
    starts: tuple[str, ...],
    depth: int | None,
    no_starts: tuple[str, ...],
    switched_on: tuple[str, ...],
    switched_off: tuple[str, ...],
    hosts: tuple[str, ...],
    protocol: str | None,
    no_hosts: tuple[str, ...],
    uses: tuple[str, ...],
    no_uses: tuple[str, ...],
    config: str | None,
) -> None:
    """Change the site NAME; what is not named stays as it is.

    \b
    Examples:
      ultracrawl robot edit-site www.example.com --use drafts --no-use image-files
      ultracrawl robot edit-site www.example.com --start http://www.example.com/new/ --depth 3
      ultracrawl robot edit-site www.example.com --disable-start http://www.example.com/new/
      ultracrawl robot edit-site www.example.com --host www.example.com:8443 --protocol https
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if depth is not None and not starts:
        raise UserError("--depth is that of a starting point; name it with --start")
    if protocol is not None and not hosts:
        raise UserError("--protocol is that of a host; name it with --host")

    def change(editor: RulesEditor) -> None:
        editor.require("site", name)
        if kind:
            editor.write("site", name, "kind", kind)
        for url in no_starts:
            _remove(editor, name, "Start", url=url)
        for host in no_hosts:
            _remove(editor, name, "Host", **host_pairs(host))
        for rule in no_uses:
            _remove(editor, name, "Use", rule=rule)
        for host in hosts:
            editor.put_line("site", name, host_line(host, protocol), **host_pairs(host))
        for url in starts:
            _put_start(editor, name, url, depth)
        _switch_starts(
            editor, name, {**dict.fromkeys(switched_on, "on"), **dict.fromkeys(switched_off, "off")}
        )
        for rule in uses:
            editor.put_line("site", name, f'Use   rule="{between_quotes(rule)}"', rule=rule)

    change_rules(config, change)
    click.echo(f"changed: {name}")


def _switch_starts(editor: RulesEditor, site: str, switches: Mapping[str, str]) -> None:
    for url, switch in switches.items():
        if not editor.write_line("site", site, "Start", "enable", switch, url=url):
            raise UserError(f"the site {site!r} has no starting point {url}")


def _put_start(editor: RulesEditor, site: str, url: str, depth: int | None) -> None:
    """Add a starting point, or set the depth of an existing one; whether that is enabled does not change."""
    if depth is None:
        editor.put_line("site", site, f'Start url="{between_quotes(url)}"', url=url)
    elif not editor.write_line("site", site, "Start", "depth", str(depth), url=url):
        editor.add_line("site", site, f'Start url="{between_quotes(url)}" depth={depth}')


def _remove(editor: RulesEditor, site: str, word: str, **values: str) -> None:
    if not editor.remove_lines("site", site, word, **values):
        raise UserError(f"the site {site!r} has no {word} {', '.join(values.values())}")


@click.command("edit-rule", short_help="Change a filter rule.")
@click.argument("name")
@click.option(
    "--source",
    help="The source that --string is compared with: url (the default), protocol, host, path or type.",
)
@click.option("--by", help="How: is (the default), contains, begins-with, ends-with or regex.")
@click.option("--string", help="Add a test for this text.")
@click.option("--no-string", multiple=True, metavar="TEXT", help="Remove the tests for this text.")
@click.option("--include/--exclude", "include", default=None, help="Include or exclude what matches.")
@click.option(
    "--default/--no-default", "default", default=None, help="Attach it to sites that are created later."
)
@click.option("--title", help="A description for people.")
@config_option
def edit_rule(
    name: str,
    source: str | None,
    by: str | None,
    string: str | None,
    no_string: tuple[str, ...],
    include: bool | None,
    default: bool | None,
    title: str | None,
    config: str | None,
) -> None:
    """Change the filter rule NAME; what is not named stays as it is.

    \b
    Example:
      ultracrawl robot edit-rule drafts --source path --by contains --string /wip/
    """  # noqa: D301 - click's mark for a block that keeps its lines
    headers = {
        "behavior": None if include is None else ("include" if include else "exclude"),
        "default": None if default is None else ("on" if default else "off"),
        "title": None if title is None else f'"{between_quotes(title)}"',
    }

    if string is None and (source or by):
        raise UserError("--source and --by belong to a test; write its text with --string")

    def change(editor: RulesEditor) -> None:
        editor.require("filterrule", name)
        for key, text in headers.items():
            if text is not None:
                editor.write("filterrule", name, key, text)
        for text in no_string:
            if not editor.remove_lines("filterrule", name, "Match", string=text):
                raise UserError(f"the rule {name!r} has no test for {text!r}")
        if string is not None:
            match = f'Match source={source or "url"} by={by or "is"} string="{between_quotes(string)}"'
            editor.add_line("filterrule", name, match)

    change_rules(config, change)
    click.echo(f"changed: {name}")
