"""`ultracrawl node`: crawls on several machines that share a database, and lists, drains and removes them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import click

from ultracrawl.cli.audit import note_project
from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import (
    config_option,
    jobs_option,
    json_option,
    open_project,
    print_json,
    project_option,
    show_hints,
)
from ultracrawl.cli.serve.service_options import checked_node, patience_option
from ultracrawl.cli.terminal import log_as_a_service, print_line
from ultracrawl.errors import UserError
from ultracrawl.model.dates import iso
from ultracrawl.service import supervisor
from ultracrawl.sources import Catalog, Project
from ultracrawl.stores.port.node_store import KeptNode
from ultracrawl.stores.project_stores import open_nodes

NODE_VARIABLE = "ULTRACRAWL_NODE"
"""The environment variable with the name of this node, which definitions of other crawlers read, too."""


@click.group("node", cls=VerbGroup)
def command() -> None:
    """Crawl the sources of a project on several machines.

    The machines share the database of `state: {engine: postgresql, url: ...}`. Each runs `node run` with a name of its
    own and the same definitions; each source is crawled by one of them at a time.

    \b
    Examples:
      ultracrawl node run --name crawler-a
      ultracrawl node list
      ultracrawl node drain crawler-a
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("run", short_help="Crawl on this machine what is due, as a node of the project.")
@config_option
@click.option(
    "--name",
    required=True,
    envvar=NODE_VARIABLE,
    metavar="NAME",
    callback=checked_node,
    help="The name of this node.",
)
@jobs_option
@patience_option
def run(config: str | None, name: str, jobs: int | None, patience: float) -> None:
    """Crawl on this machine what is due, until SIGTERM, Ctrl-C or `node drain`.

    It takes a schedule, or a source with an interval, when it is due and no other node runs it. If this machine dies,
    another node goes on with its sources when its lease has run out, after $ULTRACRAWL_LEASE_SECONDS (20).

    \b
    Examples:
      ultracrawl node run --name crawler-a
      ultracrawl node run --name crawler-b -c /shared/ultracrawl.yaml --jobs 4
    """  # noqa: D301 - as above
    os.environ[NODE_VARIABLE] = name
    log_as_a_service()
    definitions = supervisor.Definitions(config)
    note_project(definitions.project)
    show_hints(definitions.hints)
    options = supervisor.ServeOptions(jobs=jobs, patience=patience, name=name, crawls_only=True)
    raise SystemExit(0 if supervisor.serve(definitions, options) else 1)


@command.command("list", short_help="List the nodes: who lives, and what it crawls.")
@project_option
@json_option
def list_nodes(project: Project, as_json: bool) -> None:
    """List the nodes of a project: machine, state, the sources that each crawls, and when its lease ends.

    \b
    Example:
      ultracrawl node list --json
    """  # noqa: D301 - as above
    with closing(open_nodes(project, read_only=True)) as store:
        nodes, released, now = store.nodes(), store.released(), time.time()
    if as_json:
        print_json({"nodes": [as_row(node, released, now) for node in nodes]})
        return
    for node in nodes:
        _print_node(node, released)
    if not nodes:
        print_line("There are no nodes; start one with `ultracrawl node run --name NAME`.")


def as_row(node: KeptNode, released: Mapping[str, str], now: float) -> dict[str, Any]:
    """Return a node as a JSON object; `now` is the time of this machine."""
    return {
        "name": node.name,
        "host": node.facts.host,
        "alive": node.alive,
        "state": _state(node),
        "reason": node.facts.reason or None,
        "sources": list(node.sources),
        "lease_ends": iso(now + node.left) if node.alive else None,
        "program": node.facts.program,
        "schema": node.schema,
        "digests": dict(node.facts.digests),
        "capabilities": dict(node.facts.capabilities),
        "refuses": _refused(node, released),
    }


def _refused(node: KeptNode, released: Mapping[str, str]) -> list[str]:
    """Return the sources that a node does not take, because it has them otherwise than they were released."""
    digests = node.facts.digests.items() if released else ()
    return [source for source, digest in digests if digest != released.get(source)]


def _state(node: KeptNode) -> str:
    if node.ended:
        return "drained" if node.draining else "ended"
    if not node.alive:
        return "dead"
    return "draining" if node.draining else "running"


def _print_node(node: KeptNode, released: Mapping[str, str]) -> None:
    lease = f", lease {node.left:.0f} s" if node.alive else ""
    sources = ", ".join(node.sources) or "nothing"
    print_line(f"{node.name}: {_state(node)} on {node.facts.host}{lease}; crawls {sources}")
    if node.facts.reason:
        print_line(f"  drains because {node.facts.reason}")
    if refused := _refused(node, released):
        print_line(f"  takes only what was released, and has otherwise: {', '.join(refused)}")


@command.command("release", short_help="Let nodes crawl sources only as they are defined here.")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@config_option
@json_option
def release(sources: tuple[str, ...], config: str | None, as_json: bool) -> None:
    """Let nodes crawl SOURCES, or all sources, only as they are defined here.

    From the first release on a node takes a source only if it has it exactly so: while files are being copied to all
    machines, those that have the new ones crawl, and the others say which file differs.

    \b
    Examples:
      ultracrawl node release
      ultracrawl node release handbook
    """  # noqa: D301 - as above
    from ultracrawl.service.nodes.node_facts import source_digest  # noqa: PLC0415 - slow, and only used here

    open_project(config)  # raises what is wrong
    definitions = supervisor.Definitions(config)
    project = definitions.project
    chosen = Catalog(project).select(sources) if sources else project.sources.values()
    digests = {source.name: source_digest(project, source) for source in chosen}
    with closing(open_nodes(project)) as store:
        store.release(digests, definitions.file_digests())
        left = sorted(project.sources.keys() - store.released().keys())
    if as_json:
        print_json({"released": digests, "not_released": left})
        return
    print_line(f"released: {', '.join(digests) or 'nothing'}")
    if left:
        print_line(f"not released, so that no node takes them: {', '.join(left)}")


@command.command("drain", short_help="Have a node finish what it runs, and end.")
@click.argument("name", callback=checked_node)
@project_option
def drain(name: str, project: Project) -> None:
    """Have the node NAME finish what it runs and take nothing new; then its process ends.

    `node run` of that name starts it again.

    \b
    Example:
      ultracrawl node drain crawler-a
    """  # noqa: D301 - as above
    with closing(open_nodes(project)) as store:
        if not store.drain_node(name):
            raise _unknown(name, store.nodes())
    print_line(f"The node {name} takes nothing new; it ends when its crawls have ended.")


@command.command("remove", short_help="Forget a node that has ended.")
@click.argument("name", callback=checked_node)
@project_option
def remove(name: str, project: Project) -> None:
    """Forget the node NAME, which has ended or whose lease has run out.

    \b
    Example:
      ultracrawl node remove crawler-a
    """  # noqa: D301 - as above
    with closing(open_nodes(project)) as store:
        if not store.remove_node(name):
            raise _unknown(name, store.nodes())
    print_line(f"The node {name} is removed.")


def _unknown(name: str, nodes: list[KeptNode]) -> UserError:
    return Mistake.NO_SUCH_NAME.error(what="node", name=name, known=[node.name for node in nodes])
