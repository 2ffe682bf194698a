"""Whole crawls of sources that an agent lists."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from documentation.pages import blocks
from support.agent_system import AgentSystem, agent_source
from support.listed import crawl, found, outcomes
from support.network import NetworkSite
from support.project import ROOT, Workspace
from support.resource import Reply
from support.sentences import sentence
from support.server import Request


def define(workspace: Workspace, **options: Any) -> None:
    attributes = {"Section": "string", "Size": "number"}
    source = agent_source(workspace.directory, **options)
    workspace.write({"attributes": attributes, "sources": {"cms": source}})


def note(name: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {"display_url": f"https://cms.example.com/{name}", "text": f"common {text or name}", **more}


# Checklist 24 of Ultra Search: user-defined sources can be defined.
def test_ultra_search_24_delivered_documents_are_found_with_all_that_is_said(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace, attributes={"author": "Author", "section": "Section", "size": "Size"})
    said = {"author": ["Lee", "Okafor"], "section": "birds", "size": 7}
    system.put(note("heron", title="The heron", language="en", attributes=said), note("egret"))
    assert outcomes(crawl(workspace)) == {"NEW": 2}
    (hit,) = workspace.command("search", "heron", "--json").json["hits"]
    assert (hit["title"], hit["url"], hit["source"]) == (
        "The heron",
        "https://cms.example.com/heron",
        "cms",
    )
    assert hit["attributes"]["Author"] == ["Lee", "Okafor"]
    assert (hit["attributes"]["Section"], hit["attributes"]["Size"]) == (["birds"], [7.0])
    assert hit["attributes"]["Language"] == ["en"]


@pytest.mark.parametrize(
    "way", [{}, {"doc_key": "k"}, {"access_url": "https://cms.example.com/x", "doc_key": "k"}]
)
def test_a_display_url_that_would_run_a_script_is_1010(
    workspace: Workspace, system: AgentSystem, way: dict[str, str]
) -> None:
    define(workspace)
    system.put(note("egret"), {**note("heron"), "display_url": "javascript:alert(1)", **way})
    crawl(workspace)
    codes = [row["status_code"] for row in workspace.command("urls", "--json").lines]
    assert (sorted(codes), found(workspace, "common")) == ([200, 1010], ["egret"])


def test_attributes_are_found_by_their_names_without_a_mapping(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace)
    sales = {"Department": ["Sales", "Support"], "Size": 7, "Section": "birds", "Author": "Lee"}
    system.put(
        note("a", attributes=sales, owner="jo", parse_doc=True), note("b", attributes={"department": "HR"})
    )
    crawl(workspace)
    for wanted in ("Department=sales", "department=Support", "Size>=5", "Section=birds", "Owner=jo"):
        assert found(workspace, "--where", wanted) == ["a"], wanted
    assert found(workspace, "common", "--where", "Department!=Sales") == ["b"]
    values = workspace.command("search", "Author:Lee", "--json").json["hits"][0]["attributes"]
    assert (values["department"], values["Size"]) == (["Sales", "Support"], [7.0])
    ended = workspace.command("search", "--where", "Department>=5")
    assert ended.code == 2
    assert "only = and !=" in ended.err


def test_ultra_search_99_the_crawl_finds_what_changed_and_what_a_standard_agent_names_no_more(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace, deletion={"percent": 100})
    system.put(*(note(name) for name in "abcd"))
    crawl(workspace)
    system.put(note("a"), note("b", "changed"), note("c", title="named"))
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 1, "MODIFIED": 2}
    assert found(workspace, "common") == ["a", "b", "c"]
    assert found(workspace, "changed") == ["b"]


def test_ultra_search_98_100_a_smart_agent_names_changes_and_the_rest_stays(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace, parameters={"smart": True}, deletion={"percent": 100})
    system.put(*(note(name) for name in "abcd"))
    crawl(workspace)
    (first,) = (call for call in system.calls if call[0] == "start_crawling")
    system.put(
        note("a", changed=False),
        note("b", "changed"),
        {**note("c"), "deleted": True},
        note("d", changed=False),
    )
    crawl(workspace)
    calls = system.calls
    (second,) = (call for call in calls if call[0] == "start_crawling")
    assert (first[1:], second[1]) == ([False, None], False)
    assert second[2] > 0
    assert [call[1].rpartition("/")[2] for call in calls if call[0] == "received"] == ["b", "c"]
    assert found(workspace, "common") == ["a", "b", "d"]
    assert found(workspace, "changed") == ["b"]


def test_force_asks_a_smart_agent_for_everything(workspace: Workspace, system: AgentSystem) -> None:
    define(workspace, parameters={"smart": True})
    system.put(note("a", changed=False), note("b", changed=False))
    crawl(workspace)
    _ = system.calls
    run = crawl(workspace, "--force")
    assert ["start_crawling", True, None] in system.calls
    assert run["fetched"] == 2


def test_what_is_not_delivered_is_fetched_like_a_page_of_a_web_site(
    workspace: Workspace, system: AgentSystem, site: NetworkSite, url: str
) -> None:
    define(workspace)
    site.page("/heron", title="Heron of the page", text="the grey heron", links=["/never"])
    document = {"display_url": "https://cms.example.com/heron", "access_url": f"{url}/heron"}
    system.put({**document, "title": "The heron"})
    assert outcomes(crawl(workspace)) == {"NEW": 1}
    (hit,) = workspace.command("search", "grey", "--json").json["hits"]
    assert (hit["title"], hit["url"]) == ("The heron", "https://cms.example.com/heron")
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 1}
    assert (site.count("/heron"), site.count("/never")) == (2, 0)
    assert site.count("/robots.txt") > 0


def test_what_the_agent_says_anew_of_an_unchanged_page_is_taken(
    workspace: Workspace, system: AgentSystem, site: NetworkSite, url: str
) -> None:
    define(workspace)
    site.page("/heron", text="grey")
    shown = {"display_url": "https://cms.example.com/heron", "access_url": f"{url}/heron"}
    system.put({**shown, "title": "First", "attributes": {"section": "a"}})
    crawl(workspace)
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 1}
    system.put({**shown, "title": "Second"})
    assert outcomes(crawl(workspace)) == {"MODIFIED": 1}
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 1}
    system.put({**shown, "title": "Second", "acl": ["staff"]})
    assert outcomes(crawl(workspace)) == {"MODIFIED": 1}
    assert found(workspace, "grey") == []
    (hit,) = workspace.command("search", "grey", "--principal", "staff", "--json").json["hits"]
    assert hit["title"] == "Second"
    site.page("/heron", text="grey and patient")
    assert outcomes(crawl(workspace)) == {"MODIFIED": 1}


def test_the_robots_txt_of_a_site_counts_for_what_is_fetched_and_no_delay_for_what_is_delivered(
    workspace: Workspace, system: AgentSystem, site: NetworkSite, url: str
) -> None:
    define(workspace, politeness={"delay": 3600})
    site.file("/robots.txt", b"User-agent: *\nDisallow: /private", "text/plain")
    site.page("/private", text="common")
    system.put(note("a"), note("b"), note("c"), {"display_url": f"{url}/private"})
    assert outcomes(crawl(workspace)) == {"NEW": 3, "ROBOTS": 1}
    assert site.count("/private") == 0


def guarded(request: Request) -> Reply:
    """Answer who says to be `heron` with the password `grey`."""
    if request.header("Authorization") != f"Basic {b64encode(b'heron:grey').decode()}":
        return Reply(401, (("WWW-Authenticate", 'Basic realm="Staff"'),))
    return Reply(200, (("Content-Type", "text/html"),), b"<title>x</title><p>common " + request.path.encode())


def test_the_agent_gives_user_and_password_where_a_server_asks(
    workspace: Workspace, system: AgentSystem, site: NetworkSite, url: str
) -> None:
    define(workspace)
    site.dynamic("/staff*", guarded)
    system.put(*({"display_url": f"{url}/staff{number}"} for number in range(3)))
    assert outcomes(crawl(workspace)) == {"NEW": 3}
    (asked,) = (call for call in system.calls if call[0] == "get_credential")
    assert asked[1:3] == ["127.0.0.1", "Staff"]
    assert asked[3].startswith(f"{url}/staff")
    assert found(workspace, "common") == ["staff0", "staff1", "staff2"]


def test_an_agent_that_gives_no_user_and_password_fails_the_run_with_a_line(
    workspace: Workspace, system: AgentSystem, site: NetworkSite, url: str
) -> None:
    define(workspace, parameters={"credential": "heron"})
    site.dynamic("/staff", guarded)
    system.put({"display_url": f"{url}/staff"})
    run = crawl(workspace, code=1)
    told = "the agent Tracker failed in get_credential(): it returned no user and password"
    assert run["problems"] == [told]


def test_an_error_fails_the_run_with_its_text_and_nothing_is_deleted(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace, deletion={"percent": 100})
    system.put(note("a"), note("b"))
    crawl(workspace)
    _ = system.calls
    system.put({"error": "the system\nis locked"})
    ended = workspace.command("crawl", "cms")
    assert ended.code == 1
    told = [one for one in (ended.out + ended.err).splitlines() if "Tracker" in one]
    assert told
    assert all("fetch()" in one and "the system is locked" in one for one in told), "in one line"
    assert "Traceback" not in ended.out + ended.err
    assert [call[0] for call in system.calls][-2:] == ["stop_crawling", "close"]
    assert found(workspace, "common") == ["a", "b"]


@pytest.mark.parametrize("smart", [False, True])
def test_a_document_that_could_not_be_had_is_taken_when_the_agent_delivers_it_mended(
    workspace: Workspace, system: AgentSystem, smart: bool
) -> None:
    define(workspace, parameters={"smart": smart})
    wrong = {**note("a", doc_key="7"), "display_url": "no url"}
    system.put(note("b"), wrong)
    for _ in range(2):
        assert outcomes(crawl(workspace))["FAILED"] == 1
    system.put(note("b", changed=False), note("a", doc_key="7"))
    assert outcomes(crawl(workspace))["NEW"] == 1
    assert found(workspace, "common") == ["a", "b"]


def test_after_a_run_that_failed_a_smart_agent_gets_the_time_that_it_had(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace, parameters={"smart": True})
    system.put(note("a"))
    crawl(workspace)
    _ = system.calls
    system.put(note("b"), {"error": "locked"})
    crawl(workspace, code=1)
    (failed,) = (call for call in system.calls if call[0] == "start_crawling")
    system.put(note("b"), note("c"))
    crawl(workspace)
    (then,) = (call for call in system.calls if call[0] == "start_crawling")
    assert failed == then
    assert found(workspace, "common") == ["a", "b", "c"]


def test_ultra_search_96_97_open_is_first_and_close_last_in_a_crawl(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace)
    system.put(note("a"), note("b"))
    crawl(workspace)
    calls = [call[0] for call in system.calls]
    assert (calls[0], calls[-2:]) == ("open", ["stop_crawling", "close"])
    assert calls.count("received") == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"class": "tracker.Nobody"}, "Module 'tracker' doesn't define any object named 'Nobody'"),
        ({"class": "nowhere.Agent"}, "No module named 'nowhere'"),
        ({"parameters": {"folder": "x", "fodler": 1}}, sentence("agents.parameters_fodler_agent_no_such")),
        ({"parameters": {}}, "parameters.folder: the agent needs it"),
    ],
)
def test_a_mistake_in_the_definition_is_one_line(
    workspace: Workspace, system: AgentSystem, options: dict[str, Any], told: str
) -> None:
    workspace.write({"sources": {"cms": {"type": "agent", "class": "tracker.Tracker", **options}}})
    ended = workspace.command("crawl", "cms")
    assert (ended.code, ended.out) == (2, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("ultracrawl: source 'cms': ")
    assert told in line


def test_the_class_is_looked_for_in_the_folders_of_the_definition(workspace: Workspace) -> None:
    system = AgentSystem(workspace.directory / "plugged")
    define(workspace, parameters={"folder": str(system.folder)})
    system.put(note("a"))
    assert "No module named 'tracker'" in workspace.crawl(code=2).err
    define(workspace, parameters={"folder": str(system.folder)}, plugins="plugged")
    assert outcomes(crawl(workspace)) == {"NEW": 1}


@pytest.mark.parametrize(
    ("option", "instead"),
    [
        ({"start_urls": ["https://cms.example.com/"]}, sentence("agents.agent_names_documents")),
        ({"depth": 3}, "links are not followed"),
    ],
)
def test_an_option_that_says_nothing_to_an_agent_is_a_mistake(
    workspace: Workspace, system: AgentSystem, option: dict[str, Any], instead: str
) -> None:
    define(workspace, **option)
    ended = workspace.command("lint")
    assert ended.code == 2
    assert instead in ended.out + ended.err


def test_ultra_search_118_a_source_of_an_agent_is_not_examined(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace, crawling_mode="examine")
    assert workspace.command("lint").code == 2


def test_its_sources_are_looked_at_like_any_other(workspace: Workspace, system: AgentSystem) -> None:
    define(workspace)
    system.put(note("a"), note("b", doc_key="7"))
    crawl(workspace)
    rows = workspace.command("urls", "--json").lines
    assert {(row["access_url"], row["display_url"]) for row in rows} == {
        ("agent://cms/https%3A%2F%2Fcms.example.com%2Fa", "https://cms.example.com/a"),
        ("agent://cms/7", "https://cms.example.com/b"),
    }
    assert workspace.command("status").code == 0
    assert workspace.command("plan", "cms").code == 0
    assert workspace.command("queue", "cms").code == 0
    assert workspace.command("explain", "agent://cms/7").code == 0
    assert (
        workspace.command("submit", "https://cms.example.com/c", "--source", "cms", "--json").json["code"]
        == 5
    )


def test_the_example_of_the_page_runs_as_it_is_printed(workspace: Workspace) -> None:
    page = ROOT / "docs" / "sources" / "agents.md"
    folder = workspace.directory
    (folder / "notes_agent.py").write_text(next(iter(blocks(page, "python"))))
    (folder / "ultracrawl.yaml").write_text(next(iter(blocks(page, "yaml"))))
    (folder / "notes").mkdir()
    track_file = {"url": "https://notes.example.com/heron", "title": "Heron", "text": "grey", "author": "Lee"}
    (folder / "notes" / "heron.json").write_text(json.dumps(track_file))
    assert workspace.command("crawl", "notes").code == 0
    (hit,) = workspace.command("search", "heron", "--json").json["hits"]
    assert (hit["url"], hit["attributes"]["Author"]) == ("https://notes.example.com/heron", ["Lee"])


def test_the_example_that_changes_a_field_runs_as_it_is_printed(workspace: Workspace) -> None:
    page, folder = ROOT / "docs" / "sources" / "agents.md", workspace.directory
    agent, changed = (block for block in blocks(page, "python") if "Notes(C" in block or "(Notes)" in block)
    (folder / "notes_agent.py").write_text(f"{agent}\n\n{changed}")
    definition = next(iter(blocks(page, "yaml"))).replace("notes_agent.Notes", "notes_agent.StaffNotes")
    (folder / "ultracrawl.yaml").write_text(definition)
    (folder / "notes").mkdir()
    note = {"url": "https://notes.example.com/heron", "title": "Heron", "text": "grey", "author": "Lee"}
    (folder / "notes" / "heron.json").write_text(json.dumps(note))
    assert workspace.command("crawl", "notes").code == 0
    (hit,) = workspace.command("search", "grey", "--where", "team=staff", "--json").json["hits"]
    assert (hit["title"], hit["attributes"]["Author"]) == ("HERON", ["Lee"])


@pytest.mark.parametrize("wrong", [{"acl": None}, {"attributes": None}, {"acl": 5}])
def test_a_document_with_wrong_fields_costs_itself(
    workspace: Workspace, system: AgentSystem, wrong: dict[str, Any]
) -> None:
    define(workspace)
    system.put(note("heron"), note("egret"), note("stork"), note("crane"))
    crawl(workspace)
    others = [note("heron", "heron changed"), note("stork"), note("crane")]
    system.put({**note("egret"), **wrong}, *others)
    for changed in (1, 0):  # it stays so, and the others are current all the same
        run = crawl(workspace)
        assert outcomes(run).get("MODIFIED", 0) == changed
        assert (run["deleted"], run["problems"], len(run["remarks"])) == (1 if changed else 0, [], 1)
        assert found(workspace, "changed") == ["heron"]
        assert found(workspace, "common") == ["crane", "heron", "stork"]
    system.put(note("egret"), *others)
    run = crawl(workspace)
    assert (run["problems"], run["remarks"]) == ([], [])
    assert found(workspace, "common") == ["crane", "egret", "heron", "stork"]


def test_documents_with_wrong_fields_are_kept_if_they_are_too_many(
    workspace: Workspace, system: AgentSystem
) -> None:
    define(workspace, deletion={"percent": 20, "always": 1})
    system.put(*map(note, "abcd"))
    crawl(workspace)
    system.put(*({**note(name), "acl": None} for name in "ab"), *map(note, "cd"))
    run = crawl(workspace, code=1)
    assert (run["deleted"], len(run["remarks"])) == (0, 1)
    assert found(workspace, "common") == ["a", "b", "c", "d"]


def test_names_that_are_no_text_cost_no_other_document(workspace: Workspace, system: AgentSystem) -> None:
    define(workspace)
    odd = [
        note("a", doc_key="\udcff"),
        note("b", doc_key="\udcfe"),
        note("c", "odd \udcff text"),
        note("\udcff"),
    ]
    system.put(*odd, note("heron", title="\udcff"))
    run = crawl(workspace)
    assert (outcomes(run)["NEW"], run["problems"]) == (4, [])
    assert found(workspace, "common") == ["a", "b", "c", "heron"]
    assert outcomes(crawl(workspace))["NOT_MODIFIED"] == 4
