"""Signatures of routes, analysed once for all applications that tests make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi import routing
from fastapi.dependencies.models import Dependant

_known: dict[tuple[object, ...], Dependant] = {}


def analyse_once() -> None:
    """Have FastAPI keep what it found out about an endpoint: each application of a test has the same forty."""
    analyse: Callable[..., Dependant] = routing.get_dependant

    def kept(*, path: str, call: Callable[..., Any], **options: Any) -> Dependant:
        if getattr(call, "__closure__", None) is not None:
            return analyse(path=path, call=call, **options)  # made for one application
        key = (path, call, *sorted(options.items()))
        found = _known.get(key) or _known.setdefault(key, analyse(path=path, call=call, **options))
        return replace(found, dependencies=list(found.dependencies))  # a route adds its own

    routing.get_dependant = kept  # type: ignore[assignment]
