"""Logs of FAST collections: one file for each day, XML logs as whole documents."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from support.clock import AHEAD
from support.fast import fast_xml
from support.ftp import FtpSite, Moody
from support.network import NetworkSite
from support.project import Workspace


@pytest.mark.parametrize("form", ["text", "xml"])
def test_fast_94_each_day_has_its_own_log(workspace: Workspace, form: str) -> None:
    site = NetworkSite()
    logs = workspace.directory / "var/log"
    with site.serve() as url:
        options = {"start_uris": (f"{url}/",), "delay": 0.0, "log/postprocess": form}
        (workspace.directory / "c.xml").write_text(fast_xml(options))
        for day in range(3):
            site.page("/", title=f"Home {day}", text="words")
            workspace.crawl("-c", "c.xml", "--force", **{AHEAD: str(day * 86_400)})
    texts = [path.read_text() for path in logs.glob("handbook.postprocess*")]
    assert len(texts) == 3
    for text in texts:
        assert text.count(f"{url}/") == 1
        if form == "xml":
            (item,) = ElementTree.fromstring(text)
            assert item.get("uri", item.get("url")) == f"{url}/"
    assert (logs / "handbook.postprocess.log").exists()
    assert len(list(logs.glob("handbook.fetch.*-*-*.log"))) == 2


@pytest.mark.parametrize("reply", ["450", "552", "530", "550"])
def test_fast_93_an_ftp_server_is_logged_with_its_reply(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, reply: str
) -> None:
    served = FtpSite(workspace.directory / "served")
    served.put("a.txt", "text")
    monkeypatch.setattr(Moody, "reply", f"{reply} no")
    with served.serve(handler=Moody) as url:
        options = {"start_uris": (f"{url}/a.txt",), "allowed_schemes": ("ftp",), "robots": False}
        (workspace.directory / "c.xml").write_text(
            fast_xml({**options, "ftp_errors/4xx": "DELETE:5, RETRY:1"})
        )
        workspace.crawl("-c", "c.xml", code=None)
    logs = (workspace.directory / "var/log").glob(
        "handbook.fetch*.log"
    )  # two if the retry is of the next day
    lines = [line for log in logs for line in log.read_text().splitlines()]
    assert {line.split("\t")[1] for line in lines} == {reply}
    assert len(lines) == (2 if reply == "450" else 1)
