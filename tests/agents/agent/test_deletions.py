"""Documents that a smart agent names as deleted: by display URL, by key, by access URL."""

from __future__ import annotations

from typing import Any

import pytest
from support.agent_system import AgentSystem, agent_source
from support.listed import crawl, found
from support.named import named
from support.network import NetworkSite
from support.project import Workspace

from ultracrawl.agents import CrawlerAgent, UrlData
from ultracrawl.agents.testing import AgentSuite


def define(workspace: Workspace) -> None:
    source = agent_source(workspace.directory, parameters={"smart": True}, deletion={"percent": 100})
    workspace.write({"sources": {"cms": source}})


def shown(name: str) -> str:
    return f"https://cms.example.com/{name}"


def gone(display_url: str = "", **names: str) -> dict[str, Any]:
    return {"display_url": display_url, **names, "deleted": True}


DELIVERED = {"text": "common words"}
DELETIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "delivered, by display URL": (DELIVERED, gone(shown("x"))),
    "delivered with a key, by key": ({**DELIVERED, "doc_key": "k"}, gone(doc_key="k")),
    "delivered with a key, by display URL": ({**DELIVERED, "doc_key": "k"}, gone(shown("x"))),
    "delivered with a key, by both": ({**DELIVERED, "doc_key": "k"}, gone(shown("x"), doc_key="k")),
    "delivered with an access URL, by it": (
        {**DELIVERED, "access_url": "https://other.example.com/x"},
        gone(access_url="https://other.example.com/x"),
    ),
    "delivered with an access URL, by display URL": (
        {**DELIVERED, "access_url": "https://other.example.com/x"},
        gone(shown("x")),
    ),
    "fetched, by display URL": ({"access_url": "SITE/x"}, gone(shown("x"))),
    "fetched, by access URL": ({"access_url": "SITE/x"}, gone(access_url="SITE/x")),
    "fetched, by both": ({"access_url": "SITE/x"}, gone(shown("x"), access_url="SITE/x")),
    "fetched, by display URL and a new key": ({"access_url": "SITE/x"}, gone(shown("x"), doc_key="k")),
    "fetched with a key, by key": ({"access_url": "SITE/x", "doc_key": "k"}, gone(doc_key="k")),
    "fetched with a key, by key and display URL": (
        {"access_url": "SITE/x", "doc_key": "k"},
        gone(shown("x"), doc_key="k"),
    ),
    "fetched from its display URL, by it": ({"display_url": "SITE/x"}, gone("SITE/x")),
}


@pytest.mark.parametrize(("told", "deletion"), DELETIONS.values(), ids=list(DELETIONS))
def test_a_document_that_is_named_as_deleted_leaves_the_index(
    workspace: Workspace,
    system: AgentSystem,
    site: NetworkSite,
    url: str,
    told: dict[str, Any],
    deletion: dict[str, Any],
) -> None:
    def at_site(values: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value.replace("SITE", url) if isinstance(value, str) else value
            for name, value in values.items()
        }

    for name in "xy":
        site.page(f"/{name}", text=f"common {name}")
    neighbour = {"display_url": shown("y"), "access_url": f"{url}/y", "doc_key": "y"}
    define(workspace)
    system.put({"display_url": shown("x"), **at_site(told)}, neighbour)
    crawl(workspace)
    assert found(workspace, "common") == ["x", "y"]
    system.put(at_site(deletion))
    run = crawl(workspace)
    assert (run["deleted"], found(workspace, "common"), run["remarks"]) == (1, ["y"], [])
    for _ in range(2):  # the agent may repeat itself
        run = crawl(workspace)
        assert (run["deleted"], found(workspace, "common"), run["remarks"]) == (0, ["y"], [])


def test_deletions_of_unknown_documents_are_counted_and_reported(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace)
    system.put({"display_url": shown("x"), **DELIVERED})
    crawl(workspace)
    system.put(gone(shown("never")))
    run = crawl(workspace)
    (remark,) = run["remarks"]
    assert shown("never") in remark
    system.put(gone(doc_key="k"), gone(access_url="http://127.0.0.1:1/x"), gone(shown("never")))
    ended = workspace.command("crawl", "cms")
    assert ended.code == 0
    assert "3" in named(ended.out)
    assert found(workspace, "common") == ["x"]


def test_a_display_url_that_another_document_took_over_is_left_alone(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace)
    system.put({"display_url": shown("x"), "doc_key": "new", **DELIVERED})
    crawl(workspace)
    system.put(gone(shown("x"), doc_key="old"))
    run = crawl(workspace)
    assert (len(run["remarks"]), found(workspace, "common")) == (1, ["x"])


@pytest.mark.parametrize("batches_between", [0, 1])
def test_what_is_listed_last_counts(workspace: Workspace, system: AgentSystem, batches_between: int) -> None:
    define(workspace)
    others = [{"display_url": shown(f"o{n}"), "text": "other"} for n in range(batches_between * 100)]
    document = {"display_url": shown("x"), **DELIVERED}
    system.put({"display_url": shown("z"), **DELIVERED}, document, *others, gone(shown("x")))
    crawl(workspace)
    assert found(workspace, "common") == ["z"]
    system.put(document)
    crawl(workspace)
    assert found(workspace, "common") == ["x", "z"]
    system.put(gone(shown("x")), *others, document)
    crawl(workspace)
    assert found(workspace, "common") == ["x", "z"]


class _Smart(CrawlerAgent):
    deletion = UrlData("https://cms.example.com/x", deleted=True)
    deleted = False

    def is_delta_crawling_capable(self) -> bool:
        return True

    def start_crawling(self, force_recrawl: bool, last_crawl_time: object) -> None:
        whole = [UrlData("https://cms.example.com/x", doc_key="k", text="common")]
        self.left = [type(self).deletion] if type(self).deleted else [] if last_crawl_time else whole

    def fetch(self) -> UrlData | None:
        return self.left.pop() if self.left else None


@pytest.mark.parametrize(
    ("deletion", "passes"),
    [
        (UrlData("https://cms.example.com/x", deleted=True), True),
        (UrlData("", doc_key="k", deleted=True), True),
        (UrlData("", doc_key="other", deleted=True), False),
        (UrlData("https://cms.example.com/x", doc_key="other", deleted=True), False),
        (UrlData("https://cms.example.com/y", deleted=True), False),
        (UrlData("https://cms.example.com/x", text="common"), False),
    ],
)
def test_the_suite_for_agents_checks_that_a_deletion_names_its_document(
    deletion: UrlData, passes: bool
) -> None:
    class Agent(_Smart):
        pass

    Agent.deletion = deletion

    class Suite(AgentSuite):
        agent_class = Agent

        def delete_document(self) -> str:
            Agent.deleted = True
            return "https://cms.example.com/x"

    if passes:
        Suite().test_deletion_is_listed()
        return
    with pytest.raises(AssertionError):
        Suite().test_deletion_is_listed()
