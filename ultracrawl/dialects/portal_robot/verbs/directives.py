"""Verbs of `ultracrawl robot` for the directives of filters, for properties and for classification rules."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import click

from ultracrawl.cli.options import confirm, json_option, print_json
from ultracrawl.dialects.portal_robot.editing import RulesEditor
from ultracrawl.dialects.portal_robot.properties import PROPERTIES
from ultracrawl.dialects.portal_robot.reader import read_files
from ultracrawl.dialects.portal_robot.verbs.files import (
    Change,
    change_file,
    config_option,
    robot_conf,
    text_of,
)
from ultracrawl.errors import UserError
from ultracrawl.rules.filters.function import SWITCHES
from ultracrawl.rules.filters.phase import FilterKind
from ultracrawl.sources.filter_files.filter_file import FILE as FILTER_FILE
from ultracrawl.sources.filter_files.filter_file import FILTER
from ultracrawl.sources.filter_files.lexer import Directive, between_quotes
from ultracrawl.sources.filter_files.rules_file import CLASSIFICATION_FILE


def _read_numbers(_: click.Context, __: click.Parameter, texts: str | tuple[str, ...]) -> tuple[int, ...]:
    """Return the numbers of lines. Raises `UserError`."""
    for text in [texts] if isinstance(texts, str) else texts:
        if not (text.isascii() and text.isdigit() and len(text) < 7):
            raise UserError(f"`{text}` is no number of a line")
    return tuple(map(int, [texts] if isinstance(texts, str) else texts))


_YES = click.option("--yes", is_flag=True, help="Do not ask.")
_NUMBERS = click.argument("numbers", nargs=-1, required=True, callback=_read_numbers)


def _quoted(text: str) -> str:
    return f'"{between_quotes(text)}"'


def _pair(text: str) -> tuple[str, str]:
    """Split `name=value`. Raises `UserError`."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UserError(f"`{text}` is no pair; write name=value")
    return name, value


def _line_of(directive: Directive) -> str:
    pairs = (
        f"{pair.name}={_quoted(pair.value) if not pair.value or ' ' in pair.value else pair.value}"
        for pair in directive.parameters
    )
    return " ".join([directive.word, *pairs])


def _is_on(directive: Directive) -> bool:
    return SWITCHES.get((directive.get("enable") or "true").lower(), True)


# ---- filters


@click.command("list-filters", short_help="List the filters with their numbered directives.")
@config_option
@json_option
def list_filters(config: str | None, as_json: bool) -> None:
    """List the filters: which of them the robot uses, and their directives with the numbers that other verbs take.

    \b
    Example:
      ultracrawl robot list-filters -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    files = read_files(robot_conf(config))
    used = {files.properties[f"{kind}-filter"]: kind.value for kind in FilterKind}
    for name, block in (files.filters.filters if files.filters else {}).items():
        rows = [
            {"number": number, "enabled": _is_on(one), "directive": _line_of(one)}
            for number, one in enumerate(block.directives, 1)
        ]
        if as_json:
            print_json({"name": name, "used_as": used.get(name), "directives": rows})
            continue
        click.echo(f"{name} ({used.get(name, 'not used')})")
        for row in rows:
            click.echo(f"  {row['number']:>3}  {'on ' if row['enabled'] else 'off'}  {row['directive']}")


def _change_filter(config: str | None, change: Change) -> None:
    files = read_files(robot_conf(config))
    change_file(config, files.path_of(FILTER_FILE, FILTER), change)


def _switch_command(verb: str, *, on: bool) -> click.Command:
    @click.argument("filter_name", metavar="FILTER")
    @_NUMBERS
    @config_option
    def switch(filter_name: str, numbers: tuple[int, ...], config: str | None) -> None:
        def change(editor: RulesEditor) -> None:
            for directive in editor.numbered(filter_name, numbers):
                editor.set_pair(directive, "enable", "true" if on else "false")

        _change_filter(config, change)
        click.echo(f"{verb}d: {', '.join(map(str, numbers))} of {filter_name}")

    example = f"ultracrawl robot {verb}-directives generation-default 17 -c config/robot.conf"
    switch.__doc__ = (
        f"{verb.capitalize()} directives of FILTER by their NUMBERS, as `list-filters` shows them."
        f"\n\n\b\nExample:\n  {example}"
    )
    return click.command(f"{verb}-directives", short_help=f"{verb.capitalize()} directives of a filter.")(
        switch
    )


enable_directives = _switch_command("enable", on=True)
disable_directives = _switch_command("disable", on=False)


@click.command("create-directive", short_help="Add a directive to a filter.")
@click.argument("filter_name", metavar="FILTER")
@click.argument("word", metavar="DIRECTIVE")
@click.argument("pairs", nargs=-1, required=True, metavar="NAME=VALUE...")
@config_option
def create_directive(filter_name: str, word: str, pairs: tuple[str, ...], config: str | None) -> None:
    """Add a directive to FILTER, after the last one of the same kind.

    \b
    Example:
      ultracrawl robot create-directive generation-default Generate fn=extract-full-text truncate=5000
    """  # noqa: D301 - click's mark for a block that keeps its lines
    line = " ".join([word, *(f"{name}={_quoted(value)}" for name, value in map(_pair, pairs))])
    _change_filter(config, lambda editor: editor.add_line("filter", filter_name, line))
    click.echo(f"created in {filter_name}: {line}")


@click.command("edit-directive", short_help="Change parameters of a directive.")
@click.argument("filter_name", metavar="FILTER")
@click.argument("numbers", metavar="NUMBER", callback=_read_numbers)
@click.argument("pairs", nargs=-1, metavar="NAME=VALUE...")
@click.option("--remove", multiple=True, metavar="NAME", help="Remove a parameter.")
@config_option
def edit_directive(
    filter_name: str,
    numbers: tuple[int, ...],
    pairs: tuple[str, ...],
    remove: tuple[str, ...],
    config: str | None,
) -> None:
    """Set parameters of the directive NUMBER of FILTER; what is not named stays as it is.

    \b
    Example:
      ultracrawl robot edit-directive generation-default 13 truncate=8192 --remove type
    """  # noqa: D301 - click's mark for a block that keeps its lines
    changed = dict(map(_pair, pairs))

    def change(editor: RulesEditor) -> None:
        for key, text in changed.items():
            (directive,) = editor.numbered(filter_name, numbers)
            editor.set_pair(directive, key, _quoted(text))
        (directive,) = editor.numbered(filter_name, numbers)
        _require([pair.name for pair in directive.parameters], remove)
        editor.drop_pairs([pair for pair in directive.parameters if pair.name in remove])

    _change_filter(config, change)
    click.echo(f"changed: {numbers[0]} of {filter_name}")


@click.command("delete-directives", short_help="Delete directives of a filter.")
@click.argument("filter_name", metavar="FILTER")
@_NUMBERS
@_YES
@config_option
def delete_directives(filter_name: str, numbers: tuple[int, ...], yes: bool, config: str | None) -> None:
    """Delete directives of FILTER by their NUMBERS, as `list-filters` shows them.

    \b
    Example:
      ultracrawl robot delete-directives generation-default 17 --yes -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines

    def change(editor: RulesEditor) -> None:
        editor.delete(editor.numbered(filter_name, numbers))
        confirm(f"Delete {', '.join(map(str, numbers))} of {filter_name}?", yes=yes)

    _change_filter(config, change)
    click.echo(f"deleted: {', '.join(map(str, numbers))} of {filter_name}")


# ---- properties


@click.command("set-properties", short_help="Set properties of robot.conf.")
@click.argument("pairs", nargs=-1, required=True, metavar="NAME=VALUE...")
@config_option
def set_properties(pairs: tuple[str, ...], config: str | None) -> None:
    """Set properties of robot.conf. `report configuration` shows those that are set.

    \b
    Example:
      ultracrawl robot set-properties server-delay=2 depth=5 -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    changed = {_property(name): value for name, value in map(_pair, pairs)}

    def change(editor: RulesEditor) -> None:
        for name, value in changed.items():
            editor.set_property(_names(name), _quoted(value))

    change_file(config, robot_conf(config), change)
    click.echo(f"set: {', '.join(changed)}")


@click.command("unset-properties", short_help="Give properties of robot.conf their defaults.")
@click.argument("names", nargs=-1, required=True)
@config_option
def unset_properties(names: tuple[str, ...], config: str | None) -> None:
    """Remove properties from robot.conf, so that they have their defaults.

    \b
    Example:
      ultracrawl robot unset-properties server-delay -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    known = [alias for name in names for alias in _names(_property(name))]

    def change(editor: RulesEditor) -> None:
        editor.drop_pairs([pair for pair in editor.properties() if pair.name in known])

    change_file(config, robot_conf(config), change)
    click.echo(f"unset: {', '.join(names)}")


def _property(name: str) -> str:
    """Return the first name of a property that may be changed. Raises `UserError`."""
    found = next((one.name for one in PROPERTIES.values() if name in _names(one.name)), None)
    if found is None:
        near = get_close_matches(name, PROPERTIES, 1)
        raise UserError(f"there is no property `{name}`" + (f"; did you mean `{near[0]}`" if near else ""))
    if found == "csid":
        raise UserError("csid names the robot and its data, and is not changed by a command")
    return found


def _names(name: str) -> Sequence[str]:
    return (name, *PROPERTIES[name].aliases)


def _require(known: Sequence[str], names: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise UserError(f"there is no `{name}` in it; it has: {', '.join(known) or 'nothing'}")


# ---- classification rules


def _classification(config: str | None) -> Path:
    return robot_conf(config).with_name(CLASSIFICATION_FILE)


@click.command("list-categories", short_help="List the classification rules.")
@config_option
@json_option
def list_categories(config: str | None, as_json: bool) -> None:
    """List the classification rules with their numbers.

    \b
    Example:
      ultracrawl robot list-categories -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    editor = RulesEditor(text_of(_classification(config)).text)
    for number, rule in enumerate(editor.numbered(None), 1):
        row = {
            "number": number,
            "source": rule.get("source") or "url",
            "by": rule.get("by") or "is",
            "string": rule.get("string") or "",
            "category": rule.get("category") or "",
        }
        if as_json:
            print_json(row)
        else:
            click.echo(
                f"{row['number']:>3}  {row['source']} {row['by']} {row['string']}  ->  {row['category']}"
            )


@click.command("create-category", short_help="Add a classification rule.")
@click.argument("category")
@click.option("--source", default="url", help="The source or field that is compared. Default: url.")
@click.option("--by", default="is", help="How: is, contains, begins-with, ends-with or regex.")
@click.option("--string", required=True, help="The text with which it is compared.")
@config_option
def create_category(category: str, source: str, by: str, string: str, config: str | None) -> None:
    """Add a rule that gives matching resources the category CATEGORY.

    \b
    Example:
      ultracrawl robot create-category "Siroe:HR" --source path --by begins-with --string /hr/
    """  # noqa: D301 - click's mark for a block that keeps its lines
    line = f"Classify source={_quoted(source)} by={by} string={_quoted(string)} category={_quoted(category)}"
    change_file(config, _classification(config), lambda editor: editor.append(line))
    click.echo(f"created: {category}")


@click.command("edit-category", short_help="Change a classification rule.")
@click.argument("numbers", metavar="NUMBER", callback=_read_numbers)
@click.option("--category", help="The category that it gives.")
@click.option("--source", help="The source or field that is compared.")
@click.option("--by", help="How: is, contains, begins-with, ends-with or regex.")
@click.option("--string", help="The text with which it is compared.")
@config_option
def edit_category(numbers: tuple[int, ...], config: str | None, **named: str | None) -> None:
    """Change the classification rule NUMBER, as `list-categories` shows it; what is not named stays as it is.

    \b
    Example:
      ultracrawl robot edit-category 2 --category "Siroe:Human Resources" -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    changed = {key: text for key, text in named.items() if text is not None}

    def change(editor: RulesEditor) -> None:
        for key, text in changed.items():
            (rule,) = editor.numbered(None, numbers)
            editor.set_pair(rule, key, text if key == "by" else _quoted(text))

    if not changed:
        raise UserError("nothing is to be changed; name it with --category, --source, --by or --string")
    change_file(config, _classification(config), change)
    click.echo(f"changed: {numbers[0]}")


@click.command("delete-categories", short_help="Delete classification rules.")
@_NUMBERS
@_YES
@config_option
def delete_categories(numbers: tuple[int, ...], yes: bool, config: str | None) -> None:
    """Delete classification rules by their NUMBERS, as `list-categories` shows them.

    \b
    Example:
      ultracrawl robot delete-categories 2 3 --yes -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines

    def change(editor: RulesEditor) -> None:
        editor.delete(editor.numbered(None, numbers))
        confirm(f"Delete the classification rules {', '.join(map(str, numbers))}?", yes=yes)

    change_file(config, _classification(config), change)
    click.echo(f"deleted: {', '.join(map(str, numbers))}")
