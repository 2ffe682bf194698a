"""What goes wrong beside the pages is one line, in the words of who wrote the definition."""

from __future__ import annotations

from typing import Any

import pytest
from support.free_port import free_port
from support.project import LOOPBACK, Workspace
from support.site import Site
from support.verbs import mistyped

from ultracrawl.cli.crawl.report import print_problems
from ultracrawl.cli.mistakes import Mistake, with_scheme
from ultracrawl.model import Cause, CauseCode, RunReport
from ultracrawl.model.advice import advice_for


def define(site: Site, url: str, workspace: Workspace, **options: Any) -> None:
    site.page("/", title="Home", text="words")
    workspace.define(f"{url}/", boundary=LOOPBACK, **options)


def test_a_completion_command_that_cannot_be_run_is_a_note_of_the_run(
    site: Site, url: str, workspace: Workspace
) -> None:
    script = str(workspace.directory / "none.sh")
    define(site, url, workspace, completion={"command": [script], "after": ["documents"]})
    ended = workspace.crawl()
    (remark,) = [one for one in ended.run["remarks"] if script in one]
    assert "`completion.command`" in remark
    assert workspace.crawl().run["remarks"] == [], "nothing new: it is not run"


def test_a_refused_password_is_not_asked_for_again(site: Site, url: str, workspace: Workspace) -> None:
    entry = {"url": f"{url}/", "user": "ada", "password": "wrong"}
    define(site, url, workspace, authentication={"s": entry}, robots={"obey": False})
    site.respond("/", status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})
    problems = workspace.crawl(code=1).run["problems"]
    assert any(advice_for(Cause(CauseCode.LOGIN_FAILED)) in problem for problem in problems)
    assert not any(advice_for(Cause(CauseCode.STATUS, "401")) in problem for problem in problems)


def test_a_setting_that_cannot_be_used_is_named_without_the_class_of_its_error(
    site: Site, url: str, workspace: Workspace
) -> None:
    define(site, url, workspace, settings={"DOWNLOADER_MIDDLEWARES": {"nothere.Mid": 1}})
    ended = workspace.command("crawl")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "nothere" in ended.err
    assert "`settings`" in ended.err
    assert "Error" not in ended.err


def test_a_problem_that_another_repeats_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    problems = ["the index is away", "indexing failed: the index is away; later", "another"]
    print_problems(RunReport("a", "1", "2026-01-01T00:00:00Z", problems=problems))
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_an_index_server_that_is_away_is_named_without_a_class(
    site: Site, url: str, workspace: Workspace
) -> None:
    pytest.importorskip("opensearchpy")
    site.page("/", title="Home", text="words")
    address = f"http://127.0.0.1:{free_port()}"
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK}
    workspace.write({"index": {"engine": "opensearch", "url": address}, "sources": {"site": source}})
    ended = workspace.command("search", "words")
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert "`url`" in ended.err
    assert "Error" not in ended.err


def test_a_source_that_was_never_crawled_has_no_numbers_but_a_next_step(
    site: Site, url: str, workspace: Workspace
) -> None:
    define(site, url, workspace)
    ended = workspace.command("stats", "site")
    assert (ended.code, "`ultracrawl crawl site`" in ended.out) == (0, True)


@pytest.mark.parametrize("text", ["page.html", "index.php?id=1", "guide.pdf", "a.htm#top"])
def test_a_file_name_is_no_host(text: str) -> None:
    assert with_scheme(text) == ""
    assert with_scheme(f"docs.example.com/{text}") == f"https://docs.example.com/{text}"


def test_help_as_a_verb_names_the_option(workspace: Workspace) -> None:
    mistake = mistyped(workspace.directory, "help", "index", "dump")
    assert (mistake.mistake, mistake.values["instead"]) == (
        Mistake.NO_SUCH_VERB,
        "ultracrawl index dump --help",
    )
