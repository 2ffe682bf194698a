"""`ultracrawl suggest`: says what would make the crawl of a source better, by what its state has."""

from __future__ import annotations

import click

from ultracrawl.cli.audit import note_details
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import SOURCE_NAME, chosen_sources, json_option, print_json, project_option
from ultracrawl.cli.terminal import print_line
from ultracrawl.run.suggestions.suggestion import one_line
from ultracrawl.run.suggestions.survey import Additions, Suggestions, suggestions_of
from ultracrawl.run.suggestions.wording import doubt_of, sentence_of
from ultracrawl.run.traps.recognition import known_traps
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores.project_stores import state_to_read


@click.command("suggest")
@click.argument("source", type=SOURCE_NAME)
@click.option(
    "--apply",
    "listing",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Write the suggested lines into the definition file.",
)
@project_option
@json_option
def command(source: str, listing: bool, project: Project, as_json: bool) -> None:
    """Show what would make the crawl of SOURCE better, by what the state knows of its URLs. Nothing is requested.

    Which steps of `urls.normalise` would merge URLs that have one content; which URLs brought nothing, and a rule that
    excludes them; crawler traps that were met; which versions of pages are nearly the same; which causes cost most
    pages, and what to do. Each with numbers, up to three examples, and the line of the definition. A step is only
    suggested if all known URLs that it merges have the same content.

    With --apply the lines are written into the YAML file, all else stays as it is, and what was changed is printed.
    `ultracrawl plan SOURCE` then shows what the next crawl does. With --json one object a line.

    \b
    Examples:
      ultracrawl suggest handbook
      ultracrawl suggest handbook --apply
    """  # noqa: D301 - click's mark for a block that keeps its lines
    (definition,) = chosen_sources(project, [source])
    with state_to_read(project, source) as state:
        if state is None:
            raise Mistake.NEVER_CRAWLED.error(name=source)
        rules = compile_source(definition, project)
        found = suggestions_of(state, definition, rules, known_traps(project, definition))
    lines = [] if listing else _applied(project, definition, found.additions)
    if as_json:
        for suggestion in found.all:
            print_json(suggestion.as_json(source))
        return
    _print(found)
    if listing:
        _print_together(source, found.additions)
    elif not lines:
        click.echo("Nothing to write.")
    for line in lines:
        print_line(line)


def _print(found: Suggestions) -> None:
    if not found.all:
        click.echo("Nothing to suggest: no known URL speaks for a change of the definition.")
    for suggestion in found.all:
        print_line(sentence_of(suggestion))
        for example in suggestion.examples:
            print_line(f"      {' = '.join(example)}")
        print_line(f"  {suggestion.line or suggestion.advice}")
    for step in found.doubtful:
        print_line(f"not suggested: {doubt_of(step)}")
        for example in step.examples:
            print_line(f"      {' / '.join(example)}")


def _print_together(source: str, additions: Additions) -> None:
    if sum(map(len, additions.values())) > 1:
        print_line(f"Together, to be added to {source} (`ultracrawl suggest {source} --apply` does it):")
        for option, items in additions.items():
            print_line(f"  {one_line(option, items)}")


def _applied(project: Project, source: DataSource, additions: Additions) -> list[str]:
    """Write additions into the definition file; returns the lines that differ."""
    from ultracrawl.service.editing.saving import add_items  # noqa: PLC0415 - only changes need it

    lines = add_items(project, source, additions)
    note_details(lines=len(lines))
    return [f"{line.mark} {line.text}" for line in lines]
