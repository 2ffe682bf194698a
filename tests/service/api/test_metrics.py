"""The numbers of the service, in the form of Prometheus."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ultracrawl.model import RunReport, UrlOutcome
from ultracrawl.service.access.requester import Role
from ultracrawl.service.api.app import ApiOptions
from ultracrawl.service.metrics import collector
from ultracrawl.service.metrics.collector import Metrics
from ultracrawl.service.orders import CrawlEnd, Event, EventKind
from ultracrawl.stores.control_channel import CrawlStatus

if TYPE_CHECKING:
    from service.api.conftest import Api


def numbers(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_sources_and_the_index_hold_is_reported(api: Api) -> None:
    answer = api.ask("GET", "/metrics", role=Role.READER)
    assert answer.headers["content-type"].startswith("text/plain")
    found = numbers(answer.text)
    assert found["ultracrawl_source_urls", "site", "indexed"] == 3
    assert found["ultracrawl_source_outcomes", "NEW", "site"] == 3
    assert found["ultracrawl_index_documents", "default"] == 3
    assert found["ultracrawl_index_size_bytes", "default"] > 0
    assert found["ultracrawl_source_phase", "idle", "site"] == 1
    assert found["ultracrawl_source_phase", "running", "site"] == 0
    assert found["ultracrawl_schedule_status", "nightly", "scheduled"] == 1
    assert found["ultracrawl_source_last_success_timestamp_seconds", "site"] > 1e9
    assert found["ultracrawl_process_resident_memory_bytes", ""] > 1e6
    assert found["ultracrawl_disk_free_bytes", "state"] > 0


@pytest.mark.parametrize("machine", ["", "elsewhere"])
def test_memory_is_that_of_crawls_on_this_machine(
    api: Api, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = CrawlStatus("c", os.getpid(), machine=machine)
    monkeypatch.setattr(collector, "readable_status", lambda *_: crawl)
    found = numbers(Metrics(lambda: api.project, api.supervisor).exposition()[0].decode())
    assert (("ultracrawl_process_resident_memory_bytes", "site") in found) == (not machine)


def test_what_happens_is_counted(api: Api) -> None:
    metrics = Metrics(lambda: api.project, api.supervisor)
    report = RunReport("site", "7", "", outcomes=Counter({UrlOutcome.NEW: 5}), bytes=99)
    metrics.count_event(Event(EventKind.RUN_ENDED, 0.0, "site", end=CrawlEnd("site", report)))
    metrics.count_event(Event(EventKind.RUN_ENDED, 0.0, "site", end=CrawlEnd("site", report)))
    metrics.count_event(
        Event(EventKind.RUN_FAILED, 0.0, "site", end=CrawlEnd("site", None, "killed", died=True))
    )
    found = numbers(metrics.exposition()[0].decode())
    assert found["ultracrawl_runs_total", "done", "site"] == 2
    assert found["ultracrawl_runs_total", "died", "site"] == 1
    assert found["ultracrawl_pages_total", "NEW", "site"] == 10
    assert found["ultracrawl_read_bytes_total", "site"] == 198
    assert found["ultracrawl_events_total", "run-failed"] == 1


def test_a_damaged_state_is_a_number_and_no_error(api: Api) -> None:
    (api.project.state.path / "site.sqlite").write_bytes(b"no database" * 1000)
    found = numbers(api.ask("GET", "/metrics", role=Role.READER).text)
    assert found["ultracrawl_source_state_readable", "site"] == 0


def test_numbers_may_be_open_to_all(workspace: object, api: Api) -> None:
    from service.api.conftest import Api as Made

    for name in Role:
        api.store.revoke_token(name.value)
    opened = Made(api.workspace, ApiOptions(metrics_open=True))
    assert opened.ask("GET", "/metrics", role=None).status_code == 200
    assert opened.ask("GET", "/api/v1/sources", role=None).status_code == 401
