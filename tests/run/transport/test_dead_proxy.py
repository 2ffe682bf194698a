"""A proxy that cannot be reached is named as such, and not the site behind it."""

from __future__ import annotations

import pytest
from support.free_port import free_port
from support.project import Workspace
from support.sentences import sentence

from ultracrawl.model import Cause, CauseCode
from ultracrawl.model.advice import advice_for

pytestmark = pytest.mark.processes  # there are no proxies within the process of the tests


@pytest.mark.parametrize("obey", [True, False])
@pytest.mark.parametrize("host", ["127.0.0.1", "proxy.invalid"])
def test_a_dead_proxy_is_named_with_host_and_port(workspace: Workspace, host: str, *, obey: bool) -> None:
    address = f"{host}:{free_port()}"
    server = {"url": f"http://{address}", "user": "robot", "password": "s3cret"}
    workspace.define(
        "http://site.test/",
        robots={"obey": obey},
        proxy={"servers": {"main": server}},
        limits={"retries": 0},
    )
    ended = workspace.crawl(code=1)
    problem = next(line for line in ended.run["problems"] if address in line)
    assert sentence("transport.proxy_unreachable", proxy=address) in problem
    assert problem.endswith(advice_for(Cause(CauseCode.PROXY_UNREACHABLE, address)))
    assert "s3cret" not in ended.out + ended.err
    if not obey:
        (row,) = workspace.command("urls", "--json").lines
        assert row["cause"] == CauseCode.PROXY_UNREACHABLE
