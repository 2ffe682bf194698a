"""Verbs with `--server`: they send the command to a service, and print the same output as without it."""

from __future__ import annotations

from typing import Any

import click

from ultracrawl.cli.crawl.steering import print_steered
from ultracrawl.cli.look.status import exit_code, print_rows
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import print_all, print_json
from ultracrawl.cli.search import print_completions, print_result
from ultracrawl.cli.serve.client import ServiceClient, token_of_environment
from ultracrawl.cli.terminal import print_line
from ultracrawl.errors import WorkError
from ultracrawl.index.hits.result_json import DisplayNames, completions_from_json, result_from_json
from ultracrawl.rules.candidates.traps import Trap
from ultracrawl.service.control import SteerResult
from ultracrawl.service.destinations import DestinationStatus
from ultracrawl.stores.control_channel import Command

_LOCAL_OPTIONS = {
    "config": "-c",
    "urls": "--url",
    "paths": "--path",
    "exclude": "--exclude",
    "depth": "--depth",
    "documents": "--limit",
    "delay": "--delay",
    "continuous": "--continuous",
    "verbose": "-v",
    "quiet": "-q",
    "principal": "--principal",
    "all_principals": "--all-principals",
    "boosts": "--boost",
}
"""Options that apply to this machine only, or are determined by the token."""


def client_for(server: str, options: dict[str, Any]) -> ServiceClient:
    """Return the client of a service. Raises `UserError` for options without effect there."""
    options.pop("jobs", None)  # may come from the environment
    for name, written in _LOCAL_OPTIONS.items():
        if options.pop(name, None):
            raise Mistake.NO_EFFECT_ON_SERVICE.error(option=written)
    return ServiceClient(server, token_of_environment())


def search(
    client: ServiceClient, query: str, *, as_json: bool, every: Any, facets: Any, **order: Any
) -> None:
    """Run `ultracrawl search` on a service."""
    if order.pop("complete"):
        options = {name: order[name] for name in ("source", "group", "index", "limit")}
        found = client.get("suggest", q=query, **options)
        print_completions(query, completions_from_json(found), as_json=as_json)
        return
    found = client.get("search", q=query, all=every, facet=facets, **order)
    if as_json:
        print_json(found)
        return
    names, took = DisplayNames.of_answer(found), found["took_ms"]
    print_result(query or order["like"], result_from_json(found), order, took, names, empty=False)


def status(client: ServiceClient, site: str | None, *, as_json: bool) -> None:
    """Run `ultracrawl status` on a service: of all sources, or of one."""
    rows = client.get("sources")["sources"]
    if site:
        if site not in (known := [row["source"] for row in rows]):
            raise Mistake.NO_SUCH_NAME.error(what="source", name=site, known=known)
        rows = [client.get("sources", site)]
    if as_json:
        print_json({"sources": rows})
    else:
        print_rows([{**row, **_printable(row)} for row in rows])
    raise SystemExit(exit_code(rows))


def _printable(row: dict[str, Any]) -> dict[str, Any]:
    """Return what of a source `status` prints from objects."""
    traps = [Trap(one["pattern"], one["pages"], one["bounded"]) for one in row.get("traps", ())]
    return {"feeding": [DestinationStatus(**one) for one in row["feeding"]], "traps": traps}


def crawl(client: ServiceClient, sources: tuple[str, ...], *, force: bool, as_json: bool) -> None:
    """Let a service start crawls of sources; does not wait for them."""
    names = sources or tuple(row["source"] for row in client.get("sources")["sources"])
    started, problems = [], []
    for name in names:
        try:
            started.append(client.post("sources", name, "start", body={"force": force}))
        except WorkError as error:
            problems.append(str(error))
    if as_json:
        print_json({"sources": started})
    for row in () if as_json else started:
        click.echo(f"{row['source']}: crawl requested")
    for problem in problems:
        print_line(problem, err=True)
    raise SystemExit(1 if problems else 0)


def steer(
    client: ServiceClient, order: Command, sources: tuple[str, ...], *, as_json: bool, **_waiting: object
) -> None:
    """Send the command `pause`, `resume` or `stop`; does not wait until it is carried out."""
    results = []
    for name in sources:
        status = client.post("sources", name, order.value)
        phase = (status["service"] or {}).get("phase", "")
        results.append(SteerResult(name, order, True, phase, f"{order.value} requested", waited=False))
    print_all("sources", results, print_steered, as_json=as_json)


def pause(client: ServiceClient, **options: Any) -> None:
    """Run `ultracrawl pause` on a service."""
    steer(client, Command.PAUSE, **options)


def resume(client: ServiceClient, **options: Any) -> None:
    """Run `ultracrawl resume` on a service."""
    steer(client, Command.RESUME, **options)


def stop(client: ServiceClient, **options: Any) -> None:
    """Run `ultracrawl stop` on a service."""
    steer(client, Command.STOP, **options)
