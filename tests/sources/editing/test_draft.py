"""A draft: what it changes, what is refused, and that nothing it names is looked at before it is allowed."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError
from ultracrawl.sources.editing.draft import OUTSIDE, Draft, ReadOnlyOptionsError, draft_of
from ultracrawl.sources.editing.excerpt import find_excerpt, find_schedules
from ultracrawl.sources.loading.yaml_loader import load_definitions
from ultracrawl.sources.reading.locations import Definitions, DefinitionText, read_location

TEXT = """\
defaults: &all
  depth: 5
sources:
  handbook:
    start_urls: https://handbook.example/
    boundary: {domains: {include: [handbook.example, &shared other.example]}}
    networks_note: 3
  news:
    start_urls: https://news.example/
    exclude: [/old/]
    boundary: {domains: {include: [*shared]}}
"""
LINE = "    networks_note: 3"


@pytest.fixture
def definitions(tmp_path: Path) -> Definitions:
    (tmp_path / "ultracrawl.yaml").write_text(TEXT)
    (tmp_path / "secret.txt").write_text("exact top-secret.example\n")
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "wiki.yaml").write_text("start_urls: https://wiki.example/\n")
    (tmp_path / "sources" / "broken.yaml").write_bytes(b"\xff")
    return read_location(tmp_path / "ultracrawl.yaml")


def draft(definitions: Definitions, old: str, new: str) -> Draft:
    main = definitions.main
    assert main is not None
    found = find_excerpt(main, "handbook")
    assert found is not None
    assert old in found.shown
    return draft_of(found, found.shown.replace(old, new))


def test_an_allowed_change_is_loaded_without_being_saved(definitions: Definitions, tmp_path: Path) -> None:
    found = draft(definitions, LINE, "    politeness: {delay: 9}\n    limits:\n      pages: 3")
    assert [str(one) for one in found.changes] == ["networks_note", "politeness.delay", "limits.pages"]
    assert found.refused == ()
    loaded = found.load(definitions)
    project = loaded.partial_project
    assert project is not None
    assert project.sources["handbook"].politeness.delay == 9
    assert {*project.known_sources} == {"handbook", "news", "wiki", "broken"}
    assert (tmp_path / "ultracrawl.yaml").read_text() == TEXT


READ_ONLY: list[tuple[str, list[str] | None]] = [
    ("    class: evil.Spider", ["class"]),
    ("    type: table", ["type"]),
    ("    <<: {class: evil.Spider}", ["class"]),
    ("    settings: {TELNETCONSOLE_ENABLED: true}", ["settings"]),
    ("    completion: {command: /bin/sh}", ["completion.command"]),
    ("    javascript: {browser: /bin/sh}", ["javascript.browser"]),
    ("    start_url_files: [/etc/passwd]", ["start_url_files"]),
    ("    only: {file: /etc/passwd}", ["only"]),
    ("    public: true", ["public"]),
    ("    robots: {obey: false}", ["robots.obey"]),
    ("  evil: {start_urls: https://evil.example/, class: evil.Spider}", [""]),
    ("  news: {start_urls: https://evil.example/}", [""]),
    ("index: /tmp/elsewhere", None),
    ("defaults: {class: evil.Spider}", None),
    ("    depth: 1\n    depth: 2", []),
    ("# nothing\n---\na: b", None),
    ("    x: *unknown", None),
    ("\tx: y", None),
]  # fmt: skip


def test_what_is_read_only_is_refused(definitions: Definitions, subtests: pytest.Subtests) -> None:
    for new, refused in READ_ONLY:
        with subtests.test(new):
            found = draft(definitions, LINE, new)
            if refused is None:
                assert found.findings
                with pytest.raises(DefinitionError):
                    found.load(definitions)
                continue
            assert [str(one) for one in found.refused] == refused
            if refused:
                with pytest.raises(ReadOnlyOptionsError):
                    found.load(definitions)
            else:  # what is written twice is a mistake, and the first counts
                assert found.load(definitions).fatal


OPTIONS_OF_THE_FILE = [
    "index: /tmp/x",
    "defaults: {class: evil.Spider}",
    "sources: {}",
    "processes: {jobs: 9}",
]


def test_the_last_source_does_not_reach_the_options_of_the_file(
    definitions: Definitions, subtests: pytest.Subtests
) -> None:
    for more in OPTIONS_OF_THE_FILE:
        with subtests.test(more):
            main = definitions.main
            assert main is not None
            found = find_excerpt(main, "news")
            assert found is not None
            made = draft_of(found, f"{found.shown}\n{more}")
            assert made.refused or len(made.load(definitions).fatal) > len(
                load_definitions(definitions).fatal
            )


def test_a_change_that_reaches_another_source_by_an_alias_is_refused(definitions: Definitions) -> None:
    found = draft(definitions, "other.example", "evil.example")
    assert [str(one) for one in found.refused] == [""]
    assert draft(definitions, "include: [handbook.example", "include: [www.handbook.example").refused == ()


OPTIONS = [
    "start_urls", "only", "exclude", "depth", "boundary.domains.include", "boundary.domains.exclude",
    "boundary.uris.include", "boundary.uris.exclude", "boundary.uris.follow_only",
    "boundary.elsewhere.x.hosts", "boundary.elsewhere.x.uris", "boundary.exclude_extensions", "boundary.schemes",
    "politeness.delay", "limits.max_size", "refresh.interval", "attributes.x",
]  # fmt: skip
READING = [
    "{file: secret.txt}",
    "[{file: secret.txt}]",
    "file:secret.txt",
    "'${HOME}'",
    "[a, {x: {file: secret.txt}}]",
]


def test_no_option_that_may_be_changed_reads_a_file_or_the_environment(
    definitions: Definitions, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("HOME", "/top-secret")
    source = definitions.main
    assert source is not None
    text = "sources:\n  handbook:\n    takes_links: true\n"
    definitions = Definitions(definitions.base, DefinitionText(source.file, source.stem, text))
    found = find_excerpt(DefinitionText(source.file, source.stem, text), "handbook")
    assert found is not None
    for option, value in product(OPTIONS, READING):
        with subtests.test(f"{option}: {value}"):
            lines = "\n".join(f"{'  ' * level}{step}:" for level, step in enumerate(option.split("."), 2))
            made = draft_of(found, f"{found.shown}\n{lines} {value}")
            assert made.findings == ()
            if made.refused:
                continue
            loaded = made.load(definitions)
            shown = f"{loaded.findings} {loaded.project and loaded.project.model_dump()}"
            assert "top-secret" not in shown


ALIASES = [
    "only: [*own]",
    "attributes: {x: *other}",
    "attributes: *all",
    "attributes: {<<: *all}",
    "exclude: *head",
    "x: *own",
]


def test_no_alias_shows_a_hidden_value(subtests: pytest.Subtests) -> None:
    text = """\
indexes: {far: {engine: opensearch, url: 'https://x.example/', password: &head s3cret}}
sources:
  before: {site_headers: {a: {url: 'https://x.example/', headers: {X: &other s3cret}}}}
  a:
    authentication: {a: &all {url: 'https://x.example/', user: u, password: &own s3cret}}
    depth: 1
  after: {depth: 1, authentication: {a: {url: 'https://x.example/', user: u, password: s3cret}}}
"""
    for line in ALIASES:
        with subtests.test(line):
            found = find_excerpt(DefinitionText("a.yaml", "a", text), "a")
            assert found is not None
            with pytest.raises(UserError) as raised:
                draft_of(found, f"{found.shown}\n    {line}")
            assert "s3cret" not in str(raised.value)
            assert draft_of(found, found.shown.replace("depth: 1", "depth: 2")).refused == ()


def test_a_source_is_neither_removed_nor_renamed(tmp_path: Path) -> None:
    text = "sources:\n  a: {depth: 1}\n  b: {depth: 2}\n"
    found = find_excerpt(DefinitionText("a.yaml", "a", text), "a")
    assert found is not None
    for lines in ("", "  # a", "  c: {depth: 1}", "  b: {depth: 1}", "  a:"):
        assert OUTSIDE in draft_of(found, lines).refused, lines


SCHEDULED = """\
sources: {a: {start_urls: https://a.example/}}
schedules:   # of the night
  nightly: {sources: [a], cron: 0 3 * * *, profile: north}
profiles: {north: {scrapyd: 'http://north.example:6800', project: p, password: s3cret}}
"""


SCHEDULE_CHANGES: list[tuple[str, str, list[str]]] = [
    ("0 3", "0 4", []),
    ("sources: [a]", "sources: []", []),
    ("profile: north", "profile: ''", ["schedules.nightly.profile"]),
    (", profile: north", "", ["schedules.nightly.profile"]),
    ("north}", "north, node: b}", ["schedules.nightly.node"]),
    ("north}", "north}\n  daily: {every: day, sources: [a]}", []),
    ("north}", "north}\n  daily: {every: day, profile: north}", ["schedules.daily.profile"]),
    ("north}", "north}\ndefaults: {class: evil.Spider}", [""]),
    ("schedules:", "shedules:", [""]),
]


def test_schedules_are_changed_except_where_they_run(subtests: pytest.Subtests) -> None:
    for old, new, refused in SCHEDULE_CHANGES:
        with subtests.test(new, instead=old):
            found = find_schedules(DefinitionText("ultracrawl.yaml", "ultracrawl", SCHEDULED))
            assert found is not None
            assert found.shown == "\n".join(SCHEDULED.split("\n")[1:3])
            made = draft_of(found, found.shown.replace(old, new))
            assert [str(one) for one in made.refused][: len(refused) or 1] == refused
            assert made.text == SCHEDULED.replace(found.shown, found.shown.replace(old, new))


def test_a_file_without_schedules_has_no_lines_of_them() -> None:
    for text in ("sources: {}\n", "start_urls: https://a.example/\n", "[]\n"):
        assert find_schedules(DefinitionText("a.yaml", "a", text)) is None


def test_a_file_with_one_source_does_not_become_a_file_with_more(tmp_path: Path) -> None:
    definition = DefinitionText("wiki.yaml", "wiki", "start_urls: https://wiki.example/\ndepth: 1\n")
    found = find_excerpt(definition, "wiki")
    assert found is not None
    more = "sources:\n  evil: {start_urls: https://evil.example/, class: evil.Spider}"
    assert draft_of(found, more).refused
    assert draft_of(found, f"{found.shown}\n{more}").refused
    assert draft_of(found, "depth: 1").refused
    assert not draft_of(found, "start_urls: https://www.wiki.example/").refused
