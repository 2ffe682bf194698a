"""`ultracrawl user`: adds, lists, changes and removes the users who can log in to the service."""

from __future__ import annotations

import sys
from typing import Any

import click

from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import json_option, print_json, searchable_project_option
from ultracrawl.cli.serve.token import (
    chosen_principals,
    chosen_sources,
    readers_options,
    tell_near_misses,
    visible_documents,
)
from ultracrawl.cli.terminal import print_line
from ultracrawl.service.access.passwords import MAX_BYTES
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.users import UserStore
from ultracrawl.sources import Project

SEARCHER = "searcher"
"""The word for a user without a role, who may only search."""
_stdin_option = click.option(
    "--password-stdin",
    is_flag=True,
    help="Read the password from the first line of the standard input. Default: ask for it at the terminal.",
)
_ROLES = click.Choice([SEARCHER, *(role.value for role in Role)])
_ROLE_HELP = (
    "searcher: search only; reader: also see the status of sources; editor: also steer crawls, see URLs, approve; "
    "administrator: all."
)


@click.group("user", cls=VerbGroup)
def command() -> None:
    """Add, list, change and remove the users who can log in to the pages of `ultracrawl serve`.

    Only hashes of passwords are stored (argon2id), in a file beside the states that only your account can read.
    Changes take effect at once, also in a running service: a user who is removed, or has a new password or other
    rights, is logged out.

    \b
    Examples:
      ultracrawl user add anna --role administrator
      pass show search/ben | ultracrawl user add ben --role searcher --principal staff --password-stdin
      ultracrawl user change ben --role editor
      ultracrawl user password anna
      ultracrawl user remove ben
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("add", short_help="Add a user.")
@click.argument("name")
@click.option("--role", required=True, type=_ROLES, help=_ROLE_HELP)
@readers_options
@_stdin_option
@searchable_project_option
def add(
    name: str,
    role: str,
    principals: tuple[str, ...],
    all_principals: bool,
    sources: tuple[str, ...],
    password_stdin: bool,
    project: Project,
) -> None:
    """Add the user NAME, who can log in from now on. Without --principal: sees what everybody may see.

    \b
    Examples:
      ultracrawl user add anna --role administrator
      pass show search/ben | ultracrawl user add ben --role searcher --principal staff --password-stdin
    """  # noqa: D301 - as above
    names = chosen_principals(principals, all_principals)
    known = chosen_sources(sources, project)
    users = UserStore.of_project(project)
    users.check_new(name)
    user = users.add_user(name, _role(role), _password(name, from_stdin=password_stdin), names, known)
    print_line(f"The user {user.name} can log in, as {role}.")
    tell_near_misses(names, project)


@command.command("list", short_help="List the users.")
@searchable_project_option
@json_option
def list_users(project: Project, as_json: bool) -> None:
    """List the users: name, role, when they were added and got their password, whose documents they see.

    \b
    Example:
      ultracrawl user list --json
    """  # noqa: D301 - as above
    users = UserStore.of_project(project).all_users()
    if as_json:
        print_json({"users": [user.as_json() for user in users]})
        return
    for user in users:
        print_line(
            f"{user.name}: {user.role or SEARCHER}, added {user.created}, password of {user.password_changed}, "
            f"sees {visible_documents(user.principals, user.sources)}"
        )
    if not users:
        print_line("no users; `ultracrawl user add NAME --role administrator` adds one", err=True)


@command.command("change", short_help="Change the role of a user, or what the user sees.")
@click.argument("name")
@click.option("--role", type=_ROLES, help=_ROLE_HELP)
@readers_options
@click.option("--no-principals", is_flag=True, help="Shows only what everybody may see.")
@click.option("--all-sources", is_flag=True, help="Finds documents of all sources.")
@searchable_project_option
def change(
    name: str,
    role: str | None,
    principals: tuple[str, ...],
    all_principals: bool,
    sources: tuple[str, ...],
    no_principals: bool,
    all_sources: bool,
    project: Project,
) -> None:
    """Change the role of the user NAME, or whose documents NAME sees; what no option names stays.

    The password stays, and NAME logs in again. Each --principal and --source that is to count is named: together they
    replace those of before.

    \b
    Examples:
      ultracrawl user change ben --role editor
      ultracrawl user change ben --principal staff --principal group:board
    """  # noqa: D301 - as above
    names = chosen_principals(principals, all_principals)
    if no_principals and names != ():
        raise Mistake.EXCLUDE_EACH_OTHER.error(options="--no-principals and the other options of principals")
    if all_sources and sources:
        raise Mistake.EXCLUDE_EACH_OTHER.error(options="--all-sources and --source")
    rights: dict[str, Any] = {} if role is None else {"role": _role(role)}
    if no_principals or names != ():
        rights["principals"] = names
    if all_sources or sources:
        rights["sources"] = chosen_sources(sources, project)
    users = UserStore.of_project(project)
    user = users.known_user(name)
    if not rights:
        raise Mistake.NO_RIGHTS_NAMED.error()
    user = users.change_rights(user.name, **rights)
    sight = visible_documents(user.principals, user.sources)
    print_line(f"The user {user.name} is {user.role or SEARCHER} now, and sees {sight}.")
    tell_near_misses(user.principals, project)


@command.command("password", short_help="Give a user a new password.")
@click.argument("name")
@_stdin_option
@searchable_project_option
def password(name: str, password_stdin: bool, project: Project) -> None:
    """Give the user NAME a new password, and log out every browser that has the old one.

    \b
    Examples:
      ultracrawl user password anna
      pass show search/anna | ultracrawl user password anna --password-stdin
    """  # noqa: D301 - as above
    users = UserStore.of_project(project)
    user = users.known_user(name)
    users.change_password(user.name, _password(user.name, from_stdin=password_stdin))
    print_line(f"The user {user.name} has a new password.")


@command.command("remove", short_help="Remove a user.")
@click.argument("name")
@searchable_project_option
def remove(name: str, project: Project) -> None:
    """Remove the user NAME, who is logged out at once.

    \b
    Example:
      ultracrawl user remove ben
    """  # noqa: D301 - as above
    users = UserStore.of_project(project)
    user = users.known_user(name)
    users.remove_user(user.name)
    print_line(f"The user {user.name} is removed.")


def _role(word: str) -> Role | None:
    return None if word == SEARCHER else Role(word)


def _password(name: str, *, from_stdin: bool) -> str:
    """Return a password from the standard input or the terminal. Raises `UserError`."""
    if from_stdin:
        line = sys.stdin.buffer.readline(MAX_BYTES + 2)
        try:
            return line.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise Mistake.PASSWORD_NOT_TEXT.error() from None
    if not sys.stdin.isatty():
        raise Mistake.NOBODY_TO_ASK_FOR_PASSWORD.error()
    return str(click.prompt(f"Password of {name}", hide_input=True, confirmation_prompt="Once more"))
