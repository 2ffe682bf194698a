"""What a command does not need is not loaded, and the collector of garbage has little to do."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project import ROOT

from ultracrawl.system import gc_tuning

UNUSED = {
    "ultracrawl.cli.crawl.crawl": [
        "scrapy", "twisted", "multiprocessing", "ultracrawl.service.schedules", "ultracrawl.service.orders",
        "sqlalchemy",
    ],
    "ultracrawl.service.supervisor.command": ["scrapy", "twisted", "sqlalchemy"],
    "ultracrawl.stores.sqlite.engine": ["sqlalchemy", "psycopg", "ultracrawl.stores.postgresql"],
    "ultracrawl.service.run": [
        "rich", "tldextract", "whoosh", "tantivy", "playwright", "spnego", "py3langid", "sqlalchemy",
        "itemadapter", "pydantic.v1", "ultracrawl.agents.agent", "ultracrawl.service.orders",
        "ultracrawl.content.converters.pdf", "ultracrawl.dialects.fast_xml",
        "ultracrawl.run.filters.filtering",
        "ultracrawl.rules.filters.function", "ultracrawl.index.memory",
        "twisted.internet.reactor", "ultracrawl.service.schedules",
    ],
    "ultracrawl.cli.search": [
        "rich", "scrapy", "twisted", "asyncio", "sqlite3", "sqlalchemy", "cryptography", "charset_normalizer", "lxml",
        "pydantic", "yaml", "importlib.metadata", "ada_url", "w3lib", "ultracrawl.sources.project",
        "ultracrawl.model.record", "ultracrawl.model.run",
        "ultracrawl.rules.urls.canonical", "ultracrawl.content",
        "ultracrawl.run", "ultracrawl.stores.port", "ultracrawl.stores.sqlite",
        "ultracrawl.content.reader", "ultracrawl.content.text",
        "ultracrawl.index.writing",
        "ultracrawl.sources.compilation.source", "ultracrawl.sources.writing", "ultracrawl.sources.schema",
        "ultracrawl.dialects.fast_xml",
    ],
    "ultracrawl.index.whoosh": ["asyncio", "cached_property", "pydantic", "ultracrawl.sources"],
    "ultracrawl.pipelines, ultracrawl.middlewares": [
        "itemadapter", "pydantic.v1",
        "ultracrawl.run.standalone.definition", "ultracrawl.sources.loading.settings_loader",
        "ultracrawl.stores.sqlite.answers.spider_state",
    ],
    "ultracrawl.index.writing.worker": [
        "scrapy", "twisted", "pydantic", "ultracrawl.content", "ultracrawl.sources", "asyncio", "importlib.metadata",
        "ultracrawl.model.record", "ultracrawl.model.run",
    ],
}  # fmt: skip


@pytest.mark.parametrize("module", UNUSED)
def test_a_start_loads_nothing_that_few_need(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    loaded = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert set(loaded) & set(UNUSED[module]) == set()


def test_the_index_process_of_a_first_crawl_is_started_before_scrapy_is_loaded(tmp_path: Path) -> None:
    program = (
        "import sys; from ultracrawl.cli import main; from ultracrawl.index.writing import project_outputs\n"
        "def prestart_indexer(project, source): raise SystemExit(f'{source.name} {\"scrapy\" in sys.modules}')\n"
        "project_outputs.prestart_indexer = prestart_indexer\n"
        "sys.argv = ['ultracrawl', 'crawl', '--url', 'http://a.example/']\n"
        "try: sys.modules['ultracrawl.cli.main'].cli(standalone_mode=False)\n"
        "except SystemExit as ended: print(ended)"
    )
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ended.stdout == "a.example False\n"


def test_nothing_is_looked_at_as_garbage_while_a_crawl_is_loaded() -> None:
    program = (
        "import gc; from ultracrawl.system.gc_tuning import raise_gc_thresholds; raise_gc_thresholds()\n"
        "def looks(): return sum(one['collections'] for one in gc.get_stats())\n"
        "before = looks()\n"
        "import ultracrawl.cli.crawl.crawl, ultracrawl.service.run, ultracrawl.scheduler\n"
        "print(looks() - before)"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == "0\n"


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

    gc_tuning.freeze_loaded_objects()
    Knot()
    gc_tuning.freeze_loaded_objects()
    assert Knot.gone == 1
    assert gc.get_freeze_count() > 0


@pytest.mark.usefixtures("collector")
def test_the_collector_is_seldom_called() -> None:
    gc.set_threshold(before := 700)  # commands that ran in this process before may have raised it
    gc_tuning.raise_gc_thresholds()
    loading = gc.get_threshold()[0]
    gc_tuning.freeze_loaded_objects()
    assert loading > gc.get_threshold()[0] > 10 * before


@pytest.mark.usefixtures("collector")
def test_the_collector_of_a_service_is_called_often_and_looks_at_what_is_new() -> None:
    gc_tuning.raise_gc_thresholds()
    loading = gc.get_threshold()
    gc_tuning.collect_as_a_service()
    assert 100 * gc.get_threshold()[0] < loading[0]
    assert gc.get_freeze_count() > 0
