"""`ultracrawl admin`: what `crawleradmin` did for crawl collections, on their XML file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click

from ultracrawl.cli import crawl, explain, pause, reindex, resume, secret, status
from ultracrawl.cli import lint as lint_verb
from ultracrawl.cli.options import found_definitions, json_option, print_json, show_findings
from ultracrawl.dialects import read_definitions
from ultracrawl.dialects.fast_xml.collection import Scope, layered
from ultracrawl.dialects.fast_xml.masks import unmasked
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.reader import KEY_FILE, load_collections, read_scopes, sources_of
from ultracrawl.dialects.fast_xml.writing import collections_xml
from ultracrawl.errors import UserError, WorkError
from ultracrawl.jobs.control import running_crawl
from ultracrawl.model import DefinitionError
from ultracrawl.settings.places import placed
from ultracrawl.sources import require

_CONFIG = click.option(
    "-c", "--config", metavar="FILE", help="The XML file of the collections. Default: $ULTRACRAWL_CONFIG."
)
_NAME = click.argument("name")


@click.group("admin")
def command() -> None:
    """Crawl collections of FAST in an XML file: add, change, remove and export them, and steer their crawls.

    A file that is changed is written anew: comments in it are lost.

    \b
    Example:
      ultracrawl admin add handbook.xml -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("add")
@click.argument("file")
@_CONFIG
def add(file: str, config: str | None) -> None:
    """Add the collections of FILE, or update those that exist: options that FILE does not name keep their values.

    Login and SubDomain elements add or replace one; a section `logins` or `subdomains` stands for all, so that others
    are removed. Passwords that are masked, as `export` prints them, stay what they were. If what comes out could not be
    used, nothing is changed.

    \b
    Example:
      ultracrawl admin add handbook.xml -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    target = _file(config)
    known = {one.name: one for one in (_scopes(target) if target.exists() else [])}
    did = {}
    for new in _scopes(Path(file)):
        old = known.get(new.name)
        known[new.name] = new if old is None else layered([old, unmasked(new, old)])
        did[new.name] = "added" if old is None else "updated"
    _check(target, list(known.values()), file)
    _write(target, list(known.values()))
    for name, what in did.items():
        click.echo(f"{name}: {what}")


@command.command("list")
@_CONFIG
@json_option
def list_collections(config: str | None, as_json: bool) -> None:
    """List the collections, with what they say about themselves, their sub-collections and logins.

    \b
    Example:
      ultracrawl admin list -c collections.xml --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    for one in _scopes(_file(config)):
        info = one.settings.get(("", "info"))
        row = {
            "name": one.name,
            "info": info.value if info else None,
            "sub_collections": list(one.subs),
            "logins": list(one.logins),
        }
        if as_json:
            print_json(row)
            continue
        parts = [
            f"{name} ({what})"
            for what, names in (("sub-collection", one.subs), ("login", one.logins))
            for name in names
        ]
        click.echo(": ".join(filter(None, [one.name, ", ".join(parts)])))
        for line in str(info.value).splitlines() if info else ():
            click.echo(f"  {line.strip()}")


@command.command("export")
@_NAME
@_CONFIG
def export(name: str, config: str | None) -> None:
    """Print the collection NAME as XML, with its passwords masked.

    \b
    Example:
      ultracrawl admin export handbook -c collections.xml > handbook.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    click.echo(collections_xml([_collection(name, config)], masked=True), nl=False)


@command.command("remove")
@_NAME
@click.option("--yes", is_flag=True, help="Do not ask.")
@_CONFIG
def remove(name: str, yes: bool, config: str | None) -> None:
    """Remove the collection NAME from the file. What was crawled stays until its data are deleted.

    \b
    Example:
      ultracrawl admin remove handbook --yes -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    _collection(name, config)
    if not yes:
        click.confirm(f"Remove the collection {name}?", abort=True)
    _write(_file(config), [one for one in _scopes(_file(config)) if one.name != name])
    click.echo(f"{name}: removed")


@command.command("suspend")
@_NAME
@_CONFIG
@click.pass_context
def suspend(context: click.Context, name: str, config: str | None) -> None:
    """Pause the running crawl of NAME, or of a sub-collection of it; the same as `ultracrawl pause`.

    \b
    Example:
      ultracrawl admin suspend handbook -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(pause.command, sources=_running(name, config), config=config, timeout=60.0)


@command.command("resume")
@_NAME
@_CONFIG
@click.pass_context
def go_on(context: click.Context, name: str, config: str | None) -> None:
    """Let the paused crawl of NAME, or of a sub-collection of it, go on; the same as `ultracrawl resume`.

    \b
    Example:
      ultracrawl admin resume handbook -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(resume.command, sources=_running(name, config), config=config, timeout=60.0)


@command.command("refresh")
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
    context.invoke(
        crawl.command, sources=_with_parts(name, config), config=config, force=force, as_json=as_json
    )


@command.command("reprocess")
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

    They are made from what is stored, without a request; what `storage/remove_docs` removed is left as it is.

    \b
    Examples:
      ultracrawl admin reprocess handbook -c collections.xml
      ultracrawl admin reprocess handbook --site www.example.com
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(
        reindex.command, sources=_with_parts(name, config), sites=sites, config=config, as_json=as_json
    )


@command.command("verify")
@click.argument("file")
@click.pass_context
def verify(context: click.Context, file: str) -> None:
    """Check a FILE with collections; the same as `ultracrawl lint`.

    \b
    Example:
      ultracrawl admin verify collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(lint_verb.command, files=(file,))


@command.command("statistics")
@_CONFIG
@json_option
@click.pass_context
def statistics(context: click.Context, config: str | None, as_json: bool) -> None:
    """Show what each collection holds and how its last cycle went; the same as `ultracrawl status`.

    \b
    Example:
      ultracrawl admin statistics -c collections.xml --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    context.invoke(status.command, config=str(_file(config)), as_json=as_json)


@command.command("encrypt")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="The file with the key. Default: password.key beside the XML file.",
)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the password from the standard input.")
@_CONFIG
@click.pass_context
def encrypt(context: click.Context, key: Path | None, from_stdin: bool, config: str | None) -> None:
    """Ask for a password, and print it as it may stand in the file; the same as `ultracrawl secret encrypt`.

    \b
    Example:
      ultracrawl admin encrypt -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    found = key or _file(config).with_name(KEY_FILE)
    context.invoke(secret.encrypt, key=found, from_stdin=from_stdin)


@command.command("show")
@click.argument("place")
@_CONFIG
@json_option
@click.pass_context
def show(context: click.Context, place: str, config: str | None, as_json: bool) -> None:
    """Show the status of a site (a host), or of a URI; the same as `ultracrawl status SITE` and `explain URL`.

    \b
    Examples:
      ultracrawl admin show www.example.com -c collections.xml
      ultracrawl admin show https://www.example.com/a --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    file = str(_file(config))
    if "://" in place:
        context.invoke(explain.command, url=place, config=file, as_json=as_json)
    else:
        context.invoke(status.command, site=place, config=file, as_json=as_json)


# ---- the file


def _file(config: str | None) -> Path:
    location, _ = found_definitions(config)
    if location is None or Path(location).suffix.lower() != ".xml":
        raise UserError("there is no XML file of collections; name it with -c, or in $ULTRACRAWL_CONFIG")
    return Path(location)


def _scopes(path: Path) -> list[Scope]:
    """Return the collections of a file. Raises `DefinitionError`."""
    notices = Notices(str(path))
    found = read_scopes(path, notices)
    if notices.fatal:
        raise DefinitionError([one for one in notices if one.fatal])
    show_findings(notices)
    return found


def _collection(name: str, config: str | None) -> Scope:
    found = {one.name: one for one in _scopes(_file(config))}
    if name not in found:
        raise _unknown(name, found)
    return found[name]


def _with_parts(name: str, config: str | None) -> tuple[str, ...]:
    """Return the source of a collection, and those of its sub-collections."""
    found = sources_of(_file(config))
    if name not in found:
        raise _unknown(name, found)
    return found[name]


def _running(name: str, config: str | None) -> tuple[str, ...]:
    """Return the sources of a collection that are being crawled; its own, if none is, so that this is said."""
    parts = _with_parts(name, config)
    project = placed(require(read_definitions(_file(config))), found_definitions(config)[1])
    return tuple(one for one in parts if running_crawl(project, one)) or parts[:1]


def _unknown(name: str, known: Iterable[str]) -> UserError:
    return UserError(f"there is no collection `{name}`; there are {', '.join(sorted(known)) or 'none'}")


def _check(target: Path, collections: list[Scope], added: str) -> None:
    """Refuse collections that could not be used together in a file; tell what is odd in those that are added."""
    loaded = load_collections(target, collections, Notices(str(target)))
    if loaded.project is None and not all(one.problem.startswith(Code.NO_START) for one in loaded.fatal):
        raise DefinitionError(loaded.fatal)
    show_findings(one for one in loaded.findings if one.file == added)


def _write(path: Path, collections: list[Scope]) -> None:
    """Replace the file as a whole, so that nobody reads half of it; it is readable by its owner only."""
    path = path.resolve()
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f"{path.name}.", delete=False, encoding="utf-8"
        ) as stream:
            new = Path(stream.name)
            try:
                stream.write(collections_xml(collections))
                stream.flush()
                os.fsync(stream.fileno())
                if path.exists():
                    new.chmod(path.stat().st_mode)
                new.replace(path)
            except BaseException:
                new.unlink()
                raise
    except OSError as error:
        raise WorkError(f"{path} cannot be written: {error.strerror or error}") from error
