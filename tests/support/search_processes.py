"""Ends the search processes of applications that tests make without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ultracrawl.service.searching.requests import Searching

_searching: list[Searching] = []


def end_after_test(app: FastAPI) -> None:
    """Have the search processes of an application end with each test; a later search starts new ones."""
    _searching.append(app.state.api.searching)


def end_search_processes() -> None:
    """End all search processes of such applications."""
    for searching in _searching:
        searching.close()
