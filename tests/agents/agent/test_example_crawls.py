"""Crawls of sources that the agents of `examples/agents` list: what a second and a third run ask for and change."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.listed import crawl, found, outcomes
from support.project import ROOT, Workspace
from support.recorded_systems import Recorded, Tickets, Wiki
from support.server import Server
from support.slapd import BASE, directory_server


def define(workspace: Workspace, path: str, /, **parameters: object) -> None:
    plugins = str(ROOT / "examples" / "agents")
    source: dict[str, Any] = {"type": "agent", "class": path, "plugins": plugins, "parameters": parameters}
    workspace.write({"sources": {"s": {**source, "deletion": {"percent": 100}}}})


@contextmanager
def served(system: Recorded) -> Iterator[str]:
    server = Server(system.answer)
    server.start()
    yield server.url
    server.stop()


def asked(system: Recorded) -> Counter[str]:
    """Return what was asked for since the last time."""
    found, system.asked = system.asked, Counter()
    return found


def test_a_wiki_is_asked_only_for_what_happened(workspace: Workspace) -> None:
    wiki = Wiki()
    with served(wiki) as url:
        define(workspace, "mediawiki.MediaWiki", url=f"{url}/w/api.php")
        assert outcomes(crawl(workspace)) == {"NEW": 5}
        assert asked(wiki)["text|categories"] == 5
        assert crawl(workspace)["fetched"] == 0
        second = asked(wiki)
        assert (second["recentchanges"], second["text|categories"], second["info|revisions"]) == (1, 0, 0)
        wiki.edit(1, "Heron", "<p>the grey bird</p>")
        wiki.delete(2)
        wiki.move(3, "White stork")
        wiki.edit(8, "Bittern", "<p>the bittern</p>")
        crawl(workspace)
        assert asked(wiki)["text|categories"] == 3
        assert found(workspace, "the") == ["Bittern", "Crane", "Heron", "Ibis", "White_stork"]
        assert found(workspace, "grey") == ["Heron"]
        assert crawl(workspace, "--force")["outcomes"].get("NEW", 0) == 0


def test_a_tracker_is_asked_only_for_what_happened(workspace: Workspace) -> None:
    tickets = Tickets()
    with served(tickets) as url:
        define(workspace, "zendesk.Zendesk", url=url, user="lee@example.com", token="open")
        assert outcomes(crawl(workspace)) == {"NEW": 5}
        assert asked(tickets)["comments"] == 10
        crawl(workspace)
        assert asked(tickets) == {"me": 1, "cursor": 1}
        tickets.put(1, "a grey bird")
        tickets.put(2, "", status="deleted")
        assert outcomes(crawl(workspace)) == {"MODIFIED": 1}
        assert asked(tickets)["comments"] == 2
        assert (found(workspace, "a"), found(workspace, "grey")) == (["1", "3", "4", "5"], ["1"])


@pytest.mark.parametrize("system", [Wiki, Tickets])
def test_a_system_that_fails_removes_nothing(workspace: Workspace, system: type[Recorded]) -> None:
    made = system()
    path = {Wiki: "mediawiki.MediaWiki", Tickets: "zendesk.Zendesk"}[system]
    more = {"user": "lee@example.com", "token": "open"} if system is Tickets else {}
    with served(made) as url:
        define(workspace, path, url=url, **more)
        crawl(workspace)
        before = workspace.indexed()
        made.busy = [503] * 4
        crawl(workspace, code=1)
        assert workspace.indexed() == before


def test_a_repository_is_read_by_its_commits(workspace: Workspace) -> None:
    repository = workspace.directory / "repository"
    repository.mkdir()

    def commit(files: dict[str, str | None]) -> None:
        for name, text in files.items():
            (repository / name).unlink(missing_ok=True)
            if text is not None:
                (repository / name).write_text(text)
        who = ("-c", "user.name=Lee", "-c", "user.email=lee@example.com")
        for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "more")):
            subprocess.run([_git(), "-C", str(repository), *words], check=True)

    commit({"heron.txt": "the heron", "egret.txt": "the egret", "stork.txt": "the stork"})
    define(workspace, "git_repository.GitRepository", path=str(repository), url="https://git.example.com/")
    assert outcomes(crawl(workspace)) == {"NEW": 3}
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 3}
    (repository / "ibis.txt").write_text("no commit")
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 3}
    commit({"heron.txt": "the grey bird", "egret.txt": None, "ibis.txt": "the ibis"})
    run = outcomes(crawl(workspace))
    assert (run["NEW"], run["MODIFIED"], run["NOT_MODIFIED"]) == (1, 1, 1)
    assert found(workspace, "the") == ["heron.txt", "ibis.txt", "stork.txt"]


def _git() -> str:
    return shutil.which("git") or "git"


@pytest.mark.servers
def test_a_directory_is_followed(workspace: Workspace) -> None:
    with directory_server() as directory:
        for uid in ("heron", "egret", "stork"):
            directory.add(uid, uid.title(), title="the bird", mail=f"{uid}@example.com")
        shown = "https://people.example.com/{uid}"
        define(
            workspace,
            "ldap_directory.LdapDirectory",
            url=directory.url,
            base=BASE,
            plain=True,
            shown=shown,
        )
        assert outcomes(crawl(workspace)) == {"NEW": 3}
        assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 3}
        directory.change("heron", title="the grey one")
        directory.rename("stork", "white-stork")
        directory.remove("egret")
        crawl(workspace)
        assert (found(workspace, "the"), found(workspace, "grey")) == (["heron", "white-stork"], ["heron"])
