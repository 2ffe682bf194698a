"""`ultracrawl token`: creates, lists and revokes tokens for the API of the service."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import json_option, print_json, searchable_project_option
from ultracrawl.cli.serve.service_options import site_origins
from ultracrawl.cli.terminal import print_line
from ultracrawl.model.dates import as_text, iso
from ultracrawl.service.access import tokens as access_tokens
from ultracrawl.service.access.reader_names import defined_readers, near_misses
from ultracrawl.service.access.refusals import Refusal, RefusedError
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import Token, TokenStore, is_token_name
from ultracrawl.sources import Project

_Verb = Callable[..., None]


def readers_options(verb: _Verb) -> _Verb:
    """Give a verb `--principal`, `--all-principals` and `--source`; see `chosen_principals` and `chosen_sources`."""
    principal = click.option(
        "--principal",
        "principals",
        multiple=True,
        metavar="NAME",
        help="Also shows documents of this reader, letter by letter as `acl` has it: user:NAME, group:NAME, or a bare "
        "NAME, which is another name than group:NAME; repeat for several.",
    )
    everybody = click.option(
        "--all-principals", is_flag=True, help="Shows all documents, whoever may see them."
    )
    source = click.option(
        "--source",
        "sources",
        multiple=True,
        metavar="NAME",
        help="Finds documents of this source alone; repeat for several. Default: of all.",
    )
    return principal(everybody(source(verb)))


def chosen_principals(principals: tuple[str, ...], all_principals: bool) -> tuple[str, ...] | None:
    """Return the users and groups of these options; None for all. Raises `UserError` for both options."""
    if principals and all_principals:
        raise Mistake.ALL_AND_SOME_PRINCIPALS.error()
    return None if all_principals else principals


def tell_near_misses(principals: tuple[str, ...] | None, project: Project) -> None:
    """Say which principals no definition names as a reader, where one names the same name with another type."""
    for name, reader in near_misses(principals or (), defined_readers(project)):
        print_line(f"hint: no definition names {name}, but {reader}, which is another name", err=True)


def chosen_sources(sources: tuple[str, ...], project: Project) -> tuple[str, ...] | None:
    """Return the sources of these options; None for all. Raises `UserError` for one that is not defined."""
    for name in sources:
        if name not in project.known_sources:
            raise Mistake.NO_SUCH_NAME.error(what="source", name=name, known=sorted(project.known_sources))
    return sources or None


@click.group("token", cls=VerbGroup)
def command() -> None:
    """Make, list and revoke tokens for the API of `ultracrawl serve`.

    Only hashes of tokens are stored, in a file beside the states that only your account can read. Changes take effect
    at once, also in a running service.

    \b
    Examples:
      ultracrawl token create portal --role reader
      ultracrawl token create intranet --role reader --principal staff
      ultracrawl token create docs --public --site https://docs.example.com
      ultracrawl token revoke portal
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("create", short_help="Make a token, and print it once.")
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    help="reader: search, see the status of sources; editor: also steer crawls, see URLs, approve; administrator: all.",
)
@readers_options
@click.option(
    "--public",
    "is_public",
    is_flag=True,
    help="Make a public key instead, for a search box in the pages of --site: it only finds what everybody may see, in "
    "sources that say `public`.",
)
@click.option(
    "--site",
    "sites",
    multiple=True,
    metavar="URL",
    help="A site whose pages may use the public key, as https://docs.example.com; repeat for several.",
)
@click.option(
    "--expires",
    metavar="90d|DATE",
    callback=lambda _context, _option, text: None if text is None else expiry(text, time.time()),
    help="Refuse it from then on: days, hours (12h) or weeks (2w) from now, or a date (UTC). Default: never.",
)
@searchable_project_option
@json_option
def create(
    name: str,
    role: str | None,
    principals: tuple[str, ...],
    all_principals: bool,
    sources: tuple[str, ...],
    is_public: bool,
    sites: tuple[str, ...],
    expires: float | None,
    project: Project,
    as_json: bool,
) -> None:
    """Make a token called NAME, and print it: it cannot be shown again.

    Without --principal it gives access only to documents that everybody may see, whatever its role.

    \b
    Example:
      ultracrawl token create portal --role reader > portal.token
      ultracrawl token create audit --role reader --expires 90d
      ultracrawl token create docs --public --site https://docs.example.com
    """  # noqa: D301 - as above
    if not is_token_name(name):
        raise Mistake.NO_TOKEN_NAME.error()
    known = chosen_sources(sources, project)
    if is_public and (role or principals or all_principals):
        raise Mistake.PUBLIC_WITH_RIGHTS.error()
    origins = site_origins(sites, is_public=is_public)
    if not is_public and not role:
        raise Mistake.NO_ROLE.error()
    names = chosen_principals(principals, all_principals)
    token = TokenStore.of_project(project).create_token(
        name, Role(role) if role else None, names, expires, origins, known
    )
    tell_near_misses(names, project)
    if as_json:
        print_json(
            {"name": name, "role": role, "token": token, "expires": iso(expires), "sites": list(origins)}
        )
        return
    click.echo(token)
    if is_public:
        public = [one for one in project.public_sources if known is None or one in known]
        found = ", ".join(public) or "none as yet: write `public: true` in a source"
        print_line(f"For pages of {', '.join(origins)}. Sources that the key finds: {found}.", err=True)
    until = f"expires at {iso(expires)}" if expires else "does not expire; --expires 90d makes one that does"
    print_line(f"The token {name} {until}.", err=True)


def expiry(text: str, now: float) -> float:
    """Return the time, in seconds since the epoch, of `90d`, `12h`, `2w` or a date (UTC). Raises `UserError`."""
    try:
        return access_tokens.expiry(text, now)
    except RefusedError as error:
        if error.refusal is Refusal.EXPIRED:
            raise Mistake.EXPIRED.error(text=text) from None
        raise Mistake.BAD_EXPIRY.error(text=text) from None


@command.command("list", short_help="List the tokens, without their secrets.")
@searchable_project_option
@json_option
def list_tokens(project: Project, as_json: bool) -> None:
    """List tokens and public keys: name, role, when made, expired and last used, whose documents they show.

    \b
    Example:
      ultracrawl token list --json
    """  # noqa: D301 - as above
    store = TokenStore.of_project(project)
    tokens, uses = store.all_tokens(), store.last_uses()
    if as_json:
        print_json({"tokens": [{**token.as_json(), "last_used": uses.get(token.name)} for token in tokens]})
        return
    for token in tokens:
        used = f"last used {uses[token.name]}" if token.name in uses else "never used"
        kind = token.role.value if token.role else "public key"
        print_line(
            f"{token.name}: {kind}, made {token.created}, {_end_of(token)}, {used}, shows {_visible(token)}"
        )


def _end_of(token: Token) -> str:
    if token.expires is None:
        return "does not expire"
    return f"{'expired' if token.expires <= as_text(time.time()) else 'expires'} {token.expires}"


def _visible(token: Token) -> str:
    if token.role is None:
        where = "public sources" if token.sources is None else ", ".join(token.sources)
        return f"documents for everybody in {where}, to pages of {', '.join(token.sites)}"
    return visible_documents(token.principals, token.sources)


def visible_documents(principals: tuple[str, ...] | None, sources: tuple[str, ...] | None = None) -> str:
    """Return in words what documents somebody with these principals sees, in these sources alone."""
    where = "" if sources is None else f", in {', '.join(sources)} alone"
    if principals is None:
        return f"all documents{where}"
    others = f", and of {', '.join(principals)}" if principals else ""
    return f"documents for everybody{others}{where}"


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
