"""The agents of `examples/agents` keep what a crawl takes for granted, as any author would test it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
from support.clock import wall_time
from support.project import ROOT
from support.recorded_systems import Recorded, Tickets, Wiki
from support.resource import Reply
from support.server import Request, Server
from support.slapd import BASE, PASSWORD, Directory, directory_server

from ultracrawl.agents import UrlData
from ultracrawl.agents.testing import AgentSuite
from ultracrawl.errors import WorkError
from ultracrawl.system.plugins import load_dotted_path

EXAMPLES = ROOT / "examples" / "agents"


def example(path: str) -> Any:
    return load_dotted_path(path, "the example", [EXAMPLES])


class TestJsonFolder(AgentSuite):
    """A standard agent."""

    agent_class = example("json_folder.JsonFolder")
    wrong_parameters = MappingProxyType({"folder": "/nowhere"})

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        for name in ("heron", "egret"):
            self.write(tmp_path / f"{name}.json", name)
        self.parameters = {"folder": str(tmp_path)}
        self.path = tmp_path

    def write(self, path: Path, text: str) -> None:
        path.write_text(
            json.dumps({"url": f"https://x.example/{path.stem}", "title": path.stem, "text": text})
        )

    def change_document(self) -> str:
        self.write(self.path / "heron.json", "grey")
        return "https://x.example/heron"

    def delete_document(self) -> str:
        (self.path / "heron.json").unlink()
        return "https://x.example/heron"


class Cms:
    """A content management system; a document changes at the time that a client may ask for changes since."""

    def __init__(self) -> None:
        self.documents: dict[int, dict[str, Any]] = {}
        for number in range(5):
            self.put(number, f"<p>text {number}</p>")

    def put(self, number: int, html: str, **more: Any) -> None:
        self.documents[number] = {
            "id": number,
            "url": f"https://cms.example.com/{number}",
            "title": f"Document {number}",
            "html": html,
            "author": "Miller",
            "section": "birds",
            "time": datetime.fromtimestamp(wall_time(), UTC).isoformat(),  # the clock of the tests
            **more,
        }

    def answer(self, request: Request) -> Reply:
        asked = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        if request.header("Authorization") != "Bearer open":
            return Reply(401)
        if asked.path == "/sections":
            return self._json({"birds": {"en": "Birds", "de": "V\u00f6gel"}})
        after, since = int(query.get("after", -1)), query.get("since", "")
        fitting = [one for one in self.documents.values() if one["id"] > after and one["time"] >= since]
        fitting = [one for one in fitting if since or not one.get("deleted")]
        return self._json({"documents": fitting[:2], "more": len(fitting) > 2})

    @staticmethod
    def _json(value: object) -> Reply:
        return Reply(200, (("Content-Type", "application/json"),), json.dumps(value).encode())


class TestJsonCms(AgentSuite):
    """A smart agent."""

    agent_class = example("json_cms.JsonCms")

    @pytest.fixture(autouse=True)
    def cms(self) -> Iterator[None]:
        self.system = Cms()
        server = Server(self.system.answer)
        server.start()
        self.parameters = {"url": server.url, "token": "open"}
        self.wrong_parameters = {"url": server.url, "token": "wrong"}
        yield
        server.stop()

    def change_document(self) -> str:
        self.system.put(3, "<p>changed</p>")
        return "https://cms.example.com/3"

    def delete_document(self) -> str:
        self.system.put(3, "", deleted=True)
        return "https://cms.example.com/3"

    def test_sections_have_names(self) -> None:
        with self.crawl() as crawl:
            assert crawl.attribute_lovs().lists == {"Section": {"birds": {"en": "Birds", "de": "V\u00f6gel"}}}


class TestGitRepository(AgentSuite):
    """A standard agent over a program."""

    agent_class = example("git_repository.GitRepository")
    wrong_parameters = MappingProxyType({"path": "/nowhere", "url": "https://git.example.com/"})

    @pytest.fixture(autouse=True)
    def repository(self, tmp_path: Path) -> None:
        self.path = tmp_path
        self.parameters = {"path": str(tmp_path), "url": "https://git.example.com/"}
        self.git("init", "-q")
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "read me.txt").write_text("heron")
        (tmp_path / "empty").touch()
        self.commit("first")

    def git(self, *words: str) -> None:
        who = {
            f"GIT_{one}_{what}": "m@x.example"
            for one in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": "/dev/null"}
        subprocess.run(
            ["git", "-C", str(self.path), *words], env=environment, check=True, capture_output=True
        )

    def commit(self, text: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", text)

    def change_document(self) -> str:
        (self.path / "docs" / "read me.txt").write_text("egret")
        self.commit("second")
        return "https://git.example.com/docs/read%20me.txt"

    def delete_document(self) -> str:
        (self.path / "docs" / "read me.txt").unlink()
        self.commit("third")
        return "https://git.example.com/docs/read%20me.txt"

    def test_the_last_author_and_time_of_each_file_are_known(self) -> None:
        (self.path / "new.txt").write_text("new")
        self.commit("fourth")
        told = self.documents()["https://git.example.com/docs/read%20me.txt"].attributes
        assert told["author"] == "m@x.example"
        assert datetime.fromisoformat(str(told["changed"]))


class RecordedSuite(AgentSuite):
    """An agent that asks a recorded system."""

    __test__ = False
    system: Recorded
    given: ClassVar[dict[str, str]] = {"token": "open"}

    @pytest.fixture(autouse=True)
    def served(self) -> Iterator[None]:
        self.system = self.made()
        server = Server(self.system.answer)
        server.start()
        self.parameters = {"url": server.url, **self.given}
        self.wrong_parameters = {**self.parameters, "token": "wrong"}
        yield
        server.stop()

    def made(self) -> Recorded:
        raise NotImplementedError

    def test_a_busy_system_is_asked_again_and_one_that_stays_busy_is_an_error(self) -> None:
        self.system.busy = [429, 503]
        assert self.documents()
        self.system.busy = [503] * 4
        with pytest.raises(WorkError):
            self.documents()


class TestMediaWiki(RecordedSuite):
    """A smart agent that asks what happened, and what became of it."""

    __test__ = True
    agent_class = example("mediawiki.MediaWiki")
    system: Wiki

    def made(self) -> Wiki:
        return Wiki()

    def change_document(self) -> str:
        self.system.edit(3, "Stork", "<p>changed</p>")
        return "https://wiki.example.com/Stork"

    def delete_document(self) -> str:
        self.system.delete(3)
        return "https://wiki.example.com/Stork"

    def test_a_page_that_is_moved_stays_the_document(self) -> None:
        before = datetime.fromtimestamp(wall_time(), UTC)
        self.system.move(3, "White stork")
        (moved,) = self.listing(before)
        assert (moved.doc_key, moved.display_url) == ("3", "https://wiki.example.com/White_stork")

    def test_a_page_that_became_a_redirect_is_gone(self) -> None:
        before = datetime.fromtimestamp(wall_time(), UTC)
        self.system.edit(3, "Stork", "")
        self.system.pages[3]["redirect"] = True
        (gone,) = self.listing(before)
        assert (gone.doc_key, gone.deleted) == ("3", True)

    def test_after_a_long_time_all_pages_are_listed_with_what_is_gone(self) -> None:
        self.system.delete(3)
        self.system.edit(1, "Heron", "<p>changed</p>")
        self.system.changes.clear()  # the wiki has forgotten
        listed = self.listing(datetime(2026, 1, 1, tzinfo=UTC))
        assert {one.doc_key for one in listed if one.deleted} == {"3"}
        assert {one.doc_key for one in listed if not one.deleted} == {"1", "2", "4", "5"}


class TestZendesk(RecordedSuite):
    """A smart agent over an export that has what is deleted."""

    __test__ = True
    agent_class = example("zendesk.Zendesk")
    given: ClassVar = {"token": "open", "user": "lee@example.com"}
    system: Tickets

    def made(self) -> Tickets:
        return Tickets()

    def change_document(self) -> str:
        self.system.put(3, "changed")
        return f"{self.parameters['url']}/agent/tickets/3"

    def delete_document(self) -> str:
        self.system.put(3, "", status="deleted")
        return f"{self.parameters['url']}/agent/tickets/3"

    def test_only_public_comments_are_read(self) -> None:
        assert not any("inner" in one.text for one in self.listing())


@pytest.mark.servers
class TestLdapDirectory(AgentSuite):
    """A standard agent over a real directory."""

    directory: Directory

    @pytest.fixture(autouse=True)
    def served(self) -> Iterator[None]:
        with directory_server() as self.directory:
            self.agent_class = example("ldap_directory.LdapDirectory")
            self.directory.add("reader", "Reader", userPassword="open")
            for uid in ("heron", "egret"):
                self.directory.add(uid, uid.title(), mail=f"{uid}@example.com", userPassword="hidden")
            shown = "https://people.example.com/{uid}"
            self.parameters = {
                "url": self.directory.url, "base": BASE, "plain": True, "shown": shown,
                "user": f"uid=reader,{BASE}", "password": "open",
            }  # fmt: skip
            self.wrong_parameters = {**self.parameters, "password": PASSWORD}
            yield

    def change_document(self) -> str:
        self.directory.change("heron", mail="grey@example.com")
        return "https://people.example.com/heron"

    def delete_document(self) -> str:
        self.directory.remove("heron")
        return "https://people.example.com/heron"

    def test_who_gets_another_name_stays_the_document(self) -> None:
        before = self.documents()["https://people.example.com/heron"].doc_key
        self.directory.rename("heron", "grey-heron")
        assert self.documents()["https://people.example.com/grey-heron"].doc_key == before

    def test_passwords_are_not_read_even_by_who_may(self) -> None:
        admin = {**self.parameters, "user": f"cn=admin,{BASE}", "password": PASSWORD}
        with self.crawl(admin) as crawl:
            crawl.start()
            assert "hidden" not in repr(crawl.fetch_documents())

    def test_an_open_connection_is_refused_unless_asked_for(self) -> None:
        with pytest.raises(WorkError), self.crawl({**self.parameters, "plain": False}):
            pass


class Forgetful(example("json_folder.JsonFolder")):  # type: ignore[misc]
    """Names half of the documents only, another half each time."""

    seen: ClassVar[list[str]] = []

    def fetch(self) -> UrlData | None:
        while (found := super().fetch()) is not None:
            if found.doc_key not in self.seen:
                self.seen.append(found.doc_key)
                return found
        return None


def test_the_suite_finds_an_agent_that_names_a_document_only_once(tmp_path: Path) -> None:
    suite = TestJsonFolder()
    TestJsonFolder.write(suite, tmp_path / "heron.json", "grey")
    suite.parameters = {"folder": str(tmp_path)}
    suite.agent_class = Forgetful
    with pytest.raises(AssertionError):
        suite.test_interrupted_listing_starts_again()
