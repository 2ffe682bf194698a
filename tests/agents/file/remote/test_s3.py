"""Listings of buckets that a server of S3 may send."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.remote_site import PASSWORD
from support.s3 import S3Site

from ultracrawl.agents.file.lister import FileLister
from ultracrawl.agents.file.remote import s3
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Complete, KindSetup, Partial
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader

_OBJECT = (
    "<Contents><Key>docs/a.txt</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
    "<ETag>&quot;1&quot;</ETag><Size>1</Size></Contents>"
)


class PagedSite(S3Site):
    """A bucket whose listings have a number of pages that name nothing, and then a file."""

    def __init__(self, empty: float) -> None:
        super().__init__()
        self.empty = empty
        self.pages = 0
        self.application = self._answer

    def served_at(self, port: int) -> None:
        self._port = port

    def _answer(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        is_listing = "max-keys" not in environ["QUERY_STRING"]
        self.pages += is_listing
        if is_listing and self.pages <= self.empty:
            found = (
                f"<IsTruncated>true</IsTruncated><NextContinuationToken>{self.pages}</NextContinuationToken>"
            )
        else:
            found = f"<IsTruncated>false</IsTruncated>{_OBJECT}"
        body = f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{found}</ListBucketResult>'
        start_response("200 OK", [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
        return [body.encode()]


@pytest.mark.parametrize(("empty", "end"), [(3, Complete), (float("inf"), Partial)])
def test_pages_that_name_nothing_are_read_for_some_time(
    monkeypatch: pytest.MonkeyPatch, empty: float, end: type
) -> None:
    monkeypatch.setattr(s3, "_MOST_EMPTY_PAGES", 3)
    with PagedSite(empty).serve() as site:
        setup = KindSetup(
            FileSection(**site.options()),
            DataSource(name="s"),
            Path("/"),
            SecretReader({"FILES_PASSWORD": PASSWORD}),
        )
        lister = FileLister(setup)
        assert isinstance(list(lister.list_entries("", ""))[-1], end)
        lister.close()
    assert site.pages == 4
