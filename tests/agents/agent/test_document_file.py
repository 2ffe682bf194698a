"""Documents that are loaded from an XML file, as an author tests agents, and in whole crawls."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from support.project import Ended, Workspace
from support.sentences import sentence

from ultracrawl.agents import DocumentFile
from ultracrawl.agents.testing import AgentSuite

HERON = """<document url="https://x.example/heron" key="7" title="The heron" language="en"><text>Grey
 &amp; patient.</text><attribute name="Author">Lee</attribute><attribute name="Colour">grey</attribute>
<attribute name="Colour">white</attribute></document>"""
EGRET = '<document url="https://x.example/egret"><text>White egret.</text><acl>staff</acl></document>'
SOURCE = {"type": "agent", "class": "ultracrawl.agents.DocumentFile", "parameters": {"file": "leaflets.xml"}}


def documents(*documents: str) -> str:
    return f"<documents>{''.join(documents)}</documents>"


class TestDocumentFile(AgentSuite):
    """A standard agent."""

    agent_class = DocumentFile
    wrong_parameters = MappingProxyType({"file": "/nowhere"})

    @pytest.fixture(autouse=True)
    def file(self, tmp_path: Path) -> None:
        self.path = tmp_path / "leaflets.xml"
        self.path.write_text(documents(HERON, EGRET))
        self.parameters = {"file": str(self.path)}

    def change_document(self) -> str:
        self.path.write_text(documents(HERON.replace("Grey", "Blue"), EGRET))
        return "https://x.example/heron"

    def delete_document(self) -> str:
        self.path.write_text(documents(EGRET))
        return "https://x.example/heron"


def define(workspace: Workspace, **sources: dict[str, Any]) -> None:
    (workspace.directory / "conf").mkdir(exist_ok=True)
    written = {"attributes": {"Colour": "string"}, "sources": sources}
    (workspace.directory / "conf" / "ultracrawl.yaml").write_text(yaml.safe_dump(written))


def run(workspace: Workspace, *words: str) -> Ended:
    return workspace.command(*words, "-c", "conf/ultracrawl.yaml")


def load(workspace: Workspace, text: str, *words: str) -> Ended:
    (workspace.directory / "new.xml").write_text(text)
    return run(workspace, "load-metadata", "--type", "documents", "new.xml", *words)


def crawl(workspace: Workspace) -> dict[str, int]:
    ended = run(workspace, "crawl", "leaflets", "--json")
    assert ended.code == 0, ended
    return {name: number for name, number in ended.run["outcomes"].items() if number}


def hits(workspace: Workspace, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run(workspace, "search", "--json", "--as-typed", *words).json["hits"]
    return found


def test_documents_that_are_loaded_come_into_the_index_with_the_next_crawl_and_leave_it(
    workspace: Workspace,
) -> None:
    define(workspace, leaflets={**SOURCE, "deletion": {"percent": 100}})
    ended = load(workspace, documents(HERON, EGRET))
    told = "leaflets: 2 documents; its next crawl brings them into the index\n"
    assert (ended.code, ended.out, ended.err) == (0, told, "")
    assert crawl(workspace) == {"NEW": 2}
    (hit,) = hits(workspace, "patient")
    assert (hit["url"], hit["title"]) == ("https://x.example/heron", "The heron")
    assert (hit["attributes"]["Author"], hit["attributes"]["Colour"]) == (["Lee"], ["grey", "white"])
    assert [one["url"] for one in hits(workspace, "egret", "--principal", "staff")] == [
        "https://x.example/egret"
    ]
    load(workspace, documents(HERON.replace("heron", "moved")))
    assert crawl(workspace) == {"NEW": 1}
    assert [one["url"] for one in hits(workspace, "patient")] == ["https://x.example/moved"]
    assert not hits(workspace, "egret", "--principal", "staff")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<documents/>", sentence("agents.file_no_document")),
        (documents("<document/>"), sentence("agents.document_no_url_after_beginning")),
        (
            documents(EGRET, '<document url="u" titel="x"/>'),
            "the document u has `titel`; there are access_url, key",
        ),
        (
            documents('<document url="u"><attribute>x</attribute></document>'),
            "an <attribute> of the document u has no",
        ),
        ("<text>x</text>", sentence("agents.text_unknown_wrong_place_after")),
        (f"<documents>{EGRET}", "the file is broken after the document https://x.example/egret"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><documents/>', "it is not read"),
    ],
)
def test_a_file_of_documents_counts_as_a_whole_or_not_at_all(
    workspace: Workspace, text: str, told: str
) -> None:
    define(workspace, leaflets=SOURCE)
    load(workspace, documents(HERON))
    ended = load(workspace, text)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert told in ended.err
    kept = workspace.directory / "conf" / "leaflets.xml"
    assert kept.read_text() == documents(HERON)
    kept.write_text(text)
    ended = workspace.command("lint", "--connect", "conf/ultracrawl.yaml")
    assert ended.code == 2
    assert told in ended.out


def test_it_has_to_be_clear_whose_documents_they_are(workspace: Workspace) -> None:
    define(workspace, site={"start_urls": ["https://www.example.com/"]})
    assert "{type: agent" in load(workspace, documents(HERON)).err
    other = {**SOURCE, "parameters": {"file": "other.xml"}}
    define(workspace, leaflets=SOURCE, other=other)
    ended = load(workspace, documents(HERON))
    assert (ended.code, ended.out) == (2, "")
    assert "leaflets, other" in ended.err
    assert load(workspace, documents(HERON), "--source", "other").out.startswith("other: 1 document;")
    ended = run(workspace, "load-metadata", "--type", "lov", "new.xml", "--source", "other")
    assert ended.code == 2
    assert "--source" in ended.err
