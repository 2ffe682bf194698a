"""`ultracrawl check-answers`: what fell, mistakes with their lines, additions, and notices after crawls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.in_process import InProcessWorkspace
from support.until import until_on_loop

from ultracrawl.errors import UserError
from ultracrawl.index import Deletion, IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.model import DefinitionError
from ultracrawl.model.page import Section
from ultracrawl.service.answers.checking import check_answers
from ultracrawl.service.answers.outcome import FallenAnswer, read_outcome
from ultracrawl.service.answers.watching import AnswerWatch
from ultracrawl.sources import Project, golden_queries, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.golden_queries import parse_golden_queries, read_golden_queries, with_golden_query

VACATION = "http://h/vacation"
SECTIONS = (Section(0, 1, "form", "Vacation request"), Section(17, 2, "special", "Special leave"))


def page(name: str, title: str, text: str = "", source: str = "handbook", **more: Any) -> IndexDocument:
    return IndexDocument(source, f"http://h/{name}", title, text or title, {"Language": ["en"]}, **more)


DOCUMENTS = [
    page(
        "vacation", "Vacation request", "Vacation request Special leave for those who move", sections=SECTIONS
    ),
    page("old", "Old rules", "an old vacation request of the archive", "archive"),
    page("salaries", "Salary bands", acl=("staff",)),
    page("lunch", "Lunch menu"),
]


class Golden:
    """A project with an index, and a file of golden queries."""

    def __init__(self, workspace: InProcessWorkspace, engine: str) -> None:
        self.workspace = workspace
        self.file = workspace.directory / "golden.yaml"
        source = {"start_urls": ["http://h/"]}
        workspace.write(
            {
                "index": {"path": "index", "engine": engine},
                "indexes": {"second": {"path": "second", "engine": engine}},
                "search_page": {"check_answers": "golden.yaml"},
                "sources": {"handbook": source, "archive": source},
            }
        )
        self.apply(*DOCUMENTS)

    @property
    def project(self) -> Project:
        return require(read_definitions(self.workspace.directory / "ultracrawl.yaml"))

    def apply(self, *changes: IndexDocument | Deletion, index: str = "") -> None:
        opened = open_index(self.project, index) if index else open_index(self.project)
        opened.apply(changes)
        opened.close()

    def write(self, *queries: dict[str, Any]) -> None:
        self.file.write_text(yaml.safe_dump(list(queries)))

    def check(self, *words: str) -> Any:
        return self.workspace.command("check-answers", str(self.file), *words)

    def fallen(self, *queries: dict[str, Any]) -> list[dict[str, Any]]:
        self.write(*queries)
        ended = self.check("--json")
        found: list[dict[str, Any]] = ended.json["fallen"]
        assert ended.code == (1 if found else 0)
        return found


@pytest.fixture(params=["whoosh", "tantivy"])
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Golden:
    return Golden(InProcessWorkspace(tmp_path), request.param)


def test_all_pages_there_is_0_and_a_summary(golden: Golden) -> None:
    golden.write({"query": "vacation request", "pages": [VACATION, "http://h/old"]})
    ended = golden.check("--json")
    assert (ended.code, ended.json) == (0, {"queries": 1, "pages": 2, "fallen": []})
    assert golden.check().code == 0
    assert golden.check().out


def test_what_fell_is_1_with_its_position_and_what_stands_before_it(golden: Golden) -> None:
    golden.file.write_text("# ours\n\n- query: vacation request\n  pages: http://h/old\n  within: 1\n")
    ended = golden.check("--json")
    assert ended.code == 1
    (fell,) = ended.json["fallen"]
    before = [{"position": 1, "url": VACATION, "title": "Vacation request"}]
    assert fell == {
        "file": str(golden.file), "line": 3, "query": "vacation request", "page": "http://h/old", "within": 1,
        "position": 2, "indexed": True, "before": before,
    }  # fmt: skip
    printed = golden.check().out
    assert f"{golden.file}:3" in printed
    assert VACATION in printed


def test_a_page_that_is_not_found_and_one_that_is_not_there(golden: Golden) -> None:
    found = golden.fallen({"query": "vacation", "pages": ["http://h/lunch", "http://h/none"]})
    assert [(one["position"], one["indexed"]) for one in found] == [(None, True), (None, False)]


@pytest.mark.parametrize(
    ("options", "is_there"),
    [
        ({"principals": "staff"}, True),
        ({}, False),
        ({"principals": ["others"]}, False),
        ({"principals": "staff", "source": "archive"}, False),
    ],
    ids=["staff", "everybody", "others", "another_source"],
)
def test_principals_and_sources_count(golden: Golden, options: dict[str, Any], is_there: bool) -> None:
    found = golden.fallen({"query": "salary bands", "pages": "http://h/salaries", **options})
    assert (not found) == is_there


def test_who_may_not_see_a_page_does_not_learn_that_it_is_there(golden: Golden) -> None:
    (found,) = golden.fallen({"query": "salary bands", "pages": "http://h/salaries"})
    assert not found["indexed"]


def test_a_source_restricts_what_stands_before(golden: Golden) -> None:
    query = {"query": "vacation request", "pages": "http://h/old", "within": 1}
    assert golden.fallen(query)
    assert golden.fallen({**query, "source": "archive"}) == []


@pytest.mark.parametrize(
    ("given", "is_there"),
    [
        (f"{VACATION}#special", True),
        (f"{VACATION}#other", False),
        (VACATION, True),
        ("HTTP://H/vacation", True),
        ("http://h/vacatio", False),
    ],
    ids=["its_section", "another_section", "the_page", "another_case", "another_page"],
)
def test_a_page_is_compared_as_a_url(golden: Golden, given: str, is_there: bool) -> None:
    found = golden.fallen({"query": "special leave", "pages": given})
    assert (not found) == is_there


def test_another_index(golden: Golden) -> None:
    query = {"query": "penguin", "pages": "http://h/penguin"}
    assert golden.fallen(query)
    golden.apply(page("penguin", "Penguin"), index="second")
    assert golden.fallen({**query, "index": "second"}) == []
    golden.write(query)
    assert golden.check("--index", "second").code == 0


MISTAKES: list[tuple[str, str, list[int]]] = [
    ("unknown_option", "- query: a\n  pages: http://h/\n  wihtin: 3\n", [3]),
    ("no_pages", "- query: a\n- query: b\n  pages: http://h/\n", [1]),
    ("several", "- query: a\n  pages: http://h/\n  within: 0\n- pages: http://h/\n- text\n", [3, 4, 5]),
    ("no_list", "query: a\n", [1]),
    ("no_yaml", "- query: [\n", [2]),
    ("tab", "- query: a\n\tpages: x\n", [2]),
    ("number", "- query: 404\n  pages: http://h/\n", [1]),
]


@pytest.mark.parametrize(("text", "lines"), [one[1:] for one in MISTAKES], ids=[one[0] for one in MISTAKES])
def test_mistakes_are_2_and_all_have_their_lines(golden: Golden, text: str, lines: list[int]) -> None:
    golden.file.write_text(text)
    with pytest.raises(DefinitionError) as raised:
        read_golden_queries(golden.file)
    assert [(one.file, one.line) for one in raised.value.findings] == [
        (str(golden.file), line) for line in lines
    ]
    ended = golden.check("--json")
    assert (ended.code, ended.out) == (2, "")


def test_queries_that_cannot_be_searched_for_are_all_named(golden: Golden) -> None:
    golden.file.write_text(
        "- query: a\n  pages: http://h/\n  source: none\n"
        "- query: vacation\n  pages: http://h/vacation\n"
        "- query: 'LastModifiedDate:red'\n  pages: http://h/\n"
        "- query: b\n  pages: http://h/\n  index: none\n"
    )
    with pytest.raises(DefinitionError) as raised:
        check_answers(golden.project, read_golden_queries(golden.file))
    assert [one.line for one in raised.value.findings] == [1, 6, 8]
    assert golden.check().code == 2


@pytest.mark.parametrize("content", [None, "", "# nothing yet\n"], ids=["missing", "empty", "comments"])
def test_a_file_without_queries_is_a_mistake(golden: Golden, content: str | None) -> None:
    if content is not None:
        golden.file.write_text(content)
    assert golden.check().code == 2


def test_the_page_of_a_query_is_added_by_one_command(golden: Golden) -> None:
    golden.file.write_text("# ours\n- query: lunch   # every day\n  pages: http://h/lunch")
    ended = golden.check("--add", "vacation request", "http://h/old", "--within", "5", "--json")
    added = {"added": True, "query": "vacation request", "page": "http://h/old", "position": 2}
    assert (ended.code, ended.json) == (0, added)
    assert golden.file.read_text() == (
        "# ours\n- query: lunch   # every day\n  pages: http://h/lunch\n"
        "- query: vacation request\n  pages: http://h/old\n  within: 5\n"
    )
    again = golden.check("--add", "vacation request", "http://h/old", "--json").json
    assert again == {**added, "added": False}
    assert golden.check().code == 0


def test_a_file_that_does_not_exist_is_created(golden: Golden) -> None:
    assert golden.check("--add", "lunch", "http://h/lunch").code == 0
    assert golden.check("--json").json == {"queries": 1, "pages": 1, "fallen": []}


def test_nothing_is_added_to_a_file_with_mistakes(golden: Golden) -> None:
    golden.file.write_text("- query: a\n")
    assert golden.check("--add", "lunch", "http://h/lunch").code == 2
    assert golden.file.read_text() == "- query: a\n"
    golden.file.write_text("- query: a\n  pages: http://h/\n")
    assert golden.check("--add", "!?", "http://h/lunch").code == 2
    assert golden.check("--add", "lunch", "").code == 2
    assert golden.file.read_text() == "- query: a\n  pages: http://h/\n"


QUERIES = [
    "a: b",
    "# not a comment",
    "c#",
    "404",
    "yes",
    "- x",
    '"a phrase"',
    "it's",
    "[x]",
    "a\nb",
    "é 東京",
    "null",
    "a #b",
    "*x",
    "x:",
]


def test_every_query_can_be_added_and_read_again(subtests: pytest.Subtests) -> None:
    for query in QUERIES:
        with subtests.test(query):
            after = with_golden_query("", Path("g.yaml"), query, "http://h/a?b=c#d")
            ((_, read),) = parse_golden_queries(after, Path("g.yaml")).queries
            assert (read.query, read.pages) == (query, ("http://h/a?b=c#d",))


@pytest.mark.parametrize(
    "text",
    [
        "  - query: a\n    pages: http://h/\n",
        "---\n- query: a\n  pages: http://h/\n# end",
        "- {query: a, pages: http://h/}\n",
    ],
    ids=["indented", "a_document_mark", "braces"],
)
def test_a_query_is_added_in_the_form_of_the_file(text: str) -> None:
    after = with_golden_query(text, Path("g.yaml"), "b", "http://h/b")
    assert after.startswith(text)
    assert [one.query for _, one in parse_golden_queries(after, Path("g.yaml")).queries] == ["a", "b"]


@pytest.mark.parametrize(
    "text", ["[{query: a, pages: http://h/}]\n", "- query: a\n  pages: http://h/\n...\n"]
)
def test_where_nothing_can_be_appended_the_file_stays(text: str) -> None:
    with pytest.raises(UserError):
        with_golden_query(text, Path("g.yaml"), "b", "http://h/b")


def test_two_who_add_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meeting, read = threading.Barrier(2), golden_queries.read_text

    def read_together(*words: Any) -> Any:
        found = read(*words)
        with suppress(threading.BrokenBarrierError):
            meeting.wait(0.3)
        return found

    monkeypatch.setattr(golden_queries, "read_text", read_together)
    file = tmp_path / "golden.yaml"
    file.write_text("- query: lunch\n  pages: http://h/lunch\n")
    with ThreadPoolExecutor(2) as pool:
        added = pool.map(lambda query: golden_queries.add_golden_query(file, query, "http://h/"), ("a", "b"))
        assert list(added) == [True, True]
    assert {one.query for _, one in read_golden_queries(file).queries} == {"lunch", "a", "b"}
    assert [one.name for one in tmp_path.iterdir()] == ["golden.yaml"]


def test_lint_shows_mistakes_as_hints(golden: Golden) -> None:
    golden.file.write_text("- query: a\n")
    ended = golden.workspace.command("lint", "--json")
    found = [one for one in ended.lines if one["file"] == str(golden.file)]
    assert [(one["line"], one["fatal"]) for one in found] == [(1, False)]
    assert ended.code == 0
    golden.file.unlink()
    assert [
        one["line"]
        for one in golden.workspace.command("lint", "--json").lines
        if one["file"] == str(golden.file)
    ] == [0]


class Reported:
    """The notices of a watch."""

    def __init__(self, golden: Golden) -> None:
        self.golden = golden
        self.texts: list[str] = []

    def start(self) -> AnswerWatch:
        return AnswerWatch(lambda: self.golden.project, self.texts.append)


def test_what_fell_is_reported_once_and_again_after_it_was_back(golden: Golden) -> None:
    watch = Reported(golden).start()
    golden.write(
        {"query": "vacation request", "pages": VACATION, "within": 1},
        {"query": "lunch", "pages": "http://h/lunch"},
    )
    assert watch.check() == ""
    golden.apply(Deletion("handbook", VACATION))
    assert VACATION in watch.check()
    assert watch.check() == ""
    assert Reported(golden).start().check() == "", "a service that is restarted does not tell it again"
    golden.apply(Deletion("handbook", "http://h/lunch"))
    told = watch.check()
    assert "http://h/lunch" in told
    assert VACATION not in told, "only what is new"
    golden.apply(*DOCUMENTS)
    assert watch.check() == ""
    golden.apply(Deletion("handbook", VACATION))
    assert VACATION in watch.check()


def test_mistakes_and_damage_end_no_watch(golden: Golden) -> None:
    watch = Reported(golden).start()
    assert watch.check() == "", "there is no file"
    golden.file.write_text("- query: a\n")
    assert watch.check() == ""
    golden.write({"query": "none", "pages": "http://h/none"})
    assert watch.check()
    outcome = read_outcome(golden.project)
    assert outcome is not None
    assert outcome.fallen == (FallenAnswer("none", "http://h/none", 10, None),)
    stored = golden.project.state.path / "service" / "answers.json"
    stored.write_bytes(b"{")
    assert watch.check(), "told again rather than never"


def test_crawls_that_end_during_a_check_are_followed_by_one(golden: Golden) -> None:
    golden.write({"query": "none", "pages": "http://h/none"})
    told = Reported(golden)
    checks: list[str] = []

    async def serve() -> None:
        watch = told.start()
        original: Callable[[], str] = watch.check

        def check() -> str:
            checks.append("check")
            if len(checks) == 1:
                loop.call_soon_threadsafe(watch.note_crawl)
                loop.call_soon_threadsafe(watch.note_crawl)
            return original()

        loop = asyncio.get_running_loop()
        watch.check = check  # type: ignore[method-assign]
        running = asyncio.ensure_future(watch.run())
        watch.note_crawl()
        await until_on_loop(lambda: len(checks) >= 2)
        running.cancel()

    asyncio.run(asyncio.wait_for(serve(), 60))
    assert len(told.texts) == 1
