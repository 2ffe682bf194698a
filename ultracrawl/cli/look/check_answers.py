"""`ultracrawl check-answers`: checks that pages are among the first hits of golden queries."""

from __future__ import annotations

from pathlib import Path

import click

from ultracrawl.cli.mistakes import Mistake, with_scheme
from ultracrawl.cli.options import config_option, json_option, print_json, show_hints
from ultracrawl.cli.terminal import escape_controls, print_line
from ultracrawl.index.search_cache import find_searchable_project
from ultracrawl.index.searchable_project import PERSON_SECONDS
from ultracrawl.index.searching import Searcher
from ultracrawl.service.answers.checking import AnswerCheck, FallenPage, check_answers, positions_of
from ultracrawl.sources.golden_queries import (
    DEFAULT_WITHIN,
    MAX_WITHIN,
    GoldenQuery,
    add_golden_query,
    read_golden_queries,
)
from ultracrawl.system.nouns import counted


@click.command("check-answers")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@config_option
@click.option("--index", metavar="NAME", default="", help="The index for queries that name none.")
@click.option(
    "--add",
    "added",
    nargs=2,
    metavar="QUERY URL",
    help="Add this query with this page at the end of FILE, which is created if it does not exist.",
)
@click.option(
    "--within",
    type=click.IntRange(1, MAX_WITHIN),
    default=DEFAULT_WITHIN,
    show_default=True,
    help="With --add: the page must be among so many first hits.",
)
@json_option
def command(
    file: Path, config: str | None, index: str, added: tuple[str, str] | None, within: int, *, as_json: bool
) -> None:
    """Check that the pages in FILE are among the first hits of their queries.

    Exit code 1 if a page is not; 2 if FILE has a mistake. FILE is a YAML list:

    \b
      - query: vacation request
        pages: https://www.example.com/hr/vacation
        within: 3          # default: 10; also: language, source, group, principals, index

    \b
    Examples:
      ultracrawl check-answers golden.yaml
      ultracrawl check-answers golden.yaml --json
      ultracrawl check-answers golden.yaml --add "vacation request" https://www.example.com/hr/vacation
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project, hints = find_searchable_project(config)
    show_hints(hints)
    project = project.hurried(PERSON_SECONDS)
    if added:
        text, page = added
        if instead := with_scheme(page):
            raise Mistake.URL_WITHOUT_SCHEME.error(url=page, instead=instead)
        is_new = add_golden_query(file, text, page, within)
        query = GoldenQuery(query=text, pages=(page,), within=within)
        with Searcher(project, index) as searcher:
            _, (position,) = positions_of(searcher, query)
        _print_added(file, added, position, is_new=is_new, as_json=as_json)
        return
    if not file.exists():
        raise Mistake.NO_ANSWERS_FILE.error(file=file)
    golden = read_golden_queries(file)
    if not golden.queries:
        raise Mistake.NO_QUERY.error(file=file)
    checked = check_answers(project, golden, index=index)
    if as_json:
        fallen = [{"file": str(file), **one.as_json()} for one in checked.fallen]
        print_json({"queries": checked.queries, "pages": checked.pages, "fallen": fallen})
    else:
        _print_check(file, checked)
    raise SystemExit(1 if checked.fallen else 0)


def _print_check(file: Path, checked: AnswerCheck) -> None:
    for one in checked.fallen:
        _print_fallen(file, one)
    sound = checked.pages - len(checked.fallen)
    summary = f"{sound:,} of {checked.pages:,} pages are among the first hits of their queries"
    print_line(f"{summary} ({counted(checked.queries, 'query')})")


def _print_fallen(file: Path, one: FallenPage) -> None:
    if one.position:
        place = f"position {one.position}"
    else:
        place = "not among the first hits" if one.is_indexed else "not in the index, or not visible"
    click.secho(f"{file}:{one.line}: {escape_controls(one.query)}", bold=True)
    print_line(f"    {one.page}: {place}; it must be within the first {one.within}")
    for hit in one.before:
        print_line(f"    {hit.position:>2}. {hit.title}  {hit.url}")


def _print_added(
    file: Path, added: tuple[str, str], position: int | None, *, is_new: bool, as_json: bool
) -> None:
    """Print where the page of a query stands now."""
    query, page = added
    if as_json:
        print_json({"added": is_new, "query": query, "page": page, "position": position})
        return
    print_line(f"{file}: {'added' if is_new else 'has the query with this page already'}")
    print_line(f"    {page}: {f'position {position} now' if position else 'not among the first hits now'}")
