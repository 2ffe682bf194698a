"""The commands of `ultracrawl admin` about URIs and sites: for a crawl that runs, or for the next one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import click

from ultracrawl.cli.manage import held_back
from ultracrawl.cli.options import confirm, json_option, print_all
from ultracrawl.dialects.fast_xml.verbs.collection_file import project_with_parts
from ultracrawl.run.inspection.submission import admitting_source
from ultracrawl.service.control import SiteOrderResult, order_site
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.project_stores import state_exists
from ultracrawl.stores.site_orders import SiteAction, SiteOrder

ORDER_TIMEOUT = 30.0
"""Seconds to wait until a running crawl has taken an order."""

_CONFIG = click.option(
    "-c", "--config", metavar="FILE", help="The XML file of the collections. Default: $ULTRACRAWL_CONFIG."
)
_PREFIX = click.option("--prefix", is_flag=True, help="PLACE is the beginning of URIs.")


@click.command("add-uri", short_help="Fetch URIs, known or not.")
@click.argument("name")
@click.argument("uris", nargs=-1, required=True)
@_CONFIG
@json_option
def add_uri(name: str, uris: tuple[str, ...], config: str | None, as_json: bool) -> None:
    """Fetch URIS, known or not, in the running crawl of NAME, or in its next one.

    Each goes to the sub-collection or collection whose rules include it. A URI that was deleted comes back.

    \b
    Example:
      ultracrawl admin add-uri handbook https://www.example.com/new -c collections.xml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project, sources = project_with_parts(name, config)
    chosen = [(admitting_source(project, uri, sources), uri) for uri in uris]
    results = [
        order_site(project, source, SiteOrder(SiteAction.ADD, uri), timeout=ORDER_TIMEOUT)
        for source, uri in chosen
    ]
    print_all("orders", results, print_ordered, as_json=as_json)


@click.command("refetch", short_help="Fetch a URI, a prefix, or a site again.")
@click.argument("name")
@click.argument("place")
@_PREFIX
@_CONFIG
@json_option
def refetch(name: str, place: str, prefix: bool, config: str | None, as_json: bool) -> None:
    """Fetch the known URIs of PLACE again, changed or not, in the running crawl of NAME, or in its next one.

    PLACE is a URI, with --prefix the beginning of URIs, or a site (a host).

    \b
    Examples:
      ultracrawl admin refetch handbook https://www.example.com/a -c collections.xml
      ultracrawl admin refetch handbook https://www.example.com/news/ --prefix
      ultracrawl admin refetch handbook www.example.com
    """  # noqa: D301 - as above
    _order_all(name, config, SiteOrder(SiteAction.REFETCH, place, prefix), as_json=as_json)


@click.command("delete", short_help="Delete the items of a URI, a prefix, or a site.")
@click.argument("name")
@click.argument("place")
@_PREFIX
@click.option("--yes", is_flag=True, help="Do not ask.")
@_CONFIG
@json_option
def delete(name: str, place: str, prefix: bool, yes: bool, config: str | None, as_json: bool) -> None:
    """Delete the items of PLACE from the index, also while NAME is being crawled.

    PLACE is as for `refetch`. The URIs are not fetched any more, until `add-uri` adds them.

    \b
    Example:
      ultracrawl admin delete handbook https://www.example.com/old/ --prefix --yes -c collections.xml
    """  # noqa: D301 - as above
    project, sources = project_with_parts(name, config)
    confirm(f"Delete what is stored of {place}?", yes=yes)
    results = _orders(project, sources, SiteOrder(SiteAction.DELETE, place, prefix))
    print_all("orders", results, print_ordered, as_json=as_json)


def _holding(action: SiteAction, short_help: str) -> Callable[[Callable[[], None]], click.Command]:
    """Return a decorator that makes a verb which orders something about a site for a time."""

    def verb(described: Callable[[], None]) -> click.Command:
        @click.command(action.value, short_help=short_help, help=described.__doc__)
        @click.argument("name")
        @click.argument("site")
        @click.argument("seconds", type=click.IntRange(min=0))
        @_CONFIG
        @json_option
        def command(name: str, site: str, seconds: int, config: str | None, as_json: bool) -> None:
            order = SiteOrder(action, site, until=time.time() + seconds)
            _order_all(name, config, order, as_json=as_json)

        return command

    return verb


@_holding(SiteAction.QUARANTINE, "Request nothing from a site for a time; its URIs wait.")
def quarantine() -> None:
    """Request nothing from SITE for SECONDS; 0 ends it.

    The URIs of SITE wait, and the cycle of NAME with them. SITE is `host`, or `host:port`.

    \b
    Example:
      ultracrawl admin quarantine handbook www.example.com 3600 -c collections.xml
    """  # noqa: D301 - as above


@_holding(SiteAction.BLACKLIST, "Leave a site out of cycles for a time.")
def blacklist() -> None:
    """Leave SITE out of the running cycle of NAME, and of those that begin within SECONDS; 0 brings it back.

    Its items stay in the index, and its URIs wait for a later cycle. SITE is `host`, or `host:port`.

    \b
    Example:
      ultracrawl admin blacklist handbook www.example.com 86400 -c collections.xml
    """  # noqa: D301 - as above


@click.command("approve-deletions", short_help="Delete items that a cycle held back.")
@click.argument("name")
@click.option("--list", "only_list", is_flag=True, help="List the items, and change nothing.")
@click.option("--discard", is_flag=True, help="Keep the items, until a later cycle finds the same again.")
@_CONFIG
@json_option
@click.pass_context
def approve_deletions(
    context: click.Context, name: str, only_list: bool, discard: bool, config: str | None, as_json: bool
) -> None:
    """Delete the items of NAME, its sub-collections included, that were too many to be deleted at once.

    The same as `ultracrawl approve-deletions`.

    \b
    Examples:
      ultracrawl admin approve-deletions handbook --list -c collections.xml
      ultracrawl admin approve-deletions handbook
    """  # noqa: D301 - as above
    project, sources = project_with_parts(name, config)
    chosen = {"config": config, "only_list": only_list, "discard": discard, "as_json": as_json}
    for source in sources:
        if state_exists(project, source.name):
            context.invoke(held_back.approve_deletions, source=source.name, **chosen)


def print_ordered(result: SiteOrderResult) -> None:
    """Print what became of an order."""
    if result.action is SiteAction.DELETE and result.deleted:
        note = f"{result.deleted:,} URIs deleted"
    elif result.taken:
        note = "done" if result.action is SiteAction.DELETE else "the running crawl follows it"
    else:
        note = "the next crawl follows it"
    click.echo(f"{result.source}: {result.action} {result.place}: {note}")


def _order_all(name: str, config: str | None, order: SiteOrder, *, as_json: bool) -> None:
    project, sources = project_with_parts(name, config)
    print_all("orders", _orders(project, sources, order), print_ordered, as_json=as_json)


def _orders(project: Project, sources: Iterable[DataSource], order: SiteOrder) -> list[SiteOrderResult]:
    return [order_site(project, source, order, timeout=ORDER_TIMEOUT) for source in sources]
