"""Statistics of queries by the API and the command line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from support.in_process import InProcessWorkspace

from ultracrawl.service.access.requester import Role
from ultracrawl.service.statistics.store import QueryStore
from ultracrawl.stores.audit_log import FILE

if TYPE_CHECKING:
    from service.api.conftest import Api


def search(api: Api, *texts: str, **params: object) -> None:
    for text in texts:
        api.get("/search", Role.READER, q=text, **params)


def click(api: Api, text: str, position: object, role: Role = Role.READER) -> int:
    params = {"q": text, "position": position}
    return api.ask("POST", "/api/v1/clicks", role=role, params=params).status_code


def test_what_is_searched_and_chosen_is_what_editors_see(api: Api, workspace: InProcessWorkspace) -> None:
    search(api, "heron", "heron", "heron", "egret", "egret", *["pelican"] * 3)
    assert [click(api, "heron", 1) for _ in range(3)] == [204] * 3
    report = api.get("/queries", Role.EDITOR)
    assert [
        (row["query"], row["searches"], row["without_answers"], row["clicks"]) for row in report["queries"]
    ] == [
        ("heron", 3, 0, 3),
        ("pelican", 3, 3, 0),
    ]
    assert report["statistics"] is True
    assert report["days"][0]["searches"] == 8
    assert [row["query"] for row in api.get("/queries", without_answers=True)["queries"]] == ["pelican"]
    assert workspace.command("queries", "--json").json == report
    printed = workspace.command("queries").out
    assert "heron" in printed
    assert "egret" not in printed
    assert workspace.command("queries", "--origin", "key:docs", "--json").json["queries"] == []


def test_only_editors_and_administrators_see_it(api: Api) -> None:
    assert api.ask("GET", "/api/v1/queries", role=Role.READER).status_code == 403
    assert api.ask("GET", "/api/v1/queries", role=None).status_code == 401
    assert api.ask("POST", "/api/v1/clicks", role=None, params={"q": "x", "position": 1}).status_code == 401


@pytest.mark.parametrize(
    "params", [{"offset": 1}, {"limit": 0}, {"like": "like"}], ids=["page", "count", "like"]
)
def test_only_the_first_page_of_a_query_is_counted(api: Api, url: str, params: dict[str, object]) -> None:
    if "like" in params:
        params = {"like": f"{url}/heron"}
    search(api, *["heron"] * 3, **params)
    assert api.get("/queries")["days"] == []


def test_an_empty_query_and_a_failed_one_are_not_counted(api: Api) -> None:
    search(api, *["  "] * 3)
    assert api.ask("GET", "/api/v1/search", params={"q": "Colour:x", "sort": "Nothing"}).status_code == 400
    assert api.get("/queries")["days"] == []


def test_a_suggestion_is_no_search(api: Api) -> None:
    for _ in range(3):
        api.get("/suggest", q="her")
    assert api.get("/queries")["days"] == []


@pytest.mark.parametrize("position", [0, -1, 1e9, "first"])
def test_a_position_is_a_number_from_1(api: Api, position: object) -> None:
    assert click(api, "heron", position) == 422


def test_a_public_key_counts_its_clicks_and_reads_no_statistics(api: Api) -> None:
    site = "https://docs.example.com"
    key = api.store.create_token("docs", None, sites=[site])
    known, headers = {"key": key, "q": "heron"}, {"Origin": site}
    assert api.ask("GET", "/api/v1/search", role=None, params=known, headers=headers).status_code == 200
    for origin, status in ((site, 204), ("https://evil.example", 403)):
        answer = api.ask(
            "POST", "/api/v1/clicks", role=None, params={**known, "position": 2}, headers={"Origin": origin}
        )
        assert answer.status_code == status
        allowed = answer.headers.get("access-control-allow-origin")
        assert allowed == (site if status == 204 else None)
    day = datetime.now(UTC).date()
    counts = QueryStore.of_project(api.project).read(day)["key:docs"].queries["heron"]
    assert (counts.searches, counts.clicks.total()) == (1, 1)
    assert api.ask("GET", "/api/v1/queries", role=None, params={"key": key}).status_code == 401


def test_clicks_are_not_in_the_audit_log(api: Api) -> None:
    search(api, "heron")
    click(api, "heron", 1)
    path = api.project.logs.path / FILE
    assert not path.exists() or "click" not in path.read_text()


def test_off_counts_nothing_and_says_so(api: Api, workspace: InProcessWorkspace) -> None:
    with (workspace.directory / "ultracrawl.yaml").open("a") as file:
        file.write("search_page: {statistics: false}\n")
    search(api, *["heron"] * 3)
    report = api.get("/queries")
    assert (report["statistics"], report["days"]) == (False, [])
    assert not (api.project.state.path / "service" / "queries").exists()
    assert workspace.command("queries").code == 0


def test_searches_on_the_machine_itself_are_not_counted(api: Api, workspace: InProcessWorkspace) -> None:
    for _ in range(3):
        workspace.command("search", "heron")
    assert api.get("/queries", days=1)["days"] == []
