"""`ultracrawl startproject`: creates a Scrapy project with an example source, ready for Scrapyd."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.machinery import PathFinder
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from string import Template

import click

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.errors import WorkError
from ultracrawl.system.files import cause_and_remedy

OWN_NAME = "ultracrawl"
SUFFIX = ".tmpl"
_EXTRAS = {"table": "[table]"}
"""Extra of the package that the example of a source type needs."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_INVALID_CHARACTERS = re.compile(r"[^a-z0-9]+")


@click.command("startproject")
@click.argument("directory", metavar="DIR")
@click.option("--name", metavar="PACKAGE", default="", help="Name of the Python package. Default: after DIR.")
@click.option(
    "--type",
    "kind",
    type=click.Choice(("web", "file", "table", "agent")),
    default="web",
    show_default=True,
    help="What the example crawls: a web site, files, a table of a database, or what a class of yours lists.",
)
def command(directory: str, name: str, kind: str) -> None:
    """Create a Scrapy project in DIR: definitions, settings, tests, and what a deploy to Scrapyd needs.

    DIR has to be new or empty. All types but web bring documents along, which can be crawled at once.

    \b
    Examples:
      ultracrawl startproject my-sources
      ultracrawl startproject tickets --type table
      ultracrawl startproject . --name intranet_sources
    """  # noqa: D301 - click's mark for a block that keeps its lines
    folder = Path(directory)
    package = checked_name(name) if name else name_after(folder)
    write_project(folder, package, kind)
    click.echo(f"{folder}: a project with the package {package} was written. What to do next:")
    click.echo(f"  cd {directory}")
    click.echo(f"  edit {package}/sources/example.yaml")
    if kind in _EXTRAS:
        click.echo(f'  pip install "{OWN_NAME}{_EXTRAS[kind]}"')
    click.echo("  scrapy list")
    click.echo("  scrapy crawl example")
    click.echo("README.md there tells the rest.")


def name_after(folder: Path) -> str:
    """Return the package name for a folder. Raises `UserError` if its name is not suitable."""
    name = folder.absolute().name
    return checked_name(_INVALID_CHARACTERS.sub("_", name.lower()).strip("_") or name)


def checked_name(name: str) -> str:
    """Return a valid package name. Raises `UserError` if it is invalid or hides another module."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise Mistake.BAD_PACKAGE_NAME.error(name=name)
    if name.lower() in (OWN_NAME, "tests") or name in sys.stdlib_module_names or _is_installed(name):
        raise Mistake.PACKAGE_EXISTS.error(name=name)
    return name


def _is_installed(name: str) -> bool:
    here = {"", str(Path.cwd())}
    return PathFinder.find_spec(name, [entry for entry in sys.path if entry not in here]) is not None


def write_project(folder: Path, package: str, kind: str) -> None:
    """Write all files of a new project, with an example source of type `kind`.

    Raises `UserError` if the folder is not empty, `WorkError` on I/O errors.
    """
    distribution = package.replace("_", "-").lower()
    words = {"package": package, "distribution": distribution, "extra": _EXTRAS.get(kind, "")}
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise Mistake.NO_NEW_FOLDER.error(folder=folder)
        for part in ("project", kind):
            for path, template in _templates(files(OWN_NAME) / "cli" / "templates" / part, PurePosixPath()):
                target = folder / _target(path, package)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(Template(template.read_text("utf-8")).substitute(words), encoding="utf-8")
                if target.suffix == ".sql":
                    _create_database(target)
    except OSError as error:
        raise WorkError(f"cannot write {error.filename or folder}: {cause_and_remedy(error)}") from error


def _create_database(script: Path) -> None:
    """Create the SQLite database of an example by its SQL script, beside it."""
    import sqlite3  # noqa: PLC0415 - for one source type only

    with closing(sqlite3.connect(script.with_suffix(".db"))) as database:
        database.executescript(script.read_text("utf-8"))


def _templates(folder: Traversable, path: PurePosixPath) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _templates(entry, path / entry.name)
        elif entry.name.endswith(SUFFIX):
            yield path / entry.name.removesuffix(SUFFIX), entry


def _target(path: PurePosixPath, package: str) -> Path:
    """Return the target path of a template: `package` is replaced by the package, a leading `dot-` by a dot."""
    first, *rest = (re.sub(r"^dot-", ".", part) for part in path.parts)
    return Path(package if first == "package" else first, *rest)
