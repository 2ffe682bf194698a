"""`ultracrawl status SITE`: everything that is known of one site."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

import click

from ultracrawl.cli.options import known_sources, print_all
from ultracrawl.cli.terminal import tell
from ultracrawl.crawl.inspection.site_view import SiteView, view_site
from ultracrawl.errors import StateError, UserError
from ultracrawl.service.control import running_crawl
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores.opening import open_state, state_exists


def show_site(project: Project, name: str, as_json: bool) -> None:
    """Print how every source of a project stands with a site. Raises `UserError` for one that none knows."""
    now = time.time()
    found = [one for source in known_sources(project, []) if (one := _view(project, source, name, now))]
    if not found:
        raise UserError(
            f"no source knows the site {name!r}; a site is a host, with its port if that is not the usual one"
        )
    print_all("sites", found, _print, as_json=as_json)


def _view(project: Project, source: DataSource, name: str, now: float) -> SiteView | None:
    if not state_exists(project, source.name):
        return None
    rules = compile_source(source, project)
    sign = None
    with suppress(StateError):  # the crawl of another user cannot be looked at, its document table can
        sign = running_crawl(project, source.name)
    state = open_state(project, source.name, read_only=True)
    try:
        rules = replace(rules, pace=replace(rules.pace, wall=_same))
        return view_site(state, rules, name.lower(), now, sign.phase if sign else None)
    finally:
        state.close()


def _same(at: float) -> float:
    return at


def _print(one: SiteView) -> None:
    click.echo(f"{one.row.site} ({one.source}): {_next(one)}")
    click.echo(f"  delay     {one.delay}")
    waiting = ", ".join(f"{number:,} on level {level}" for level, number in sorted(one.queued.items()))
    click.echo(f"  waiting   {waiting or 'nothing'}")
    tell(f"  robots    {one.row.robots or 'not known'}")
    if one.row.stand_in:
        click.echo(f"  asked at  {one.row.stand_in}, because the site itself was given up in this run")
    if one.row.errors or one.row.last_error:
        tell(f"  errors    {one.row.errors}, the last: {one.row.last_error}")


def _next(one: SiteView) -> str:
    if one.next_at is None:
        return one.waits
    seconds = one.next_at - one.now
    if seconds <= 0:
        return "may be asked now" if one.phase else "is asked by the next crawl"
    return f"next request in {seconds:,.1f} s; it waits for: {one.waits}"
