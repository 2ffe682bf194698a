"""What a command does not need is not loaded, and the collector of garbage has little to do."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest
from support.project import ROOT

from ultracrawl.settings import gc_tuning

UNUSED = {
    "ultracrawl.cli.crawl.crawl": ["scrapy", "twisted", "multiprocessing", "ultracrawl.service.schedules"],
    "ultracrawl.service.supervisor.together": ["scrapy", "twisted"],
    "ultracrawl.service.run": [
        "rich", "tldextract", "whoosh", "tantivy", "playwright", "spnego", "py3langid",
        "ultracrawl.content.converters.pdf", "ultracrawl.sources.dialects.fast_xml",
        "ultracrawl.crawl.portal_filters.filtering",
        "ultracrawl.rules.filters.function", "ultracrawl.index.memory",
        "twisted.internet.reactor", "ultracrawl.service.schedules",
    ],
    "ultracrawl.cli.search": [
        "rich", "scrapy", "twisted", "asyncio", "sqlite3", "cryptography", "charset_normalizer", "lxml",
        "pydantic", "yaml", "ultracrawl.sources.project",
        "ultracrawl.crawl", "ultracrawl.stores", "ultracrawl.content.reader", "ultracrawl.content.text",
        "ultracrawl.index.writing",
        "ultracrawl.sources.compilation.source", "ultracrawl.sources.writing", "ultracrawl.sources.schema",
        "ultracrawl.sources.dialects.fast_xml",
    ],
    "ultracrawl.index.whoosh": ["asyncio", "cached_property", "pydantic", "ultracrawl.sources"],
    "ultracrawl.pipelines, ultracrawl.middlewares": [
        "ultracrawl.crawl.standalone.definition", "ultracrawl.sources.loading.settings_loader",
        "ultracrawl.stores.sqlite.answers.spider_state",
    ],
    "ultracrawl.index.writing.worker": [
        "scrapy", "twisted", "pydantic", "ultracrawl.content", "ultracrawl.sources", "asyncio",
    ],
}  # fmt: skip


@pytest.mark.parametrize("module", UNUSED)
def test_a_start_loads_nothing_that_few_need(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    loaded = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert set(loaded) & set(UNUSED[module]) == set()


def test_no_group_of_options_is_built_before_a_definition_uses_it() -> None:
    program = (
        "from ultracrawl.sources.project import DefinitionFile, Section\n"
        "def below(one): return [one, *(inner for each in one.__subclasses__() for inner in below(each))]\n"
        "print(*(one.__name__ for one in below(Section) if one.__pydantic_complete__))"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split() == []


@pytest.fixture
def collector() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.usefixtures("collector")
def test_garbage_of_an_earlier_crawl_goes_before_the_next_is_spared() -> None:
    class Knot:
        gone = 0

        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            Knot.gone += 1

    gc_tuning.spare_what_is_there()
    Knot()
    gc_tuning.spare_what_is_there()
    assert Knot.gone == 1
    assert gc.get_freeze_count() > 0


@pytest.mark.usefixtures("collector")
def test_the_collector_is_seldom_called() -> None:
    before = gc.get_threshold()[0]
    gc_tuning.collect_seldom()
    assert gc.get_threshold()[0] > 10 * before
