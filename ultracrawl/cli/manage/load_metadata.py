"""`ultracrawl load-metadata`: lists of values from a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from ultracrawl.cli.options import project_option
from ultracrawl.errors import UserError
from ultracrawl.rules.attributes.list_file import ListFileError, read_value_lists
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute, ValueList
from ultracrawl.sources import Project
from ultracrawl.sources.checking.checks import check_value_lists
from ultracrawl.stores.opening import open_lists


@click.command("load-metadata")
@click.option(
    "--type",
    type=click.Choice(["lov"]),
    required=True,
    expose_value=False,
    help="What the file holds: lists of values.",
)
@click.argument("file", type=click.Path(path_type=Path))
@project_option
def command(file: Path, project: Project) -> None:
    """Load lists of values with their display names from the XML file FILE.

    A list replaces the one that was loaded before for its attribute. A file with a mistake changes nothing.

    \b
    Example:
      ultracrawl load-metadata --type lov countries.xml
      (<attribute name="Country"><value v="de"><display lang="en">Germany</display></value></attribute>)
    """  # noqa: D301 - click's mark for a block that keeps its lines
    try:
        found = read_value_lists(file.read_bytes())
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}") from error
    except ListFileError as error:
        raise UserError(f"{file}: {error}") from error
    lists = list(_named(found, project.schema_attributes.values(), file))
    for doubt in check_value_lists(lists, project.schema_attributes):
        raise UserError(f"{file}: {doubt.problem}; {doubt.instead}")
    open_lists(project).replace(lists)
    for one in lists:
        click.echo(f"{one.attribute}: {len(one.values)} value{'s' if len(one.values) != 1 else ''}")


def _named(
    found: Iterable[tuple[ValueList, AttributeType | None]], known: Iterable[SearchAttribute], file: Path
) -> Iterable[ValueList]:
    """Yield the lists under the names of their search attributes, whose case need not be that of the file."""
    by_lower = {attribute.name.lower(): attribute for attribute in known}
    for one, kind in found:
        attribute = by_lower.get(one.attribute.lower())
        if attribute is None:
            yield one
            continue
        if kind not in (None, attribute.type):
            raise UserError(f"{file}: {attribute.name} is a {attribute.type}, not a {kind}; correct the type")
        yield ValueList(attribute.name, one.values)
