"""A page that took too long in the browser is opened once more at the end of the run: as by hand, without a browser."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.context import made_context

from ultracrawl.model import Page, UrlRecord
from ultracrawl.run.rendering.not_rendered import NotRendered, RenderingError
from ultracrawl.run.rendering.page_renderer import MAX_LACKING_RUNS, PageRenderer
from ultracrawl.run.visit import Visit
from ultracrawl.sources import DataSource, compile_source
from ultracrawl.stores import QueueEntry

URL = "http://h.example/"


@pytest.mark.parametrize(
    ("fault", "failed_runs", "is_first", "expected"),
    [
        (NotRendered.TIME, 0, True, "set aside"),
        (NotRendered.TIME, 0, False, "as sent"),
        (NotRendered.TIME, MAX_LACKING_RUNS, True, "as sent"),
        (NotRendered.SIZE, 0, True, "as sent"),
    ],
    ids=["first", "second", "for many runs", "another reason"],
)
def test_a_page_is_taken_as_sent_only_after_its_second_opening(
    monkeypatch: pytest.MonkeyPatch, fault: NotRendered, failed_runs: int, is_first: bool, expected: str
) -> None:
    monkeypatch.setattr(PageRenderer, "_find_browser", lambda _: None)
    source = DataSource.model_validate({"name": "s", "start_urls": [URL], "javascript": {"use": True}})
    aside: list[Visit] = []
    queue = SimpleNamespace(set_aside=lambda one, _: is_first and not aside.append(one))
    context = made_context(source, rules=compile_source(source), queue=queue)
    context.ports.queue = cast("Any", queue)
    renderer = PageRenderer(
        context, cast("Any", None), cast("Any", None), lambda _visit, _step: nullcontext(), lambda: 1.0
    )
    visit = Visit(QueueEntry(1, URL, "h.example", 0, 1), UrlRecord(URL, "s", failed_runs=failed_runs))

    async def fails(*_: object) -> None:
        raise RenderingError(fault, "too slow")

    monkeypatch.setattr(renderer, "_open_page", fails)
    assert asyncio.run(renderer.rendered(visit, cast("Any", None), Page())) is None
    assert (aside == [visit]) == (expected == "set aside")
    assert bool(visit.page.unrendered) == (expected == "as sent")
