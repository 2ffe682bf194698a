"""`ultracrawl simulate`: shows the decisions of a robot's filters on URLs, directive by directive."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import click

from ultracrawl.cli.options import config_option, json_option, open_project, print_json
from ultracrawl.cli.terminal import print_line
from ultracrawl.dataclass import dataclass, field
from ultracrawl.dialects.portal_robot.verbs.files import filtered_source, starts_of_site
from ultracrawl.errors import UserError
from ultracrawl.model import Decision
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.program import FilterProgram
from ultracrawl.rules.filters.resource import LOCAL_SCHEME, Resource, View
from ultracrawl.rules.filters.rules import PROTOCOLS
from ultracrawl.rules.urls.canonical import Canonical, UrlPolicy
from ultracrawl.run.filters.filtering import Filtering
from ultracrawl.run.inspection.candidates import judge_now
from ultracrawl.run.transport.host_addresses import addresses_of
from ultracrawl.service.probing.client import ProbeClient, ProbeResponse, probe_client_of
from ultracrawl.sources import compile_source


@dataclass
class Simulated:
    """The result for one URL: accepted if no stage or filter denies it and there are no warnings."""

    url: str
    source: str
    stages: tuple[Decision, ...] = ()
    """Decisions of the stages that every URL passes before the filters."""
    filters: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """By filter: (directive, result) pairs."""
    denied: list[str] = field(default_factory=list)
    addresses: tuple[str, ...] = ()
    redirects: list[ProbeResponse] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """ACCEPTED or WARNING."""
        return "WARNING" if self.denied or self.warnings else "ACCEPTED"


@click.command("simulate")
@click.argument("urls", nargs=-1)
@config_option
@click.option(
    "--source", "name", metavar="NAME", help="The source whose filters are tested. Default: the only one."
)
@click.option("--sitename", metavar="SITE", help="The starting points of this site of filterrules.conf only.")
@click.option("--no-dns", "--nodns", "no_dns", is_flag=True, help="Do not look hosts up.")
@click.option(
    "--no-redirects", "--noredirect", "no_redirects", is_flag=True, help="Do not ask servers for redirects."
)
@json_option
def command(
    urls: tuple[str, ...],
    config: str | None,
    name: str | None,
    sitename: str | None,
    no_dns: bool,
    no_redirects: bool,
    as_json: bool,
) -> None:
    """Show for URLS, or for all starting points, which directive of the robot's filters accepts or denies them.

    The stages that every URL meets come first, as a first run would count; then MetaData directives of both filters
    are run. No document is fetched: of each server at most the heads of
    redirects are asked. Nothing is stored.

    \b
    Examples:
      ultracrawl simulate -c config/robot.conf
      ultracrawl simulate http://www.example.com/a.zip --no-dns --no-redirects
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project = open_project(config)
    source = filtered_source(project, name)
    filtering = Filtering(source.filters, lambda: 0.0)
    filtering.start()
    asker = None if no_redirects else probe_client_of(source, project)
    rules = compile_source(source, project)
    # Without the state of the robot: limits count as at the beginning of a first run.
    judge = judge_now(project, source, rules, None)
    if sitename is not None:
        urls = (*urls, *starts_of_site(config, sitename))
    for url, found in [(url, _canonical(url, rules.url_policy)) for url in urls or rules.seeds]:
        if found.url is None:
            result = Simulated(url, source.name, (found.decision,), denied=[_reason(found.decision)])
        else:
            stages = tuple(judge.rules.decisions(judge.candidate(found.url)))
            result = Simulated(found.url, source.name, stages)
            _simulate(result, filtering, asker, look_up=not no_dns)
        print_json(_as_json(result)) if as_json else _print(result)


def _canonical(url: str, policy: UrlPolicy) -> Canonical:
    """Return the canonical form of a URL; a whole one may have none, if the robot follows no such URLs."""
    found = policy.canonicalise(url)
    scheme, _, rest = url.partition("://")
    if found.url is None and not (rest and scheme.lower() in (*PROTOCOLS, LOCAL_SCHEME)):
        raise UserError(f"`{url}` is no whole URL; write it like http://www.example.com/")
    return found


def _reason(step: Decision) -> str:
    return f"{step.stage}: {step.rule}"


def _simulate(result: Simulated, filtering: Filtering, asker: ProbeClient | None, *, look_up: bool) -> None:
    """Add the results of filters, DNS and redirects.

    The filters of a robot are not among the common stages: two filters decide separately (on links, on descriptions),
    each is a program whose directives are shown one by one, and they judge a resource, not a link.
    """
    url = result.url
    result.denied += [_reason(step) for step in result.stages if not step.accept]
    host = urlsplit(url).hostname or ""
    if look_up:
        result.addresses = addresses_of(host)
        if not result.addresses:
            result.warnings.append(f"{host} has no address")
    for program in (filtering.enumeration, filtering.generation):
        view = View(Resource(url, 0, filtering.sources, next(iter(result.addresses), "")))
        result.filters[program.name] = list(_trace(program, view))
        if view.cause:
            result.denied.append(f"{program.name}: {view.cause}")
    if asker is not None and not result.warnings and url.startswith(("http://", "https://")):
        result.redirects = asker.follow_redirects(url)
        result.warnings += [f"redirects to {step.location}" for step in result.redirects if step.location]
        result.warnings += [str(step.cause) for step in result.redirects if step.cause]


def _trace(program: FilterProgram, view: View) -> Iterator[tuple[str, str]]:
    for line, answer in program.trace(Phase.METADATA, view):
        yield str(line), "denied" if answer is Answer.ABORTED else answer.name.lower()


def _as_json(result: Simulated) -> dict[str, object]:
    return {
        "url": result.url,
        "source": result.source,
        "verdict": result.verdict,
        "denied": result.denied,
        "warnings": result.warnings,
        "addresses": list(result.addresses),
        "redirects": [
            {"url": step.url, "status": step.status, "location": step.location} for step in result.redirects
        ],
        "stages": [step.as_json() for step in result.stages],
        "filters": {
            name: [{"directive": line, "answer": answer} for line, answer in steps]
            for name, steps in result.filters.items()
        },
    }


def _print(result: Simulated) -> None:
    click.echo(f"{result.verdict}  {result.url}")
    if result.addresses:
        click.echo(f"  address   {', '.join(result.addresses)}")
    for name, steps in result.filters.items():
        click.echo(f"  {name}")
        for line, answer in steps:
            click.echo(f"    {answer:<9} {line}")
    for reason in (*result.denied, *result.warnings):
        print_line(f"  because   {reason}")
