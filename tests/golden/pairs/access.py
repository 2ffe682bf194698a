"""How sites are reached: passwords, forms, cookies, headers, proxies, FTP, scripts."""

from __future__ import annotations

import os
import shutil
from base64 import b64encode
from datetime import UTC, datetime

from support.ftp import FtpSite
from support.project import ANY_PORT
from support.proxy import Proxy
from support.requirement import require
from support.resource import Reply
from support.site import Request

from golden.pair import Change, pair
from golden.stage import Stage


def html(title: str, *links: str) -> bytes:
    """Return a page whose links say where they lead."""
    return f"<title>{title}</title>{''.join(f'<a href={link}>{link}</a> ' for link in links)}".encode()


def ok(body: bytes, *headers: tuple[str, str]) -> Reply:
    """Answer with a page."""
    return Reply(200, (("Content-Type", "text/html"), *headers), body)


@pair(kill_at=6, code=1, look=("/staff/a", "/api/x", "/forbidden"))
def passwords_and_headers(on: Stage) -> Change:
    """Basic and Digest, realms, headers for all and for a part, cookies, a body that is posted, HTTP/1.0's absence."""
    on.define(
        authentication={
            "staff": {
                "url": f"{on.url}/staff/",
                "scheme": "basic",
                "user": "crawler",
                "password": "file:staff.txt",
            },
            "digest": {
                "url": f"{on.url}/digest/",
                "scheme": "digest",
                "user": "crawler",
                "password": "secret",
            },
            "realm": {"realm": "Reports", "user": "reporter", "password": "secret"},
            "wrong": {"url": f"{on.url}/wrong/", "scheme": "basic", "user": "crawler", "password": "no"},
        },
        headers={"Accept-Language": "de, en;q=0.5"},
        site_headers={"api": {"url": f"{on.url}/api/", "headers": {"X-Api-Key": "key"}}},
        cookies={"enabled": True},
        user_agent="golden (+http://site.example/)",
        post_payload={f"{on.url}/form": "view=full", f"prefix:{on.url}/forms/": "all=1"},
    )
    on.file("staff.txt", "staff-secret\n")
    site = on.site
    site.write(
        "/",
        "Start",
        "",
        ["/set", "/staff/a", "/digest/a", "/reports", "/wrong/a", "/api/x", "/form", "/forms/1"],
    )
    site.write("/set", "Set", "a cookie", ["/after"], headers={"Set-Cookie": "seen=1; Path=/"})
    site.write("/after", "After", "the cookie")
    site.write("/api/x", "API", "with a key")
    site.write("/form", "Form", "was posted")
    site.write("/forms/1", "Forms", "was posted, too")

    def guarded(title: str, realm: str, user: str, scheme: str = "Basic") -> None:
        wanted = b64encode(user.encode()).decode()

        def answer(request: Request) -> Reply:
            given = request.header("Authorization") or ""
            if given == f"Basic {wanted}" or (scheme == "Digest" and given.startswith("Digest ")):
                return ok(html(title))
            asked = f'{scheme} realm="{realm}"' + (', nonce="n", qop="auth"' if scheme == "Digest" else "")
            return Reply(401, (("WWW-Authenticate", asked), ("Content-Type", "text/plain")), b"no")

        site.dynamic(title, answer)

    guarded("/staff/a", "Staff", "crawler:staff-secret")
    guarded("/digest/a", "Digest", "", "Digest")
    guarded("/reports", "Reports", "reporter:secret")
    guarded("/wrong/a", "Wrong", "crawler:right")

    def change() -> None:
        guarded("/wrong/a", "Wrong", "crawler:no")
        guarded("/staff/a", "Staff", "crawler:other")

    return change


@pair(kill_at=8, look=("/members/a", "/logout", "/forbidden"))
def form_login(on: Stage) -> Change:
    """A form with hidden fields opens a part of the site; the session is lost once."""
    on.define(
        logins={
            "members": {
                **{
                    "preload": f"{on.url}/hello",
                    "page": f"{on.url}/login",
                    "lost_text": "session has expired",
                },
                **{"fields": {"user": "crawler", "password": "file:pw.txt"}, "failed_text": "Wrong password"},
            }
        },
        boundary={"uris": {"exclude": [{"suffix": "/logout"}]}},
    )
    on.file("pw.txt", "secret")
    site = on.site
    sessions: list[str] = []
    lost: list[str] = []
    site.write("/hello", "Hello", "", headers={"Set-Cookie": "hello=1; Path=/"})
    form = "<form method=post action=/session><input type=hidden name=token value=t1><input name=user>"
    site.file("/login", f"{form}<input type=password name=password></form>".encode(), "text/html")

    def enter(request: Request) -> Reply:
        if b"password=secret" not in request.body or b"token=t1" not in request.body:
            return ok(b"Wrong password")
        sessions.append(f"s{len(sessions) + 1}")
        return Reply(303, (("Location", "/welcome"), ("Set-Cookie", f"session={sessions[-1]}; Path=/")))

    def member(title: str, *links: str) -> None:
        def answer(request: Request) -> Reply:
            is_inside = bool(sessions) and f"session={sessions[-1]}" in (request.header("Cookie") or "")
            if not is_inside or title in lost:
                if is_inside:
                    lost.clear()
                return ok(b"Your session has expired")
            return ok(html(title, *links))

        site.dynamic(title, answer)

    site.dynamic("/session", enter)
    member("/welcome")
    member("/", "/members/a", "/members/b", "/logout")
    member("/members/a", "/members/c")
    member("/members/b")
    member("/members/c")

    def change() -> None:
        lost.append("/members/a")

    return change


@pair(kill_at=4, look=("/a", "http://elsewhere.example/", "/forbidden"))
def proxy(on: Stage) -> Change:
    """Everything goes through a proxy that wants a password, but for some hosts."""
    port = on.port
    server = on.closing.enter_context(Proxy({"pages.test": port}, "crawler", "proxy-secret"))
    on.names[f"127.0.0.1:{server.port}"] = "proxy"
    on.heard["proxy"] = server.heads
    on.define(
        start_urls=["http://pages.test/"],
        proxy={
            "servers": {
                "main": {"url": server.url, "user": "crawler", "password": "proxy-secret", "connections": 1}
            },
            "bypass": ["127.0.0.2"],
        },
        boundary={"domains": {"include": ["pages.test", "127.0.0.2"]}, "ports": ANY_PORT},
        own_sites=[f"{on.second}/"],
        headers={"X-Golden": "yes"},
    )
    site = on.site
    site.write("/", "Start", "", ["/a", "/moved", f"{on.second}/direct"])
    site.write("/a", "A", "by proxy")
    site.redirect("/moved", "/b")
    site.write("/b", "B", "by proxy, too")
    site.write("/direct", "Direct", "without")

    def change() -> None:
        site.write("/a", "A", "by proxy, changed")

    return change


@pair(kill_at=0, look=("/a", "http://elsewhere.example/", "/forbidden"))
def ftp(on: Stage) -> Change:
    """Directories, files and links of an FTP server, with an account for a part of it."""
    root = on.directory / "ftp"
    server = FtpSite(root)

    def put(path: str, content: str | bytes, month: int = 1) -> None:
        date = datetime(2024, month, 1, tzinfo=UTC).timestamp()
        os.utime(server.put(path, content), (date, date))

    put("readme.txt", "plain words by FTP")
    put("docs/page.html", '<title>Page</title>a page <a href="other.html">other</a>')
    put("docs/other.html", "<title>Other</title>another page")
    put("docs/picture.png", b"\x89PNG\r\n\x1a\n")
    put("private/x.txt", "kept out by a rule")
    address = on.closing.enter_context(server.serve())
    on.names[address.removeprefix("ftp://")] = "ftp-site"
    on.heard["ftp"] = server.commands
    on.define(
        start_urls=[f"{address}/"],
        boundary={"schemes": ["ftp"], "paths": {"*": {"exclude": ["/private/"]}}},
        ftp={
            "email": "me@site.example",
            "accounts": {"main": {"host": "127.0.0.1", "path": "/none/", "user": "u", "password": "p"}},
        },
        errors={"ftp": {"550": "DELETE"}},
    )

    def change() -> None:
        (root / "docs" / "other.html").unlink()
        put("docs/new.txt", "came later", 2)
        put("readme.txt", "plain words by FTP, and more of them", 2)

    return change


@pair(kill_at=0)
def javascript(on: Stage) -> Change:
    """Scripts of some pages are run; their links are followed, what they made is indexed."""
    require(any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "Chromium", "chromium")
    on.define(
        javascript={"use": True, "urls": [f"{on.url}/app"], "keep_html": True, "timeout": 30, "pages": 1}
    )
    site = on.site
    script = "document.body.innerHTML = '<p>made by a script</p><a href=/made>made</a>'"
    site.write("/", "Start", "", ["/app", "/plain"], body="<script>document.title = 'not run'</script>")
    site.write("/app", "App", "as it was sent", body="<script src=/code.js></script>")
    site.file("/code.js", script.encode(), "text/javascript")
    site.write("/plain", "Plain", "without scripts")
    site.write("/made", "Made", "found by a script")

    def change() -> None:
        site.file("/code.js", script.replace("/made", "/made-anew").encode(), "text/javascript")
        site.write("/app", "App", "sent again", body="<script src=/code.js></script>")
        site.write("/made-anew", "Made anew", "found by a script")

    return change
