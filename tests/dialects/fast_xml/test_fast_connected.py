"""What options of FAST collections do to connections, with and without each: proxies, TLS, logins, a browser.

The crawls have a process of their own. The stories are like those of `test_fast_played`.
"""

from __future__ import annotations

import threading

import pytest
from support.certificates import Authority
from support.fast_play import HTML, Case, Play, Story, fan, login_xml, play_both
from support.resource import Reply
from support.server import Request
from support.tls_site import secured

pytestmark = pytest.mark.servers

# ---- proxies


def through_the_proxy(play: Play) -> bool:
    fan(play, 1)
    play.crawl()
    return any("/0" in head for head in play.proxy.heads)


def version_of_http(play: Play) -> set[str]:
    """Return the versions of HTTP that requests name, by a proxy."""
    fan(play, 1)
    play.crawl()
    return {head.splitlines()[0].split()[2] for head in play.proxy.heads}


def at_once(play: Play) -> int:
    """Return how many of four requests come before the first is answered.

    The answers wait for the third request, and from the second on five seconds at most.
    """
    come: list[str] = []
    before: list[int] = []
    go = threading.Event()

    def answer_all() -> None:
        if not go.is_set():
            before.append(len(come))
            go.set()

    timer = threading.Timer(5.0, answer_all)

    def answer(request: Request) -> Reply:
        come.append(request.path)
        if len(come) == 2:
            timer.start()
        if len(come) == 3:
            answer_all()
        return Reply(200, HTML, f"<title>t</title>{request.path}".encode(), until=go)

    for number in range(4):
        play.site.dynamic(f"/{number}", answer)
    play.crawl()
    timer.cancel()
    return before[0]


PROXY = {"proxy": ("PROXY",)}

# ---- TLS


def secure(body: str, server: str = "") -> Story:
    """Return what crawls a page of nginx over TLS, with certificates of an authority, and says whether it is found."""

    def story(play: Play) -> bool:
        folder = play.workspace.directory
        authority = Authority(folder)
        authority.issue("crawler")
        with secured(folder, authority, body, server=server.format(ca=authority.file)) as (_, address):
            play.fill(SECURE_HOST=address.removeprefix("https://"), SECURE=address)
            play.crawl(codes=(0, 1, 2))
        return play.found("needle") == ["/page"]

    return story


certified = secure(
    'if ($ssl_client_verify != SUCCESS) { return 403; } return 200 "needle";',
    'ssl_verify_client optional; ssl_client_certificate "{ca}";',
)
SESSIONS = "location = /enter {{ add_header Set-Cookie 'session=ok; Path=/; Secure' always; return 200 in; }}"
for_members = secure('if ($cookie_session != ok) { return 403; } return 200 "needle";', SESSIONS)
TLS = {"start_uris": ("SECURE/page",), "allowed_schemes": ("https",)}

# ---- a browser


def scripts(play: Play) -> tuple[list[str], list[str]]:
    """Return what was asked for that a script wrote, and what is found of it."""
    page = b"<title>t</title><p>static</p><script src=/a.js></script><script src=/b.js></script>"
    play.site.file("/", page, "text/html")
    play.site.file("/a.js", b"document.body.append('dynamic ')", "text/javascript")
    play.site.file("/b.js", b"document.body.innerHTML += '<a href=/made>x</a>'", "text/javascript")
    play.pages("/made")
    play.crawl()
    return [path for path in play.paths() if path == "/made"], play.found("dynamic")


def parts_apart(play: Play) -> bool:
    """Return whether two scripts of a page are asked for five seconds apart, less what the first took.

    Both are followed as links later, too.
    """
    scripts(play)
    times = {one.path: one.time for one in reversed(play.requests())}
    return abs(times["/b.js"] - times["/a.js"]) >= 4.0


SCRIPTS = {"use_javascript": True}

CASES: dict[int, Case] = {
    21: Case(version_of_http, {"HTTP/1.1"}, {"HTTP/1.0"}, {"use_http_1_1": False}, PROXY),
    25: Case(through_the_proxy, False, True, PROXY),
    26: Case(at_once, 3, 2, {"proxy_max_pending": 2},
             {**PROXY, "max_pending": 4, "fetch_timeout": 60,
              "start_uris": ("URL/0", "URL/1", "URL/2", "URL/3")}),
    27: Case(certified, False, True, {"key_file": "crawler.key"}, {**TLS, "cert_file": "crawler.pem"}),
    28: Case(certified, False, True, {"cert_file": "crawler.pem"}, {**TLS, "key_file": "crawler.key"}),
    48: Case(lambda play: scripts(play)[0], [], ["/made"], SCRIPTS),
    49: Case(lambda play: scripts(play)[1], [], ["/"], {"javascript_keep_html": True}, SCRIPTS),
    50: Case(parts_apart, False, True, {"javascript_delay": 5.0}, {**SCRIPTS, "fetch_timeout": 60}),
    215: Case(for_members, False, True, {}, TLS, login_xml(site="SECURE_HOST"),
              login_xml(site="SECURE_HOST", scheme="https")),
}  # fmt: skip


@pytest.mark.parametrize("number", CASES, ids=lambda number: f"fast_{number}")
def test_the_story_differs(tmp_path_factory: pytest.TempPathFactory, number: int) -> None:
    case = CASES[number]
    assert play_both(number, case, tmp_path_factory, real=True) == (case.without, case.with_it)
