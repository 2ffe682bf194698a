"""Pages whose scripts ask for data change while the page as sent does not."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

SHELL = b"""<title>Shell</title><div id=app></div><script>
fetch('/data').then(answer => answer.json()).then(data => app.innerHTML = data.map(
  one => `<p>${one}</p><a href=/item/${one}>x</a>`).join(''));
</script>"""


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


def serve(site: Site, *words: str, etag: bool) -> None:
    """Serve the shell, with the same bytes for ever, and data of these words."""
    headers = {"Content-Type": "text/html", **({"ETag": '"1"'} if etag else {})}
    site.respond("/", status=200, headers=headers, body=SHELL)
    data = f"[{', '.join(f'{chr(34)}{word}{chr(34)}' for word in words)}]".encode()
    site.dynamic("/data", lambda request: Reply(200, (("Content-Type", "application/json"),), data))
    for word in words:
        site.page(f"/item/{word}", text=f"about {word}")


def shells(site: Site, word: str = "bird") -> None:
    """Serve two pages of the same bytes, whose scripts ask for data of their own with a word."""
    site.page("/", text="home", links=["/one", "/two"])
    script = b"fetch('/data' + location.pathname).then(a => a.text()).then(t => document.body.append(t))"
    for name in ("one", "two"):
        site.file(f"/{name}", b"<title>Shell</title><p><script>" + script + b"</script>", "text/html")
        text = f"{word} {name} and its own words"
        site.dynamic(f"/data/{name}", lambda request, text=text: Reply(200, (), text.encode()))


@pytest.mark.parametrize("etag", [True, False], ids=["with a validator", "without"])
@pytest.mark.parametrize(
    "options", [{"use": True}, {"use": True, "keep_html": True}, {"use": "auto"}], ids=str
)
def test_changed_data_behind_a_shell_that_stays_are_found(
    site: Site, url: str, workspace: Workspace, etag: bool, options: dict[str, Any]
) -> None:
    serve(site, "curlew", etag=etag)
    workspace.define(f"{url}/", javascript=options)
    workspace.crawl()
    assert sorted(workspace.search("curlew")) == ["/", "/item/curlew"]
    serve(site, "curlew", "dunlin", etag=etag)
    run = workspace.crawl().run
    assert run["outcomes"]["MODIFIED"] == 1
    assert sorted(workspace.search("dunlin")) == ["/", "/item/dunlin"]
    for _ in range(3):
        outcomes = workspace.crawl().run["outcomes"]
        assert not {"MODIFIED", "NEW"} & outcomes.keys(), "nothing has changed"
    assert sorted(workspace.search("dunlin")) == ["/", "/item/dunlin"]


def test_links_that_change_behind_a_shell_are_followed_where_its_text_is_that_of_the_server(
    site: Site, url: str, workspace: Workspace
) -> None:
    serve(site, "curlew", etag=True)
    workspace.define(f"{url}/", javascript={"use": True, "keep_html": False})
    workspace.crawl()
    serve(site, "curlew", "dunlin", etag=True)
    workspace.crawl()
    assert workspace.search("dunlin") == ["/item/dunlin"]


def test_a_page_whose_scripts_ask_for_nothing_is_opened_again_only_if_it_has_changed(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.file("/", b"<p>early<script src=/own.js></script>", "text/html")
    site.file("/own.js", b"document.body.append('late')", "text/javascript")
    workspace.define(f"{url}/", javascript={"use": True, "keep_html": True})
    workspace.crawl()
    assert workspace.search("late") == ["/"]
    assert workspace.crawl().run["javascript"] == {"opened": 0, "parts": 1, "unrendered": {}}


FAULTS = {
    "the data server fails": Reply(503, (), b"later"),
    "the data server is busy": Reply(429, (), b"later"),
    "it hangs up": Reply(raw=True),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_applications_whose_data_cannot_be_had_keep_what_is_indexed(
    site: Site, url: str, workspace: Workspace, fault: Reply
) -> None:
    shells(site)
    workspace.define(f"{url}/", javascript={"use": True}, limits={"timeout": 1, "retries": 0})
    workspace.crawl()
    before = sorted(workspace.search("bird"))
    assert before == ["/one", "/two"]
    for name in ("one", "two"):
        site.dynamic(f"/data/{name}", lambda request: fault)
    workspace.crawl(code=None)
    assert sorted(workspace.search("bird")) == before
    shells(site, "fish")
    workspace.crawl()
    assert (workspace.search("bird"), sorted(workspace.search("fish"))) == ([], ["/one", "/two"])


def test_applications_keep_what_is_indexed_while_there_is_no_browser(
    site: Site, url: str, workspace: Workspace
) -> None:
    shells(site)
    workspace.define(f"{url}/", javascript={"use": True})
    workspace.crawl()
    broken = workspace.directory / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    workspace.define(f"{url}/", javascript={"use": True, "browser": str(broken)})
    for _ in range(2):
        outcomes = workspace.crawl(code=None).run["outcomes"]
        assert not {"MODIFIED", "DUPLICATE", "GONE"} & outcomes.keys()
        assert sorted(workspace.search("bird")) == ["/one", "/two"]
    shells(site, "fish")
    workspace.define(f"{url}/", javascript={"use": True})
    workspace.crawl()
    assert (workspace.search("bird"), sorted(workspace.search("fish"))) == ([], ["/one", "/two"])
