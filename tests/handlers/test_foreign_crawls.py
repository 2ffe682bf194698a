"""Whole crawls with handlers that are not ours: what they reach, what they show, and what they leave behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from handlers.ways import PATHS, path_of
from support.certificates import Authority
from support.listener import Listener
from support.project import ANY_PORT, Workspace
from support.sentences import sentence
from support.site import Site
from support.tls_site import secured

from ultracrawl.rules.access.credentials import basic_answer

SECRET = "hunter2-of-the-source"
OWN = """
from urllib.request import urlopen
from scrapy.http import HtmlResponse

class Handler:
    lazy = True

    async def download_request(self, request):
        with urlopen(request.url) as answer:
            return HtmlResponse(request.url, body=answer.read(), headers=dict(answer.headers))

    async def close(self):
        pass
"""


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace(tmp_path / "project")


def with_handler(path: str, **settings: Any) -> dict[str, Any]:
    return {"DOWNLOAD_HANDLERS": {"http": path, "https": path}, **settings}


def test_a_crawl_reaches_what_its_source_may_reach(site: Site, url: str, workspace: Workspace) -> None:
    with Listener().open() as inner:
        refused = f"http://{inner.address}"
        site.robots(f"User-agent: *\nSitemap: {refused}/sitemap.xml\nSitemap: {url}/sitemap.xml\n")
        site.page("/", title="Home", text="needle", links=["/moved", f"{refused}/linked", "/next"])
        site.page("/next", title="Next", text="needle")
        site.redirect("/moved", f"{refused}/moved")
        site.file(
            "/sitemap.xml", f"<urlset><url><loc>{refused}/listed</loc></url></urlset>".encode(), "text/xml"
        )
        boundary = {"networks": ["127.0.0.1/32"], "domains": {"include": ["127.0.0.1", "127.0.0.2"]}}
        workspace.write(
            {
                "sources": {
                    "site": {
                        "start_urls": [f"{url}/"],
                        "boundary": boundary,
                        "politeness": {"delay": 0},
                        "limits": {"retries": 1, "retry_delay": 0.05},
                        "settings": with_handler(path_of("http11")),
                    }
                }
            }
        )
        ended = workspace.crawl(code=None)
    assert inner.came == []
    assert sorted(workspace.search("needle")) == ["/", "/next"]
    assert [one for one in site.requests if one.path == "/next"]
    assert ended.json["runs"][0]["problems"] == []


@pytest.mark.servers
def test_a_crawl_over_http2(workspace: Workspace, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    (tmp_path / "secret").write_text(SECRET)
    known = f'if ($http_authorization != "{basic_answer("u", SECRET)}") {{ return 401; }}'
    with Listener().open() as inner:
        away = f"location = /away {{ return 302 https://{inner.address}/; }}"
        body = f'{known} return 200 "needle $server_protocol";'
        with secured(tmp_path, authority, body, listen="http2", server=away) as (_, address):
            workspace.define(
                f"{address}/page",
                start_urls=[f"{address}/page", f"{address}/away"],
                boundary={
                    "networks": ["127.0.0.1/32"],
                    "domains": {"include": ["127.0.0.1", "127.0.0.2"]},
                    "ports": ANY_PORT,
                },
                robots={"obey": False},
                authentication={
                    "a": {
                        "url": f"{address}/page",
                        "user": "u",
                        "password": f"file:{tmp_path}/secret",
                        "scheme": "basic",
                    }
                },
                settings=with_handler(path_of("http2"), DOWNLOAD_VERIFY_CERTIFICATES=False),
            )
            ended = workspace.crawl()
    assert (inner.came, ended.err) == ([], "")
    assert sorted(workspace.outcomes().items()) == [
        ("/", "REJECTED"),
        ("/away", "REDIRECTED"),
        ("/page", "NEW"),
    ]
    assert workspace.search('"HTTP/2.0"') == ["/page"]


def test_p4_what_a_crawl_leaves_behind_holds_no_secret(
    site: Site, url: str, workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text(SECRET)
    site.page("/", title="Home", links=["/staff/a", "/staff/gone", "/staff/busy"])
    site.page("/staff/a", title="A", text="needle", headers={"Set-Cookie": f"sid={SECRET}"})
    site.redirect("/staff/gone", "/elsewhere")
    site.page("/elsewhere", title="E", text="elsewhere")
    site.respond("/staff/busy", status=503)
    secret = f"file:{tmp_path / 'secret.txt'}"
    scrapys = {
        f"scrapy.downloadermiddlewares.{name}": priority
        for name, priority in {
            "httpcache.HttpCacheMiddleware": 900,
            "retry.RetryMiddleware": 550,
            "redirect.RedirectMiddleware": 600,
        }.items()
    }
    workspace.define(
        f"{url}/",
        authentication={"a": {"url": f"{url}/staff", "user": "u", "password": secret, "scheme": "basic"}},
        site_headers={"h": {"url": f"{url}/staff", "headers": {"X-Token": secret}}},
        settings=with_handler(
            PATHS["http11"],
            DOWNLOADER_MIDDLEWARES=scrapys,
            HTTPCACHE_ENABLED=True,
            HTTPCACHE_DIR=str(workspace.directory / "cache"),
            LOG_LEVEL="DEBUG",
            LOG_FILE=str(workspace.directory / "crawl.log"),
            RETRY_TIMES=1,
        ),
    )
    ended = workspace.crawl(code=None)
    basic = basic_answer("u", SECRET)
    shown = {one.path: one.headers.get("authorization", "") for one in site.requests}
    assert shown["/staff/a"] == shown["/staff/gone"] == shown["/staff/busy"] == basic
    assert shown["/elsewhere"] == shown["/"] == ""
    files = [one for one in workspace.directory.rglob("*") if one.is_file()]
    assert any("cache" in one.parts and one.name == "request_headers" for one in files)
    told = [ended.out, ended.err, *(one.read_bytes().decode("latin-1") for one in files)]
    leaked = [
        text for text in told if basic.split()[1] in text or SECRET in text.replace(f"sid={SECRET}", "")
    ]
    assert leaked == []


def test_a_handler_that_nobody_can_guard(site: Site, url: str, workspace: Workspace) -> None:
    (workspace.directory / "own.py").write_text(OWN)
    with Listener().open() as inner:
        site.page("/", title="Home", text="needle", links=[f"http://{inner.address}/"])
        boundary = {"networks": ["127.0.0.1/32"], "domains": {"include": ["127.0.0.1", "127.0.0.2"]}}
        options: dict[str, Any] = {"settings": with_handler("own.Handler"), "robots": {"obey": False}}
        workspace.define(f"{url}/", boundary=boundary, **options)
        ended = workspace.command("crawl")
        assert (ended.code, ended.out, ended.err.count("\n"), site.requests) == (2, "", 1, [])
        assert sentence("guard.cannot_check_handler") in ended.err
        workspace.define(f"{url}/", boundary={**boundary, "guard": "names"}, **options)
        ended = workspace.command("crawl")
        assert sentence("guard.names_only_note") in ended.out + ended.err
    assert inner.came == []
    assert workspace.search("needle") == ["/"]


PLAIN = """
import sys
from scrapy.settings import Settings
from scrapy.utils.misc import load_object
from ultracrawl.addon import UltracrawlAddon
from ultracrawl.sources import DataSource

settings = Settings()
source = DataSource.model_validate({"name": "s", "start_urls": ["http://a.example/"]})
UltracrawlAddon(source).update_settings(settings)
for path in filter(None, settings["DOWNLOAD_HANDLERS"].values()):
    load_object(path)
print([name for name in sys.modules if "guarding" in name])
"""


def test_with_our_own_handler_nothing_of_it_is_imported() -> None:
    command = [sys.executable, "-c", PLAIN]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("[]\n", "")
