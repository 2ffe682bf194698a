"""`ultracrawl robot`: the group of robot verbs, and those that edit sites and filter rules in their file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import click

from ultracrawl.cli.groups import LazyGroup
from ultracrawl.cli.options import (
    confirm,
    json_option,
    print_json,
)
from ultracrawl.dialects.portal_robot.editing import RulesEditor
from ultracrawl.dialects.portal_robot.verbs.files import change_rules, config_option, host_line, rules_of
from ultracrawl.rules.filters.resource import LOCAL_HOST, LOCAL_SCHEME
from ultracrawl.rules.filters.rules import FilterRule, SiteDefinition
from ultracrawl.sources.filter_files.lexer import between_quotes
from ultracrawl.system.nouns import counted


class RobotVerbs(LazyGroup):
    """The verbs of a robot."""

    lazy_commands: Mapping[str, tuple[str, str]] = {
        verb: (f"{__package__}.{module}", verb.replace("-", "_"))
        for module, verbs in {
            "control": ("start", "stop", "pause", "resume", "restart", "reload", "status", "clear"),
            "create": ("create",),
            "descriptions": ("export-rds", "import-rds"),
            "directives": (
                *("list-filters", "create-directive", "edit-directive", "delete-directives"),
                *("enable-directives", "disable-directives", "set-properties", "unset-properties"),
                *("list-categories", "create-category", "edit-category", "delete-categories"),
            ),
            "editing": ("edit-site", "edit-rule"),
            "reports": ("report",),
            "schedule": ("schedule",),
        }.items()
        for verb in verbs
    }


@click.group("robot", cls=RobotVerbs)
def command() -> None:
    """Control a portal robot, and edit its sites and filter rules in the filterrules.conf beside its robot.conf.

    Comments and order in the file are kept. A running robot takes changes with `robot reload`.

    \b
    Examples:
      ultracrawl robot create docs
      ultracrawl robot create-site www.example.com --depth 5 -c config/robot.conf
      ultracrawl robot start --background -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("list-sites", short_help="List the sites.")
@config_option
@json_option
def list_sites(config: str | None, as_json: bool) -> None:
    """List the sites: hosts, starting points, rules in their order.

    \b
    Example:
      ultracrawl robot list-sites -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    for site in rules_of(config).sites:
        if as_json:
            print_json(_site_json(site))
            continue
        click.echo(f"{site.name} ({site.kind}, {'on' if site.enabled else 'off'})")
        for host in site.hosts:
            click.echo(
                f"  host   {host.name}{f':{host.port}' if host.port else ''}  {', '.join(host.protocols)}"
            )
        for start in site.starts:
            depth = "" if start.depth is None else f"  depth {start.depth}"
            click.echo(f"  start  {start.url}{depth}{'' if start.enabled else '  off'}")
        for use in site.uses:
            click.echo(f"  rule   {use.rule}{'' if use.enabled else '  off'}")


@command.command("create-site", short_help="Add a site.")
@click.argument("name")
@click.option("--domain", is_flag=True, help="The site is a domain with all hosts below it.")
@click.option(
    "--start", "starts", multiple=True, metavar="URL", help="Starting point. Default: http://NAME/."
)
@click.option(
    "--depth", type=click.IntRange(-1), help="Link steps from there; -1: all. Default: that of robot.conf."
)
@config_option
def create_site(
    name: str, domain: bool, starts: tuple[str, ...], depth: int | None, config: str | None
) -> None:
    """Add a site NAME, a host or host:port; it uses all rules that are marked as default.

    \b
    Example:
      ultracrawl robot create-site example.com --domain --depth 5
    """  # noqa: D301 - click's mark for a block that keeps its lines
    host = host_line(name)
    local = [url for url in starts if url.startswith(f"{LOCAL_SCHEME}:")]
    rules = [rule.name for rule in rules_of(config).rules if rule.default]
    limit = "" if depth is None else f" depth={depth}"
    lines = [
        f'<Site name="{name}" kind={"domain" if domain else "server"} enable=on>',
        *([f"   {host}"] if not local or len(local) < len(starts) else []),
        *([f"   Host  name={LOCAL_HOST} protocol={LOCAL_SCHEME}"] if local else []),
        *(f'   Start url="{between_quotes(url)}"{limit}' for url in starts or (f"http://{name}/",)),
        *(f'   Use   rule="{between_quotes(rule)}"' for rule in rules),
        "</Site>",
    ]
    change_rules(config, lambda editor: editor.add("site", name, "\n".join(lines) + "\n"))
    click.echo(f"{name}: {counted(len(rules), 'rule')}, starting at {', '.join(starts) or f'http://{name}/'}")


@command.command("delete-site")
@click.argument("names", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@config_option
def delete_site(names: tuple[str, ...], yes: bool, config: str | None) -> None:
    """Delete the sites NAMES. Their descriptions leave the index with the next run.

    \b
    Example:
      ultracrawl robot delete-site www.example.com --yes -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines

    def change(editor: RulesEditor) -> None:
        for name in names:
            editor.remove("site", name)
        confirm(f"Delete the sites {', '.join(names)}?", yes=yes)

    change_rules(config, change)
    click.echo(f"deleted: {', '.join(names)}")


def _switch_command(kind: str, verb: str, *, on: bool) -> click.Command:
    what = "sites" if kind == "site" else "rules"

    @click.argument("names", nargs=-1, required=True)
    @config_option
    def switch(names: tuple[str, ...], config: str | None) -> None:
        def change(editor: RulesEditor) -> None:
            for name in names:
                editor.switch(kind, name, on=on)

        change_rules(config, change)
        click.echo(f"{verb}d: {', '.join(names)}")

    example = f"ultracrawl robot {verb}-{what} NAME -c config/robot.conf"
    switch.__doc__ = (
        f"{verb.capitalize()} the {what} NAMES; they stay in the file.\n\n\b\nExample:\n  {example}"
    )
    return click.command(f"{verb}-{what}")(switch)


for _kind in ("site", "filterrule"):
    command.add_command(_switch_command(_kind, "enable", on=True))
    command.add_command(_switch_command(_kind, "disable", on=False))


@command.command("list-rules", short_help="List the filter rules, and which sites use them.")
@config_option
@json_option
def list_rules(config: str | None, as_json: bool) -> None:
    """List the filter rules: whether they are on, used by default, and in which sites they are used.

    \b
    Example:
      ultracrawl robot list-rules -c config/robot.conf --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    rules = rules_of(config)
    for rule in rules.rules:
        used = [site.name for site in rules.sites if any(use.rule == rule.name for use in site.uses)]
        if as_json:
            print_json(_rule_json(rule, used))
            continue
        state = ", ".join(
            [
                "on" if rule.enabled else "off",
                *(["default"] if rule.default else []),
                "include" if rule.includes else "exclude",
            ]
        )
        click.echo(f"{rule.name}  ({state})  {rule.title}")
        for match in rule.matches:
            click.echo(f"  {match.source} {match.by} {match.string}")
        if used:
            click.echo(f"  used by {', '.join(used)}")


@command.command("create-rule", short_help="Add a filter rule.")
@click.argument("name")
@click.option(
    "--source", default="url", help="The source that is compared: url, protocol, host, path or type."
)
@click.option("--by", default="is", help="How: is, contains, begins-with, ends-with or regex.")
@click.option("--string", required=True, help="The text with which it is compared.")
@click.option("--include", is_flag=True, help="Include what matches, instead of excluding it.")
@click.option("--no-default", is_flag=True, help="Do not attach it to sites that are created later.")
@click.option("--title", default="", help="A description for people.")
@config_option
def create_rule(
    name: str,
    source: str,
    by: str,
    string: str,
    include: bool,
    no_default: bool,
    title: str,
    config: str | None,
) -> None:
    """Add a filter rule NAME; add `Use` lines to the sites that shall use it.

    \b
    Example:
      ultracrawl robot create-rule drafts --source path --by contains --string /draft/
    """  # noqa: D301 - click's mark for a block that keeps its lines
    behavior = "include" if include else "exclude"
    default = "off" if no_default else "on"
    switches = f"enable=on default={default} behavior={behavior}"
    head = f'name="{between_quotes(name)}" title="{between_quotes(title)}" {switches}'
    match = f'Match source={source} by={by} string="{between_quotes(string)}"'
    block = f"<FilterRule {head}>\n   {match}\n</FilterRule>\n"
    change_rules(config, lambda editor: editor.add("filterrule", name, block))
    click.echo(f"created: {name}")


@command.command("delete-rule", short_help="Delete a filter rule, and its uses.")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@config_option
def delete_rule(name: str, yes: bool, config: str | None) -> None:
    """Delete the filter rule NAME, and the lines of sites that use it.

    \b
    Example:
      ultracrawl robot delete-rule drafts --yes -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines

    def change(editor: RulesEditor) -> None:
        editor.remove("filterrule", name)
        confirm(f"Delete the rule {name} and its uses?", yes=yes)

    change_rules(config, change)
    click.echo(f"deleted: {name}")


def _site_json(site: SiteDefinition) -> dict[str, object]:
    row = asdict(site)
    row["rules"] = [{"name": use["rule"], "enabled": use["enabled"]} for use in row.pop("uses")]
    return row


def _rule_json(rule: FilterRule, used: list[str]) -> dict[str, object]:
    matches = [
        {"source": match.source, "by": match.by.value, "string": match.string} for match in rule.matches
    ]
    return {
        "name": rule.name,
        "title": rule.title,
        "enabled": rule.enabled,
        "default": rule.default,
        "behavior": "include" if rule.includes else "exclude",
        "matches": matches,
        "used_by": used,
    }
