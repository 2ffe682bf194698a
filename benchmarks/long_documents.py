"""Measure searches in long documents: `python benchmarks/long_documents.py DIRECTORY URL PID [DOCUMENTS]` prints JSON.

DIRECTORY holds HTML files, from whose texts documents of 50,000 to 100,000 characters are made (2,000 by default). URL
is an OpenSearch of this machine, and PID its process. Requests, megabytes of answers, and milliseconds of CPU of the
client and of the server are those of a query, the mean of five rounds; with `tantivy` all is the client's.
`same_as_tantivy` counts the queries with the same hits, sections and snippets.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil
from index import ATTRIBUTES, documents

from ultracrawl.index import IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch import OpenSearchIndex
from ultracrawl.index.opensearch.connections import Connection
from ultracrawl.index.tantivy import TantivyIndex
from ultracrawl.index.writing.segments import batches

LEAST, MOST = 50_000, 100_000
"""Characters of a text."""
PAGES = 1000
"""Pages of which texts are made."""
ROUNDS = 5
QUERIES = (
    "index", "table", "transaction", "checkpoint", "replication", "vacuum settings", "create index",
    "isolation level", "foreign key constraint", "shared buffers", "write ahead log", "query planner statistics",
    "logical replication slot", "full text search", '"create table"', '"the value of"', '"isolation level"', "con*",
    "how to restore a backup", "which lock does alter table take",
)  # fmt: skip


def long_documents(directory: Path, number: int) -> Iterator[IndexDocument]:
    """Yield documents whose texts are those of pages, one after the other, up to a length of its own each."""
    pages = documents(directory, PAGES)
    texts = itertools.cycle(page.text for page in pages if page.text)
    for count in range(number):
        length = LEAST + count * 7919 % (MOST - LEAST)
        text = ""
        while len(text) < length:
            text += next(texts) + " "
        page = pages[count % len(pages)]
        yield replace(page, url=f"http://localhost/{count}", text=text[:length])


class Traffic:
    """What the server answered."""

    def __init__(self) -> None:
        self.requests = self.bytes = 0

    def count(self) -> None:
        """Count the answers to all requests from now on."""
        perform = Connection.perform_request

        def counted(connection: Connection, *words: Any, **named: Any) -> Any:
            status, headers, data = perform(connection, *words, **named)
            self.requests += 1
            self.bytes += len(data.encode())
            return status, headers, data

        Connection.perform_request = counted  # type: ignore[method-assign]


def measure(index: IndexEngine, server: psutil.Process, traffic: Traffic) -> dict[str, float]:
    """Return the figures of a query."""

    def now() -> tuple[float, float, int, int]:
        spent = server.cpu_times()
        return time.process_time(), float(spent.user + spent.system), traffic.requests, traffic.bytes

    before = now()
    for _ in range(ROUNDS):
        for text in QUERIES:
            index.search(SearchQuery(text))
    client, servers, requests, sent = (after - one for after, one in zip(now(), before, strict=True))
    number = ROUNDS * len(QUERIES)
    return {
        "requests": round(requests / number, 2),
        "megabytes": round(sent / number / 1e6, 2),
        "client_milliseconds": round(client / number * 1000, 1),
        "server_milliseconds": round(servers / number * 1000, 1),
    }


def hits(index: IndexEngine, text: str) -> list[object]:
    """Return what a page of hits shows."""
    found = index.search(SearchQuery(text, sections=3)).hits
    return [(one.url, one.section, one.sections, one.snippet) for one in found]


def main(directory: Path, url: str, process: int, number: int = 2000) -> None:
    """Measure and print."""
    server, traffic = psutil.Process(process), Traffic()
    traffic.count()
    options: dict[str, Json] = {"url": url, "name": f"bench-{time.time_ns()}", "replicas": 0}
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(TantivyIndex(Path(folder), ATTRIBUTES)) as other,
        closing(OpenSearchIndex(Path(folder), ATTRIBUTES, options)) as index,
    ):
        for batch in batches(long_documents(directory, number)):
            index.apply(batch)
            other.apply(batch)
        for text in QUERIES:  # both have read their files then, and what a searcher learns once
            index.search(SearchQuery(text))
            other.search(SearchQuery(text))
        report: dict[str, object] = {
            "documents": number,
            "megabytes": round(index.facts().size / 1e6, 1),
            "opensearch": measure(index, server, traffic),
            "tantivy": measure(other, server, Traffic()),
            "queries": len(QUERIES),
            "same_as_tantivy": sum(hits(index, text) == hits(other, text) for text in QUERIES),
        }
    urlopen(Request(f"{url}/{options['name']}-*", method="DELETE")).close()
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0]), given[1], int(given[2]), *map(int, given[3:4]))
