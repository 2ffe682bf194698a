"""`ultracrawl backup` and `ultracrawl restore`: save a whole project to one file, and restore it."""

from __future__ import annotations

from pathlib import Path
from tarfile import is_tarfile

import click

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import json_option, print_json, project_option
from ultracrawl.cli.terminal import print_line
from ultracrawl.index.project_index import indexes_on_servers
from ultracrawl.service.backup.manifest import Manifest, definition_hash
from ultracrawl.service.backup.restoring import Credentials, restore_backup
from ultracrawl.service.backup.saving import save_backup
from ultracrawl.sources import Project
from ultracrawl.system.nouns import counted

_NOTES = {
    Credentials.KEPT: "The {names} are those from before: {name}s of the backup were not restored.",
    Credentials.RESTORED: "The {names} are those of the backup, also such as were removed since: see `{name} list`.",
}


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@project_option
@json_option
def backup(file: Path, force: bool, project: Project, as_json: bool) -> None:
    """Save states, document cache, stored documents and indexes to FILE, while crawls and searches go on.

    FILE is a tar archive, compressed unless its name ends in .tar, and readable by your account only. While it is
    written, its folder needs as much free space again as states, cache and stored documents take. A state in PostgreSQL
    is in it. Definitions and logs are not, nor are indexes on servers; `not_saved` of --json names these.

    \b
    Example:
      ultracrawl backup /backups/crawl.tgz
    """  # noqa: D301 - click's mark for a block that keeps its lines
    manifest = save_backup(project, file, force=force)
    missing = indexes_on_servers(project)
    _print_result("saved", manifest, as_json=as_json, same=True, not_saved=missing)
    if missing and not as_json:
        print_line(
            f"Not in it, because it is on servers: {', '.join(missing)}; save it by snapshots of the servers, or by "
            "`ultracrawl index dump`"
        )


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace what the folders of the project hold.")
@project_option
@json_option
def restore(file: Path, force: bool, project: Project, as_json: bool) -> None:
    """Restore the contents of FILE where the definition says; the next crawl continues from there.

    Nothing is changed until all of FILE was read and checked. While a source is crawled nothing is restored. If the
    project has API tokens or users, these stay, and those of the backup are not restored.

    \b
    Example:
      ultracrawl restore /backups/crawl.tgz
    """  # noqa: D301 - as above
    if file.is_file() and not is_tarfile(file):
        raise Mistake.NO_BACKUP.error(file=file)
    restored = restore_backup(project, file, force=force)
    manifest = restored.manifest
    same = manifest.definition == definition_hash(project)
    found = {"tokens": restored.tokens.value, "users": restored.users.value}
    _print_result("restored", manifest, as_json=as_json, same=same, **found)
    for name, names, whose in (
        ("token", "API tokens", restored.tokens),
        ("user", "users", restored.users),
    ):
        if not as_json and whose in _NOTES:
            print_line(_NOTES[whose].format(name=name, names=names))


def _print_result(done: str, manifest: Manifest, *, as_json: bool, same: bool, **more: object) -> None:
    if as_json:
        facts = {"files": len(manifest.files), "bytes": manifest.bytes, "sources": manifest.sources}
        print_json({done: facts, "created": manifest.created, "same_definition": same, **more})
        return
    print_line(
        f"{done.capitalize()} {counted(len(manifest.files), 'file')}, {manifest.bytes / 1e6:,.1f} MB; "
        f"date of the backup: {manifest.created}"
    )
    if not same:
        print_line(
            "The definition has changed since the backup; `ultracrawl plan` shows the effect on the next crawl."
        )
