"""Verbs with `--server`: they ask a service, and print what they print without it."""

from __future__ import annotations

from typing import Any

import click

from ultracrawl.cli.crawl.steering import print_steered
from ultracrawl.cli.look.status import exit_code, print_rows
from ultracrawl.cli.options import print_all, print_json
from ultracrawl.cli.search import print_completions, print_result
from ultracrawl.cli.serve.client import ServiceClient, token_of_environment
from ultracrawl.cli.terminal import tell
from ultracrawl.errors import UserError, WorkError
from ultracrawl.index.hits.result_json import DisplayNames, completions_from_json, result_from_json
from ultracrawl.service.control import Steered
from ultracrawl.service.destinations import DestinationStatus
from ultracrawl.stores.control_channel import Command

_NOT_THERE = {
    "config": "-c",
    "urls": "--url",
    "delay": "--delay",
    "continuous": "--continuous",
    "verbose": "-v",
    "principal": "--principal",
    "all_principals": "--all-principals",
    "boosts": "--boost",
    "site": "SITE",
}
"""Options that say something about this machine, or that are up to the token."""


def client_for(server: str, options: dict[str, Any]) -> ServiceClient:
    """Return who speaks with a service. Raises `UserError` for options that mean nothing there."""
    options.pop("jobs", None)  # may come from the environment
    for name, written in _NOT_THERE.items():
        if options.pop(name, None):
            raise UserError(f"{written} has no effect on a service; leave it out, or --server")
    return ServiceClient(server, token_of_environment())


def search(
    client: ServiceClient, query: str, *, as_json: bool, every: Any, facets: Any, **order: Any
) -> None:
    """Do what `ultracrawl search` does."""
    if order.pop("complete"):
        asked = {name: order[name] for name in ("source", "group", "index", "limit")}
        found = client.get("suggest", q=query, **asked)
        print_completions(query, completions_from_json(found), as_json=as_json)
        return
    found = client.get("search", q=query, all=every, facet=facets, **order)
    if as_json:
        print_json(found)
        return
    names, took = DisplayNames.of_answer(found), found["took_ms"]
    print_result(query or order["like"], result_from_json(found), order["offset"], took, names, empty=False)


def status(client: ServiceClient, *, as_json: bool) -> None:
    """Do what `ultracrawl status` does."""
    rows = client.get("sources")["sources"]
    if as_json:
        print_json({"sources": rows})
    else:
        print_rows([{**row, "feeding": [DestinationStatus(**one) for one in row["feeding"]]} for row in rows])
    raise SystemExit(exit_code(rows))


def crawl(client: ServiceClient, sources: tuple[str, ...], *, force: bool, as_json: bool) -> None:
    """Have a service crawl sources; returns when it has taken the orders."""
    names = sources or tuple(row["source"] for row in client.get("sources")["sources"])
    begun, problems = [], []
    for name in names:
        try:
            begun.append(client.post("sources", name, "start", body={"force": force}))
        except WorkError as error:
            problems.append(str(error))
    if as_json:
        print_json({"sources": begun})
    for one in () if as_json else begun:
        click.echo(f"{one['source']}: was told to crawl")
    for problem in problems:
        tell(problem, err=True)
    raise SystemExit(1 if problems else 0)


def steer(
    client: ServiceClient, order: Command, sources: tuple[str, ...], *, as_json: bool, **_waiting: object
) -> None:
    """Give an order of `pause`, `resume` and `stop`; does not wait until it is carried out."""
    told = []
    for name in sources:
        answer = client.post("sources", name, order.value)
        phase = (answer["service"] or {}).get("phase", "")
        told.append(Steered(name, order, True, phase, f"was told to {order.value}", waited=False))
    print_all("sources", told, print_steered, as_json=as_json)


def pause(client: ServiceClient, **options: Any) -> None:
    """Do what `ultracrawl pause` does."""
    steer(client, Command.PAUSE, **options)


def resume(client: ServiceClient, **options: Any) -> None:
    """Do what `ultracrawl resume` does."""
    steer(client, Command.RESUME, **options)


def stop(client: ServiceClient, **options: Any) -> None:
    """Do what `ultracrawl stop` does."""
    steer(client, Command.STOP, **options)
