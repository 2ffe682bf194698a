"""A crawl keeps its sites while code holds up its event loop, and not for ever."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from support import clock
from support.project import Workspace
from support.resource import Reply
from support.site import Request, Site

from ultracrawl.stores import SqliteSiteStore
from ultracrawl.stores.lease_renewer import LEAST_SILENCE, LeaseRenewer
from ultracrawl.stores.port.leases import LEASE_SECONDS


def test_a_crawl_whose_loop_is_held_up_keeps_its_sites_for_a_while(
    workspace: Workspace, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewers: list[LeaseRenewer] = []

    def start(renewer: LeaseRenewer) -> None:
        renewers.append(renewer)  # the test has its thread

    monkeypatch.setattr(LeaseRenewer, "start", start)
    held: list[bool] = []
    address: list[str] = []

    def hold_up(_: Request) -> Reply:
        """Hold up the loop, which answers this request, while the time goes on."""
        name = urlsplit(address[0]).netloc
        sites = workspace.directory / "var/state/sites/sites.sqlite"
        with closing(SqliteSiteStore(sites)) as others, ThreadPoolExecutor(1) as thread:
            for _ in range(int(LEAST_SILENCE / LEASE_SECONDS) + 3):
                clock.leap(LEASE_SECONDS - 1)
                thread.submit(renewers[-1].look).result()
                held.append(others.lease_holder(name) is not None)
                clock.leap(2)
                held.append(others.lease_holder(name) is not None)
            for lease in renewers[-1]._leases:
                thread.submit(lease.end_beside).result()
        return Reply(body=b"<title>Slow</title><p>words")

    site.page("/", links=["/slow"], text="words")
    site.dynamic("/slow", hold_up)
    with site.serve() as url:
        address.append(url)
        workspace.define(url)
        assert workspace.crawl().code == 0
    first = held.index(False)
    assert first >= 2 * LEAST_SILENCE / (LEASE_SECONDS + 1) - 2, "it lives for that long"
    assert held[-1] is False, "and not for ever"
