"""The set-up of listers and fetchers, and checks whether a listed source can be reached."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from ultracrawl.agents.port import KindSetup, ListedKind
from ultracrawl.errors import AdvisedError, MissingExtraError, UltracrawlError, UserError
from ultracrawl.sources import DataSource, PathFinding, Project
from ultracrawl.sources.kinds import load_kind
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.stores.project_stores import listed_folder


def setup_of(
    project: Project, source: DataSource, *, force: bool = False, clock: Callable[[], float] = time.time
) -> KindSetup[Any]:
    """Return the set-up that a kind of sources gets for its listers and fetchers."""
    secrets = SecretReader(os.environ, project.key_file)
    return KindSetup(source, source, project.base, secrets, force, clock, listed_folder(project, source.name))


def check_listed(project: Project, *, connect: bool) -> Iterator[tuple[str, PathFinding]]:
    """Yield mistakes in the definitions of listed sources and, with `connect`, failures to reach them, by source."""
    for source in project.sources.values():
        kind = load_kind(source.type)
        if not isinstance(kind, ListedKind):
            continue
        problem = _problem(_check_connection if connect else _check, kind, setup_of(project, source))
        if problem is not None:
            yield source.name, PathFinding((), *problem)


def _check(kind: ListedKind[Any], setup: KindSetup[Any]) -> None:
    kind.check_definition(setup)


def _check_connection(kind: ListedKind[Any], setup: KindSetup[Any]) -> None:
    lister = kind.make_lister(setup)
    try:
        lister.check_connection()
    finally:
        lister.close()


def _problem(
    check: Callable[[ListedKind[Any], KindSetup[Any]], None], kind: ListedKind[Any], setup: KindSetup[Any]
) -> tuple[str, str] | None:
    """Return the problem of a source and its remedy, one line each; None if there is none."""
    try:
        check(kind, setup)
    except (AdvisedError, MissingExtraError) as error:
        return error.problem, error.instead
    except UserError as error:
        return str(error), "correct it"
    except UltracrawlError as error:
        return str(error), "make sure that it can be reached"
    except Exception as error:  # code of a plug-in may raise anything
        return f"{type(error).__name__}: {' '.join(str(error).split())}", "correct it"
    return None
