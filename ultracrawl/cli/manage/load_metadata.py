"""`ultracrawl load-metadata`: lists of values, boosts and documents, from a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from ultracrawl.agents.agent.document_file import PATH, read_documents
from ultracrawl.agents.agent.section import AgentSection
from ultracrawl.cli.options import chosen_sources, project_option
from ultracrawl.errors import UserError
from ultracrawl.rules.attributes.boost_file import read_boosts
from ultracrawl.rules.attributes.list_file import ListFileError, read_value_lists
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute, ValueList
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.checking.checks import check_value_lists
from ultracrawl.stores.opening import open_boosts, open_lists
from ultracrawl.system.files import convert_write_errors, replace_file


@click.command("load-metadata")
@click.option(
    "--type",
    "kind",
    type=click.Choice(["lov", "boost", "documents"]),
    required=True,
    help="What the file holds: lists of values, what raises documents among the hits, or documents.",
)
@click.option("--source", metavar="S", default="", help="The source that documents are for.")
@click.argument("file", type=click.Path(path_type=Path))
@project_option
def command(kind: str, source: str, file: Path, project: Project) -> None:
    """Load lists of values with their display names, boosts of documents, or documents, from the XML file FILE.

    A list replaces the one that was loaded before for its attribute, boosts replace all that were loaded. Documents
    replace those of a source whose agent is ultracrawl.agents.DocumentFile; its next crawl indexes them. A file with a
    mistake changes nothing.

    \b
    Examples:
      ultracrawl load-metadata --type lov countries.xml
      (<attribute name="Country"><value v="de"><display lang="en">Germany</display></value></attribute>)
      ultracrawl load-metadata --type boost boosts.xml
      (<boosts><boost url="https://www.example.com/hr/*" factor="2"/></boosts>)
      ultracrawl load-metadata --type documents leaflets.xml
      (<documents><document url="https://www.example.com/1" title="A"><text>Words.</text></document></documents>)
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if source and kind != "documents":
        raise UserError("--source says whose documents a file has; leave it out with another --type")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}") from error
    try:
        if kind == "documents":
            _load_documents(data, project, chosen_sources(project, [source] if source else []))
        else:
            _LOADERS[kind](data, project, file)
    except ListFileError as error:
        raise UserError(f"{file}: {error}") from error


def _load_boosts(data: bytes, project: Project, _file: Path) -> None:
    boosts = read_boosts(data)
    open_boosts(project).replace(boosts)
    click.echo(f"{_count(len(boosts.factors), 'factor')}, {_count(len(boosts.first), 'query', 'queries')}")


def _load_lists(data: bytes, project: Project, file: Path) -> None:
    lists = list(_named(read_value_lists(data), project.schema_attributes.values(), file))
    for doubt in check_value_lists(lists, project.schema_attributes):
        raise UserError(f"{file}: {doubt.problem}; {doubt.instead}")
    open_lists(project).replace(lists)
    for one in lists:
        click.echo(f"{one.attribute}: {_count(len(one.values), 'value')}")


def _load_documents(data: bytes, project: Project, sources: Sequence[DataSource]) -> None:
    """Put documents in the place of those that the file of a source has."""
    documents = read_documents(data)
    files = {}
    for one in sources:
        options: object = one  # the same object has the options of its kind
        if isinstance(options, AgentSection) and options.spider_class == PATH:
            files[one.name] = project.base / str(options.parameters.get("file"))
    if len(files) != 1:
        needed = f"write one: {{type: agent, class: {PATH}, parameters: {{file: documents.xml}}}}"
        which = f"name one of {', '.join(files)} by --source" if files else needed
        raise UserError(f"{len(files)} sources take documents from a file; {which}")
    ((name, path),) = files.items()
    with convert_write_errors(path):
        replace_file(path, data)
    click.echo(f"{name}: {_count(len(documents), 'document')}; its next crawl brings them into the index")


_LOADERS = {"lov": _load_lists, "boost": _load_boosts}


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or f'{one}s'}"


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
