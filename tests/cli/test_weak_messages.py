"""Mistakes that people make at the shell and in definitions: how each ends, and the place that it names.

The sentences themselves are nowhere compared; what has to be written instead is, where it is a command or an option.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl

import pytest
from support.certificates import Authority
from support.project import LOOPBACK, Workspace
from support.resource import Reply
from support.sentences import sentence
from support.server import Server, answering
from support.site import Site
from support.verbs import mistyped

from ultracrawl.cli.main import run_words
from ultracrawl.cli.mistakes import CommandFailedError, Mistake
from ultracrawl.index import QueryFlaw, SearchQuery, SearchResult
from ultracrawl.index.query.parser import search_with_relaxation
from ultracrawl.settings.projects import NoDefinitionError, find_project
from ultracrawl.sources import adhoc_project
from ultracrawl.sources.catalog import ForeignSchemeError
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.system.files import ELSEWHERE

START = "https://docs.example.com/"


@pytest.mark.parametrize(
    ("typed", "mistake", "instead"),
    [
        ("serach foo", Mistake.NO_SUCH_VERB, "ultracrawl search foo"),
        ("delete foo", Mistake.NO_SUCH_VERB, "ultracrawl remove foo"),
        ("list", Mistake.NO_SUCH_VERB, "ultracrawl status"),
        ("run foo", Mistake.NO_SUCH_VERB, "ultracrawl crawl foo"),
        ("start", Mistake.NO_SUCH_VERB, "ultracrawl crawl"),
        ("config", Mistake.NO_SUCH_VERB, "ultracrawl lint"),
        ("xyzzy", Mistake.NO_SUCH_VERB, "ultracrawl --help"),
        ("index optimize", Mistake.NO_SUCH_VERB, "ultracrawl index optimise"),
        (START, Mistake.NO_SUCH_VERB, f"ultracrawl crawl {START}"),
        ("crawl docs.example.com", Mistake.NO_SCHEME, "ultracrawl crawl https://docs.example.com"),
        ("crawl localhost:8000", Mistake.NO_SCHEME, "ultracrawl crawl http://localhost:8000"),
        ("crawl 127.0.0.1:8000/a/", Mistake.NO_SCHEME, "ultracrawl crawl http://127.0.0.1:8000/a/"),
        ("crawl intranet:8080", Mistake.NO_SCHEME, "ultracrawl crawl http://intranet:8080"),
        (
            "crawl docs.example.com/guide",
            Mistake.NO_SCHEME,
            "ultracrawl crawl https://docs.example.com/guide",
        ),
        ("crawl status handbok", Mistake.VERB_AS_SOURCE, "ultracrawl status handbok"),
        ("-c x.yaml crawl", Mistake.CONFIG_BEFORE_VERB, "ultracrawl crawl -c FILE"),
        ("crawl --dealy 1", Mistake.NO_SUCH_OPTION, "--delay"),
        ("explain handbook", Mistake.SOURCE_FOR_URL, "ultracrawl explain /x --source handbook"),
        ("explain http://[", Mistake.NO_URL_OR_PATH, None),
        ("explain handbok", Mistake.NO_URL_OR_PATH, None),
        (
            "explain 127.0.0.1:80/a.html",
            Mistake.URL_WITHOUT_SCHEME,
            "ultracrawl explain http://127.0.0.1:80/a.html",
        ),
        (
            "submit docs.example.com/a",
            Mistake.URL_WITHOUT_SCHEME,
            "ultracrawl submit https://docs.example.com/a",
        ),
        ("probe localhost", Mistake.URL_WITHOUT_SCHEME, "ultracrawl probe http://localhost"),
        ("probe ftp://ftp.example.com/", Mistake.NO_WEB_SITE, None),
        ("schedule launch nightly", Mistake.NO_SCHEDULE, None),
        ("user add ann", Mistake.MISSING_CHOICE, "searcher reader editor administrator"),
        ("crawl /srv/docs", Mistake.FILES_AS_SITE, None),
        ("crawl ~/docs", Mistake.FILES_AS_SITE, None),
        ("init ./docs", Mistake.FILES_AS_SITE, None),
        ("search x --since 2026", Mistake.NO_SUCH_OPTION, "`ultracrawl search --help`"),
        ("search x --langauge de", Mistake.NO_SUCH_OPTION, "--language"),
        ("search x --language xx", Mistake.BAD_LANGUAGE, sentence("search.example_de_en")),
        ("search x --language German", Mistake.BAD_LANGUAGE, "de"),
        ("serve --key ultracrawl.yaml", Mistake.KEY_WITHOUT_CERTIFICATE, None),
        ("serve --certificate ultracrawl.yaml", Mistake.CERTIFICATE_WITHOUT_KEY, None),
        ("restore ultracrawl.yaml", Mistake.NO_BACKUP, None),
        ("convert collection.xml", Mistake.NO_FILE, None),
        ("check-answers golden.yaml", Mistake.NO_ANSWERS_FILE, None),
        (
            "check-answers golden.yaml --add heron docs.example.com/",
            Mistake.URL_WITHOUT_SCHEME,
            "https://docs.example.com/",
        ),
        ("crawl --path /docs/", Mistake.SCOPE_WITHOUT_URL, None),
        ("reset handbook", Mistake.NO_SUCH_VERB, "ultracrawl remove handbook"),
        (f"remove {START}x", Mistake.URL_OF_NO_SOURCE, None),
        ("remove handbok --yes", Mistake.NO_SUCH_SOURCE, None),
        ("status nosuch.example", Mistake.NO_SUCH_SITE, None),
        ("export x.warc.gz", Mistake.NO_WARC, "ultracrawl export --warc x.warc.gz"),
        ("export handbook", Mistake.NO_WARC, "ultracrawl export handbook --warc documents.warc.gz"),
        ("approve-deletions handbook", Mistake.NEVER_CRAWLED, None),
    ],
)
def test_a_mistake_at_the_shell_names_what_to_type(
    workspace: Workspace, typed: str, mistake: Mistake, instead: str | None
) -> None:
    workspace.write({"sources": {"handbook": {"start_urls": [START]}}})
    found = mistyped(workspace.directory, *typed.split())
    written = found.values.get("instead")
    assert (found.mistake, " ".join(written) if isinstance(written, list) else written) == (mistake, instead)
    assert list(found.values.get("known", ["handbook"])) == ["handbook"]
    assert not (workspace.directory / "var" / "state").exists()


@pytest.mark.parametrize("words", ["crawl", "status"])
def test_a_file_in_place_of_the_folder_of_data_is_named_in_one_line(workspace: Workspace, words: str) -> None:
    workspace.write({"sources": {"handbook": {"start_urls": [START]}}})
    data = workspace.directory / "var"
    data.write_text("")
    ended = workspace.command(words)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == sentence("files.in_place_of_folder", file=data) + "\n"


def test_a_folder_that_cannot_be_written_is_named_in_one_line(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write({"sources": {"handbook": {"start_urls": [START]}}})
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    ended = workspace.command("crawl")
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert str(workspace.directory) in ended.err
    assert ELSEWHERE in ended.err
    assert not (workspace.directory / "var").exists()


def test_the_file_of_a_folder_above_is_named(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.write({"sources": {"handbook": {"start_urls": [START]}}})
    below = workspace.directory / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    with pytest.raises(NoDefinitionError) as found:
        find_project()
    assert found.value.above == workspace.directory / "ultracrawl.yaml"


def test_a_project_without_lists_says_so(workspace: Workspace) -> None:
    workspace.write({"sources": {"handbook": {"start_urls": [START]}}})
    ended = workspace.command("lists")
    assert (ended.code, ended.out, ended.err.count("\n")) == (0, "", 1)
    assert workspace.command("lists", "--json").err == ""


def test_an_export_of_nothing_says_so(site: Site, url: str, workspace: Workspace) -> None:
    site.respond("/", status=404)
    workspace.write(
        {"sources": {"a": {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "storage": {"keep": True}}}}
    )
    workspace.crawl(code=1)
    ended = workspace.command("export", "--warc", "a.warc")
    assert (ended.code, "`ultracrawl crawl`" in ended.out) == (0, True)


def test_a_port_of_five_digits_is_one(workspace: Workspace) -> None:
    with pytest.raises(ForeignSchemeError):
        adhoc_project(["gopher://h.example:19101/"], workspace.directory)


def test_a_dump_of_an_empty_index_says_so_beside_its_output(workspace: Workspace) -> None:
    workspace.write({"sources": {"handbook": {"start_urls": [START]}}})
    ended = workspace.command("index", "dump")
    assert (ended.code, ended.out, ended.err.count("\n")) == (0, "", 1)


def test_a_taken_port_is_answered_with_the_option_for_another(workspace: Workspace) -> None:
    workspace.write({"sources": {"handbook": {"start_urls": [START]}}})
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = workspace.command("serve", "--port", str(taken.getsockname()[1]))
    assert (ended.code, "--port" in ended.err) == (1, True)


def test_a_service_that_does_not_run_is_a_failure_of_the_address(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ULTRACRAWL_TOKEN", "x")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with contextlib.chdir(workspace.directory), pytest.raises(CommandFailedError) as found:
        run_words(["status", "--server", f"http://127.0.0.1:{port}"])
    assert found.value.mistake is Mistake.SERVER_UNREACHABLE


def test_the_certificate_of_a_service_is_named_and_the_variable_for_its_authority(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ULTRACRAWL_TOKEN", "x")
    authority = Authority(workspace.directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("service"))
    server = Server(lambda _: Reply(404, (), b"no such page"), tls=context)
    server.start()
    try:
        with pytest.raises(CommandFailedError) as found:
            run_words(["status", "--server", server.url])
        assert found.value.mistake is Mistake.SERVER_UNTRUSTED
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        assert mistyped(workspace.directory, "status", "--server", server.url).mistake is Mistake.NO_SERVICE
    finally:
        server.stop()


def test_a_server_that_is_no_service_is_a_mistake(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ULTRACRAWL_TOKEN", "x")
    with answering(lambda _: Reply(404, (), b"no such page")) as url:
        assert mistyped(workspace.directory, "status", "--server", url).mistake is Mistake.NO_SERVICE


def test_a_path_is_explained_below_the_start_url(workspace: Workspace) -> None:
    workspace.write({"sources": {"handbook": {"start_urls": [START]}}})
    explained = workspace.command("explain", "/handbok", "--json")
    assert (explained.code, explained.json["canonical_url"]) == (0, f"{START}handbok")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("ftp://ftp.example.com/pub/", "web"),
        ("file:///srv/docs", "file"),
        ("postgresql://reader:secret@db.example.com/pages", "table"),
        ("imap://mail.example.com/", "mail"),
    ],
)
def test_what_is_no_web_site_is_answered_with_a_definition_of_its_kind(
    workspace: Workspace, url: str, kind: str
) -> None:
    with pytest.raises(ForeignSchemeError) as refused:
        adhoc_project([url], workspace.directory)
    text = f"sources: {{docs: {{{refused.value.definition}}}}}\n"
    (workspace.directory / "ultracrawl.yaml").write_text(text)
    loaded = read_definitions(workspace.directory / "ultracrawl.yaml")
    assert (loaded.project.sources["docs"].type, loaded.findings) == (kind, ())
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["mailto:ann@example.com", "htps://docs.example.com/", "http://", "https://["]
)
def test_what_is_no_url_is_refused_in_a_line(workspace: Workspace, url: str) -> None:
    ended = workspace.command("crawl", url)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert url in ended.err


def test_a_misspelt_scheme_is_answered_with_the_right_one(workspace: Workspace) -> None:
    assert "write https://docs.example.com/" in workspace.command("crawl", "htps://docs.example.com/").err


def test_before_the_first_crawl_no_url_is_known(workspace: Workspace) -> None:
    workspace.write({"sources": {"handbook": {"start_urls": [START]}}})
    ended = workspace.command("urls")
    assert (ended.code, ended.out, "`ultracrawl crawl`" in ended.err) == (0, "", True)


def test_without_a_definition_the_next_step_is_a_command(workspace: Workspace) -> None:
    for words in (["crawl"], ["search", "x"], ["status"], ["crawl", "docs.example.com"]):
        ended = workspace.command(*words)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert "ultracrawl crawl" in ended.err


SOURCE_MISTAKES = {
    "download_delay: 2": ("download_delay", "politeness: {delay"),
    "allowed_domains: [x]": ("allowed_domains", "boundary: {domains"),
    "DEPTH_LIMIT: 3": ("DEPTH_LIMIT", "depth: "),
    "depht: 3": ("depht", "`depth`"),
    "schedule: nightly": ("schedule", "schedules: {"),
    "index: {engine: whoosh}": ("index", "top of the file"),
    "exclude: archive/": ("exclude", "`/archive/`"),
    "exclude: '*.pdf'": ("exclude", "{suffix: .pdf}"),
    "only: ['/docs/*']": ("only", "`/docs/`"),
    "sitemaps: true": ("sitemaps", "sitemaps: {use: true}"),
    "refresh: {interval: daily}": ("refresh.interval", "`24 h`"),
    "settings: {download_delay: 3}": ("settings.download_delay", "`DOWNLOAD_DELAY`"),
    "settings: {DOWNLOAD_DELY: 3}": ("settings.DOWNLOAD_DELY", "politeness: {delay: 3}"),
    "class: nosuch.Klass": ("class", ""),
    "boundary: {uris: {exclude: ['*.pdf']}}": ("boundary.uris.exclude", "{suffix: .pdf}"),
    "types: [pdf]": ("types", "documents"),
    "crawling_mode: all": ("crawling_mode", "`accept-all`"),
}
HEAD_MISTAKES = {
    "exclude: [/x]": ("exclude", "below a source"),
    "storage: var": ("storage", "below a source"),
    "schedules: {n: {sources: [s], every: daily}}": ("schedules.n.every", "`day`"),
    "schedules: {n: {sources: [s], every: weekly}}": ("schedules.n.every", "`week`"),
    "schedules: {n: {sources: [s], cron: '0 3 * * *', timezone: Europe/Berln}}": (
        "schedules.n.timezone",
        "`Europe/Berlin`",
    ),
    "index: {engine: lucene}": ("index.engine", "`whoosh`"),
}


@pytest.mark.parametrize("line", [*SOURCE_MISTAKES, *HEAD_MISTAKES])
def test_a_mistake_in_a_definition_has_its_line_and_what_to_write(workspace: Workspace, line: str) -> None:
    in_source = line in SOURCE_MISTAKES
    key, instead = SOURCE_MISTAKES[line] if in_source else HEAD_MISTAKES[line]
    text = f"sources:\n  s:\n    start_urls: [{START}]\n{'    ' if in_source else ''}{line}\n"
    (workspace.directory / "ultracrawl.yaml").write_text(text)
    ended = workspace.command("lint", "--json")
    finding = next(one for one in ended.lines if one["line"] == 4)
    assert finding["key"] == (f"sources.s.{key}" if in_source else key)
    assert instead in finding["instead"]
    assert ended.code == (2 if finding["fatal"] else 0)


@pytest.mark.parametrize(
    ("query", "flaws"),
    [
        ('"unclosed', [QueryFlaw.OPEN_QUOTE]),
        ('"', [QueryFlaw.OPEN_QUOTE, QueryFlaw.NO_WORD]),
        ("#", [QueryFlaw.NO_WORD]),
        ("sqlite3_*_text", [QueryFlaw.INNER_ASTERISK]),
        ("sqlite3_* *ptr", []),
        ("OR", [QueryFlaw.IDLE_OPERATOR]),
        ("(a) NOT (b)", []),
        ('"closed words"', []),
        ("(a OR", [QueryFlaw.IDLE_OPERATOR, QueryFlaw.OPEN_GROUP]),
        ("a OR", [QueryFlaw.IDLE_OPERATOR]),
        ("OR a", [QueryFlaw.IDLE_OPERATOR]),
        ("a) b", [QueryFlaw.STRAY_PAREN]),
        ("a AND OR b", [QueryFlaw.IDLE_OPERATOR]),
        ("(a OR b) AND NOT c", []),
        ("NOT a", [QueryFlaw.IDLE_OPERATOR]),
        ("-draft", []),
        ("->>", []),
        ("f(x)", []),
        ("", []),
    ],
)
def test_flaws_of_queries(query: str, flaws: list[QueryFlaw]) -> None:
    found = search_with_relaxation(SearchQuery(query), {}, lambda _: SearchResult(0, ()))
    assert list(found.flaws) == flaws


def test_a_flawed_query_is_searched_and_reported(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="heron and egret")
    workspace.define(f"{url}/")
    workspace.crawl()
    sound, flawed = (workspace.command("search", query) for query in ("heron OR egret", "(heron OR"))
    assert (sound.code, flawed.code) == (0, 0)
    assert f"{url}/" in flawed.out
    assert len(flawed.out.splitlines()) > len(sound.out.splitlines())
    assert workspace.command("search", "--json", "(heron OR").json["total"] == 1


def test_a_word_with_a_colon_is_searched_and_the_attributes_are_named(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="the module node:fs")
    workspace.define(f"{url}/")
    workspace.crawl()
    searched, plain = (workspace.command("search", query) for query in ("node:fs", "module"))
    assert (searched.code, plain.code) == (0, 0)
    assert f"{url}/" in searched.out
    assert "Author" in searched.out
    assert "Author" not in plain.out
    found = workspace.command("search", "--json", "node:fs").json
    assert (found["total"], found["unknown_attributes"]) == (1, ["node"])
    assert "Author" in found["known_attributes"]
    assert workspace.command("search", "fs", "--where", "node=fs").code == 2


def test_status_of_a_source_is_that_of_this_source(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="heron")
    source = {"start_urls": [f"{url}/"], "boundary": {"networks": ["127.0.0.0/8"]}}
    workspace.write({"sources": {"a": source, "b": {**source, "depth": 1}}})
    workspace.crawl("a")
    found = workspace.command("status", "a", "--json").json
    assert [(one["source"], one["indexed"]) for one in found["sources"]] == [("a", 1)]
    assert "b" not in workspace.command("status", "a").out.split(":")[0]


def test_urls_of_a_source_are_those_of_this_source(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="heron")
    source = {"start_urls": [f"{url}/"], "boundary": {"networks": ["127.0.0.0/8"]}}
    workspace.write({"sources": {"a": source, "b": {**source, "depth": 1}}})
    workspace.crawl()
    listed = {words: workspace.command("urls", *words, "--json").lines for words in [(), ("a",), ("a", "b")]}
    assert {words: len(rows) for words, rows in listed.items()} == {(): 2, ("a",): 1, ("a", "b"): 2}
    assert workspace.command("urls", "nosuch").code == 2


def test_an_index_that_is_not_there_is_not_sound(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="heron")
    workspace.define(f"{url}/")
    assert workspace.command("index", "check").code == 1
    assert not workspace.command("index", "check", "--json").json["sound"]
    workspace.crawl()
    assert workspace.command("index", "check", "--json").json["sound"]


def test_an_unknown_outcome_is_a_mistake(url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/")
    assert workspace.command("urls", "--outcome", "gone").code == 0
    assert workspace.command("urls", "--outcome", "broken").code == 2


def test_what_is_no_url_is_not_submitted(workspace: Workspace) -> None:
    workspace.write({"sources": {"s": {"start_urls": [START]}}})
    assert workspace.command("submit", "foo").code == 2


@pytest.mark.parametrize("name", ["ultracrawl.yml", "Ultracrawl.yaml"])
@pytest.mark.parametrize("words", ["lint", "crawl", "search x"])
def test_a_definition_file_with_nearly_its_name_is_named(workspace: Workspace, name: str, words: str) -> None:
    (workspace.directory / name).write_text("sources: {a: {start_urls: ['https://a.example/']}}\n")
    with contextlib.chdir(workspace.directory), pytest.raises(NoDefinitionError) as raised:
        run_words(words.split())
    assert str(raised.value.misnamed) == name
