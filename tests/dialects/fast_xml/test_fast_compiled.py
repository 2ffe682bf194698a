"""What options of FAST collections do to compiled rules, each with and without it.

For the few options of which no crawl of this process tells: crawls with the YAML option that each of them sets are in
tests/run. All others are crawled in `test_fast_crawled` and `test_fast_played`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.fast import fast_xml

from ultracrawl.rules.frontier.limits import SlackLimit
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.sources import CompiledSource, DataSource, compile_source, require
from ultracrawl.sources.compilation.access import compile_proxies
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.secrets import SecretReader

HOUR = 3600.0
V6 = "2001:db8:7::1"


@dataclass
class Made:
    """What became of a file: the definition, and its rules."""

    source: DataSource
    told: list[str]
    """Codes of the notices, in their order."""

    @property
    def rules(self) -> CompiledSource:
        return compile_source(self.source, None, _addresses)


def _addresses(host: str) -> tuple[str, ...]:
    return (V6,) if host == "v6.example" else ()


Ask = Callable[[Made], object]


class Case(NamedTuple):
    """A question, and its answers without the options and with them; `beside` are set both times."""

    asks: Ask
    without: object
    with_it: object
    options: Mapping[str, Any]
    beside: Mapping[str, Any] = {}


def inside(url: str) -> Ask:
    return lambda made: made.rules.boundary.rejects(url) is None


def slack(made: Made, *numbers: float) -> list[bool]:
    """Return whether only known URLs are asked for at each percentage of the disk."""
    limits = made.source.limits
    limit = SlackLimit(limits.disk_free, limits.disk_free_slack, falling=True)
    return [limit.update(number) for number in numbers]


PROXIES = {"proxy": ("one.example:3128",)}
FED = {"feeding/main/collection": "archive"}
ADAPTIVE = {"refresh_mode": "adaptive"}

CASES: dict[int, Case] = {
    21: Case(lambda made: (made.source.http.version, "Accept-Encoding" in made.rules.headers), ("1.1", False),
             ("1.0", True), {"use_http_1_1": False}),
    25: Case(lambda made: taken(made, 1), [], ["http://one.example:3128"], PROXIES),
    26: Case(lambda made: len(taken(made, 3)), 3, 2, {"proxy_max_pending": 2}, PROXIES),
    27: Case(lambda made: Path(made.source.client_certificates["main"].key).name, "other.key", "client.key",
             {"key_file": "client.key"}, {"cert_file": "client.pem", "key_file": "other.key"}),
    28: Case(lambda made: Path(made.source.client_certificates["main"].certificate).name, "other.pem", "client.pem",
             {"cert_file": "client.pem"}, {"cert_file": "other.pem", "key_file": "client.key"}),
    48: Case(lambda made: made.source.javascript.use, False, True, {"use_javascript": True}),
    49: Case(lambda made: made.source.javascript.keep_html, False, True, {"javascript_keep_html": True},
             {"use_javascript": True}),
    50: Case(lambda made: made.source.javascript.delay, 0.0, 0.5, {"javascript_delay": 0.5}),
    60: Case(lambda made: made.source.refresh.rule.length(RefreshMode.SCRATCH), 90_000.0, HOUR, {"refresh": 60.0}),
    61: Case(lambda made: made.source.refresh.rule.mode, "scratch", "soft", {"refresh_mode": "soft"}),
    62: Case(lambda made: made.source.refresh.when_idle, False, True, {"refresh_when_idle": True}),
    74: Case(inside("http://v6.example/"), False, True, {"include_domains/ip6mask": ("2001:db8:7::/48",)},
             {"include_domains/exact": ("a.example",)}),
    81: Case(inside("http://v6.example/"), True, False, {"exclude_domains/ip6mask": ("2001:db8:7::/48",)}),
    106: Case(lambda made: made.source.storage.clusters, 8, 3, {"storage/clusters": 3}),
    107: Case(lambda made: made.source.storage.compact_below, 85, 50, {"storage/defrag_threshold": 50}),
    114: Case(lambda made: made.source.duplicates.always_listed, None, ".*/start[.]html",
              {"pp/ecl_override": ".*/start[.]html"}),
    122: Case(lambda made: made.told, [], ["N-RANGE"], {"feeding/main/destination": "elsewhere"}, FED),
    124: Case(lambda made: [name for name, one in made.source.feeding.destinations.items() if one.primary], ["main"],
              ["copy"], {"feeding/main/primary": False, "feeding/copy/primary": True},
              {**FED, "feeding/main/primary": True, "feeding/copy/collection": "copies"}),
    171: Case(lambda made: slack(made, 9.0), [False], [True], {"limits/disk_free": 10}),
    172: Case(lambda made: slack(made, 9.0, 14.0), [True, False], [True, True],
              {"limits/disk_free_slack": 9}, {"limits/disk_free": 10}),
    181: Case(lambda made: made.source.refresh.rule.length(RefreshMode.ADAPTIVE), 22_500.0, 45_000.0,
              {"adaptive/refresh_count": 2}, ADAPTIVE),
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("client.pem", "client.key", "other.pem", "other.key"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("number", CASES, ids=lambda number: f"fast_{number}")
def test_the_rules_differ(folder: Path, number: int) -> None:
    case = CASES[number]
    assert case.without != case.with_it
    assert case.asks(make(folder, case.beside)) == case.without, "without it"
    assert case.asks(make(folder, {**case.beside, **case.options})) == case.with_it


def test_fast_vector_34_a_cycle_of_four_is_due_after_six_hours(folder: Path) -> None:
    made = make(folder, {**ADAPTIVE, "refresh": 1440.0})
    place = CyclePlace(1, 0, 0.0, RefreshMode.ADAPTIVE)
    assert made.source.refresh.rule.next_due(place, HOUR) == 6 * HOUR
