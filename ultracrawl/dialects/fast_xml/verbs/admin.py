"""`ultracrawl admin`: the commands of FAST's `crawleradmin`, for an XML file of crawl collections."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from ultracrawl.cli.crawl import crawl, reindex, steering
from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.look import explain, status
from ultracrawl.cli.look import lint as lint_verb
from ultracrawl.cli.manage import secret
from ultracrawl.cli.manage.remove import print_removed
from ultracrawl.cli.options import confirm, json_option, print_all, print_json
from ultracrawl.dialects.fast_xml.collection import merge_layers
from ultracrawl.dialects.fast_xml.forms.masks import unmasked
from ultracrawl.dialects.fast_xml.reader import KEY_FILE
from ultracrawl.dialects.fast_xml.verbs import collection_file, sites
from ultracrawl.dialects.fast_xml.verbs.collection_file import (
    all_parts,
    collections_in,
    file_of,
    find,
    parts_of,
    project_with_parts,
    running_parts,
    stored_parts,
)
from ultracrawl.dialects.fast_xml.writing import collections_xml
from ultracrawl.run.source_data.places import require_idle
from ultracrawl.run.source_data.removing import remove_source
from ultracrawl.service.repair import Consistency, check_consistency, mend_consistency

_CONFIG = click.option(
    "-c", "--config", metavar="FILE", help="The XML file of the collections. Default: $ULTRACRAWL_CONFIG."
)
_NAME = click.argument("name")


@click.group("admin", cls=VerbGroup)
def command() -> None:
    """Crawl collections of FAST in an XML file: add, change, remove and export them, and steer their crawls.

    A change rewrites the file: comments in it are lost.

    \b
    Example:
      ultracrawl admin add handbook.xml -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("add", short_help="Add the collections of a file, or update those that exist.")
@click.argument("file")
@_CONFIG
def add(file: str, config: str | None) -> None:
    """Add the collections of FILE, or update those that exist: options that FILE does not name keep their values.

    Login and SubDomain elements add or replace one; a section `logins` or `subdomains` stands for all, so that others
    are removed. Masked passwords, as `export` prints them, stay unchanged. If the result is not valid, nothing is
    changed.

    \b
    Example:
      ultracrawl admin add handbook.xml -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    target = file_of(config)
    known = {scope.name: scope for scope in (collections_in(target) if target.exists() else [])}
    actions = {}
    for new in collections_in(Path(file)):
        old = known.get(new.name)
        known[new.name] = new if old is None else merge_layers([old, unmasked(new, old)])
        actions[new.name] = "added" if old is None else "updated"
    collection_file.check(target, list(known.values()), str(Path(file)))
    collection_file.write(target, list(known.values()))
    for name, action in actions.items():
        click.echo(f"{name}: {action}")


@command.command("list", short_help="List the collections, with sub-collections and logins.")
@_CONFIG
@json_option
def list_collections(config: str | None, as_json: bool) -> None:
    """List the collections, with what they say about themselves, their sub-collections and logins.

    \b
    Example:
      ultracrawl admin list -c collections.xml --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    for scope in collections_in(file_of(config)):
        info = scope.settings.get(("", "info"))
        row = {
            "name": scope.name,
            "info": info.value if info else None,
            "sub_collections": list(scope.subs),
            "logins": list(scope.logins),
        }
        if as_json:
            print_json(row)
            continue
        parts = [
            f"{name} ({what})"
            for what, names in (("sub-collection", scope.subs), ("login", scope.logins))
            for name in names
        ]
        click.echo(": ".join(filter(None, [scope.name, ", ".join(parts)])))
        for line in str(info.value).splitlines() if info else ():
            click.echo(f"  {line.strip()}")


@command.command("export", short_help="Print a collection as XML, passwords masked.")
@_NAME
@_CONFIG
def export(name: str, config: str | None) -> None:
    """Print the collection NAME as XML, with its passwords masked.

    \b
    Example:
      ultracrawl admin export handbook -c collections.xml > handbook.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    click.echo(collections_xml([find(name, collections_in(file_of(config)))], masked=True), nl=False)


@command.command("remove", short_help="Remove a collection with everything that was crawled.")
@_NAME
@click.option("--yes", is_flag=True, help="Do not ask.")
@_CONFIG
def remove(name: str, yes: bool, config: str | None) -> None:
    """Remove the collection NAME from the file, and everything that is stored of it and its sub-collections.

    Their documents leave the index and other destinations, as `ultracrawl remove` says. If one of them is being
    crawled, nothing is removed.

    \b
    Example:
      ultracrawl admin remove handbook --yes -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    known = collections_in(file_of(config))
    find(name, known)
    confirm(f"Remove the collection {name} and everything that is stored of it?", yes=yes)
    project, parts = all_parts(name, config)
    for part in parts:
        require_idle(project, part)
    for part in parts:
        print_removed(replace(remove_source(project, part), defined=False))
    collection_file.write(file_of(config), [scope for scope in known if scope.name != name])
    click.echo(f"{name}: removed")


@command.command("suspend", short_help="Pause the running crawl of a collection.")
@_NAME
@_CONFIG
@click.pass_context
def suspend(context: click.Context, name: str, config: str | None) -> None:
    """Pause the running crawl of NAME, or of a sub-collection of it; the same as `ultracrawl pause`.

    \b
    Example:
      ultracrawl admin suspend handbook -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(steering.pause, sources=running_parts(name, config), config=config, timeout=60.0)


@command.command("resume", short_help="Resume the paused crawl of a collection.")
@_NAME
@_CONFIG
@click.pass_context
def resume(context: click.Context, name: str, config: str | None) -> None:
    """Resume the paused crawl of NAME, or of a sub-collection of it; the same as `ultracrawl resume`.

    \b
    Example:
      ultracrawl admin resume handbook -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(steering.resume, sources=running_parts(name, config), config=config, timeout=60.0)


@command.command("refresh", short_help="Begin a cycle of a collection now.")
@_NAME
@click.option("--force", is_flag=True, help="Fetch and index every page again, changed or not.")
@_CONFIG
@json_option
@click.pass_context
def refresh(context: click.Context, name: str, force: bool, config: str | None, as_json: bool) -> None:
    """Begin a cycle of NAME now, its sub-collections included.

    \b
    Example:
      ultracrawl admin refresh handbook --force -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(crawl.command, sources=parts_of(name, config), config=config, force=force, as_json=as_json)


@command.command("reprocess", short_help="Send items to the index again, as they are stored.")
@_NAME
@click.option(
    "--site", "sites", multiple=True, metavar="HOST", help="Only the items of this site; may be repeated."
)
@_CONFIG
@json_option
@click.pass_context
def reprocess(
    context: click.Context, name: str, sites: tuple[str, ...], config: str | None, as_json: bool
) -> None:
    """Send the items of NAME, its sub-collections included, to the index again; the same as `ultracrawl reindex`.

    They are made from what is stored, without a request; what `storage/remove_docs` removed is left as it is, and so
    are parts that were not crawled yet.

    \b
    Examples:
      ultracrawl admin reprocess handbook -c collections.xml
      ultracrawl admin reprocess handbook --site www.example.com
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(
        reindex.command, sources=stored_parts(name, config), sites=sites, config=config, as_json=as_json
    )


@command.command("consistency", short_help="Compare what is known of a collection with index and store.")
@_NAME
@click.option("--repair", is_flag=True, help="Mend what does not agree.")
@_CONFIG
@json_option
def consistency(name: str, repair: bool, config: str | None, as_json: bool) -> None:
    """Compare what is known of NAME, its sub-collections included, with the index and the stored items.

    Each that has an item that another lacks is named, in both directions; exit code 1 if there are any. --repair
    makes missing documents again from stored items, or has the next cycle fetch them. Documents that nothing is known
    of leave with the next cycle if it does not find them; stored items of unknown URIs are removed.

    \b
    Examples:
      ultracrawl admin consistency handbook -c collections.xml
      ultracrawl admin consistency handbook --repair
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project, sources = project_with_parts(name, config)
    compare = mend_consistency if repair else check_consistency
    found = [compare(project, source) for source in sources]
    print_all("collections", found, partial(_print_consistency, repaired=repair), as_json=as_json)
    raise SystemExit(0 if repair or all(one.sound for one in found) else 1)


def _print_consistency(found: Consistency, *, repaired: bool) -> None:
    """Print what does not agree, a line each; sound if nothing."""
    for url in found.not_indexed:
        click.echo(f"{found.source}: {url}: not in the index")
    for url in found.unknown:
        click.echo(f"{found.source}: {url}: in the index, and not known")
    for url in found.not_stored:
        click.echo(f"{found.source}: {url}: not stored")
    if found.stored:
        click.echo(f"{found.source}: {found.stored:,} stored items of unknown URIs")
    click.echo(f"{found.source}: {'sound' if found.sound else 'mended' if repaired else 'not sound'}")


@command.command("verify", short_help="Check a file with collections.")
@click.argument("file", required=False)
@_CONFIG
@click.pass_context
def verify(context: click.Context, file: str | None, config: str | None) -> None:
    """Check a FILE with collections; the same as `ultracrawl lint`.

    \b
    Examples:
      ultracrawl admin verify collections.xml
      ultracrawl admin verify -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(lint_verb.command, files=(file or str(file_of(config)),))


@command.command("statistics", short_help="Show what each collection holds, and its last cycle.")
@_CONFIG
@json_option
@click.pass_context
def statistics(context: click.Context, config: str | None, as_json: bool) -> None:
    """Show what each collection holds and how its last cycle went; the same as `ultracrawl status`.

    \b
    Example:
      ultracrawl admin statistics -c collections.xml --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(status.command, config=str(file_of(config)), as_json=as_json)


@command.command("encrypt", short_help="Print a password encrypted for the file.")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="The file with the key. Default: password.key beside the XML file.",
)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the password from the standard input.")
@_CONFIG
@click.pass_context
def encrypt(context: click.Context, key: Path | None, from_stdin: bool, config: str | None) -> None:
    """Ask for a password, and print it encrypted, for the file; the same as `ultracrawl secret encrypt`.

    \b
    Example:
      ultracrawl admin encrypt -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    key_file = key or file_of(config).with_name(KEY_FILE)
    context.invoke(secret.encrypt, key=key_file, from_stdin=from_stdin)


@command.command("show", short_help="Show the status of a site, or of a URI.")
@click.argument("place")
@_CONFIG
@json_option
@click.pass_context
def show(context: click.Context, place: str, config: str | None, as_json: bool) -> None:
    """Show the status of PLACE, a site (a host) or a URI; the same as `ultracrawl status SITE` and `explain URL`.

    \b
    Examples:
      ultracrawl admin show www.example.com -c collections.xml
      ultracrawl admin show https://www.example.com/a --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    file = str(file_of(config))
    if "://" in place:
        context.invoke(explain.command, url=place, config=file, as_json=as_json)
    else:
        context.invoke(status.command, site=place, config=file, as_json=as_json)


for _verb in (
    sites.add_uri,
    sites.refetch,
    sites.delete,
    sites.quarantine,
    sites.blacklist,
    sites.approve_deletions,
):
    command.add_command(_verb)
