"""The verbs of nodes where there can be none, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project import Workspace

from ultracrawl.errors import UserError
from ultracrawl.stores.port.leases import lease_seconds

SOURCES = {"sources": {"one": {"start_urls": ["http://127.0.0.1:9/"]}}}


@pytest.mark.processes
@pytest.mark.parametrize("words", ["run --name a", "list --json", "drain a", "remove a", "run --name a/b"])
def test_without_a_database_between_machines_each_verb_says_so_in_one_line(
    tmp_path: Path, words: str
) -> None:
    workspace = Workspace(tmp_path)
    workspace.write(SOURCES)
    ended = workspace.command("node", *words.split())
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1, ended.err


@pytest.mark.parametrize(("text", "seconds"), [("", 20.0), ("2", 2.0), ("7.5", 7.5)])
def test_the_environment_says_how_long_a_lease_lasts(text: str, seconds: float) -> None:
    assert lease_seconds(text) == seconds


@pytest.mark.parametrize("text", ["soon", "0", "nan", "-3", "1e9"])
def test_what_is_no_length_of_a_lease_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="ULTRACRAWL_LEASE_SECONDS"):
        lease_seconds(text)
