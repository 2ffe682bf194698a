"""Verbs with `--server`: a real server on loopback answers them, and they print what they print without it."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator

import pytest
import yaml
from service.api.conftest import Api
from support.free_port import free_port
from support.project import Ended
from support.resource import Reply
from support.server import Server
from support.until import until

from ultracrawl.cli.mistakes import CommandLineError, Mistake
from ultracrawl.cli.serve.client import ServiceClient
from ultracrawl.errors import UserError
from ultracrawl.service.access.requester import Role
from ultracrawl.service.api.serving import make_server, open_socket
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.traps import note_traps

pytestmark = pytest.mark.processes


@pytest.fixture
def server(api: Api) -> Iterator[str]:
    listening = open_socket("127.0.0.1", 0)
    served = make_server(api.app)
    thread = threading.Thread(target=lambda: asyncio.run(served.serve([listening])))
    thread.start()
    until(lambda: served.started)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    served.should_exit = True
    thread.join()


def ask(api: Api, server: str, *words: str, role: Role = Role.EDITOR) -> Ended:
    return api.workspace.command(*words, "--server", server, ULTRACRAWL_TOKEN=api.secrets[role])


def without_times(text: str) -> list[str]:
    return [line for line in text.splitlines() if " ms" not in line]


@pytest.mark.parametrize(
    "words",
    [["search", "heron"], ["search", "water heron", "--facet", "Language"], ["search", "nothingness"]],
)
def test_a_search_prints_what_it_prints_here(api: Api, server: str, words: list[str]) -> None:
    here, there = api.workspace.command(*words), ask(api, server, *words, role=Role.READER)
    assert (there.code, there.err) == (0, "")
    assert without_times(there.out) == without_times(here.out)
    here, there = api.workspace.command(*words, "--json"), ask(api, server, *words, "--json")
    assert {**there.json, "took_ms": 0} == {**here.json, "took_ms": 0}


def test_a_search_prints_the_display_names_that_it_prints_here(api: Api, server: str) -> None:
    file = api.workspace.directory / "ultracrawl.yaml"
    named = {
        "search": {"attribute_names": {"Language": {"de": "Sprache"}}},
        "lists": {"Language": {"en": "Englisch"}},
    }
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | named))
    for language in ("de", ""):
        words = ["search", "heron", "--facet", "Language", "--facet", "Author", "--language", language]
        here, there = api.workspace.command(*words), ask(api, server, *words)
        assert ("Sprache: Englisch (2)" in here.out) is bool(language)
        assert without_times(there.out) == without_times(here.out)


def test_completion_and_status_print_what_they_print_here(api: Api, server: str) -> None:
    assert (
        ask(api, server, "search", "--complete", "her").out
        == api.workspace.command("search", "--complete", "her").out
    )
    bounded = ["http://h.example/cal?month=*", [100, 100, 100], list(range(10)), 1.0, 100, []]
    note_traps(source_notes(api.project, "site"), [bounded])
    assert ask(api, server, "status").out == api.workspace.command("status").out
    assert bounded[0] in ask(api, server, "status").out
    (row,) = ask(api, server, "status", "--json").json["sources"]
    assert row["service"]["phase"] == "idle"
    (api.project.state.path / "site.sqlite").write_bytes(b"no database" * 1000)
    here, there = api.workspace.command("status"), ask(api, server, "status")
    assert (there.code, without_moments(there.out)) == (here.code, without_moments(here.out))
    assert here.code == 1


def without_moments(text: str) -> str:
    """Return a text without moments: that of the next run of a source whose state is unreadable is now."""
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", text)


def test_crawls_are_begun_and_steered_there(api: Api, server: str) -> None:
    assert ask(api, server, "crawl", "--force").out == "site: crawl requested\n"
    assert ask(api, server, "pause", "site").out == "site: pause requested\n"
    (told,) = ask(api, server, "stop", "site", "--json").json["sources"]
    assert (told["source"], told["command"], told["obeyed"]) == ("site", "stop", None)
    assert api.supervisor.orders == [("start", "site", "force"), ("pause", "site"), ("stop", "site")]
    again = ask(api, server, "stop", "site")
    assert (again.code, again.err.count("\n"), "site" in again.err) == (1, 1, True)


def test_the_status_is_that_of_the_source_that_was_named(api: Api, server: str) -> None:
    one = ask(api, server, "status", "site", "--json").json["sources"]
    assert [row["source"] for row in one] == ["site"]
    assert ask(api, server, "status", "site").out.startswith("site: ")


def test_mistakes_are_one_line(api: Api, server: str) -> None:
    for words, problem in (
        (["search", "x", "--source", "none"], "'none'"),
        (["search", "x", "--principal", "staff"], "--principal"),
        (["crawl", "none"], "'none'"),
        (["status", "-c", "x.yaml"], "-c"),
        (["status", "none"], "'none'"),
    ):
        refused = ask(api, server, *words)
        assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
        assert problem in refused.err
    reader = ask(api, server, "crawl", role=Role.READER)
    assert (reader.code, "editor" in reader.err) == (2, True)
    nobody = api.workspace.command("status", "--server", server)
    assert (nobody.code, "ULTRACRAWL_TOKEN" in nobody.err) == (2, True)
    wrong = api.workspace.command("status", "--server", server, ULTRACRAWL_TOKEN="uc_x_y")
    assert (wrong.code, "ULTRACRAWL_TOKEN" in wrong.err, wrong.err.count("\n")) == (2, False, 1)


def test_a_token_may_lie_in_a_file(api: Api, server: str) -> None:
    (api.workspace.directory / "token").write_text(api.secrets[Role.READER] + "\n")
    assert api.workspace.command("status", "--server", server, ULTRACRAWL_TOKEN_FILE="token").code == 0


def test_a_server_that_is_away_or_none_is_one_line(api: Api) -> None:
    away = ask(api, f"http://127.0.0.1:{free_port()}", "status")
    assert (away.code, away.err.count("\n")) == (1, 1)
    other = Server(lambda _request: Reply(200, body=b"<html>"))
    other.start()
    try:
        none = ask(api, other.url, "status")
    finally:
        other.stop()
    assert (none.code, none.err.count("\n"), none.out) == (1, 1, "")


def test_a_token_goes_to_no_other_server(api: Api) -> None:
    got = []

    def answer(request: object) -> Reply:
        got.append(request)
        return Reply(302, (("Location", f"{other.url}/elsewhere"),))

    other, first = Server(answer), Server(answer)
    other.start()
    first.start()
    try:
        with pytest.raises(CommandLineError) as raised:
            ServiceClient(first.url, "uc_a_b").get("sources")
        assert (raised.value.mistake, raised.value.values["status"]) == (Mistake.NO_SERVICE, 302)
    finally:
        first.stop()
        other.stop()
    assert len(got) == 1


@pytest.mark.parametrize(
    "url",
    [
        "crawls.example.com",
        "ftp://a.example",
        "http://crawls.example.com",
        "https://u:p@a.example",
        "https://",
        "https://[",
    ],
)
def test_addresses_that_are_none_or_in_clear_are_refused(url: str) -> None:
    with pytest.raises(UserError, match="--server"):
        ServiceClient(url, "uc_a_b")
