"""`ultracrawl serve` in processes: a site without a definition, and a real reverse proxy in front."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
import yaml
from service.access.conftest import PASSWORD, csrf_token_of
from support.nginx import nginx_site
from support.project import ROOT, Workspace
from support.sentences import sentence
from support.site import Site
from support.started import end, kill, start
from support.until import until

from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.users import UserStore
from ultracrawl.service.api.serving import open_socket, own_hosts

pytestmark = pytest.mark.processes


@contextmanager
def serving(folder: Path, *words: str, **env: str) -> Iterator[Path]:
    """Run `ultracrawl serve` on a free port; yields the file with what it prints."""
    printed = folder / "serve.txt"
    printed.unlink(missing_ok=True)
    process = start(printed, "serve", "--port", "0", *words, **env)
    try:
        until(lambda: "running the crawls" in printed.read_text(), process)
        yield printed
        end(process, printed)
    finally:
        kill(process)


class Client:
    """A client that keeps cookies by name, whatever they say of TLS."""

    def __init__(self, base: str) -> None:
        self.host = urlsplit(base).netloc
        self.cookies: dict[str, str] = {}

    def ask(self, path: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, str, str]:
        """Return status, `Location` and body."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **headers}
        if form is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            body = None if form is None else urlencode(form)
            connection.request("GET" if form is None else "POST", path, body, sent)
            answer = connection.getresponse()
            for cookie in answer.headers.get_all("set-cookie") or ():
                name, _, value = cookie.partition(";")[0].partition("=")
                self.cookies[name] = value
            return answer.status, answer.headers.get("location", ""), answer.read().decode()
        finally:
            connection.close()


def test_a_url_is_all_that_a_search_page_needs(tmp_path: Path) -> None:
    site = Site()
    site.page("/", title="Birds", links=["/heron"], text="all birds of the lake")
    site.page("/heron", title="Heron", text="the grey heron stands in the water")
    with site.serve() as url:
        with serving(tmp_path, "--url", f"{url}/") as printed:
            found = re.search(r"http://(\S+?)(/login\?key=\S+)", printed.read_text())
            assert found is not None, printed.read_text()
            client = Client(f"http://{found[1]}")
            assert client.ask("/?q=heron")[0] == 303
            assert client.ask(found[2])[:2] == (303, "/")
            until(lambda: "/heron" in client.ask("/?q=heron")[2])
            assert Client(f"http://{found[1]}").ask(found[2])[0] == 403
            (row,) = json.loads(client.ask("/api/v1/sources")[2])["sources"]
            assert row["due_by"] == "default-interval"
            key = found[2].partition("=")[2]
            logs = [path for path in (tmp_path / "var").rglob("*") if path.is_file()]
            assert not any(key.encode() in path.read_bytes() for path in logs)
        requests = len(site.requests)
        with serving(tmp_path, "--url", f"{url}/") as printed:
            found = re.search(r"http://(\S+?)(/login\?key=\S+)", printed.read_text())
            assert found is not None
            client = Client(f"http://{found[1]}")
            client.ask(found[2])
            assert "/heron" in client.ask("/?q=heron")[2]
            (row,) = json.loads(client.ask("/api/v1/sources")[2])["sources"]
            assert row["indexed"] == 2
        assert len(site.requests) == requests, "it is crawled again tomorrow"


def test_a_url_is_crawled_within_the_restrictions_that_are_typed_or_stored(tmp_path: Path) -> None:
    site = Site()
    site.page("/", title="Birds", links=["/guide/"])
    site.page("/guide/", title="Guide", links=["/guide/heron", "/guide/old/egret", "/"], text="guide")
    site.page("/guide/heron", title="Heron", text="heron")
    site.page("/guide/old/egret", title="Egret", text="egret")
    with site.serve() as url:
        scope = (
            "--path",
            "/guide/",
            "--exclude",
            "/guide/old/",
            "--depth",
            "3",
            "--limit",
            "9",
            "--delay",
            "0.3",
        )
        for words in (scope, ()):
            with serving(tmp_path, "--url", f"{url}/", *words) as printed:
                found = re.search(r"http://(\S+?)(/login\?key=\S+)", printed.read_text())
                assert found is not None
                client = Client(f"http://{found[1]}")
                client.ask(found[2])
                until(lambda: "/guide/heron" in client.ask("/?q=heron")[2])  # noqa: B023 - called at once
                until(lambda: '"phase": "idle"' in client.ask("/api/v1/sources")[2])  # noqa: B023
            assert site.page_paths() == {"/guide/", "/guide/heron"}
            (source,) = yaml.safe_load((tmp_path / "var" / "adhoc.yaml").read_text())["sources"].values()
            assert (source["only"], source["exclude"]) == (["/guide/"], ["/guide/old/"])
            assert (source["depth"], source["limits"]) == (3, {"documents": 9})
            assert source["politeness"] == {"delay": 0.3}
            assert sentence("serve.rough_time") in printed.read_text()


def test_the_command_ends_in_a_box_for_a_site(tmp_path: Path) -> None:
    site = Site()
    site.page("/", title="Heron", text="the grey heron stands in the water")
    pages, other = "https://docs.example.com", "https://other.example"
    with site.serve() as url:
        words = ("--url", f"{url}/", "--public", "--site", f"{pages}/")
        keys = []
        for more in ((), ("--site", other), ()):
            with serving(tmp_path, *words, *more) as printed:
                text = printed.read_text()
                script = re.search(r'<script src="http://(\S+?)/static/box.js" async></script>', text)
                box = re.search(r'<ultracrawl-search key="(\S+)"></ultracrawl-search>', text)
                assert script is not None
                assert box is not None
                keys.append(box[1])
                client = Client(f"http://{script[1]}")
                assert client.ask("/static/box.js")[0] == 200
                path = "/api/v1/search?" + urlencode({"key": box[1], "q": "heron"})
                until(lambda: "Heron" in client.ask(path, Origin=pages)[2])  # noqa: B023 - called at once
                assert client.ask(path, Origin=other)[0] == (200 if more else 403)
                assert client.ask("/?q=heron")[0] == 303, "the search page is for people who sign in"
    assert len(set(keys)) == 1


def test_a_box_belongs_to_a_site_and_a_url(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.define("http://127.0.0.1:9/")
    for words in (
        ("--public",),
        ("--site", "https://docs.example.com"),
        ("--public", "--site", "https://docs.example.com"),
        ("--url", "http://127.0.0.1:9/", "--public", "--site", "docs.example.com/path"),
    ):
        assert workspace.command("serve", *words).code == 2, words


def test_restrictions_belong_to_a_url(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.define("http://a.example/")
    for words in (
        ["--path", "/guide/"],
        ["--exclude", "/old/"],
        ["--depth", "3"],
        ["--limit", "9"],
        ["--delay", "1"],
    ):
        result = workspace.command("serve", *words)
        assert (result.code, len(result.err.splitlines())) == (2, 1), words


def test_a_page_that_nobody_can_open_is_reported_with_what_to_do(tmp_path: Path) -> None:
    sources = {"site": {"start_urls": ["http://a.example/"], "refresh": {"interval": "never"}}}
    (tmp_path / "ultracrawl.yaml").write_text(yaml.safe_dump({"sources": sources}))
    with serving(tmp_path) as printed:
        assert "ultracrawl user add" in printed.read_text()
    UserStore(tmp_path / "var" / "state" / "service" / "users.json").add_user("anna", Role.READER, PASSWORD)
    with serving(tmp_path) as printed:
        assert "ultracrawl user add" not in printed.read_text()


def test_beyond_loopback_no_key_is_printed(tmp_path: Path) -> None:
    with Site().serve() as url, serving(tmp_path, "--url", f"{url}/", "--behind-proxy") as printed:
        assert "Search page: http://127.0.0.1:" in printed.read_text()
        assert "key=" not in printed.read_text()


def test_it_answers_at_the_address_that_it_was_bound_to(tmp_path: Path) -> None:
    with Site().serve() as url, serving(tmp_path, "--url", f"{url}/", "--host", "127.0.0.2") as printed:
        base = re.search(r"http://127\.0\.0\.2:\d+", printed.read_text())
        assert base is not None
        assert Client(base[0]).ask("/healthz")[0] == 200
        assert Client(base[0]).ask("/healthz", Host="127.0.0.3")[0] == 421


@pytest.mark.parametrize(
    ("host", "hosts"),
    [
        ("127.0.0.1", {"127.0.0.1"}),
        ("localhost", {"localhost", "127.0.0.1"}),
        ("0.0.0.0", set()),
        ("", set()),
    ],
)
def test_what_was_bound_to_is_a_host_unless_it_is_all_of_a_machine(host: str, hosts: set[str]) -> None:
    with open_socket(host, 0) as opened:
        assert own_hosts(opened, host) == hosts


@pytest.mark.parametrize("module", ["argon2", "jinja2", "fastapi"])
def test_without_the_extra_one_line_names_it(tmp_path: Path, module: str) -> None:
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    workspace = Workspace(tmp_path)
    result = workspace.command("serve", "--url", "http://127.0.0.1:9/", PYTHONPATH=f"{hiding}:{ROOT}")
    assert result.code == 2
    assert "ultracrawl[serve]" in result.err
    assert len(result.err.splitlines()) == 1
    assert not (tmp_path / "var").exists()


@pytest.mark.servers
@pytest.mark.parametrize("end", ["", "/"], ids=["whole path", "path without its beginning"])
def test_a_proxy_shows_the_pages_below_a_path(tmp_path: Path, end: str) -> None:
    (tmp_path / "ultracrawl.yaml").write_text(
        yaml.safe_dump(
            {"sources": {"site": {"start_urls": ["http://a.example/"], "refresh": {"interval": "never"}}}}
        )
    )
    UserStore(tmp_path / "var" / "state" / "service" / "users.json").add_user("anna", Role.READER, PASSWORD)
    with serving(tmp_path, "--behind-proxy", "--root-path", "/search/") as printed:
        (port,) = re.findall(r"answers at http://127\.0\.0\.1:(\d+)", printed.read_text())
        headers = "proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
        extra = f"location /search/ {{ proxy_pass http://127.0.0.1:{port}{end}; {headers} }}"
        with nginx_site(tmp_path / "var", extra=extra) as nginx:
            client = Client(nginx.url)
            status, location, _ = client.ask("/search/?q=x")
            assert (status, location) == (303, "/search/login?next=%2Fsearch%2F%3Fq%3Dx")
            _, _, text = client.ask(location)
            assert 'action="/search/login"' in text
            style = re.search(r'href="(/search/static/[^"]+\.css[^"]*)"', text)
            assert style is not None
            assert client.ask(style[1])[0] == 200
            form = {"csrf_token": csrf_token_of(text), "name": "anna", "next": "/search/?q=x"}
            spoofed = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Host": "evil.example"}
            assert client.ask("/search/login", {**form, "password": "wrong"}, **spoofed)[0] == 401
            assert client.ask("/search/login", {**form, "password": PASSWORD}, **spoofed)[:2] == (
                303,
                "/search/?q=x",
            )
            assert any(name.startswith("__Secure-ultracrawl_session_") for name in client.cookies)
            status, _, text = client.ask("/search/?q=x")
            assert status == 200
            assert client.ask("/search/api/v1/search?q=x")[0] == 200
            assert client.ask("/search/logout", {"csrf_token": csrf_token_of(text)})[:2] == (303, "/search/")
    rows = [json.loads(line) for line in (tmp_path / "var" / "log" / "audit.jsonl").read_text().splitlines()]
    assert {row["from"] for row in rows if row["action"] in ("log-in", "log-out")} == {"127.0.0.1"}
