"""Files beside state and index that are damaged: told in a line where it matters, and never the end of a crawl."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.damage import DAMAGES
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import LOOPBACK, Workspace

from ultracrawl.stores import SqliteStore

PATHS = ["/", "/a", "/b", "/c"]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    site, directory = NetworkSite(), tmp_path_factory.mktemp("crawled")
    site.page("/", title="Home", links=PATHS[1:], text="heron home")
    for path in PATHS[1:]:
        site.page(path, title=path[1:], text=f"heron {path} waits")
    with site.serve() as url:
        source = {
            "start_urls": [f"{url}/"],
            "boundary": LOOPBACK,
            "politeness": {"delay": 0},
            "storage": {"keep": True},
        }
        InProcessWorkspace(directory).write({"sources": {"site": source}})
        InProcessWorkspace(directory).crawl()
        yield directory


@pytest.fixture
def project(crawled: Path, tmp_path: Path) -> Workspace:
    shutil.copytree(crawled, tmp_path / "project")
    return InProcessWorkspace(tmp_path / "project")


def test_damaged_boosts_stop_searches_alone(project: Workspace) -> None:
    (project.directory / "var/state/boosts.json").write_text("{broken")
    told = project.command("search", "heron")
    assert (told.code, told.err.count("\n")) == (1, 1), told.err
    assert project.crawl().run["outcomes"] == {"NOT_MODIFIED": 4}
    assert project.command("index", "check").code == 0


@pytest.mark.parametrize("damage", [one for one in DAMAGES if one not in ("empty", "delete")])
def test_damaged_stored_documents_stop_no_crawl(project: Workspace, damage: str) -> None:
    store = project.directory / "var/documents/site/documents.sqlite"
    DAMAGES[damage](store)
    logs = list((project.directory / "var/log").glob("site.run-*.log"))
    told = project.command("reindex", "site")
    assert (told.code, told.err.count("\n")) == (1, 1), told.err
    assert str(store) in told.err
    assert list((project.directory / "var/log").glob("site.run-*.log")) == logs, (
        "what did not begin has no log"
    )
    run = project.crawl(code=1).run
    (problem,) = run["problems"]
    (kept,) = store.parent.glob("documents.sqlite.damaged-*")
    assert kept.name in problem
    assert "`ultracrawl crawl site --force`" in problem
    assert run["outcomes"] == {"NOT_MODIFIED": 4}
    assert project.crawl("--force").run["problems"] == []
    assert project.command("reindex", "site").code == 0


SMALL = [
    "cache/site/problem.txt",
    "cache/site/feeding.json",
    "cache/site/0000000099.draft",
    "state/site.sqlite.lock",
    "state/site.sqlite.crawl",
    "state/site.sqlite.order",
    "state/site.sqlite-wal",
    "state/site.sqlite-shm",
    "documents/site/documents.sqlite-wal",
]


def test_small_files_with_garbage_in_them_disturb_nobody(project: Workspace) -> None:
    for name in SMALL:
        (project.directory / "var" / name).write_bytes(b"\xff\x00garbage\xfe" * 20)
    for command in ("status", "urls", "feeding status"):
        ended = project.command(*command.split())
        assert (ended.code, ended.err) == (0, ""), ended.err
    assert project.crawl().run["problems"] == []
    assert sorted(project.search("heron")) == PATHS


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may reach, which those of pytest are not."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_what_only_reads_needs_no_right_to_write(crawled: Path, open_folder: Path) -> None:
    """Root may write everywhere, so somebody else reads, in a child."""
    state = Path(shutil.copy(crawled / "var/state/site.sqlite", open_folder))
    nobody = 65534 if os.geteuid() == 0 else os.geteuid()
    for path, mode in ((state, 0o444), (open_folder, 0o555)):
        os.chown(path, nobody, -1)
        path.chmod(mode)
    child = os.fork()
    if not child:
        known = 0
        try:
            os.seteuid(nobody)
            opened = SqliteStore(state, "site", read_only=True)
            known = opened.records.count_urls().known
            opened.close()
        finally:
            os._exit(0 if known == len(PATHS) else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
