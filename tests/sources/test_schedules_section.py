"""`schedules:` in definitions: what may be written, and every mistake at once with its line."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.named import named

from ultracrawl.model.finding import FindingCode
from ultracrawl.service.schedules.plans import plans_of
from ultracrawl.sources import DataSource, Project, load_project
from ultracrawl.sources.checking.schedule_checks import check_schedules
from ultracrawl.sources.project import DefinitionHead
from ultracrawl.sources.sections.schedules import ScheduleSection

SOURCES = """
sources:
  a: {start_urls: [http://h/]}
  b: {start_urls: [http://h/]}
schedules:
"""


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    return tmp_path / "ultracrawl.yaml"


def project(file: Path, schedules: str) -> Project:
    file.write_text(SOURCES + schedules)
    loaded = load_project(file)
    assert loaded.findings == ()
    assert loaded.project is not None
    return loaded.project


def mistakes(file: Path, text: str) -> list[tuple[int, str, list[str]]]:
    file.write_text(text)
    return [(one.line, one.key, named(one.problem)) for one in load_project(file).findings]


def test_a_schedule_holds_several_sources__ultra_search_110(definition: Path) -> None:
    found = project(definition, '  nightly: {sources: [a, b], cron: "0 3 * * *", timezone: Europe/Berlin}\n')
    assert found.schedules["nightly"].sources == ("a", "b")
    assert (found.schedule_of("b"), found.schedule_of("c")) == ("nightly", "")


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ('cron: "0 3 * * *", timezone: Europe/Berlin', "2026-06-03T01:00"),
        ("every: 90", "2026-06-02T13:30"),
        ("every: 6 h", "2026-06-02T18:00"),
        ("every: day", "2026-06-03T00:00"),
        ('every: 1 d, at: ["03:30", "15:00"]', "2026-06-02T15:00"),
        ("every: week", "2026-06-08T00:00"),
        ('every: 1 week, on: [thursday, mon], at: "04:00"', "2026-06-04T04:00"),
        ('every: 2 months, on: [15, last], at: "04:00"', "2026-07-15T04:00"),
        ("every: month", "2026-07-01T00:00"),
        ('cron: ["0 22 * * fri", "0 3 * * sun"]', "2026-06-05T22:00"),
    ],
)
def test_frequencies__ultra_search_112(definition: Path, written: str, first: str) -> None:
    schedule = project(definition, f"  one: {{sources: a, {written}}}\n").schedules["one"]
    moment = schedule.times.next_after(datetime(2026, 6, 2, 12, 1, tzinfo=UTC).timestamp())
    assert datetime.fromtimestamp(moment, UTC).isoformat(timespec="minutes")[:16] == first


def test_a_schedule_stops_what_it_crawls(definition: Path) -> None:
    written = (
        'sources: a, cron: "0 22 * * fri", stop: ["0 6 * * sat", "0 7 * * sun"], timezone: Europe/Berlin'
    )
    stops = project(definition, f"  one: {{{written}}}\n").schedules["one"].stop_times
    assert stops is not None
    moment, found = datetime(2026, 6, 2, tzinfo=UTC).timestamp(), []
    for _ in range(2):
        moment = stops.next_after(moment)
        found.append(datetime.fromtimestamp(moment, UTC).isoformat(timespec="minutes")[:16])
    assert found == ["2026-06-06T04:00", "2026-06-07T05:00"]


def test_a_source_belongs_to_one_schedule__ultra_search_111(definition: Path) -> None:
    text = f"{SOURCES}  one: {{sources: [a, b], every: day}}\n  two:\n    every: week\n    sources: [b]\n"
    assert mistakes(definition, text) == [(9, "schedules.two.sources", ["b", "one"])]


PROFILES = """profiles:
  north: {scrapyd: "http://127.0.0.1:6800/", project: handbooks, user: me, password: "${P}"}
  far: {scrapyd: "http://far.example.com:6800", project: p, user: me, password: "sesame"}
"""


def test_a_schedule_may_run_on_another_machine__ultra_search_128(definition: Path) -> None:
    text = PROFILES.partition("  far")[0] + SOURCES + "  one: {sources: a, every: day, profile: north}\n"
    definition.write_text(text)
    loaded = load_project(definition)
    assert loaded.findings == ()
    assert loaded.project is not None
    assert loaded.project.profiles["north"].scrapyd == "http://127.0.0.1:6800"
    assert (loaded.project.profile_of("a"), loaded.project.profile_of("b")) == ("north", "")


STATE = 'state: {engine: postgresql, url: "postgresql://me@127.0.0.1/crawl"}'


def test_a_schedule_or_a_source_may_be_bound_to_a_node__ultra_search_128(definition: Path) -> None:
    text = f"""{STATE}
sources:
  a: {{start_urls: [http://h/]}}
  b: {{start_urls: [http://h/], node: crawler-b}}
  c: {{start_urls: [http://h/]}}
schedules:
  one: {{sources: a, every: day, node: crawler-a}}
"""
    definition.write_text(text)
    loaded = load_project(definition)
    assert loaded.findings == ()
    assert loaded.project is not None
    assert [loaded.project.node_of(name) for name in "abc"] == ["crawler-a", "crawler-b", ""]
    assert [plan.node for plan in plans_of(loaded.project, by_default=True)] == ["crawler-a", "crawler-b", ""]
    assert [one[:2] for one in mistakes(definition, text.partition("\n")[2])] == [
        (3, "sources.b.node"),
        (6, "schedules.one.node"),
    ]


def test_mistakes_in_names_of_nodes(definition: Path) -> None:
    text = f"""{STATE}
profiles: {{north: {{scrapyd: "http://127.0.0.1:6800", project: p}}}}
sources:
  a: {{start_urls: [http://h/], node: b}}
  b: {{start_urls: [http://h/]}}
schedules:
  one: {{sources: a, every: day}}
  two: {{sources: b, every: day, node: b, profile: north}}
"""
    assert [one[:2] for one in mistakes(definition, text)] == [
        (4, "sources.a.node"),
        (8, "schedules.two.node"),
    ]
    assert [one[:2] for one in mistakes(definition, text.replace("node: b,", "node: a/b,"))] == [
        (4, "sources.a.node"),
        (8, "schedules.two.node"),
    ]


def test_mistakes_in_profiles(definition: Path) -> None:
    assert mistakes(definition, f"{SOURCES}  one: {{sources: a, every: day, profile: north}}\n") == [
        (6, "schedules.one.profile", ["north"])
    ]
    unknown = f"{PROFILES}{SOURCES}  one:\n    sources: a\n    every: day\n    profile: nort\n"
    definition.write_text(unknown)
    findings = load_project(definition).findings
    assert [(one.line, one.key, one.fatal) for one in findings] == [
        (3, "profiles.far.password", False),
        (3, "profiles.far.scrapyd", False),
        (12, "schedules.one.profile", True),
    ]
    assert "`north`" in findings[-1].instead
    wrong = """profiles:
  a: {scrapyd: "ftp://h/", project: p}
  b: {scrapyd: "http://me:sesame@h:6800", project: p}
  c: {scrapyd: "http://h:6800"}
  d: {scrapyd: "http://h:6800", project: p, user: me}
"""
    told = mistakes(definition, wrong + SOURCES.replace("schedules:\n", ""))
    assert [(line, key) for line, key, _ in told] == [
        (2, "profiles.a.scrapyd"),
        (3, "profiles.b.scrapyd"),
        (4, "profiles.c.project"),
        (5, "profiles.d"),
    ]
    assert "sesame" not in str(told)


def test_all_mistakes_are_reported_at_once(definition: Path) -> None:
    text = """sources:
  a: {start_urls: [http://h/], refresh: {interval: 24 h}}
  b: {start_urls: [http://h/]}
  c: {start_urls: [http://h/], refresh: {when_idle: true}}
index: {optimise: {every: 6 h, at: "03:00"}}
schedules:
  one: {sources: [a, z], cron: "0 3 * * *", every: day, on: mon}
  two: {sources: [b, b]}
  three: {every: week, on: [mon, 15]}
  four: {sources: c, every: 2 h, at: "03:00", on: last}
"""
    assert mistakes(definition, text) == [
        (2, "sources.a.refresh.interval", ["one", "refresh.interval"]),
        (4, "sources.c.refresh.when_idle", ["four", "refresh.when_idle"]),
        (5, "index.optimise.at", []),
        (7, "schedules.one.every", ["every", "cron"]),
        (7, "schedules.one.on", ["on", "cron"]),
        (7, "schedules.one.sources", ["z"]),
        (8, "schedules.two", []),
        (8, "schedules.two.sources", ["b"]),
        (9, "schedules.three.on", ["15"]),
        (9, "schedules.three.sources", []),
        (10, "schedules.four.at", []),
        (10, "schedules.four.on", []),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["known", "adaptive"])
def test_a_schedule_decides_and_the_interval_has_no_effect(definition: Path, mode: str) -> None:
    """It is what `init` writes; a project with it and a schedule is loaded, and crawled as without it."""
    nightly = f'{SOURCES}  nightly: {{sources: a, cron: "0 3 * * *"}}\n'
    plain = nightly.replace("a: {", f"a: {{refresh: {{mode: {mode}}}, ")
    definition.write_text(plain)
    expected = load_project(definition)
    definition.write_text(plain.replace("{mode:", "{interval: 24 h, mode:"))
    loaded = load_project(definition)
    assert loaded.project is not None
    assert [(one.key, one.fatal) for one in loaded.findings] == [("sources.a.refresh.interval", False)]
    assert expected.project is not None
    assert loaded.project.sources == expected.project.sources
    assert [plan.name for plan in plans_of(loaded.project)] == ["nightly"]


def test_what_a_disabled_schedule_names_is_never_due_with_an_interval_either(definition: Path) -> None:
    text = SOURCES.replace("a: {", "a: {refresh: {interval: 24 h}, ")
    definition.write_text(text + "  off: {sources: a, every: day, enabled: false}\n")
    assert FindingCode.NEVER_DUE in {one.code for one in load_project(definition).findings}


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ('cron: "0 25 * * *"', "as `0 3 * * *`"),
        ("every: 6 fortnights", "as `6 h`"),
        ("every: 0", "as `6 h`"),
        ("every: true", "as `6 h`"),
        ("every: day, timezone: Europe/Berln", "write `Europe/Berlin`"),
        ("every: day, timezone: ../../etc/passwd", "Europe/Berlin"),
        ('every: day, at: "25:00"', "write it as `03:30`"),
        ("every: week, on: funday", "`mon`, `15` or `last`"),
        ("every: month, on: 32", "`mon`, `15` or `last`"),
        ('every: day, window: "22-6"', "`22:00-06:00`"),
        ("every: day, missed: maybe", "`run`"),
        ("every: day, mode: exam", "`examine`"),
        ("every: day, cran: x", "`cron`"),
    ],
)
def test_each_says_what_to_write(definition: Path, written: str, instead: str) -> None:
    definition.write_text(f"{SOURCES}  one: {{sources: a, {written}}}\n")
    (finding,) = load_project(definition).findings
    assert (finding.line, finding.fatal) == (6, True)
    assert instead in finding.instead


def test_a_schedule_that_examines_takes_web_sources_only__ultra_search_118(definition: Path) -> None:
    text = f"{SOURCES}  one: {{sources: [a, b], every: day, mode: examine}}\n"
    definition.write_text(text)
    assert load_project(definition).findings == ()


def test_a_schedule_that_examines_refuses_a_source_that_is_no_web_source__ultra_search_118() -> None:
    web = DataSource(name="a", start_urls=("http://h/",))
    sources = {"a": web, "b": web.model_copy(update={"name": "b", "type": "file"})}
    schedule = ScheduleSection(sources=("a", "b"), every=60, mode="examine")
    (finding,) = check_schedules(sources, DefinitionHead(schedules={"one": schedule}), None)
    assert finding.fatal
    assert finding.path == ("schedules", "one", "sources", 1)
    assert named(finding.problem) == ["b"]


def test_unknown_sources_are_reported_with_all_other_mistakes(definition: Path) -> None:
    text = "  one: {sources: [a, c], every: often}\n  two: {sources: d, every: day}\n  three: {sources: {}}\nstate: 5\n"
    assert [one[:2] for one in mistakes(definition, SOURCES.lstrip() + text)] == [
        (5, "schedules.one.every"),
        (5, "schedules.one.sources"),
        (6, "schedules.two.sources"),
        (7, "schedules.three.sources"),
        (8, "state"),
    ]
