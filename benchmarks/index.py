"""Measure the index on real text: `python benchmarks/index.py DIRECTORY [DOCUMENTS [URL PID]]` prints JSON.

DIRECTORY holds HTML files; their text is indexed by Whoosh's SegmentWriter and by ours, in one segment (both with the
full analysis of the same fields), and by the engines whoosh and tantivy in commits as in a crawl; then queries are
timed. URL is an OpenSearch of this machine, and PID its process: then the engine opensearch is measured, too, and the
time of that process counts. `ULTRACRAWL_CORE=0` measures without the compiled core. Times are CPU seconds of all
threads, because wall times vary with other load; some wall times are added.
"""

from __future__ import annotations

import gc
import html
import json
import os
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from unittest.mock import patch

import psutil
from whoosh.index import create_in
from whoosh.writing import SegmentWriter

from ultracrawl.index import IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch import OpenSearchIndex
from ultracrawl.index.tantivy import TantivyIndex
from ultracrawl.index.whoosh import WhooshIndex
from ultracrawl.index.whoosh.fields import field_values, new_schema
from ultracrawl.index.whoosh.writer import FastWriter
from ultracrawl.index.writing.segments import batches
from ultracrawl.rules.attributes.schema import attribute_schema
from ultracrawl.system.compiled_core import SWITCH

Clock = Callable[[], float]
"""Returns seconds."""
ATTRIBUTES = attribute_schema()
_DROPPED = re.compile(r"(?is)<(script|style)\b.*?</\1>|<[^>]*>")
_TITLE = re.compile(r"(?is)<title[^>]*>(.*?)</title>")


def documents(directory: Path, limit: int) -> list[IndexDocument]:
    """Return `limit` documents of the files, repeated under other URLs if there are fewer files."""
    texts = []
    for path in sorted(directory.resolve().rglob("*.html"))[:limit]:
        source = path.read_text(errors="replace")
        title = _TITLE.search(source)
        text = " ".join(html.unescape(_DROPPED.sub(" ", source)).split())
        texts.append((html.unescape(title.group(1)).strip() if title else "", text))
    if not texts:
        sys.exit(f"{directory} holds no .html files")
    attributes = {"Mimetype": ["text/html"], "Language": ["en"], "Host": ["localhost"]}
    return [
        IndexDocument("bench", f"http://localhost/{n}", title, text, attributes)
        for n, (title, text) in enumerate(islice(cycle(texts), limit))
    ]


def writer_rate(found: list[IndexDocument], *, fast: bool) -> dict[str, float]:
    """Index all documents into one segment; return documents per CPU second and megabytes on disk."""
    with tempfile.TemporaryDirectory() as directory:
        index = create_in(directory, new_schema(ATTRIBUTES))
        # Whoosh's writer analyses and stems the texts itself; the time of ours includes the analysis, too.
        given = [] if fast else _for_stock_writer(found)
        gc.collect()
        gc.disable()
        started = time.process_time()
        writer = FastWriter(index) if fast else SegmentWriter(index)
        for row in (field_values(document, ATTRIBUTES) for document in found) if fast else given:
            writer.add_document(**row)
        if fast:
            writer.commit()
        else:
            writer.commit(merge=False)
        seconds = time.process_time() - started
        gc.enable()
        return {
            "documents_per_second": round(len(found) / seconds, 1),
            "megabytes": megabytes(Path(directory)),
        }


def _for_stock_writer(found: list[IndexDocument]) -> list[dict[str, object]]:
    """Return the fields of the documents without the compiled core, whose words only our writer knows."""
    with patch.dict(os.environ, {SWITCH: "0"}):
        return [field_values(document, ATTRIBUTES) | _texts(document) for document in found]


def _texts(document: IndexDocument) -> dict[str, str]:
    return {"title": document.title, "text": document.text}


def megabytes(directory: Path) -> float:
    """Return the size of all files of an index."""
    return round(sum(path.stat().st_size for path in directory.rglob("*")) / 1e6, 1)


def commits(index: IndexEngine, found: list[IndexDocument], clock: Clock) -> dict[str, float]:
    """Apply the documents in batches with maintenance after each, as the index process does."""
    applied: list[float] = []
    maintained: list[float] = []
    begun = time.perf_counter()
    for batch in batches(found):
        started = clock()
        index.apply(batch)
        applied.append(clock() - started)
        started = clock()
        index.maintain()
        maintained.append(clock() - started)
    return {
        "documents_per_second": round(len(found) / sum(applied), 1),
        "with_merging_per_second": round(len(found) / (sum(applied) + sum(maintained)), 1),
        "cpu_milliseconds_a_document": round(1000 * sum(applied) / len(found), 3),
        "wall_per_second": round(len(found) / (time.perf_counter() - begun), 1),
        "longest_commit_seconds": round(max(applied), 2),
        "longest_merge_seconds": round(max(maintained), 2),
    }


def latency(call: Callable[[], object], repeats: int = 7, clock: Clock = time.process_time) -> float:
    """Return the median milliseconds of a call, in CPU time unless another clock is given."""
    times = []
    for _ in range(repeats):
        started = clock()
        call()
        times.append((clock() - started) * 1000)
    return round(statistics.median(times), 2)


QUERIES = {
    "other_form": SearchQuery("indexing"),
    "rare_word": SearchQuery("vacuumdb"),
    "common_word": SearchQuery("the"),
    "two_words": SearchQuery("the table"),
    "phrase_of_common_words": SearchQuery('"in the table"'),
    "phrase": SearchQuery('"create an index"'),
    "phrase_of_two": SearchQuery('"isolation level"'),
    "long_phrase": SearchQuery('"the value of this parameter"'),
    "prefix": SearchQuery("con*"),
    "word_and_filter": SearchQuery("index", where=(("Language", "en"),)),
    "sorted": SearchQuery("table", sort="-Title"),
    "range": SearchQuery("index LastModifiedDate:>=2020"),
    "facet": SearchQuery("table", facets=("Mimetype",)),
    "misspelt": SearchQuery("vaccumdb"),
}


WORDS = ("the", "class", "value", "index", "string", "method", "thread", "error", "returns", "security")
PHRASES = (
    '"the value"', '"in the"', '"specified by"', '"if the"', '"to the"', '"the value of"', '"of the specified"',
    '"this method is"', '"string representation of"', '"if it is not"',
)  # fmt: skip


def medians(index: IndexEngine, questions: tuple[str, ...], clock: Clock) -> dict[str, float]:
    """Return median and maximum CPU milliseconds of queries, and the median wall time."""
    cpu = [latency(lambda text=text: index.search(SearchQuery(text)), 5, clock) for text in questions]
    wall = [
        latency(lambda text=text: index.search(SearchQuery(text)), 5, time.perf_counter) for text in questions
    ]
    return {
        "median": round(statistics.median(cpu), 1),
        "highest": round(max(cpu), 1),
        "median_wall": round(statistics.median(wall), 1),
    }


def mean(index: IndexEngine, clock: Clock, repeats: int = 10) -> float:
    """Return the mean CPU milliseconds of the queries; another process tells its time in hundredths of seconds."""
    started = clock()
    for _ in range(repeats):
        for query in QUERIES.values():
            index.search(query)
    return round(1000 * (clock() - started) / repeats / len(QUERIES), 1)


def measure(
    opened: Callable[[Path], IndexEngine], found: list[IndexDocument], clock: Clock = time.process_time
) -> dict[str, object]:
    """Return the figures of one engine."""
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        index = opened(Path(folder))
        report["commits"] = commits(index, found, clock)
        report["megabytes"] = round(index.facts().size / 1e6, 1)
        report["peak_megabytes"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        report["update_100_seconds"] = round(latency(lambda: index.apply(found[:100]), 3, clock) / 1000, 3)
        report["query_milliseconds"] = {
            name: latency(lambda query=query: index.search(query), clock=clock)
            for name, query in QUERIES.items()
        }
        report["mean_query_milliseconds"] = mean(index, clock)
        report["one_word_milliseconds"] = medians(index, WORDS, clock)
        report["phrase_milliseconds"] = medians(index, PHRASES, clock)
        started = clock()
        index.optimise()
        report["optimise_seconds"] = round(clock() - started, 2)
        report["optimised_megabytes"] = round(index.facts().size / 1e6, 1)
        report["query_milliseconds_optimised"] = {
            name: latency(lambda query=query: index.search(query), clock=clock)
            for name, query in QUERIES.items()
        }
        index.close()
    return report


def measure_opensearch(url: str, process: int, found: list[IndexDocument]) -> dict[str, object]:
    """Return the figures of the engine opensearch, with the time of the server, and without it for documents alone."""
    server = psutil.Process(process)

    def clock() -> float:
        spent = server.cpu_times()
        return time.process_time() + float(spent.user + spent.system)

    def opened(name: str) -> Callable[[Path], IndexEngine]:
        options: dict[str, Json] = {"url": url, "name": f"bench-{time.time_ns()}-{name}", "replicas": 0}
        return lambda folder: OpenSearchIndex(folder, ATTRIBUTES, options)

    report = measure(opened("all"), found, clock)
    with closing(opened("client")(Path())) as index:
        report["client_alone"] = commits(index, found, time.process_time)
    return report


def main(directory: Path, limit: int, url: str = "", process: int = 0) -> None:
    """Measure and print."""
    found = documents(directory, limit)
    report: dict[str, object] = {
        "documents": len(found),
        "mean_characters": round(statistics.mean(len(document.text) for document in found)),
        "whoosh": measure(lambda folder: WhooshIndex(folder, ATTRIBUTES), found),
        "tantivy": measure(lambda folder: TantivyIndex(folder, ATTRIBUTES), found),
    }
    if url:
        report["opensearch"] = measure_opensearch(url, process, found)
    sample = found[:2000]
    stock, fast = writer_rate(sample, fast=False), writer_rate(sample, fast=True)
    report["stock_writer"], report["fast_writer"] = stock, fast
    report["ratio"] = round(fast["documents_per_second"] / stock["documents_per_second"], 2)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    given = sys.argv[1:]
    server = (given[2], int(given[3])) if len(given) > 2 else ("", 0)
    main(Path(given[0]), int(given[1]) if len(given) > 1 else 1169, *server)
