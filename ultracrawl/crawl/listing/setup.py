"""What listers and fetchers are made from, and whether a source can be reached by them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from ultracrawl.agents.port import KindSetup, ListedKind
from ultracrawl.errors import MissingExtraError, UltracrawlError, UserError
from ultracrawl.model import Finding
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.kinds import load_kind
from ultracrawl.sources.secrets import SecretReader


def setup_of(
    project: Project, source: DataSource, *, force: bool = False, clock: Callable[[], float] = time.time
) -> KindSetup[Any]:
    """Return what a kind is told of a source."""
    secrets = SecretReader(os.environ, project.key_file)
    return KindSetup(source, source, project.base, secrets, force, clock)


def check_listed(project: Project, *, connect: bool) -> Iterator[Finding]:
    """Yield what is wrong with sources that are listed, and, with `connect`, what keeps them from being reached."""
    for source in project.sources.values():
        kind = load_kind(source.type)
        if not isinstance(kind, ListedKind):
            continue
        told = _problem(_reach if connect else _check, kind, setup_of(project, source))
        if told is not None:
            yield Finding(str(project.base), 0, f"sources.{source.name}", *told)


def _check(kind: ListedKind[Any], setup: KindSetup[Any]) -> None:
    kind.check_definition(setup)


def _reach(kind: ListedKind[Any], setup: KindSetup[Any]) -> None:
    lister = kind.make_lister(setup)
    try:
        lister.check_connection()
    finally:
        lister.close()


def _problem(
    look: Callable[[ListedKind[Any], KindSetup[Any]], None], kind: ListedKind[Any], setup: KindSetup[Any]
) -> tuple[str, str] | None:
    """Return what is wrong with a source and what to do, a line each; None if nothing is."""
    try:
        look(kind, setup)
    except MissingExtraError as error:
        return error.problem, error.instead
    except UserError as error:
        return str(error), "correct it"
    except UltracrawlError as error:
        return str(error), "see to it that it can be reached"
    except Exception as error:  # the edge to code of a kind
        return f"{type(error).__name__}: {' '.join(str(error).split())}", "correct it"
    return None
