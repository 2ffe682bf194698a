"""A state of an earlier version is refused in one line, and its documents are found all the same."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from support.project import Workspace
from support.proxy import Proxy
from support.site import Site

DATA = Path(__file__).with_name("data.tar.xz")
SITE = "handbook.example"
PROXY = "http://127.0.0.1:9"
"""Stands in the definition for the address of the proxy."""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """The data of an early version, with its definition."""
    with tarfile.open(DATA) as archive:
        archive.extractall(
            tmp_path, [one for one in archive if one.name.startswith("whoosh/")], filter="data"
        )
    return Workspace(tmp_path / "whoosh")


@pytest.mark.parametrize(
    "words", [("crawl",), ("crawl", "--json"), ("urls", "--json"), ("status",)], ids=" ".join
)
def test_an_older_state_is_refused_in_one_line_that_names_the_file(
    workspace: Workspace, words: tuple[str, ...]
) -> None:
    folder = workspace.directory / "var" / "state"
    before = (folder / "handbook.sqlite").read_bytes()
    ended = workspace.command(*words)
    assert ended.code == 1
    assert sum("handbook.sqlite" in line for line in (ended.out + ended.err).splitlines()) == 1
    assert "Traceback" not in ended.out + ended.err
    assert (folder / "handbook.sqlite").read_bytes() == before
    assert list(folder.glob("*damaged*")) == []


def test_its_documents_are_found_before_and_after_the_state_was_removed(
    workspace: Workspace,
) -> None:
    assert workspace.command("crawl").code == 1
    assert sorted(workspace.search("country:de")) == ["/", "/b"]
    site = Site()
    for name in ("", "a", "b"):
        site.page(f"/{name}", title=name, links=["/a", "/b"], text=f"stork of {name or 'home'}")
    for state in (workspace.directory / "var" / "state").glob("handbook.sqlite*"):
        state.unlink()
    definition = workspace.directory / "ultracrawl.yaml"
    with site.serve() as url, Proxy({SITE: int(url.rpartition(":")[2])}) as proxy:
        definition.write_text(definition.read_text().replace(PROXY, proxy.url))
        run = workspace.crawl(code=None).run
    assert (run["fetched"], run["outcomes"]["NEW"]) == (3, 3)
    assert sorted(workspace.search("stork")) == ["/", "/a", "/b"]
    indexed = workspace.indexed()
    assert indexed == sorted(set(indexed)), "no document is there twice"
