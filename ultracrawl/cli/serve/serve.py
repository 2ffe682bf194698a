"""`ultracrawl serve`: the service that crawls sources when they are due, with an API."""

from __future__ import annotations

import errno
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from ultracrawl.cli.audit import note_project
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import Seconds, config_option, jobs_option, show_hints
from ultracrawl.cli.scope_options import refuse_scope, scope_options
from ultracrawl.cli.serve.search_options import search_options
from ultracrawl.cli.serve.service_options import checked_node, patience_option, site_origins
from ultracrawl.cli.terminal import log_as_a_service, print_line, rough_time
from ultracrawl.errors import WorkError
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api import check_extra
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.service.supervisor.serving import HOST, PORT, ServeOptions, serve
from ultracrawl.settings.adhoc import AdhocScope, delay_of_one_site, sites_of
from ultracrawl.sources import Project

_SAMPLE = 1000
"""Pages of which it is said how long their crawl takes."""
_TAKEN = frozenset({errno.EADDRINUSE, errno.EACCES})
"""Errors of the system because of which another port may do."""
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("serve")
@config_option
@click.option(
    "--url",
    "urls",
    multiple=True,
    metavar="URL",
    help="Crawl the site of this URL now and daily, without a definition, and show a page to search it.",
)
@scope_options
@click.option(
    "--public",
    "is_public",
    is_flag=True,
    help="Let everybody search it, by a box in the pages of --site; the two lines of HTML for it are printed. The "
    "search page itself stays behind a log-in (`search_page: {public: true}` opens it).",
)
@click.option(
    "--site",
    "sites",
    multiple=True,
    metavar="SITE",
    help="A site whose pages show the box, as https://docs.example.com; repeat for several.",
)
@click.option(
    "--delay", type=Seconds(min=0), help="Seconds between two requests to the site of --url; it is kept."
)
@click.option("--host", default=HOST, show_default=True, help="The address of the API.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="The port of the API."
)
@jobs_option
@patience_option
@click.option(
    "--name",
    default="",
    metavar="NAME",
    callback=checked_node,
    help="Its name among the nodes of the project, if the state is in PostgreSQL. Default: serve-HOST.",
)
@click.option("--certificate", type=_FILE, help="Speak TLS with this certificate (PEM, with its chain).")
@click.option("--key", type=_FILE, help="The key of the certificate.")
@click.option(
    "--behind-proxy",
    is_flag=True,
    help="A proxy in front of it speaks TLS; it says in X-Forwarded-For where requests come from.",
)
@click.option(
    "--root-path",
    default="",
    metavar="/PATH",
    callback=lambda _context, _option, text: checked_root_path(text),
    help="What the proxy has before all paths, as /search.",
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    callback=lambda _context, _option, names: tuple(map(checked_host, names)),
    help="A name of this server, besides loopback.",
)
@click.option("--metrics-open", is_flag=True, help="Show /metrics without a token.")
@click.option(
    "--read-only-definitions",
    is_flag=True,
    help="Save no changes of definitions from /admin and the API: they are managed elsewhere.",
)
@search_options
def command(
    config: str | None,
    urls: tuple[str, ...],
    scope: AdhocScope,
    is_public: bool,
    sites: tuple[str, ...],
    delay: float | None,
    host: str,
    port: int,
    jobs: int | None,
    patience: float,
    name: str,
    certificate: Path | None,
    key: Path | None,
    behind_proxy: bool,
    root_path: str,
    allowed_hosts: tuple[str, ...],
    metrics_open: bool,
    read_only_definitions: bool,
    search: SearchingOptions,
) -> None:
    """Crawl all sources when their schedules and intervals say so, until SIGTERM or Ctrl-C.

    Each crawl has a process of its own. Crawls that die are restarted; changed definitions are reloaded if they have
    no mistakes. With the extra `serve` there are also a search page and an API.

    With the state in PostgreSQL it is one of the nodes of the project: what is due is crawled by it or by another one.

    With --url no definition is needed: the site is crawled as by `crawl --url`, which has --path, --exclude, --depth
    and --limit too, again each day, and at once if its last run had another --path, --exclude or --depth. A link is
    printed that signs your browser in, once. For others: `ultracrawl user`.

    \b
    Examples:
      ultracrawl serve --url https://docs.example.com/
      ultracrawl serve --url https://docs.example.com/ --public --site https://docs.example.com
      ultracrawl serve --url https://docs.example.com/ --path /guide/ --limit 500
      ultracrawl serve
      ultracrawl serve -c conf/ultracrawl.yaml --jobs 4 --port 9000
      ultracrawl serve --behind-proxy --allow-host www.example.com --root-path /search
    """  # noqa: D301 - click's mark for a block that keeps its lines
    _check_certificate(certificate, key)
    log_as_a_service()
    origins = site_origins(sites, is_public=is_public)
    definitions = _definitions(config, urls, replace(scope, public=is_public, delay=delay))
    box_key = TokenStore.of_project(definitions.project).site_key(origins) if origins else ""
    options = ServeOptions(
        host,
        port,
        jobs,
        patience,
        certificate,
        key,
        behind_proxy,
        allowed_hosts,
        metrics_open,
        root_path,
        partial(_announce, box_key, origins, _delay_of(definitions.project, urls)) if urls else None,
        search,
        read_only_definitions,
        name,
    )
    try:
        is_done = serve(definitions, options)
    except WorkError as error:
        number = getattr(error.__context__, "errno", None)
        if number in _TAKEN:
            raise Mistake.CANNOT_LISTEN.failure(problem=error) from None
        if number == errno.EADDRNOTAVAIL:
            raise Mistake.NOT_OUR_ADDRESS.failure(problem=error) from None
        raise
    raise SystemExit(0 if is_done else 1)


def _check_certificate(certificate: Path | None, key: Path | None) -> None:
    """Raise `CommandLineError` for one of the two without the other, unless the certificate has its key with it."""
    if key and not certificate:
        raise Mistake.KEY_WITHOUT_CERTIFICATE.error()
    if certificate and not key and b"PRIVATE KEY" not in certificate.read_bytes():
        raise Mistake.CERTIFICATE_WITHOUT_KEY.error(file=certificate)


def _definitions(config: str | None, urls: tuple[str, ...], scope: AdhocScope) -> Definitions:
    """Return the definitions, with a source for `--url`. Raises `UserError`, `MissingExtraError`."""
    if urls and config:
        raise Mistake.URL_AND_DEFINITION.error()
    if urls:
        check_extra()
    else:
        refuse_scope(scope)
    definitions = Definitions(config, urls, scope)
    note_project(definitions.project)
    show_hints(definitions.hints)
    return definitions


def checked_root_path(text: str) -> str:
    """Return the path before all paths of the service without a slash at its end. Raises `UserError`."""
    path = text.rstrip("/")
    if path and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", path):
        raise Mistake.BAD_ROOT_PATH.error(path=text)
    return path


def checked_host(name: str) -> str:
    """Return a name for `--allow-host`. Raises `CommandLineError` for what no browser sends as one."""
    if not re.fullmatch(r"[\w.-]+|\[[0-9A-Fa-f:.]+\]", name):
        raise Mistake.BAD_HOST.error(name=name)
    return name


def _delay_of(project: Project, urls: tuple[str, ...]) -> float:
    """Return the seconds between two requests to the site of URLs; 0 if they are of several."""
    wanted = sites_of(urls)
    found = [source for source in project.known_sources.values() if wanted & sites_of(source.start_urls)]
    return delay_of_one_site(found)


def _announce(box_key: str, origins: tuple[str, ...], delay: float, base: str, path: str) -> None:
    print_line(f"Search page: {base}{path}")
    if "?" in path:
        print_line("Open it within ten minutes: it signs one browser in, once.")
    if note := rough_time(_SAMPLE, delay):
        print_line(f"1,000 pages take {note}.")
    if box_key:
        print_line(f"Search box: these two lines in the pages of {', '.join(origins)}")
        print_line(f'  <script src="{base}/static/box.js" async></script>')
        print_line(f'  <ultracrawl-search key="{box_key}"></ultracrawl-search>')
    sys.stdout.flush()
