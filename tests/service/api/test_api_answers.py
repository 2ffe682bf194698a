"""What the API answers: the shapes of the command line's `--json`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter
from support.network import NetworkSite
from support.project import Workspace
from support.sentences import sentence

from ultracrawl.index import IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.model import Finding
from ultracrawl.service.access.requester import Role
from ultracrawl.service.api import approvals, schedules, searches, sources
from ultracrawl.service.searching.searchers import Searchers

if TYPE_CHECKING:
    from service.api.conftest import Api


def timeless(answer: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in answer.items() if name != "took_ms"}


def test_a_search_answers_the_shape_of_the_command(api: Api, workspace: Workspace) -> None:
    answer = api.get("/search", Role.READER, q="heron", limit=5, facet="Language", language="en")
    words = ["search", "heron", "--limit", "5", "--facet", "Language", "--language", "en", "--json"]
    assert timeless(answer) == timeless(workspace.command(*words).json)
    assert answer["hits"][0]["title"] == "Heron"


def test_sections_and_counts_for_choosing_are_those_of_the_command(api: Api, workspace: Workspace) -> None:
    chosen = {"facet": "Title", "where": "Title=Heron", "q": ""}
    wanted = {"sections": 3, "disjunctive_facets": True, "count_sources": True}
    words = ["search", "", "--facet", "Title", "--where", "Title=Heron", "--json"]
    words += ["--sections", "3", "--disjunctive-facets", "--count-sources"]
    answer = api.get("/search", Role.READER, **chosen, **wanted)
    assert timeless(answer) == timeless(workspace.command(*words).json)
    assert answer["total"] == 1
    assert {one["value"]: one["count"] for one in answer["facets"]["Title"]} == {
        "Birds": 1,
        "Egret": 1,
        "Heron": 1,
    }
    assert answer["sources"] == [{"value": "site", "count": 1}]
    plain = api.get("/search", Role.READER, **chosen)
    assert [len(plain["facets"]["Title"]), plain["sources"], plain["hits"][0]["sections"]] == [1, [], []]
    assert api.ask("GET", "/api/v1/search", params={"q": "x", "sections": 4}).status_code == 422


def test_a_search_takes_filters_and_pages(api: Api) -> None:
    assert api.get("/search", q="", limit=2)["total"] == 3
    assert len(api.get("/search", q="", limit=2, offset=2)["hits"]) == 1
    assert api.get("/search", q="", where="Title=Heron", source="site")["total"] == 1
    assert api.get("/search", q="", all=["Title=Heron", "Title=Egret"])["total"] == 0


def test_what_is_being_typed_is_completed(api: Api, workspace: Workspace) -> None:
    assert api.get("/suggest", q="her") == workspace.command("search", "--complete", "her", "--json").json


def test_sources_stand_as_status_says(api: Api, workspace: Workspace) -> None:
    (row,) = api.get("/sources", Role.READER)["sources"]
    service = row.pop("service")
    assert row == workspace.command("status", "--json").json["sources"][0]
    assert service["phase"] == "idle"
    assert api.get("/sources/site")["known"] == row["known"]


def test_sources_that_no_file_defines_any_more_stand_apart(api: Api, workspace: Workspace) -> None:
    folder = api.project.state.path
    shutil.copy(folder / "site.sqlite", folder / "gone.sqlite")
    (row,) = api.get("/sources", Role.READER)["left_over"]
    assert [row] == workspace.command("status", "--json").json["left_over"]
    assert row["source"] == "gone"


def test_runs_are_reports(api: Api) -> None:
    (run,) = api.get("/sources/site/runs")["runs"]
    assert (run["source"], run["fetched"], run["problems"]) == ("site", 3, [])


def test_urls_come_in_pages(api: Api, workspace: Workspace) -> None:
    rows = workspace.command("urls", "--json").lines
    assert [row.pop("linked_from") for row in rows] == [None] * 3, "which the API does not look for"
    first = api.get("/sources/site/urls", limit=2)
    rest = api.get("/sources/site/urls", limit=2, after=first["next"])
    assert first["urls"] + rest["urls"] == rows
    assert rest["next"] is None
    assert api.get("/sources/site/urls", outcome="GONE") == {"urls": [], "next": None}
    assert api.get("/sources/site/urls", outcome="new")["urls"] == rows


def test_looks_at_rules_and_queue_answer_as_their_verbs(api: Api, workspace: Workspace, url: str) -> None:
    asked = api.get("/sources/site/explain", url=f"{url}/heron")
    assert asked == workspace.command("explain", f"{url}/heron", "--json").json
    assert api.get("/sources/site/plan") == workspace.command("plan", "--json").json["sources"][0]
    assert api.get("/sources/site/queue") == workspace.command("queue", "--json").json["sources"][0]


def test_a_document_is_found_by_its_key(api: Api, url: str) -> None:
    found = api.get("/documents", Role.READER, source="site", url=f"{url}/egret")
    assert (found["url"], found["title"]) == (f"{url}/egret", "Egret")
    missing = api.ask("GET", "/api/v1/documents", params={"source": "site", "url": f"{url}/none"})
    assert missing.status_code == 404


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_documents_are_shown_to_those_who_may_see_them(api: Api, workspace: Workspace, engine: str) -> None:
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    workspace.write({**definition, "index": {"engine": engine, "path": "var/other"}})
    index = open_index(api.project)
    index.apply(
        [
            IndexDocument("site", "http://a/salaries", "Salaries", "salary bands", acl=("staff",)),
            IndexDocument("site", "http://a/menu", "Menu", "salary of fish"),
        ]
    )
    index.close()
    staff = api.store.create_token("staff", Role.READER, ["staff"])
    everything = api.store.create_token("auditor", Role.READER, None)
    document = {"params": {"source": "site", "url": "http://a/salaries"}}
    for token, total, status in (
        (api.secrets[Role.ADMINISTRATOR], 1, 404),
        (staff, 2, 200),
        (everything, 2, 200),
    ):
        found = api.ask("GET", "/api/v1/search", token=token, params={"q": "salary"})
        assert found.json()["total"] == total
        assert api.ask("GET", "/api/v1/documents", token=token, **document).status_code == status


def test_orders_go_to_the_supervisor(api: Api) -> None:
    begun = api.ask("POST", "/api/v1/sources/site/start", role=Role.EDITOR, json={"force": True})
    assert (begun.status_code, begun.json()["service"]["phase"]) == (202, "running")
    assert api.get("/sources/site")["service"]["live"] == {"fetched": 3}
    again = api.ask("POST", "/api/v1/sources/site/start")
    assert again.status_code == 409
    for order in ("pause", "resume", "stop"):
        assert api.ask("POST", f"/api/v1/sources/site/{order}").status_code == 202
    assert api.supervisor.orders == [
        ("start", "site", "force"),
        ("pause", "site"),
        ("resume", "site"),
        ("stop", "site"),
    ]
    assert api.ask("POST", "/api/v1/sources/site/stop").status_code == 409


def test_schedules_are_shown_and_steered(api: Api) -> None:
    (row,) = api.get("/schedules", Role.READER)["schedules"]
    assert (row["name"], row["sources"], row["status"], row["next_run"]) == (
        "nightly", ["site"], "scheduled", "2001-09-09T01:46:40Z",
    )  # fmt: skip
    told = api.ask("POST", "/api/v1/schedules/nightly/disable")
    assert (told.status_code, told.json()["status"]) == (202, "disabled")
    assert api.ask("POST", "/api/v1/schedules/nightly/launch").status_code == 202
    assert api.ask("POST", "/api/v1/schedules/daily/launch").status_code == 404
    assert api.ask("POST", "/api/v1/schedules/nightly/explode").status_code == 422


def test_ultra_search_117_documents_that_wait_are_removed_and_indexed(workspace: Workspace, url: str) -> None:
    from service.api.conftest import Api

    workspace.define(f"{url}/", crawling_mode="examine")
    workspace.crawl()
    api = Api(workspace)  # type: ignore[arg-type]
    waiting = api.get("/sources/site/approvals", Role.EDITOR)["documents"]
    assert sorted(one["url"] for one in waiting) == [f"{url}/", f"{url}/egret", f"{url}/heron"]
    path = "/api/v1/sources/site/approvals"
    removed = api.ask("POST", path, json={"decision": "remove", "urls": [f"{url}/egret"]})
    assert (removed.json()["removed"], removed.json()["pending"]) == (1, 2)
    assert api.ask("POST", path, json={}).json()["indexed"] == 2
    assert api.get("/search", q="")["total"] == 2
    assert api.ask("POST", path, json={"decision": "remove"}).status_code == 400


def test_deletions_that_were_held_back_are_carried_out(api: Api, site: object, workspace: Workspace) -> None:
    site.page("/", title="Birds")  # type: ignore[attr-defined]
    site.remove("/heron")  # type: ignore[attr-defined]
    site.remove("/egret")  # type: ignore[attr-defined]
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    definition["sources"]["site"]["deletion"] = {"percent": 10, "always": 0}
    workspace.write(definition)
    workspace.crawl(code=None)
    held = api.get("/sources/site/deletions")["documents"]
    listed = workspace.command("approve-deletions", "site", "--list", "--json").json["documents"]
    assert len(held) == 2
    assert held == listed
    done = api.ask("POST", "/api/v1/sources/site/deletions", json={"decision": "delete"}).json()
    assert (done["done"], len(done["documents"])) == ("deleted", len(held))


def test_changes_that_were_held_back_are_let_in(api: Api, site: object, workspace: Workspace) -> None:
    names = [f"/tale{number}" for number in range(8)]
    site.page("/", title="Birds", links=["/heron", "/egret", *names])  # type: ignore[attr-defined]
    for name in names:
        site.page(name, title=f"Tale {name}", text=f"own{name[1:]} story{name[5:]}a word{name[5:]}b")  # type: ignore[attr-defined]
    workspace.crawl()
    for name in names:
        site.page(name, title="Log in", text=f"please log in to read {name}")  # type: ignore[attr-defined]
    workspace.crawl(code=1)
    assert api.get("/search", q="please")["total"] == 0
    held = api.get("/sources/site/changes")["documents"]
    assert held == workspace.command("approve-changes", "site", "--list", "--json").json["documents"]
    assert (len(held), held[0]["cause"]) == (8, sentence("approval.words_lost"))
    path = "/api/v1/sources/site/changes"
    done = api.ask("POST", path, json={"decision": "accept"}).json()
    assert (done["done"], len(done["documents"])) == ("accepted", 8)
    assert api.get("/search", q="please")["total"] == 8
    assert api.ask("POST", path, json={"decision": "delete"}).status_code in (400, 422)


def test_fifty_searches_at_once_are_all_answered(api: Api) -> None:
    requests = [("GET", "/api/v1/search", {"params": {"q": "heron"}})] * 50
    answers = api.ask_all(requests, role=Role.READER)
    assert {(one.status_code, one.json()["total"]) for one in answers} == {(200, 2)}


def test_definitions_are_read_anew(api: Api) -> None:
    answer = api.ask("POST", "/api/v1/reload")
    assert (answer.status_code, answer.json()) == (200, {"reloaded": True, "findings": []})


def test_urls_that_are_submitted_are_judged_and_asked_for_by_the_next_crawl(
    api: Api, site: NetworkSite, workspace: Workspace, url: str
) -> None:
    site.page("/lonely", title="Lonely", text="nothing leads here")
    urls = [f"{url}/lonely", f"{url}/lonely#part", f"{url}/heron", "http://elsewhere.example/", "nonsense"]
    ports = [url.rpartition(":")[0] + ":22/", url.rpartition(":")[0] + ":9999/canary"]
    path = "/api/v1/sources/site/urls"
    answer = api.ask("POST", path, role=Role.EDITOR, json={"urls": urls}).json()
    assert answer["accepted"] == [f"{url}/lonely"]
    assert [one["code"] for one in answer["answers"]] == [0, 0, 4, 6, 2]
    assert [one["url"] for one in answer["refused"]] == ["http://elsewhere.example/", "nonsense"]
    assert all(one["rule"] for one in answer["refused"])
    answer = api.ask("POST", path, role=Role.EDITOR, json={"urls": ports}).json()
    assert (answer["accepted"], {one["stage"] for one in answer["refused"]}) == ([], {"port"})
    workspace.crawl()
    assert site.count("/lonely") == 1
    assert api.get("/search", q="lonely")["total"] == 1
    assert api.ask("POST", path, role=Role.READER, json={"urls": urls}).status_code == 403
    assert api.ask("POST", path, json={"urls": []}).status_code == 422


def test_what_is_loaded_in_bulk_holds_from_the_next_search_on(api: Api, workspace: Workspace) -> None:
    def found() -> tuple[list[str], str]:
        with searchers.searcher_for("", (), None) as searcher:
            hits = [hit.url for hit in searcher.search("the").hits]
            return hits, searcher.display_name("Author", "lee", "en")

    def load(kind: str, text: str) -> None:
        file = workspace.directory / f"{kind}.xml"
        file.write_text(text)
        assert workspace.command("load-metadata", "--type", kind, str(file)).code == 0

    searchers = Searchers(document_cache=0, patience=60.0)
    searchers.use(api.project)
    (*_, last), name = found()
    assert name == "lee"
    load("boost", f'<boosts><boost url="{last}" factor="50"/></boosts>')
    assert found()[0][0] == last
    load(
        "lov",
        '<attribute name="Author"><value v="lee"><display lang="en">Ann Lee</display></value></attribute>',
    )
    assert found()[1] == "Ann Lee"
    searchers.close()


def reported_of(shape: Any, answer: Any, place: str = "") -> Iterator[str]:
    """Yield the members of an answer that its shape does not name."""
    if isinstance(shape, BaseModel):
        yield from (f"{place}.{name}" for name in shape.model_extra or ())
        for name in type(shape).model_fields:
            yield from reported_of(getattr(shape, name), answer[name], f"{place}.{name}")
    elif isinstance(shape, list):
        for one, told in zip(shape, answer, strict=True):
            yield from reported_of(one, told, place)
    elif isinstance(shape, dict):
        for name, one in shape.items():
            yield from reported_of(one, answer[name], f"{place}.{name}")


def test_answers_have_the_shapes_of_the_description(api: Api, url: str) -> None:
    models = {
        (method, route.path): one["model"]
        for part in (sources, searches, approvals, schedules)
        for route in part.router.routes
        if isinstance(route, APIRoute)
        for method in route.methods
        for one in route.responses.values()
        if "model" in one
    }
    api.supervisor.findings = [Finding("ultracrawl.yaml", 3, "sources", "wrong", "mend it", fatal=False)]
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/sources", {}),
        ("GET", "/sources/{name}", {}),
        ("GET", "/sources/{name}/runs", {}),
        ("GET", "/sources/{name}/runs/difference", {"params": {"first": 1, "second": 1}}),
        ("GET", "/sources/{name}/urls", {}),
        ("GET", "/sources/{name}/queue", {}),
        ("GET", "/sources/{name}/plan", {}),
        ("GET", "/sources/{name}/explain", {"params": {"url": url}}),
        ("GET", "/search", {"params": {"q": "heron", "facet": "Language"}}),
        ("GET", "/suggest", {"params": {"q": "her"}}),
        ("GET", "/documents", {"params": {"source": "site", "url": f"{url}/egret"}}),
        ("GET", "/sources/{name}/approvals", {}),
        ("POST", "/sources/{name}/approvals", {"json": {"decision": "remove", "urls": [f"{url}/egret"]}}),
        ("POST", "/sources/{name}/urls", {"json": {"urls": [f"{url}/heron", "nonsense"]}}),
        ("GET", "/sources/{name}/deletions", {}),
        ("POST", "/sources/{name}/deletions", {"json": {"decision": "discard"}}),
        ("GET", "/sources/{name}/changes", {}),
        ("POST", "/sources/{name}/changes", {"json": {"decision": "discard"}}),
        ("GET", "/schedules", {}),
        *(("POST", f"/sources/{{name}}/{order}", {}) for order in ("start", "pause", "resume", "stop")),
        ("POST", "/schedules/{name}/{order}", {}),
        ("POST", "/reload", {}),
    ]
    assert {(method, path) for method, path, _ in asked} == set(models)
    for method, path, options in asked:
        name = "nightly" if "order" in path else "site"
        filled = f"/api/v1{path.format(name=name, order='launch')}"
        answer = api.ask(method, filled, **options)
        assert answer.status_code in (200, 202), answer.text
        shape = TypeAdapter(models[method, path]).validate_python(answer.json())
        assert list(reported_of(shape, answer.json(), path)) == []
