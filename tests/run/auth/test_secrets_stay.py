"""P4: one crawl with every kind of secret, and everything in which none of them may turn up.

The site redirects from each of its protected parts, by each status, to another host, to another port, and to a
part that is open; it links there as well. Then all requests that others got, and all that was printed or
written, is searched.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from support.project import ANY_PORT, Workspace
from support.proxy import Proxy
from support.resource import Reply
from support.server import Request
from support.site import Site

pytestmark = pytest.mark.processes

SECRETS = {
    "basic": "s-basic/1",
    "digest": "s-digest/2",
    "header": "s-header-3",
    "form": "s-form/4",
    "cookie": "s-cookie-5",
    "wrong": "s-wrong-7",
    "proxy": "s-proxy/6",
}
ENVIRONMENT = {f"S_{name.upper()}": value for name, value in SECRETS.items()}
STATUSES = (301, 302, 303, 307, 308)
PARTS = ("basic", "digest", "header", "member")
TARGETS = ("host", "port", "open")
PAGES = [f"/{part}/page/200" for part in PARTS]
"""Pages that are let in, stored and exported; each sets the cookie of the session anew."""


def written(secret: str, user: str = "robot") -> set[str]:
    """Return a secret as it may look on the wire or in a file."""
    pair = base64.b64encode(f"{user}:{secret}".encode()).decode()
    return {secret, quote_plus(secret), pair, base64.b64encode(secret.encode()).decode().rstrip("=")}


class Trap(Site):
    """Asks everybody for everything, and answers every path."""

    def __init__(self) -> None:
        super().__init__()
        self.dynamic("/*", self.ask)

    def ask(self, request: Request) -> Reply:
        if request.path == "/robots.txt":
            return Reply(404)
        headers = (
            ("WWW-Authenticate", 'Basic realm="Staff"'),
            ("WWW-Authenticate", 'Digest realm="Staff", nonce="n", qop="auth"'),
            ("Proxy-Authenticate", 'Basic realm="p"'),
        )
        return Reply(401, headers, b"who?")


class Home(Trap):
    """The site that the secrets are for."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.targets: dict[str, str] = {}
        for path in ("/", "/form", "/enter"):
            self.dynamic(path, getattr(self, {"/": "start", "/form": "form", "/enter": "enter"}[path]))
        for part in PARTS:
            self.dynamic(f"/{part}/*", self.part)

    def start(self, request: Request) -> Reply:
        links = "".join(f'<a href="{link}">x</a>' for link in self.links)
        return Reply(200, (("Content-Type", "text/html"),), f"<title>Home</title>{links}".encode())

    def form(self, request: Request) -> Reply:
        body = b"<form action=/enter method=post><input name=user><input type=password name=pw></form>"
        return Reply(200, (("Content-Type", "text/html"),), body)

    def enter(self, request: Request) -> Reply:
        if quote_plus(SECRETS["form"]).encode() not in request.body:
            return Reply(403)
        cookie = f"session={SECRETS['cookie']}"
        return Reply(302, (("Location", "/"), ("Set-Cookie", cookie)))

    def part(self, request: Request) -> Reply:
        """Let in who shows what the part wants, and send him to where the path says."""
        _, part, target, status = request.path.split("/")
        shown = {
            "basic": request.header("Authorization") in {f"Basic {one}" for one in written(SECRETS["basic"])},
            "digest": (request.header("Authorization") or "").startswith("Digest "),
            "header": request.header("X-Api-Key") == SECRETS["header"],
            "member": f"session={SECRETS['cookie']}" in (request.header("Cookie") or ""),
        }
        if not shown[part]:
            return self.ask(request)
        if target == "page":
            cookie = ("Set-Cookie", f"session={SECRETS['cookie']}; Path=/")
            return Reply(200, (("Content-Type", "text/html"), cookie), f"<title>{part}</title>kept".encode())
        return Reply(int(status), (("Location", f"{self.targets[target]}/from-{part}-{target}-{status}"),))


@dataclass
class Crawled:
    """What is left of the crawl."""

    home: Home
    other_host: Trap
    other_port: Trap
    proxy: str
    url: str
    texts: dict[str, bytes] = field(default_factory=dict)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    home, host, port = Home(), Trap(), Trap()
    workspace = Workspace(tmp_path_factory.mktemp("secrets"))
    with home.serve() as url, host.serve("127.0.0.2") as elsewhere, port.serve() as next_door:
        home.targets = {"host": elsewhere, "port": next_door, "open": f"{url}/open"}
        home.links = [f"/{part}/{to}/{status}" for part in PARTS for to in TARGETS for status in STATUSES]
        home.links += [
            *PAGES,
            *(f"/wrong/{number}" for number in range(3)),
            f"{elsewhere}/basic/link",
            f"{next_door}/basic/link",
            "/basics",
            f"{url}/open/../basic%2Fx",
        ]
        with Proxy({}, "robot", SECRETS["proxy"]) as proxy:
            define(workspace, url, proxy.url)
            texts = run(workspace, url)
            yield Crawled(home, host, port, proxy.text, url, texts)


def define(workspace: Workspace, url: str, proxy: str) -> None:
    def entry(name: str, **options: str) -> dict[str, str]:
        return {"user": "robot", "password": f"${{S_{name.upper()}}}", "url": f"{url}/{name}/", **options}

    workspace.define(
        f"{url}/",
        authentication={
            "basic": entry("basic", scheme="basic"),
            "digest": entry("digest"),
            "wrong": entry("wrong"),
        },
        site_headers={"api": {"url": f"{url}/header/", "headers": {"X-Api-Key": "${S_HEADER}"}}},
        logins={"form": {"page": f"{url}/form", "fields": {"user": "robot", "pw": "${S_FORM}"}}},
        proxy={"servers": {"p": {"url": proxy, "user": "robot", "password": "${S_PROXY}"}}},
        boundary={"ports": ANY_PORT, "domains": {"include": ["127.0.0.1", "127.0.0.2"]}},
        settings={"LOG_LEVEL": "DEBUG", "COOKIES_DEBUG": True},
        log={
            **dict.fromkeys(("screened", "fetch", "header", "site", "dsfeed"), True),
            "postprocess": "xml",
        },
        storage={"keep": True},
    )


def run(workspace: Workspace, url: str) -> dict[str, bytes]:
    """Crawl twice, use all that shows something, and return everything that was printed or written."""
    texts = {}
    commands = {
        "crawl": ["crawl"],
        "crawl again": ["crawl", "--json"],
        "urls": ["urls", "--json"],
        "explain": ["explain", f"{url}/basic/host/301", "--json"],
        "lint": ["lint"],
        "screened": ["screened"],
        "status": ["status", "--json"],
        "queue": ["queue"],
        "plan": ["plan"],
        "convert": ["convert", "ultracrawl.yaml"],
        "export": ["export", "--warc", "exported.warc"],
        "reindex": ["reindex"],
        "search": ["search", "--json", "--as-typed", "kept"],
    }
    for name, words in commands.items():
        ended = workspace.command(*words, **ENVIRONMENT)
        texts[name] = (ended.out + ended.err).encode()
    files = (path for path in Path(workspace.directory).rglob("*") if path.is_file())
    texts |= {str(path.relative_to(workspace.directory)): path.read_bytes() for path in files}
    return texts


def wire(requests: list[Request]) -> str:
    """Return all that a server got."""
    return "\n".join(f"{one.path}\n{dict(one.headers)}\n{one.body!r}" for one in requests)


def test_every_secret_did_its_work(crawled: Crawled) -> None:
    ended = {one.path: one.status for one in crawled.home.requests}
    paths = {f"/{part}/{to}/{status}": status for part in PARTS for to in TARGETS for status in STATUSES}
    assert {path: ended.get(path) for path in paths} == paths
    assert {ended.get(path) for path in PAGES} == {200}
    assert crawled.texts["exported.warc"].count(b"<title>") >= len(PAGES)
    assert b"authentication wrong: the server refused user and password" in crawled.texts["crawl"]
    assert "/enter HTTP/1.1" in crawled.proxy, "fast_25: log-ins go through the proxy as well"
    assert "/robots.txt HTTP/1.1" in crawled.proxy
    assert (
        "basic " + base64.b64encode(f"robot:{SECRETS['proxy']}".encode()).decode().lower()
        in crawled.proxy.lower()
    )


@pytest.mark.parametrize("secret", list(SECRETS))
def test_p4_another_host_gets_none(crawled: Crawled, secret: str) -> None:
    got = wire(crawled.other_host.requests)
    assert [one for one in written(SECRETS[secret]) if one in got] == []
    assert "Authorization" not in got.title()


@pytest.mark.parametrize("secret", [name for name in SECRETS if name != "cookie"])
def test_p4_another_port_gets_none(crawled: Crawled, secret: str) -> None:
    got = wire(crawled.other_port.requests)
    assert [one for one in written(SECRETS[secret]) if one in got] == []
    assert "Authorization" not in got.title()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("status", STATUSES)
def test_p4_redirects_were_followed_and_carried_nothing(crawled: Crawled, part: str, status: int) -> None:
    for server, target in (
        (crawled.other_host, "host"),
        (crawled.other_port, "port"),
        (crawled.home, "open"),
    ):
        path = f"/from-{part}-{target}-{status}"
        asked = [one for one in server.requests if one.path.endswith(path)]
        assert asked
        for one in asked:
            assert one.header("Authorization") is None
            assert one.header("X-Api-Key") is None
            assert (one.method, one.body) == ("GET", b"")


@pytest.mark.parametrize("path", ["/", "/basics", "/robots.txt", "/form", "/enter"])
def test_p4_other_parts_of_the_site_get_no_password(crawled: Crawled, path: str) -> None:
    asked = [one for one in crawled.home.requests if one.path == path]
    assert asked
    assert {one.header("Authorization") for one in asked} == {None}
    assert {one.header("X-Api-Key") for one in asked} == {None}


def test_p4_each_part_gets_its_own_secret_only(crawled: Crawled) -> None:
    for one in crawled.home.requests:
        shown = (one.header("Authorization") or "").partition(" ")[0]
        part = one.path.split("/")[1]
        assert shown in {"basic": {"Basic"}, "digest": {"", "Digest"}, "wrong": {"", "Digest"}}.get(
            part, {""}
        ), one.path
        # The first page of the headers was asked for once without them, as a visitor does.
        assert one.header("X-Api-Key") is None or part == "header", one.path


def test_p4_no_server_sees_what_is_for_the_proxy(crawled: Crawled) -> None:
    for site in (crawled.home, crawled.other_host, crawled.other_port):
        got = wire(site.requests)
        assert "proxy-authorization" not in got
        assert [one for one in written(SECRETS["proxy"]) if one in got] == []


@pytest.mark.parametrize("secret", list(SECRETS))
def test_p4_nothing_is_printed_or_written_that_holds_a_secret(crawled: Crawled, secret: str) -> None:
    forms = [one.encode() for one in written(SECRETS[secret])]
    assert [name for name, text in crawled.texts.items() if any(one in text for one in forms)] == []
    assert any(name.endswith(".sqlite3") or "state" in name for name in crawled.texts), (
        "the state file was searched"
    )
