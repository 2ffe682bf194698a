"""Which addresses a crawl may connect to: checked on the connection itself, for pages, redirects and robots.txt."""

from __future__ import annotations

import pytest
from support.network import NetworkSite
from support.project import DAY, Workspace
from support.sentences import sentence
from support.site import Site


def define(workspace: Workspace, url: str, **boundary: object) -> None:
    workspace.define(f"{url}/", robots={"obey": False}, boundary={"networks": [], **boundary})


def test_a_redirect_to_loopback_is_refused_before_any_connection(
    site: Site, url: str, workspace: Workspace
) -> None:
    """The start URL is an address of its own (127.0.0.1); another loopback address is not opened by it."""
    inside = NetworkSite()
    inside.page("/admin", title="secret")
    with inside.serve(host="127.0.0.7") as hidden:
        site.redirect("/", f"{hidden}/admin", status=302)
        define(workspace, url)
        workspace.crawl(code=None)
    assert inside.requests == []
    (row,) = [
        row for row in workspace.command("urls", "--json").lines if row["access_url"].endswith("/admin")
    ]
    assert (row["outcome"], row["status_code"]) == ("REJECTED", 951)
    assert sentence("guard.not_public") in row["reason"]


def test_a_named_network_may_be_reached(site: Site, url: str, workspace: Workspace) -> None:
    inside = NetworkSite()
    inside.page("/page", title="open", text="needle")
    with inside.serve(host="127.0.0.7") as other:
        site.redirect("/", f"{other}/page", status=302)
        define(workspace, url, networks=["127.0.0.7/32"])
        workspace.crawl()
    assert inside.count("/page") == 1


def test_robots_txt_of_a_refused_address_is_not_fetched(site: Site, url: str, workspace: Workspace) -> None:
    inside = NetworkSite()
    with inside.serve(host="127.0.0.7") as hidden:
        site.redirect("/", f"{hidden}/admin", status=302)
        workspace.define(f"{url}/", boundary={"networks": []})
        workspace.crawl(code=None)
        rows = {row["access_url"]: row for row in workspace.command("urls", "--json").lines}
    assert inside.requests == []
    row = rows[f"{hidden}/admin"]
    assert (row["outcome"], row["status_code"], row["cause"]) == ("REJECTED", 951, "address")


def test_what_is_in_the_index_stays_while_its_address_is_refused(
    site: Site, url: str, workspace: Workspace
) -> None:
    """So a name server that leads all names to one address, as in a captive portal, deletes nothing."""
    other = NetworkSite()
    other.page("/page", title="open", text="needle")
    with other.serve(host="127.0.0.7") as elsewhere:
        site.page("/", title="Home", links=[f"{elsewhere}/page"])
        options = {"domains": {"include": ["127.0.0.1", "127.0.0.7"]}}
        workspace.define(
            f"{url}/", boundary={**options, "networks": ["127.0.0.7/32"]}, deletion={"percent": 100}
        )
        workspace.crawl()
        workspace.define(f"{url}/", boundary={**options, "networks": []}, deletion={"percent": 100})
        workspace.age(DAY)
        run = workspace.crawl(code=None).run
    assert (run["outcomes"]["NETWORK_ERROR"], run["deleted"]) == (1, 0)
    assert len(workspace.search("needle")) == 1


DISGUISES = ["127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "localhost", "017700000001"]


@pytest.mark.parametrize("host", DISGUISES)
def test_disguised_forms_of_loopback_are_refused(workspace: Workspace, host: str) -> None:
    inside = NetworkSite()
    inside.page("/", title="secret")
    outside = NetworkSite()
    with inside.serve() as hidden, outside.serve(host="127.0.0.9") as start:
        port = hidden.rsplit(":", 1)[1]
        outside.redirect("/", f"http://{host}:{port}/", status=302)
        define(workspace, start)
        workspace.crawl(code=None)
    assert inside.requests == []
