"""`ultracrawl token`: creates, lists and revokes tokens for the API of the service."""

from __future__ import annotations

import click

from ultracrawl.cli.options import json_option, print_json, searchable_project_option
from ultracrawl.cli.terminal import print_line
from ultracrawl.errors import UserError
from ultracrawl.service.api.tokens import Role, Token, TokenStore
from ultracrawl.sources import Project


@click.group("token")
def command() -> None:
    """Make, list and revoke tokens for the API of `ultracrawl serve`.

    Only hashes of tokens are stored, in a file beside the states that only your account can read. Changes take effect
    at once, also in a running service.

    \b
    Examples:
      ultracrawl token create portal --role reader
      ultracrawl token create intranet --role reader --principal staff
      ultracrawl token revoke portal
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("create", short_help="Make a token, and print it once.")
@click.argument("name")
@click.option(
    "--role",
    required=True,
    type=click.Choice([role.value for role in Role]),
    help="reader: search, see the status of sources; editor: also steer crawls, see URLs, approve; administrator: all.",
)
@click.option(
    "--principal",
    "principals",
    multiple=True,
    metavar="NAME",
    help="Also shows documents that this user or group may see; repeat for several.",
)
@click.option("--all-principals", is_flag=True, help="Shows all documents, whoever may see them.")
@searchable_project_option
@json_option
def create(
    name: str,
    role: str,
    principals: tuple[str, ...],
    all_principals: bool,
    project: Project,
    as_json: bool,
) -> None:
    """Make a token called NAME, and print it: it cannot be shown again.

    Without --principal it gives access only to documents that everybody may see, whatever its role.

    \b
    Example:
      ultracrawl token create portal --role reader > portal.token
    """  # noqa: D301 - as above
    if principals and all_principals:
        raise UserError("--all-principals includes every --principal; use only one of the two options")
    if not name.strip() or not name.isprintable():
        raise UserError("the name of a token is a word or some words, as `portal`")
    names = None if all_principals else principals
    token = TokenStore.of_project(project).create_token(name, Role(role), names)
    if as_json:
        print_json({"name": name, "role": role, "token": token})
    else:
        click.echo(token)


@command.command("list", short_help="List the tokens, without their secrets.")
@searchable_project_option
@json_option
def list_tokens(project: Project, as_json: bool) -> None:
    """List the tokens: name, role, when they were made, whose documents they show.

    \b
    Example:
      ultracrawl token list --json
    """  # noqa: D301 - as above
    tokens = TokenStore.of_project(project).all_tokens()
    if as_json:
        print_json({"tokens": [token.as_json() for token in tokens]})
        return
    for token in tokens:
        print_line(f"{token.name}: {token.role.value}, made {token.created}, shows {_visible(token)}")


def _visible(token: Token) -> str:
    if token.principals is None:
        return "all documents"
    others = f", and of {', '.join(token.principals)}" if token.principals else ""
    return f"documents for everybody{others}"


@command.command("revoke", short_help="Refuse a token from now on.")
@click.argument("name")
@searchable_project_option
def revoke(name: str, project: Project) -> None:
    """Refuse the token called NAME from now on.

    \b
    Example:
      ultracrawl token revoke portal
    """  # noqa: D301 - as above
    TokenStore.of_project(project).revoke_token(name)
    print_line(f"The token {name} is revoked.")
