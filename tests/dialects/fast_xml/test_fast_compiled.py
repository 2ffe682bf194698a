"""What options of FAST collections do to compiled rules, each with and without it.

For the few options of which neither `test_fast_crawled` nor `test_fast_played` tells: the version of HTTP, requests at
once in a proxy, what becomes of a cycle that did not come to its end (crawls with the YAML option that each of them
sets are in tests/run), and a destination that can only be the default one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.fast import fast_xml

from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.sources import CompiledSource, DataSource, compile_source, require
from ultracrawl.sources.compilation.access import compile_proxies
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.secrets import SecretReader

HOUR = 3600.0


@dataclass
class Made:
    """What became of a file: the definition, and its rules."""

    source: DataSource
    told: list[str]
    """Codes of the notices, in their order."""

    @property
    def rules(self) -> CompiledSource:
        return compile_source(self.source)


Ask = Callable[[Made], object]


class Case(NamedTuple):
    """A question, and its answers without the options and with them; `beside` are set both times."""

    asks: Ask
    without: object
    with_it: object
    options: Mapping[str, Any]
    beside: Mapping[str, Any] = {}


PROXIES = {"proxy": ("one.example:3128",)}
FED = {"feeding/main/collection": "archive"}
ADAPTIVE = {"refresh_mode": "adaptive"}

CASES: dict[int, Case] = {
    21: Case(lambda made: (made.source.http.version, "Accept-Encoding" in made.rules.headers), ("1.1", False),
             ("1.0", True), {"use_http_1_1": False}),
    26: Case(lambda made: len(taken(made, 3)), 3, 2, {"proxy_max_pending": 2}, PROXIES),
    61: Case(lambda made: made.source.refresh.rule.mode, "scratch", "soft", {"refresh_mode": "soft"}),
    122: Case(lambda made: made.told, [], ["N-RANGE"], {"feeding/main/destination": "elsewhere"}, FED),
}  # fmt: skip


def taken(made: Made, most: int) -> list[str]:
    """Return the proxies that requests at once would go through."""
    roster, _ = compile_proxies(made.source, SecretReader({}, None))
    return [found.url for _ in range(most) if (found := roster.acquire_proxy(0.0))]


def make(folder: Path, options: Mapping[str, Any]) -> Made:
    file = folder / "collection.xml"
    file.write_text(fast_xml({"start_uris": ("http://a.example/",), **options}))
    loaded = read_definitions(file)
    told = [finding.problem.partition(":")[0] for finding in loaded.findings]
    return Made(require(loaded).sources["handbook"], told)


@pytest.mark.parametrize("number", CASES, ids=lambda number: f"fast_{number}")
def test_the_rules_differ(tmp_path: Path, number: int) -> None:
    case = CASES[number]
    assert case.without != case.with_it
    assert case.asks(make(tmp_path, case.beside)) == case.without, "without it"
    assert case.asks(make(tmp_path, {**case.beside, **case.options})) == case.with_it


def test_fast_vector_34_a_cycle_of_four_is_due_after_six_hours(tmp_path: Path) -> None:
    made = make(tmp_path, {**ADAPTIVE, "refresh": 1440.0})
    place = CyclePlace(1, 0, 0.0, RefreshMode.ADAPTIVE)
    assert made.source.refresh.rule.next_due(place, HOUR) == 6 * HOUR
