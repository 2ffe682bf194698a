"""`ultracrawl probe`: tests DNS, redirects, virtual servers, robots.txt and more of one site."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from ultracrawl.cli.mistakes import Mistake, with_scheme
from ultracrawl.cli.options import (
    SOURCE_NAME,
    chosen_sources,
    config_option,
    json_option,
    open_project,
    print_json,
)
from ultracrawl.cli.terminal import print_line
from ultracrawl.service.probing.client import ProbeClient, probe_client_of
from ultracrawl.service.probing.probe import SiteProbe, probe
from ultracrawl.sources import adhoc_project


@click.command("probe")
@click.argument("url")
@config_option
@click.option(
    "--source",
    "name",
    type=SOURCE_NAME,
    metavar="NAME",
    help="Send requests as this source does.",
)
@click.option("--no-dns", "--nodns", "no_dns", is_flag=True, help="Do not look up aliases of the host.")
@click.option(
    "--advanced-dns", is_flag=True, help="Look up the names of the addresses and the name servers, too."
)
@json_option
def command(
    url: str, config: str | None, name: str | None, no_dns: bool, advanced_dns: bool, as_json: bool
) -> None:
    """Test the site of URL: addresses, redirects, virtual servers, robots.txt, sitemaps.

    A handful of requests is sent to the site; nothing is stored.

    \b
    Example:
      ultracrawl probe https://www.example.com/ --advanced-dns
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if not url.startswith(("http://", "https://")):
        if instead := with_scheme(url):
            raise Mistake.URL_WITHOUT_SCHEME.error(url=url, instead=f"ultracrawl probe {instead}")
        if "://" in url:
            raise Mistake.NO_WEB_SITE.error(url=url)
        raise Mistake.NO_URL.error(url=url)
    client, robots_name = _client(url, config, name)
    result = probe(url, client, robots_name, dns=not no_dns, advanced=advanced_dns)
    print_json(_as_json(result)) if as_json else _print(result)
    raise SystemExit(1 if result.problems else 0)


def _client(url: str, config: str | None, name: str | None) -> tuple[ProbeClient, str]:
    """Return the client of a source, or of an ad-hoc one for the URL, and its name in robots.txt."""
    if name is None:
        if config:
            raise Mistake.CONFIG_WITHOUT_SOURCE.error()
        project = adhoc_project([url], Path.cwd())
        source = next(iter(project.sources.values()))
    else:
        project = open_project(config)
        source = chosen_sources(project, [name])[0]
    return probe_client_of(source, project), source.robots.name


def _as_json(result: SiteProbe) -> dict[str, object]:
    steps = [{"url": step.url, "status": step.status, "location": step.location} for step in result.redirects]
    return {**asdict(result), "redirects": steps}


def _print(result: SiteProbe) -> None:
    print_line(result.url)
    rows = [
        ("name", result.canonical_name),
        ("aliases", ", ".join(result.aliases)),
        ("addresses", ", ".join(result.addresses)),
        *(("reverse", f"{address}: {name or 'no name'}") for address, name in result.reverse_names.items()),
        ("name servers", ", ".join(result.name_servers)),
        *(
            ("answer", f"{step.status or 'none'} {step.url}{f' -> {step.location}' if step.location else ''}")
            for step in result.redirects
        ),
        ("server", result.server),
        ("tls", result.tls),
        ("robots.txt", result.robots),
        ("sitemaps", ", ".join(result.sitemaps)),
        *(("also", f"{name}: {what}") for name, what in result.virtual_servers.items()),
    ]
    for label, text in rows:
        if text:
            print_line(f"  {label:<12} {text}")
    for problem in result.problems:
        print_line(f"  problem      {problem}", err=True)
    if result.advice:
        print_line(f"  what to do   {result.advice}", err=True)
