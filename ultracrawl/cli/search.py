"""`ultracrawl search`: ask the index."""

from __future__ import annotations

import time
from collections.abc import Mapping

import click
from rich.console import Console
from rich.text import Text

from ultracrawl.attributes.value_lists import ValueList
from ultracrawl.backends import open_index, value_lists
from ultracrawl.cli.options import config_option, json_option, open_project, print_json
from ultracrawl.errors import UserError
from ultracrawl.index import Hit, SearchQuery

START, END = "\x02", "\x03"


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise UserError(f"--where {text!r} is not ATTRIBUTE=VALUE; write for example --where Author=Miller")
    return name.strip(), value.strip()


@click.command("search")
@click.argument("query")
@config_option
@click.option("--source", metavar="S", default="", help="Only documents of this source.")
@click.option(
    "--where", multiple=True, metavar="ATTR=VALUE", help="Only documents with this attribute value."
)
@click.option("--sort", metavar="ATTR", default="", help="Sort by this attribute; -ATTR for descending.")
@click.option(
    "--language", metavar="CODE", default="", help="Add display names of listed values in this language."
)
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Hits to show.")
@json_option
def command(
    query: str,
    config: str | None,
    source: str,
    where: tuple[str, ...],
    sort: str,
    language: str,
    limit: int,
    as_json: bool,
) -> None:
    """Search the index for QUERY: words, "a phrase", -without, begin*, Attribute:word.

    \b
    Examples:
      ultracrawl search "create index"
      ultracrawl search '"vacation request" -draft' --where Author=HR --limit 5
      ultracrawl search backup --sort -LastModifiedDate --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project = open_project(config)
    if source and source not in project.sources:
        known = ", ".join(sorted(project.sources))
        raise UserError(f"no source is named {source!r}; the sources are: {known}")
    index = open_index(project)
    started = time.perf_counter()
    asked = SearchQuery(query, source=source, where=tuple(map(_pair, where)), sort=sort, limit=limit)
    try:
        result = index.search(asked)
    finally:
        index.close()
    took = (time.perf_counter() - started) * 1000
    if as_json:
        lists = value_lists(project) if language else {}
        hits = [_hit_json(hit) | _display_names(hit, lists, language) for hit in result.hits]
        print_json({"query": query, "total": result.total, "took_ms": round(took, 1), "hits": hits})
    else:
        _print_hits(query, result.total, result.hits, took)


def _hit_json(hit: Hit) -> dict[str, object]:
    return {
        "url": hit.url,
        "title": hit.title,
        "score": round(hit.score, 4),
        "source": hit.source,
        "snippet": hit.snippet.replace(START, "**").replace(END, "**"),
        "attributes": {name: [str(value) if not isinstance(value, float) else value for value in values]
                       for name, values in hit.attributes.items()},
    }  # fmt: skip


def _display_names(hit: Hit, lists: Mapping[str, ValueList], language: str) -> dict[str, object]:
    """Return what the listed values of a hit are called in a language, nothing if none was asked for."""
    if not language:
        return {}
    named = {
        name: [lists[name].display_name(value, language) for value in values]
        for name, values in hit.attributes.items()
        if name in lists
    }
    return {"display_names": named}


def _print_hits(query: str, total: int, hits: tuple[Hit, ...], took: float) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if not total:
        console.print(Text(f"Nothing found for {query!r}."))
        return
    for number, hit in enumerate(hits, start=1):
        console.print(Text(f"{number:>2}. ").append(hit.title or hit.url, style="bold"))
        console.print(Text(f"    {hit.url}", style="green"))
        console.print(_marked(f"    {hit.snippet}"))
    console.print(Text(f"{len(hits)} of {total:,} documents, {took:.0f} ms", style="dim"))


def _marked(snippet: str) -> Text:
    text = Text()
    for part in snippet.split(START):
        matched, end, rest = part.partition(END)
        if end:
            text.append(matched, style="bold yellow").append(rest)
        else:
            text.append(part)
    return text
