"""`ultracrawl load-metadata`: loads lists of values, boosts or documents from a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from ultracrawl.agents.agent.document_file import PATH, read_documents
from ultracrawl.agents.agent.section import AgentSection
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import SOURCE_NAME, chosen_sources, project_option
from ultracrawl.rules.attributes.boost_file import read_boosts
from ultracrawl.rules.attributes.list_file import ListFileError, read_value_lists
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute, ValueList
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.checking.checks import check_value_lists
from ultracrawl.stores.project_stores import open_boosts, open_lists
from ultracrawl.system.files import cause_and_remedy, convert_write_errors, replace_file
from ultracrawl.system.nouns import counted


@click.command("load-metadata")
@click.option(
    "--type",
    "kind",
    type=click.Choice(["lov", "boost", "documents"]),
    required=True,
    help="What the file holds: lists of values, what raises documents among the hits, or documents.",
)
@click.option(
    "--source", type=SOURCE_NAME, metavar="S", default="", help="The source that documents are for."
)
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
        raise Mistake.SOURCE_WITHOUT_DOCUMENTS.error()
    try:
        data = file.read_bytes()
    except OSError as error:
        raise Mistake.FILE_UNREADABLE.error(file=file, problem=cause_and_remedy(error)) from error
    try:
        if kind == "documents":
            _load_documents(data, project, chosen_sources(project, [source] if source else []))
        else:
            _LOADERS[kind](data, project, file)
    except ListFileError as error:
        raise Mistake.FILE_MISTAKE.error(file=file, problem=error) from error


def _load_boosts(data: bytes, project: Project, _file: Path) -> None:
    boosts = read_boosts(data)
    open_boosts(project).replace(boosts)
    click.echo(f"{counted(len(boosts.factors), 'factor')}, {counted(len(boosts.first), 'query')}")


def _load_lists(data: bytes, project: Project, file: Path) -> None:
    lists = list(_with_attribute_names(read_value_lists(data), project.schema_attributes.values(), file))
    for finding in check_value_lists(lists, project.schema_attributes):
        raise Mistake.FILE_MISTAKE.error(file=file, problem=f"{finding.problem}; {finding.instead}")
    open_lists(project).replace(lists)
    for values in lists:
        click.echo(f"{values.attribute}: {counted(len(values.values), 'value')}")


def _load_documents(data: bytes, project: Project, sources: Sequence[DataSource]) -> None:
    """Replace the document file of the source that reads one."""
    documents = read_documents(data)
    files = {}
    for source in sources:
        options: object = source  # typed as object for `isinstance`: mypy knows no common subclass
        if isinstance(options, AgentSection) and options.spider_class == PATH:
            files[source.name] = project.base / str(options.parameters.get("file"))
    if len(files) != 1:
        needed = f"write one: {{type: agent, class: {PATH}, parameters: {{file: documents.xml}}}}"
        which = f"name one of {', '.join(files)} by --source" if files else needed
        raise Mistake.NO_DOCUMENT_FILE.error(number=len(files), instead=which)
    ((name, path),) = files.items()
    with convert_write_errors(path):
        replace_file(path, data)
    click.echo(f"{name}: {counted(len(documents), 'document')}; its next crawl brings them into the index")


_LOADERS = {"lov": _load_lists, "boost": _load_boosts}


def _with_attribute_names(
    found: Iterable[tuple[ValueList, AttributeType | None]], known: Iterable[SearchAttribute], file: Path
) -> Iterable[ValueList]:
    """Yield the lists with the names of their search attributes, which are matched case-insensitively."""
    by_lower = {attribute.name.lower(): attribute for attribute in known}
    for values, kind in found:
        attribute = by_lower.get(values.attribute.lower())
        if attribute is None:
            yield values
            continue
        if kind not in (None, attribute.type):
            raise Mistake.TYPE_OF_ATTRIBUTE.error(
                file=file, name=attribute.name, type=attribute.type, written=kind
            )
        yield ValueList(attribute.name, values.values)
