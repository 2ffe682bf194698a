"""Every status that a server can send ends the visit, in exactly one way, and the next run sees what changed."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from support.project import Workspace
from support.site import Reply, Request, Site

REDIRECTS = {301, 302, 303, 307, 308}
GONE = {404, 410}
BODILESS = {204, 205}


def expected(status: int) -> tuple[str, int]:
    """Return outcome and recorded code of a page that answers with a status and a Location."""
    if status == 200:
        return "NEW", 200
    if 200 < status < 300:
        return "NOT_INDEXED", 911 if status in BODILESS else status
    if status in REDIRECTS:
        return "REDIRECTED", 954
    if status in GONE:
        return "GONE", status
    return "HTTP_ERROR", status if status < 600 else 1005


def echo(request: Request) -> Reply:
    """Answer with the status that the path names."""
    status = int(request.path.rpartition("/")[2])
    text = f"<title>{status}</title><p>needle {status}</p>".encode()
    headers = (("Content-Type", "text/html"), ("Location", "/target"))
    return Reply(status, headers, b"" if status in {*BODILESS, 304} else text)


def adds_up(run: dict[str, Any], table: dict[str, dict[str, Any]]) -> None:
    """Assert that a report counts every URL of the table once."""
    assert run["outcomes"] == Counter(row["outcome"] for row in table.values())
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert "QUEUED" not in run["outcomes"]


def test_every_status_from_200_to_999_has_its_outcome(site: Site, url: str, workspace: Workspace) -> None:
    statuses = range(200, 1000)
    site.page("/", title="Home", links=[f"/s/{status}" for status in statuses], text="words")
    site.page("/target", title="Target", text="words")
    site.dynamic("/s/*", echo)
    workspace.define(f"{url}/", limits={"retries": 0, "seconds": 60})
    run = workspace.crawl().run
    table = workspace.urls()
    found = {path: (row["outcome"], row["status_code"]) for path, row in table.items()}
    assert {path: found[path] for path in found if path.startswith("/s/")} == {
        f"/s/{status}": expected(status) for status in statuses
    }
    adds_up(run, table)
    assert (run["ended_by"], run["problems"]) == (None, [])
    site.change("/", text="other words")
    site.reset()
    again = workspace.crawl().run
    assert (again["resumed"], again["outcomes"]["MODIFIED"]) == (False, 1)
    assert {path for path in site.paths() if path.startswith("/s/")} == {f"/s/{one}" for one in statuses}


@pytest.mark.processes
def test_a_status_that_is_none_breaks_the_answer_and_ends(site: Site, url: str, workspace: Workspace) -> None:
    odd = ["100", "101", "102", "199", "000", "0", "42", "099", "1000", "-200", "abc", ""]
    site.page("/", title="Home", links=[f"/{number}" for number in range(len(odd))], text="words")
    for number, status in enumerate(odd):
        site.raw(f"/{number}", f"HTTP/1.1 {status} Odd\r\nContent-Length: 0\r\n\r\n".encode())
    options = {"retries": 0, "timeout": 5, "seconds": 60}
    patient = {"delay": 0, "backoff": {"longest": 0.01, "limit": 1000}}
    workspace.define(f"{url}/", limits=options, politeness=patient)
    run = workspace.crawl().run
    outcomes = workspace.outcomes()
    assert outcomes.pop("/") == "NEW"
    assert len(outcomes) == len(odd)
    assert set(outcomes.values()) <= {"NETWORK_ERROR", "HTTP_ERROR", "FAILED", "NOT_INDEXED"}
    adds_up(run, workspace.urls())
    assert run["ended_by"] is None


def test_two_links_that_answer_300_end_and_a_third_page_is_refreshed(
    site: Site, url: str, workspace: Workspace
) -> None:
    choices = "<ul><li><a href=/page.en>English</a><li><a href=/page.fr>French</a></ul>"
    site.page("/", title="Home", links=["/one", "/two"], text="heron")
    for path in ("/one", "/two"):
        site.respond(path, status=300, headers={"Content-Type": "text/html"}, body=choices)
    ended = workspace.command("crawl", "--url", f"{url}/", "--delay", "0", "--json", timeout=60)
    assert ended.run["outcomes"] == {"NEW": 1, "HTTP_ERROR": 2}
    site.change("/", text="bittern")
    again = workspace.command("crawl", "--url", f"{url}/", "--delay", "0", "--json", timeout=60).run
    assert (again["resumed"], again["outcomes"]) == (False, {"MODIFIED": 1, "HTTP_ERROR": 2})


def test_304_without_our_validators_is_an_error(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/a"], text="words")
    site.respond("/a", status=304)
    workspace.define(f"{url}/", limits={"retries": 0})
    workspace.crawl()
    row = workspace.urls()["/a"]
    assert (row["outcome"], row["status_code"]) == ("HTTP_ERROR", 304)
    assert not re.search("as it was", row["reason"])
    site.page("/a", title="A", text="needle")
    workspace.crawl()
    assert workspace.search("needle") == ["/a"]


@pytest.mark.parametrize("status", [909, 910, 951, 955, 956])
def test_a_server_cannot_speak_in_our_own_codes(
    site: Site, url: str, workspace: Workspace, status: int
) -> None:
    site.page("/", title="Home", links=["/a"], text="words")
    site.respond("/a", status=status, body="odd")
    workspace.define(f"{url}/", limits={"retries": 0})
    workspace.crawl()
    assert workspace.urls()["/a"]["status_code"] == 1005
    site.page("/a", title="A", text="needle")
    workspace.crawl()
    assert workspace.search("needle") == ["/a"]
