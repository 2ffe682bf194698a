"""New versions that wait in the store until it is decided whether they are placed."""

from __future__ import annotations

import pytest

from ultracrawl.index import IndexDocument
from ultracrawl.model import UrlRecord
from ultracrawl.run.placement.new_versions import NewVersion, pack_version, unpack_version
from ultracrawl.run.results import FetchResult, PageResult
from ultracrawl.run.visit import Visit
from ultracrawl.stores import QueueEntry

URL = "http://h.test/"


@pytest.mark.parametrize("live", [True, False], ids=["made by scripts", "as sent"])
def test_what_scripts_made_is_opened_again_though_its_page_is_as_it_was(live: bool) -> None:
    """The validators of a page as sent say nothing about the data that its scripts ask for."""
    visit = Visit(
        QueueEntry(1, URL, "h.test", 0, 0),
        UrlRecord(URL, "site"),
        fetch=FetchResult(etag='"1"', last_modified="today"),
        page=PageResult(live=live, parts=b"\x00parts" if live else b""),
    )
    found = unpack_version(pack_version(NewVersion.of(visit), 1, IndexDocument("site", URL, "", "words")))
    assert found is not None
    again = found[0].visit(1, visit.record)
    assert (again.page.live, again.page.parts) == (visit.page.live, visit.page.parts)
    accepted = found[0].accepted(visit.record)
    assert (accepted.etag, accepted.last_modified) == (("", "") if live else ('"1"', "today"))
