"""`ultracrawl search`: search the index."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import Any

import click

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import (
    SOURCE_NAME,
    config_option,
    json_option,
    print_json,
    server_option,
    show_hints,
)
from ultracrawl.cli.terminal import escape_controls, waiting_for, wrapped
from ultracrawl.index import Hit, QueryFlaw, Reading, SearchLimit, SearchResult
from ultracrawl.index.budget import SEARCH_SECONDS, SEARCH_TERMS
from ultracrawl.index.engine import MAX_SECTIONS, Completion
from ultracrawl.index.filters import all_of
from ultracrawl.index.hits.highlighting import END_MARK, START_MARK, as_line
from ultracrawl.index.hits.result_json import DisplayNames, answer_json, completions_json
from ultracrawl.index.search_cache import find_searchable_project
from ultracrawl.index.searchable_project import PERSON_SECONDS
from ultracrawl.index.searching import Searcher

_READING_NOTES = {
    Reading.PARTS: "Not every document has the names as they are written; the others have their parts.",
    Reading.MOST_WORDS: "Not every document has all of the words; those with more of them come first.",
    Reading.ANY_WORD: "Not every document has most of the words; those with more of them come first.",
}
"""Notes on searches whose hits need not match the whole query."""
_FLAW_NOTES = {
    QueryFlaw.OPEN_QUOTE: 'A quotation mark is not closed: the words behind it were searched as a phrase; write "…".',
    QueryFlaw.OPEN_GROUP: "A parenthesis is not closed; the group was taken to end with the query.",
    QueryFlaw.STRAY_PAREN: "A closing parenthesis without an opening one was ignored.",
    QueryFlaw.IDLE_OPERATOR: "AND, OR or NOT that does not stand between two words was searched as a word.",
    QueryFlaw.INNER_ASTERISK: "Only at the end of a word an asterisk stands for letters; inside, it separates.",
    QueryFlaw.NO_WORD: "There is no word to search for: names alone have signs; `ultracrawl urls` lists all pages.",
    QueryFlaw.NOT_AS_WRITTEN: "No document is as operators, signs and quotes want it; the words alone were searched.",
}
"""Notes on queries that were probably meant otherwise."""
_LEFT_OUT = (
    "Nothing found: documents with readers are left out; `--principal NAME` shows those of NAME, "
    "`--all-principals` all."
)
_MOMENT = r"(\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d"
"""A date of a hit as text, as the answer of a service has it."""
_SHOWN_NAMES = 5
"""Names that a note lists at most."""
_LIMIT_NOTES = {
    SearchLimit.TERMS: f"would read more than {SEARCH_TERMS:,} terms",
    SearchLimit.POSTINGS: "would read too much of the index",
    SearchLimit.TIME: f"took more than {SEARCH_SECONDS:.0f} s",
}


def _factors(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, float]:
    """Parse `--boost`: return factors by URL. Raises `UserError`."""
    factors: dict[str, float] = {}
    for text in texts:
        url, _, factor = text.rpartition("=")
        try:
            factors[url] = float(factor)
        except ValueError:
            url = ""
        if not url:
            raise Mistake.BAD_BOOST.error(text=text)
    return factors


def _principals_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add `--principal` and `--all-principals` as one argument: names of users and groups, None for all documents."""

    @click.option(
        "--principal",
        multiple=True,
        metavar="NAME",
        help="Also documents of this reader: user:NAME, group:NAME, or a bare name as people wrote it; repeat for "
        "several. Without it: those for everybody.",
    )
    @click.option("--all-principals", is_flag=True, help="All documents, whoever may see them.")
    @wraps(function)
    def with_principals(
        *words: Any, principal: tuple[str, ...], all_principals: bool, **options: Any
    ) -> None:
        if principal and all_principals:
            raise Mistake.ALL_AND_SOME_PRINCIPALS.error()
        function(*words, principals=None if all_principals else principal, **options)

    return with_principals


class _SearchCommand(click.Command):
    """A command whose words may begin with a minus sign (`-draft`, `->>`) without being options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = {name: option for option in self.params for name in option.opts}
        marked, is_value = list[str](), False
        for number, word in enumerate(args):
            if word == "--" and not is_value:
                marked += args[number:]
                break
            known = word in options or word in ctx.help_option_names or _LOOKS_LIKE_OPTION.match(word)
            is_word = word.startswith("-") and len(word) > 1 and not is_value and not known
            marked.append(_WORD + word if is_word else word)
            option = options.get(word) if not is_value else None
            is_value = isinstance(option, click.Option) and not option.is_flag
        return super().parse_args(ctx, marked)


_LOOKS_LIKE_OPTION = re.compile(r"--|-c\S*[./]")
"""A long option, or `-c` with its file; `-cat` is a word."""
_WORD = "\0"
"""Precedes a word of the query that looks like an option; no argument of a process contains it."""


def checked_language(text: str) -> str:
    """Return what was written for `--language`. Raises `CommandLineError` for what no language is called."""
    if not text:
        return text
    from ultracrawl.content.languages import CODES, is_language  # noqa: PLC0415 - few searches name a language

    if is_language(text):
        return text
    raise Mistake.BAD_LANGUAGE.error(text=text, instead=CODES.get(text.lower(), "for example de or en"))


@click.command("search", cls=_SearchCommand)
@server_option("search")
@click.argument(
    "query", nargs=-1, callback=lambda _context, _option, words: " ".join(words).replace(_WORD, "")
)
@config_option
@click.option(
    "--source",
    type=SOURCE_NAME,
    multiple=True,
    metavar="S",
    help="Only documents of this source; repeatable.",
)
@click.option(
    "--index",
    metavar="NAME",
    default="",
    help="Search this index: a name from `indexes`, or `default` (that of the project). Default: the primary one.",
)
@click.option("--group", multiple=True, metavar="G", help="Only documents of the sources in this data group.")
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Only documents that satisfy this: ATTR=VALUE (repeat it for several allowed values), ATTR=FROM..TO, or "
    "with !=, <, <=, > or >= instead of =.",
)
@click.option(
    "--all",
    "every",
    multiple=True,
    metavar="ATTR=VALUE",
    help="Only documents with this value; repeated: with all of these values.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="Complete the partially typed QUERY: show names, and titles of documents and sections with its words.",
)
@click.option(
    "--like", metavar="URL", default="", help="Find documents similar to this document of the index."
)
@_principals_options
@click.option("--sort", metavar="ATTR", default="", help="Sort by this attribute; -ATTR for descending.")
@click.option(
    "--facet", "facets", multiple=True, metavar="ATTR", help="Count the values of this attribute; repeatable."
)
@click.option(
    "--disjunctive-facets",
    is_flag=True,
    help="Count each --facet without the --where conditions that choose values of its attribute.",
)
@click.option(
    "--count-sources",
    is_flag=True,
    help="Count the matches of each source and data group, whichever of them are chosen.",
)
@click.option(
    "--sections",
    type=click.IntRange(0, MAX_SECTIONS),
    default=0,
    show_default=True,
    help="Show this many matching sections of each hit at most.",
)
@click.option(
    "--language",
    metavar="CODE",
    default="",
    callback=lambda _context, _option, text: checked_language(text),
    help="Your language: documents in it rank higher, and display names are shown in it.",
)
@click.option(
    "--boost",
    "boosts",
    multiple=True,
    metavar="URL=FACTOR",
    callback=_factors,
    help="Multiply the score of a URL, or of a URL prefix with a trailing *; repeatable.",
)
@click.option(
    "--as-typed", is_flag=True, help="Search the words as they are typed; a correction is only suggested."
)
@click.option(
    "--limit",
    type=click.IntRange(0, 1000),
    default=10,
    show_default=True,
    help="Hits to show; 0: only how many there are.",
)
@click.option("--offset", type=click.IntRange(0), default=0, show_default=True, help="Hits to skip.")
@json_option
def command(
    query: str,
    config: str | None,
    source: tuple[str, ...],
    index: str,
    group: tuple[str, ...],
    where: tuple[str, ...],
    every: tuple[str, ...],
    principals: tuple[str, ...] | None,
    language: str,
    as_json: bool,
    **order: Any,
) -> None:
    """Search the index for QUERY, in titles, texts, addresses and anchor texts.

    \b
    In QUERY:
      heron water           both words, in any form; of more than three words, at least half
      "grey water"          exactly these words, next to each other
      heron OR egret        one of them; AND binds tighter, ( ) group
      heron -egret          the first but not the second; also: heron NOT egret
      egr*  Author:lee      words with this prefix; a word in a search attribute
      node:fs               a word: there is no search attribute node
      Size:>=10 Size:5..10  numbers; dates too: LastModifiedDate:2024-05

    \b
    Examples:
      ultracrawl search "create index"
      ultracrawl search '"vacation request" -draft' --where Author=HR --limit 20 --offset 20
      ultracrawl search how do I restore a backup --where 'LastModifiedDate>=2024' --json
      ultracrawl search --group handbooks --facet Author --facet LastModifiedDate --language de
      ultracrawl search backup --sections 3 --where Author=Lee --facet Author --disjunctive-facets
      ultracrawl search --complete "create ind" --limit 5
      ultracrawl search 'salary bands' --principal staff --principal ann.lee
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project, hints = find_searchable_project(config)
    show_hints(hints)
    slow = partial(waiting_for, project.server_of(index))
    with Searcher(project.hurried(PERSON_SECONDS), index, principals=principals) as searcher:
        names = DisplayNames.of_searcher(searcher, language)
        if order.pop("complete"):
            with slow():
                found = searcher.complete(query, limit=order["limit"], sources=source, groups=group)
            return print_completions(query, found, as_json=as_json)
        order |= {
            "sources": source,
            "groups": group,
            "filters": [*where, *all_of(every)],
            "language": language,
        }
        started = time.perf_counter()
        with slow():
            result = searcher.search(query, **order)
        took = (time.perf_counter() - started) * 1000
        if as_json:
            return print_json(answer_json(query, result, took, names, project.kinds))
        everything = searcher.seen_by(None)
        # Who names readers may be a program that shows the answer to them, and they may not know of other documents.
        if not (result.total or principals != ()) and everything.search(query, **order).total:
            return click.echo(_LEFT_OUT)
        empty = not (result.total or everything.count())
        return print_result(query or order["like"], result, order, took, names, empty=empty)


def print_completions(query: str, found: list[Completion], *, as_json: bool) -> None:
    """Print the completions of a query."""
    if as_json:
        print_json(completions_json(query, found))
        return
    for completion in found:
        url = click.style(escape_controls(completion.url), fg="green")
        click.echo(f"{click.style(as_line(completion.text), bold=True)}  {url}")
    if not found:
        click.echo(f"Nothing completes {query!r}.")


def print_result(
    query: str,
    result: SearchResult,
    order: Mapping[str, Any],
    took: float,
    names: DisplayNames,
    *,
    empty: bool,
) -> None:
    """Print a search result as text, each hit with its date if `order` sorts by one.

    `took` is in milliseconds, `empty`: the index has no documents.
    """
    if empty:
        click.echo("Nothing found: the index has no documents yet. `ultracrawl crawl` fills it.")
        return
    for note in _notes(query, result):
        click.secho(note, dim=True)
    if not result.total:
        click.echo(_with_suggestion(f"Nothing found{f' for {query!r}' if query else ''}.", result))
        return
    days = [_day_of(hit, order["sort"]) for hit in result.hits]
    for number, (hit, day) in enumerate(zip(result.hits, days, strict=True), start=order["offset"] + 1):
        _print_hit(number, hit, (day or "no date") if any(days) else "")
    for name, values in result.facets.items():
        rows = (
            f"{names.of(name, count.value) or _value_text(count.value)} ({count.count:,})" for count in values
        )
        _print_counts(names.of_attribute(name), rows)
    for name, counts in (("sources", result.sources), ("groups", result.groups)):
        if counts:
            _print_counts(name, (f"{_value_text(count.value)} ({count.count:,})" for count in counts))
    click.secho(f"{len(result.hits)} of {result.total:,} documents, {took:.0f} ms", dim=True)


def _notes(query: str, result: SearchResult) -> Iterator[str]:
    """Yield the lines above the hits: what was searched if it is not what was typed, and why there may be more."""
    if result.corrected:
        yield f"Showing results for {result.suggestion!r}; with --as-typed for {query!r}."
    for flaw in result.flaws:
        yield _FLAW_NOTES[flaw]
    if result.unknown_attributes:
        known = ", ".join(result.known_attributes) or "none"
        yield f"No search attribute, so a word: {_listed(result.unknown_attributes)}. Search attributes are: {known}."
    if result.exceeded:
        limits = " and ".join(_LIMIT_NOTES[limit] for limit in result.exceeded)
        yield f"The search was cut short, because it {limits}: there may be more."
    if result.total and (note := _with_suggestion(_READING_NOTES.get(result.reading, ""), result)):
        yield note
    if result.unknown_words:
        yield f"No document has: {_listed(result.unknown_words)}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(escape_controls(name) for name in names[:_SHOWN_NAMES])


def _with_suggestion(note: str, result: SearchResult) -> str:
    is_suggested = result.suggestion and not result.corrected
    return f"{note} Did you mean {result.suggestion!r}?".strip() if is_suggested else note


def _day_of(hit: Hit, sort: str) -> str:
    """Return the day of a hit by which it is sorted; empty if it has none, or the order is not by a date."""
    name = sort.strip().removeprefix("-").casefold()
    values = next((values for one, values in hit.attributes.items() if one.casefold() == name), ())
    found = re.match(_MOMENT, str(values[0])) if values else None
    return found[1] if found else ""


def _print_hit(number: int, hit: Hit, day: str) -> None:
    click.secho(f"{number:>2}. {as_line(hit.title) or escape_controls(hit.url)}", bold=True)
    if hit.section is not None:
        click.secho(f"    {as_line(hit.section.title)}", bold=True)
    url = click.style(escape_controls(hit.section_url), fg="green")
    click.echo(f"    {url}  {day}" if day else f"    {url}")
    for url in hit.also_at:
        click.secho(f"    also at {escape_controls(url)}", dim=True)
    if hit.snippet:
        click.echo(_marked(wrapped(hit.snippet, "    ")))
    for part in hit.sections:
        title = click.style(as_line(part.section.title), bold=True)
        click.echo(f"      {title}  {click.style(escape_controls(part.url), fg='green')}")


def _print_counts(name: str, rows: Iterable[str]) -> None:
    click.echo(click.style(f"{name}: ", bold=True) + (", ".join(rows) or "no values"))


def _value_text(value: str | float) -> str:
    return as_line(value) if isinstance(value, str) else f"{value:g}"


def _marked(text: str) -> str:
    """Return a snippet with its matches in colour; click removes colours if output is no terminal."""
    first, *others = text.split(START_MARK)
    marked = (part.partition(END_MARK) for part in others)
    return first + "".join(click.style(hit, bold=True, fg="yellow") + rest for hit, _, rest in marked)
