"""The error rules of FTP servers: replies by pattern, the network, time-outs, our own processing (FAST 5.13)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support import files
from support.ftp import FtpSite, Moody
from support.project import Workspace

pytestmark = pytest.mark.servers  # much time

Seen = tuple[str, bool]
"""The outcome of a file, and whether its document is in the index."""
KEPT, GONE = ("HTTP_ERROR", True), ("GONE", False)
DOWN, OUT = ("NETWORK_ERROR", True), ("FAILED", True)


@pytest.fixture
def ftp(tmp_path: Path) -> FtpSite:
    root = tmp_path / "served"
    root.mkdir()
    site = FtpSite(root)
    for path in (
        site.put("pub/notes.html", "<title>Notes</title>words"),
        site.put("pub/notes.pdf", files.pdf()),
    ):
        os.utime(path, (1_700_000_000,) * 2)
    return site


def define(workspace: Workspace, start: str, rules: dict[str, str], **limits: float) -> None:
    workspace.define(
        start,
        boundary={"schemes": ["ftp"]},
        errors={"ftp": rules, "http": {"4xx": "DELETE", "5xx": "DELETE", "net": "DELETE", "ttl": "DELETE"}},
        robots={"obey": False, "timeout": 1},
        limits={"retries": 0, "timeout": 4, **limits},
        politeness={"delay": 0, "backoff": {"longest": 0}},
    )


def crawl(workspace: Workspace, path: str = "/pub/notes.html") -> Seen:
    workspace.crawl(code=None)
    return workspace.urls()[path]["outcome"], workspace.indexed() != []


REPLIES: dict[str, tuple[str, dict[str, str], list[Seen]]] = {
    "fast_141_4xx": ("450 busy", {"4xx": "DELETE:2"}, [KEPT, GONE]),
    "fast_141_421": ("421 too many", {"4xx": "DELETE:2"}, [KEPT, GONE]),
    "fast_141_retry_counts": ("450 busy", {"4xx": "DELETE:2, RETRY:1"}, [GONE]),
    "fast_142_550": ("550 no", {"550": "DELETE"}, [GONE]),
    "fast_143_5xx": ("553 no", {"5xx": "DELETE:2"}, [KEPT, GONE]),
    "fast_147_55x": ("551 no", {"55x": "DELETE"}, [GONE]),
    "fast_147_the code before the pattern": (
        "550 no",
        {"5xx": "DELETE", "55x": "DELETE", "550": "KEEP"},
        [KEPT] * 2,
    ),
    "fast_147_the longer pattern": ("551 no", {"5xx": "KEEP", "55x": "DELETE"}, [GONE]),
    "fast_147_another pattern": ("450 busy", {"5xx": "DELETE", "550": "DELETE"}, [KEPT] * 2),
}


@pytest.mark.parametrize(("reply", "rules", "expected"), REPLIES.values(), ids=REPLIES)
def test_replies(
    ftp: FtpSite,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    reply: str,
    rules: dict[str, str],
    expected: list[Seen],
) -> None:
    with ftp.serve(handler=Moody) as address:
        define(workspace, f"{address}/pub/notes.html", rules)
        assert crawl(workspace) == ("NEW", True)
        monkeypatch.setattr(Moody, "reply", reply)
        assert [crawl(workspace) for _ in expected] == expected


@pytest.mark.parametrize(
    ("rules", "expected"),
    [({"net": "DELETE:2"}, [DOWN, GONE]), ({"ttl": "DELETE", "5xx": "DELETE"}, [DOWN] * 2)],
    ids=["fast_145_net", "fast_145_net is no other error"],
)
def test_a_server_that_is_down(
    ftp: FtpSite, workspace: Workspace, rules: dict[str, str], expected: list[Seen]
) -> None:
    with ftp.serve() as address:
        define(workspace, f"{address}/pub/notes.html", rules)
        assert crawl(workspace) == ("NEW", True)
    assert [crawl(workspace) for _ in expected] == expected
    assert workspace.urls()["/pub/notes.html"]["cause"] == "connection-refused"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [({"ttl": "DELETE:2"}, [DOWN, GONE]), ({"net": "DELETE", "int": "DELETE"}, [DOWN])],
    ids=["fast_146_ttl", "fast_146_ttl is no other error"],
)
def test_a_server_that_says_nothing(
    ftp: FtpSite,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    rules: dict[str, str],
    expected: list[Seen],
) -> None:
    with ftp.serve(handler=Moody) as address:
        define(workspace, f"{address}/pub/notes.html", rules)
        assert crawl(workspace) == ("NEW", True)
        monkeypatch.setattr(Moody, "reply", "")
        assert [crawl(workspace) for _ in expected] == expected
        assert workspace.urls()["/pub/notes.html"]["cause"] == "timeout"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [({"int": "DELETE:2"}, [OUT, GONE]), ({}, [OUT] * 2), ({"net": "DELETE", "5xx": "DELETE"}, [OUT])],
    ids=["fast_144_int", "fast_144_int is kept by default", "fast_144_int is no other error"],
)
def test_a_file_that_cannot_be_read(
    ftp: FtpSite, workspace: Workspace, rules: dict[str, str], expected: list[Seen]
) -> None:
    with ftp.serve() as address:
        define(workspace, f"{address}/pub/notes.pdf", rules, timeout=30)
        assert crawl(workspace, "/pub/notes.pdf") == ("NEW", True)
        ftp.put("pub/notes.pdf", b"%PDF-1.4 broken")
        assert [crawl(workspace, "/pub/notes.pdf") for _ in expected] == expected


def test_fast_145_a_good_answer_begins_the_count_anew(
    ftp: FtpSite, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ftp.serve(handler=Moody) as address:
        define(workspace, f"{address}/pub/notes.html", {"4xx": "DELETE:2"})
        outcomes = []
        for reply in (None, "450 busy", None, "450 busy", "450 busy"):
            monkeypatch.setattr(Moody, "reply", reply)
            outcomes.append(crawl(workspace)[0])
    assert outcomes == ["NEW", "HTTP_ERROR", "NOT_MODIFIED", "HTTP_ERROR", "GONE"]


@pytest.mark.parametrize(("reply", "stops"), [("450 busy", True), ("550 no", False)])
def test_a_robots_txt_that_cannot_be_had_for_now_stops_the_site_until_the_next_crawl(
    ftp: FtpSite, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, reply: str, stops: bool
) -> None:
    monkeypatch.setattr(Moody, "reply", reply)
    monkeypatch.setattr(Moody, "only", "/robots.txt")
    with ftp.serve(handler=Moody) as address:
        define(workspace, f"{address}/pub/notes.html", {})
        file = workspace.directory / "ultracrawl.yaml"
        file.write_text(file.read_text().replace("obey: false", "obey: true"))
        assert workspace.crawl(code=None).code == stops
        assert (workspace.indexed() == []) is stops
        monkeypatch.setattr(Moody, "reply", None)
        workspace.crawl()
        assert workspace.indexed() == ["/pub/notes.html"]
