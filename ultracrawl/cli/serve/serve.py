"""`ultracrawl serve`: the service that crawls sources when they are due, with an API."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from ultracrawl.cli.audit import note_project
from ultracrawl.cli.options import config_option, jobs_option, show_hints
from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.service.supervisor.serving import DRAIN_TIMEOUT, HOST, PORT, ServeOptions, serve

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("serve")
@config_option
@click.option("--host", default=HOST, show_default=True, help="The address of the API.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="The port of the API."
)
@jobs_option
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    default=DRAIN_TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Time for crawls to end cleanly when the service ends; then they are killed.",
)
@click.option("--certificate", type=_FILE, help="Speak TLS with this certificate (PEM, with its chain).")
@click.option("--key", type=_FILE, help="The key of the certificate.")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front of another address speaks TLS.")
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="A name of this server, besides loopback.",
)
@click.option("--metrics-open", is_flag=True, help="Show /metrics without a token.")
def command(
    config: str | None,
    host: str,
    port: int,
    jobs: int | None,
    patience: float,
    certificate: Path | None,
    key: Path | None,
    behind_proxy: bool,
    allowed_hosts: tuple[str, ...],
    metrics_open: bool,
) -> None:
    """Crawl all sources when their schedules and intervals say so, until SIGTERM or Ctrl-C.

    Each crawl has a process of its own. Crawls that die are restarted; changed definitions are reloaded if they have
    no mistakes. With the extra `serve` there is also an API.

    \b
    Examples:
      ultracrawl serve
      ultracrawl serve -c conf/ultracrawl.yaml --jobs 4 --port 9000
    """  # noqa: D301 - click's mark for a block that keeps its lines
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%Y-%m-%d %H:%M:%S")
    logging.getLogger("ultracrawl").setLevel(logging.INFO)
    definitions = Definitions(config)
    note_project(definitions.project)
    show_hints(definitions.hints)
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
    )
    raise SystemExit(0 if serve(definitions, options) else 1)
