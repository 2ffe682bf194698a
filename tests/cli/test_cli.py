"""The command line as scripts see it: names, JSON shapes, exit codes, and errors in one line."""

from __future__ import annotations

import importlib
import json

import pytest
from support.crawled import CrawledProjects
from support.project import LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Site
from support.until import until

from ultracrawl.cli.main import run_words

VERBS = sorted(importlib.import_module("ultracrawl.cli.main").VERBS)


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Workspace:
    site.page(
        "/", title="Home & garden", links=["/a", "/gone", "http://elsewhere.example/"], text="words here"
    )
    site.page("/a", title="Alpha", text="words there", head='<meta name="author" content="Miller">')
    workspace.define(f"{url}/", attributes={"author": "Author"})
    crawled_projects.crawl(workspace, site)
    return workspace


def test_every_verb_has_help_with_an_example(workspace: Workspace, subtests: pytest.Subtests) -> None:
    for verb in VERBS:
        with subtests.test(verb):
            ended = workspace.command(verb, "--help")
            assert ended.code == 0
            assert "Example" in ended.out
            assert f"ultracrawl {verb}" in ended.out


def test_help_lists_every_verb(workspace: Workspace) -> None:
    out = workspace.command("--help").out
    assert all(verb in out for verb in VERBS)


def test_shape_of_crawl_json(crawled: Workspace) -> None:
    run = crawled.crawl().run
    assert set(run) >= {
        "source", "run_id", "started", "finished", "seconds", "fetched", "indexed", "deleted", "bytes",
        "outcomes", "status_codes", "rejected_by", "statistics",
    }  # fmt: skip
    assert run["source"] == "site"
    assert run["run_id"] == "2"
    assert run["outcomes"] == {"GONE": 1, "NOT_MODIFIED": 2}
    assert run["status_codes"] == {"304": 2, "404": 1}


def test_shape_of_urls_json(crawled: Workspace) -> None:
    rows = crawled.command("urls", "--json").lines
    assert len(rows) == 3
    assert list(rows[0]) == [
        "url", "access_url", "display_url", "source", "depth", "status_code", "status_text",
        "outcome", "reason", "cause", "etag",
        "last_modified", "checksum", "indexed", "leaving", "first_seen", "last_fetched", "duplicate_of",
        "linked_from",
    ]  # fmt: skip
    (gone,) = crawled.command("urls", "--json", "--outcome", "GONE").lines
    assert gone["url"].endswith("/gone")
    assert crawled.command("urls", "--outcome", "gone").out.startswith("GONE")


def test_shape_of_search_json(crawled: Workspace) -> None:
    found = crawled.command("search", "--json", "words").json
    shape = [
        "query",
        "total",
        "took_ms",
        "hits",
        "facets",
        "sources",
        "groups",
        "suggestion",
        "corrected",
        "unknown_words",
        "reading",
    ]
    assert list(found) == [*shape, "exceeded", "unknown_attributes", "known_attributes", "flaws"]
    assert (found["query"], found["total"]) == ("words", 2)
    assert list(found["hits"][0]) == [
        "url",
        "title",
        "score",
        "source",
        "snippet",
        "snippet_html",
        "attributes",
        "section",
        "sections",
        "also_at",
        "kind",
    ]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param(["words"], {"/", "/a"}, id="word"),
        pytest.param(['"words there"'], {"/a"}, id="phrase"),
        pytest.param(["words -there"], {"/"}, id="without"),
        pytest.param(["words", "-there"], {"/"}, id="without as a word of its own"),
        pytest.param(["words", "--sort", "-Title", "-there", "--limit=3"], {"/"}, id="without among options"),
        pytest.param(["--", "words", "-there"], {"/"}, id="without behind --"),
        pytest.param(["->>", "absentword"], set(), id="operator"),
        pytest.param(["words", "-cat"], {"/", "/a"}, id="without a word that begins like an option"),
        pytest.param(["wor*"], {"/", "/a"}, id="prefix"),
        pytest.param(["words", "--where", "Author=Miller"], {"/a"}, id="where"),
        pytest.param(["words", "--where", "Author=Nobody"], set(), id="where-nobody"),
        pytest.param(["words", "--source", "site"], {"/", "/a"}, id="source"),
        pytest.param(["title:garden"], {"/"}, id="field"),
        pytest.param(["absentword"], set(), id="nothing"),
    ],
)
def test_queries(crawled: Workspace, words: list[str], found: set[str]) -> None:
    assert set(crawled.search(*words)) == found


def test_sort_and_limit(crawled: Workspace) -> None:
    assert crawled.search("words", "--sort", "Title") == ["/a", "/"]
    assert crawled.search("words", "--sort", "-Title") == ["/", "/a"]
    assert len(crawled.command("search", "--json", "--limit", "1", "words").json["hits"]) == 1


def test_shape_of_explain_json(crawled: Workspace, url: str) -> None:
    explained = crawled.command("explain", "--json", f"{url}/x/../a#top").json
    assert explained["canonical_url"] == f"{url}/a"
    assert explained["source"] == "site"
    assert explained["accept"] is True
    assert {"stage", "rule", "accept", "reason"} <= set(explained["decisions"][0])
    refused = crawled.command("explain", "--json", "http://elsewhere.example/").json
    assert refused["accept"] is False
    (refusal,) = [one for one in refused["decisions"] if not one["accept"]]
    assert refusal["stage"] == "domain"
    assert crawled.command("explain", "mailto:x@y").code == 0


@pytest.mark.parametrize("path", ["/a", "./a", "/a?x#y"])
def test_explain_joins_a_path_to_the_start_url(crawled: Workspace, url: str, path: str) -> None:
    told = crawled.command("explain", "--json", path).json
    assert told["canonical_url"] == f"{url}/{path.lstrip('./').partition('#')[0]}"


@pytest.mark.parametrize("text", ["http://", "http://[", "//["])
def test_explain_refuses_what_is_no_url(crawled: Workspace, text: str) -> None:
    ended = crawled.command("explain", text)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_shape_of_status_json(crawled: Workspace) -> None:
    (status,) = crawled.command("status", "--json").json["sources"]
    assert (status["source"], status["known"], status["indexed"], status["queued"]) == ("site", 3, 2, 0)
    assert status["last_run"]["run_id"] == "1"
    assert status["state"] == "idle"


def test_status_says_why_the_last_run_failed(url: str, workspace: Workspace) -> None:
    workspace.define("http://127.0.0.1:1/")
    (problem, *_) = workspace.crawl(code=1).run["problems"]
    assert problem in workspace.command("status", "site").out


def test_only_json_goes_to_standard_output(crawled: Workspace) -> None:
    for verb in (["crawl"], ["search", "words"], ["status"]):
        out = crawled.command(*verb, "--json").out
        assert json.loads(out), verb
        assert out.count("\n") == 1


def test_schema_is_json(workspace: Workspace) -> None:
    schema = workspace.command("schema").json
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert "sources" in schema["properties"]


@pytest.mark.parametrize(
    ("words", "place"),
    [
        pytest.param(["crawl"], "ultracrawl.yaml", id="no-file"),
        pytest.param(["crawl", "-c", "none.yaml"], "none.yaml", id="missing-file"),
        pytest.param(["crawl", "--url", "no url"], "no url", id="bad-url"),
        pytest.param(["crawl", "--url", "http://x/", "-c", "y"], "", id="url-and-file"),
        pytest.param(["crawl", "https://x.example/", "site"], "", id="URL-and-source"),
        pytest.param(["search", "x"], "ultracrawl.yaml", id="search-nothing"),
        pytest.param(["lint"], "ultracrawl.yaml", id="lint-nothing"),
        pytest.param(["crawl", "--no-such-option"], "--no-such-option", id="bad-option"),
        pytest.param(["fly"], "fly", id="bad-verb"),
        pytest.param(["urls", "--outcome", "BAD"], "--outcome", id="bad-choice"),
        pytest.param(["crawl", "-c"], "-c", id="no-value"),
        pytest.param(["crawl", "--force=3"], "--force", id="value-of-a-flag"),
        pytest.param(["schema", "surplus"], "surplus", id="surplus"),
        pytest.param(["submit"], "URL", id="missing-argument"),
    ],
)
def test_the_users_mistakes_are_one_line_and_exit_code_2(
    workspace: Workspace, words: list[str], place: str
) -> None:
    ended = workspace.command(*words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith("ultracrawl: ")
    assert place in ended.err


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["crawl", "nosuch"], "nosuch"),
        (["crawl", "sight"], "'site'"),
        (["search", "words", "--where", "Author"], "Author"),
        (["search", "words", "--where", "Nothing=1"], "Nothing"),
        (["search", "words", "--sort", "Nothing"], "Nothing"),
        (["search", "words", "--source", "nosuch"], "nosuch"),
    ],
)
def test_mistakes_in_a_crawled_project(crawled: Workspace, words: list[str], place: str) -> None:
    ended = crawled.command(*words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert place in ended.err


def test_several_mistakes_in_a_definition_are_reported_at_once(workspace: Workspace) -> None:
    workspace.write(
        {
            "sources": {
                "a": {"start_urls": [], "depht": 3},
                "b": {"start_urls": ["http://x/"], "politeness": {"delay": "fast"}},
                "c": {"start_urls": ["http://x/"], "boundary": {"uris": {"exclude": [{"regexp": "(a"}]}}},
            }
        }
    )
    lint = workspace.command("lint")
    assert lint.code == 2
    lines = lint.out.splitlines()
    assert len(lines) == 4
    assert [line.split(" - ")[1] for line in lines] == [
        "sources.a.start_urls", "sources.a.depht", "sources.b.politeness.delay",
        "sources.c.boundary.uris.exclude",
    ]  # fmt: skip
    assert all(line.startswith("ultracrawl.yaml:") and "; " in line for line in lines)
    crawl = workspace.command("crawl")
    assert crawl.code == 2
    assert all(line in crawl.err for line in lines)


def test_a_url_needs_no_file_and_the_other_verbs_know_it(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/a", "http://elsewhere.example/"], text="needle")
    site.page("/a", title="A", text="needle")
    ended = workspace.crawl("--url", f"{url}/", "--delay", "0")
    assert ended.run["outcomes"] == {"NEW": 2}
    name = "127.0.0.1-" + url.rpartition(":")[2]
    assert ended.run["source"] == name
    assert sorted(workspace.search("needle")) == ["/", "/a"]
    assert workspace.command("status").code == 0
    assert (workspace.directory / "var" / "index").is_dir()
    assert workspace.crawl(f"{url}/", "--delay", "0").run["outcomes"] == {"NOT_MODIFIED": 2}
    assert list(workspace.directory.glob("var/log/*.log"))
    assert not (workspace.directory / "var" / "var").exists()
    assert workspace.crawl(name, "--delay", "0").run["outcomes"] == {"NOT_MODIFIED": 2}


def test_quiet_prints_problems_only(site: Site, url: str, workspace: Workspace) -> None:
    workspace.define("http://no-such-host.invalid/")
    ended = workspace.command("crawl", "-q")
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    site.page("/", title="Home", text="words")
    workspace.define(f"{url}/")
    ended = workspace.command("crawl", "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert workspace.command("crawl", "-q", "--json").code == 2


def test_two_sources_share_the_index_and_keep_their_own_state(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle")
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    workspace.write({"sources": {"one": source, "two": source}})
    runs = workspace.crawl().json["runs"]
    assert [run["source"] for run in runs] == ["one", "two"]
    assert len(workspace.indexed()) == 2, "ultra_search_46: one display URL, two sources"
    for name in ("one", "two"):
        hits = workspace.command("search", "--json", "needle", "--source", name).json["hits"]
        assert [hit["source"] for hit in hits] == [name]
    assert workspace.crawl("two").json["runs"][0]["outcomes"] == {"NOT_MODIFIED": 1}


@pytest.mark.processes
def test_a_source_that_is_being_crawled_is_locked(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="words")
    answer = site.hold("/")
    workspace.define(f"{url}/", robots={"obey": False})
    running = workspace.start("crawl")
    until(lambda: site.requests, running)
    second = workspace.command("crawl")
    assert second.code == 2
    (line,) = second.err.splitlines()
    assert sentence("crawl.by_another_process") in line
    answer.set()
    running.communicate()
    assert running.returncode == 0


@pytest.mark.parametrize(
    "words", [("-c", "other.yaml"), ("--config", "other.yaml", "other.yaml"), ("other.yaml",)]
)
def test_lint_takes_its_file_like_all_verbs(workspace: Workspace, words: tuple[str, ...]) -> None:
    (workspace.directory / "other.yaml").write_text("sources: {s: {start_urls: [https://x.example/]}}")
    linted = workspace.command("lint", *words)
    assert (linted.code, linted.err.splitlines()[-1]) == (0, "1 source, 0 mistakes, 0 hints")


def test_convert_takes_its_file_like_all_verbs(workspace: Workspace) -> None:
    (workspace.directory / "other.yaml").write_text("sources: {s: {start_urls: [https://x.example/]}}")
    named, optional = (
        workspace.command("convert", "other.yaml"),
        workspace.command("convert", "-c", "other.yaml"),
    )
    assert (named.code, optional.code) == (0, 0)
    assert "x.example" in named.out == optional.out
    assert workspace.command("convert", "other.yaml", "-c", "other.yaml").code == 2


def test_lint_counts_the_sources_with_mistakes_and_the_others(workspace: Workspace) -> None:
    fine = {"start_urls": ["http://x/"]}
    workspace.write({"sources": {"a": fine, "b": {**fine, "depht": 3}, "c": fine}})
    assert workspace.command("lint").err.splitlines()[-1] == "3 sources, 1 mistake, 0 hints"


def test_verbs_show_the_first_hints_and_lint_all(workspace: Workspace) -> None:
    written = "".join(f'<attrib name="nosuch{number}" type="string">1</attrib>' for number in range(5))
    start = '<attrib name="start_uris" type="list-string"><member>http://127.0.0.1:9/</member></attrib>'
    (workspace.directory / "c.xml").write_text(
        f'<CrawlerConfig><DomainSpecification name="a">{start}{written}</DomainSpecification></CrawlerConfig>'
    )
    shown = workspace.command("status", "-c", "c.xml").err.splitlines()
    assert [line.partition(" - ")[2][:9] for line in shown[:3]] == ["a/nosuch0", "a/nosuch1", "a/nosuch2"]
    assert shown[3:] == [sentence("lint.more_hints")]
    linted = workspace.command("lint", "c.xml")
    assert all(f"nosuch{number}" in linted.out + linted.err for number in range(5))


def test_lint_counts_no_sources_that_a_mistake_hides(workspace: Workspace) -> None:
    source = {"start_urls": ["http://x/"]}
    workspace.write({"index": {"engine": "lucene"}, "sources": {"a": source}})
    assert workspace.command("lint").err == "1 mistake, 0 hints\n"


@pytest.mark.parametrize(("is_terminal", "lines"), [(True, 2), (False, 1)])
def test_lint_names_the_next_step_on_a_terminal(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_terminal: bool,
    lines: int,
) -> None:
    workspace.write({"sources": {"a": {"start_urls": ["http://x/"]}}})
    monkeypatch.chdir(workspace.directory)
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    assert run_words(["lint"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert len(told) == lines
    assert ("`ultracrawl plan`" in told[-1]) is is_terminal
