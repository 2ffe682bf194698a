"""P4 where things go wrong: chains of redirects, crawls that are killed, servers that refuse, passwords in clear."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from support.certificates import Authority
from support.free_port import free_port
from support.ftp import FtpSite
from support.project import ANY_PORT, LOOPBACK, Workspace, kill_group
from support.resource import Reply
from support.server import Request
from support.site import Site
from support.tls_site import secured
from support.until import until
from support.written import Written, section_of

SECRET = "s-very/secret:1"
DEBUG = {"LOG_LEVEL": "DEBUG", "COOKIES_DEBUG": True}


def holders(folder: Path, *texts: str, secret: str = SECRET, user: str = "robot") -> list[str]:
    """Return what of the files of a folder and of the texts holds a secret, in any form that it has on its way."""
    pair = b64encode(f"{user}:{secret}".encode()).decode()
    forms = [one.encode() for one in (secret, quote(secret, safe=""), quote_plus(secret), pair)]
    named = {f"text {number}": text.encode() for number, text in enumerate(texts)}
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [name for name, data in {**named, **files}.items() if any(form in data for form in forms)]


@pytest.mark.servers
def test_p4_a_chain_to_https_and_on_to_another_host(site: Site, url: str, workspace: Workspace) -> None:
    """Each hop says in the URL of the next one what it was shown."""
    authority = Authority(workspace.directory)
    other = Site()
    other.dynamic("/end*", lambda request: Reply(401, (("WWW-Authenticate", 'Basic realm="Staff"'),)))
    with other.serve("127.0.0.2") as elsewhere:
        body = f'return 302 "{elsewhere}/end?shown=x$http_authorization$http_x_api_key";'
        with secured(workspace.directory, authority, body) as (_, address):

            def protected(request: Request) -> Reply:
                shown = request.header("Authorization") and request.header("X-Api-Key") == SECRET
                return Reply(302 if shown else 403, (("Location", f"{address}/page"),))

            site.dynamic("/staff/a", protected)
            prefix = f"{url}/staff/"
            workspace.define(
                f"{url}/staff/a",
                authentication={
                    "a": {"user": "robot", "password": "${S}", "url": prefix, "scheme": "basic"},
                },
                site_headers={"k": {"url": prefix, "headers": {"X-Api-Key": "${S}"}}},
                boundary={"ports": ANY_PORT, "domains": {"include": ["127.0.0.1", "127.0.0.2"]}},
            )
            workspace.crawl(code=None, S=SECRET, SSL_CERT_FILE=str(authority.file))
    asked = [one for one in other.requests if one.path.startswith("/end")]
    assert [one.path for one in asked] == ["/end?shown=x"]
    assert {(one.header("Authorization"), one.header("X-Api-Key")) for one in asked} == {(None, None)}


@pytest.mark.processes
def test_p4_the_state_of_a_crawl_that_is_killed(site: Site, url: str, workspace: Workspace) -> None:
    """What SQLite has not written back yet lies in a file of its own; that one is searched, too."""
    pages = [f"/in/{number}" for number in range(12)]
    site.page("/", title="Home", links=pages)
    form = b"<form action=/enter method=post><input name=user><input type=password name=pw></form>"
    site.dynamic("/form", lambda request: Reply(200, (("Content-Type", "text/html"),), form))
    site.dynamic("/enter", lambda request: Reply(302, (("Location", "/"), ("Set-Cookie", f"s={SECRET}"))))
    for page in pages:
        site.page(page, title=page, links=[f"{page}/more"])
    workspace.define(
        f"{url}/",
        logins={"form": {"page": f"{url}/form", "fields": {"user": "robot", "pw": "${S}"}}},
        authentication={"a": {"user": "robot", "password": "${S}", "url": f"{url}/in/", "scheme": "basic"}},
        politeness={"delay": 0.2, "concurrency": 1},
        storage={"keep": True},
        log={"header": True, "fetch": True},
        settings=DEBUG,
    )
    process = workspace.start("crawl", S=SECRET)
    written = f"{pages[3]}/more".encode()
    until(lambda: any(written in path.read_bytes() for path in workspace.directory.rglob("*-wal")), process)
    kill_group(process)
    asked = [one for one in site.requests if one.path.startswith("/in/")]
    assert {one.header("Cookie") for one in asked} == {f"s={SECRET}", None}, "None: as a visitor"
    assert len({one.header("Authorization") for one in asked}) == 1
    names = [path.name for path in workspace.directory.rglob("*") if path.is_file() and path.stat().st_size]
    assert [name for name in names if name.endswith("-wal")], names
    assert holders(workspace.directory) == []


def unreachable_login(url: str) -> dict[str, Any]:
    dead = f"http://127.0.0.1:{free_port()}"
    fields = {"user": "robot", "pw": "${S}"}
    entry = {"action": f"{dead}/enter", "method": "GET", "fields": fields, "sites": ["127.0.0.1"]}
    return {"start_urls": [f"{url}/"], "logins": {"form": entry}}


def unreachable_proxy(url: str) -> dict[str, Any]:
    server = {"url": f"http://127.0.0.1:{free_port()}", "user": "robot", "password": "${S}"}
    return {"start_urls": [f"{url}/", "https://pages.test/"], "proxy": {"servers": {"p": server}}}


def unsendable_header(url: str) -> dict[str, Any]:
    headers = {"X-Api-Key": "${S_WITH_BREAK}"}
    return {"start_urls": [f"{url}/"], "site_headers": {"k": {"url": f"{url}/", "headers": headers}}}


@pytest.mark.parametrize("trouble", [unreachable_login, unreachable_proxy, unsendable_header])
def test_p4_no_error_tells_a_secret(url: str, workspace: Workspace, trouble: Any) -> None:
    source = {"boundary": LOOPBACK, "settings": DEBUG, **trouble(url)}
    workspace.write({"sources": {"site": source}})
    ended = workspace.command("crawl", "-v", S=SECRET, S_WITH_BREAK=f"{SECRET}\nX: y")
    assert ended.code in {1, 2}
    assert holders(workspace.directory, ended.out, ended.err) == []


def test_p4_an_ftp_server_that_refuses(tmp_path: Path, workspace: Workspace) -> None:
    root = tmp_path / "served"
    root.mkdir()
    ftp = FtpSite(root)
    ftp.users["robot"] = ("another", root)
    with ftp.serve() as address:
        account = {"host": "127.0.0.1", "user": "robot", "password": "${S}"}
        boundary = {"schemes": ["ftp"]}
        workspace.define(f"{address}/", boundary=boundary, ftp={"accounts": {"m": account}}, settings=DEBUG)
        ended = workspace.command("crawl", "-v", S=SECRET)
    assert SECRET in ftp.got("PASS")
    urls = workspace.command("urls", "--json")
    assert holders(workspace.directory, ended.out, ended.err, urls.out) == []


def test_p4_fast_177_178_224_25_passwords_in_clear_stay_in_their_file(
    site: Site, url: str, workspace: Workspace
) -> None:
    source = Written(workspace, "fast_xml")
    site.page("/", title="Home", links=["/staff/a"])
    site.page("/staff/a", title="A", text="needle")
    fields = section_of("parameters", {"user": "robot", "pw": SECRET})
    login = (
        f'<Login name="m"><attrib name="site" type="string">127.0.0.1:{free_port()}</attrib>'
        f'<attrib name="form" type="string">/enter</attrib>{fields}'
        '<attrib name="sites" type="list-string"><member>members.test</member></attrib></Login>'
    )
    inside = section_of("passwd", {f"{url}/staff/": f"robot:{SECRET}"}) + login
    options = {"ftp_acct/ftp.test": f"robot:{SECRET}", "proxy": (f"robot:{SECRET}@127.0.0.1:{free_port()}",)}
    source.define(f"{url}/", {}, options, inside=inside)
    texts = []
    for words in (
        ["crawl", "-v"],
        ["crawl", "--json"],
        ["lint"],
        ["explain", f"{url}/staff/a", "--json"],
        ["urls", "--json"],
        ["status", "--json"],
    ):
        ended = source.command(*words)
        texts += [ended.out, ended.err]
    exported = workspace.command("admin", "export", "handbook", "-c", "collection.xml")
    assert exported.code == 0, exported.err
    assert 'name="ftp_acct"' in exported.out
    assert holders(workspace.directory, *texts, exported.out) == ["collection.xml"]


def test_p4_what_is_converted_is_read_by_its_owner_alone_and_holds_no_secret_from_elsewhere(
    workspace: Workspace,
) -> None:
    """A password that stands in the file stands in what is made of it; a name of the environment stays a name."""
    source = Written(workspace, "fast_xml")
    inside = section_of("passwd", {"http://a.test/": "robot:${S}", "http://b.test/": "robot:in clear"})
    source.define("http://a.test/", {}, inside=inside)
    ended = workspace.command("convert", "collection.xml", "-o", "made.yaml", S=SECRET)
    assert ended.code == 0, ended.err
    made = workspace.directory / "made.yaml"
    assert "${S}" in made.read_text()
    assert "in clear" in made.read_text()
    assert made.stat().st_mode & 0o77 == 0
    assert holders(workspace.directory, ended.out, ended.err) == []
