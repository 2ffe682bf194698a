"""Rules of one robots.txt: groups, matching, decisions (RFC 9309, Ultra Search 11)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.rules.robots.lines import PARSED_BYTES
from ultracrawl.rules.robots.rules import RobotsRules

SITE = "https://example.com"
CYBERWORLD = """\
# robots.txt of a site
User-agent: *
Disallow: /cyberworld/map/ # an infinite space

Disallow: /tmp/
Disallow: /foo.html

User-agent: Ultra Search
Disallow: /only-for-us/
"""


@pytest.mark.parametrize(
    ("name", "path", "accept"),
    [
        pytest.param("other", "/cyberworld/map/1.html", False, id="ultra_search_80-map"),
        pytest.param("other", "/tmp/x", False, id="ultra_search_80-tmp-after-a-blank-line"),
        pytest.param("other", "/foo.html", False, id="ultra_search_80-foo"),
        pytest.param("other", "/foo.htm", True, id="ultra_search_80-not-a-beginning"),
        pytest.param("other", "/only-for-us/", True, id="another-robot's-group"),
        pytest.param("Ultra Search", "/tmp/x", True, id="ultra_search_79-replaces-the-star-group"),
        pytest.param("Ultra Search", "/only-for-us/x", False, id="ultra_search_79-own-group"),
        pytest.param("ULTRA  search", "/only-for-us/x", False, id="ultra_search_79-case-and-blanks"),
        pytest.param("Ultra Search/9.2", "/only-for-us/x", False, id="ultra_search_79-version"),
        pytest.param("Ultra", "/only-for-us/x", False, id="leading-token-of-a-name-with-a-blank"),
    ],
)
def test_robots_group_of_ultra_search(name: str, path: str, accept: bool) -> None:
    assert RobotsRules.parse(CYBERWORLD.encode(), name=name).allowed(SITE + path).accept is accept


@pytest.mark.parametrize(
    ("robots", "path", "accept"),
    [
        pytest.param("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True, id="longest-match-allow"),
        pytest.param(
            "User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", False, id="longest-match-disallow"
        ),
        pytest.param("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True, id="tie-allow-wins"),
        pytest.param("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False, id="dollar"),
        pytest.param("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?d=1", True, id="dollar-anchors"),
        pytest.param("User-agent: *\nDisallow: /*?sid=", "/x?sid=1", False, id="query"),
        pytest.param("User-agent: *\nDisallow: /caf%C3%A9", "/café", False, id="percent-rule-raw-url"),
        pytest.param("User-agent: *\nDisallow: /café", "/caf%c3%a9", False, id="raw-rule-percent-url"),
        pytest.param("User-agent: *\nDisallow: /A", "/a", True, id="paths-keep-case"),
        pytest.param("USER-AGENT: *\ndisAllow: /a", "/a", False, id="directives-ignore-case"),
        pytest.param("User-agent: *\rDisallow: /a\rAllow: /a/b", "/a/c", False, id="cr-only"),
        pytest.param("User-agent: *\r\nDisallow: /a", "/a", False, id="crlf"),
        pytest.param("\ufeffUser-agent: *\nDisallow: /a", "/a", False, id="utf8-bom"),
        pytest.param("User-agent: *\nDisallow:", "/a", True, id="empty-disallow"),
        pytest.param("User-agent: *\nDisallow: /", "/robots.txt", True, id="robots-txt-itself"),
        pytest.param("User-agent: ultracrawl/1.0\nDisallow: /", "/a", False, id="agent-with-version"),
        pytest.param("User-agent: ultracrawl extra\nDisallow: /", "/a", False, id="agent-with-words"),
        pytest.param("User-agent: ultra\nDisallow: /", "/a", True, id="agent-token-not-a-prefix"),
        pytest.param("User-agent: ultracrawl\nUser-agent: b\nDisallow: /", "/a", False, id="two-agents"),
        pytest.param(
            "User-agent: ultracrawl\nX-Y: z\nUser-agent: b\nDisallow: /", "/a", False, id="unknown-line"
        ),
        pytest.param(
            "User-agent: ultracrawl\nCrawl-delay: 5\nUser-agent: b\nDisallow: /",
            "/a",
            False,
            id="a-delay-closes-no-group",
        ),
        pytest.param(
            "User-agent: ultracrawl\nSitemap: /s.xml\nNoindex: /x\nHost: h\n\nUser-agent: b\nDisallow: /",
            "/a",
            False,
            id="other-records-close-no-group",
        ),
        pytest.param(
            "User-agent: b\nDisallow: /x\nCrawl-delay: 1\nSitemap: /s.xml\nDisallow: /a\n"
            "User-agent: ultracrawl\nDisallow: /z",
            "/a",
            True,
            id="other-records-open-no-group",
        ),
        pytest.param("User-agent: * baz\nDisallow: /", "/a", False, id="every-robot-with-words"),
        pytest.param("User-agent: *baz\nDisallow: /", "/a", True, id="an-asterisk-and-a-name-is-a-name"),
        pytest.param("User-agent: *<BR>\nDisallow: /a<BR>\n", "/a", False, id="html-breaks"),
        pytest.param(
            "<html><head><meta charset=utf-8></head><body><p>User-agent: *<br/>Disallow: /a?b=1&amp;c<br>"
            "Allow: /</p></body></html>",
            "/a?b=1&c=2",
            False,
            id="html-in-one-line",
        ),
        pytest.param(
            '<p><font color="#000000">User-agent: *</font></p>\n<p>Disallow: /a</p>',
            "/a",
            False,
            id="html-with-a-hash-in-a-tag",
        ),
        pytest.param("User-agent: *\nDisallow: /a<b>c&amp;", "/a<b>c&amp;d", False, id="tag-in-a-rule"),
        pytest.param("User-agent: *\nDisallow: /a&amp;", "/a&b", True, id="no-html-no-entities"),
        pytest.param(
            "User-agent: ultracrawl\nDisallow: /a\n\nUser-agent: b\nDisallow: /\n\n"
            "User-agent: UltraCrawl\nDisallow: /c",
            "/c",
            False,
            id="groups-of-one-agent-add-up",
        ),
        pytest.param("Disallow: /a", "/a", True, id="rule-without-agent"),
        pytest.param("<html><body>404</body></html>", "/a", True, id="html"),
    ],
)
def test_robots_matching(robots: str, path: str, accept: bool) -> None:
    assert RobotsRules.parse(robots.encode()).allowed(SITE + path).accept is accept


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_robots_utf16_with_mark(encoding: str) -> None:
    rules = RobotsRules.parse("\ufeffUser-agent: *\nDisallow: /a".encode(encoding))
    assert rules.blocks(f"{SITE}/a")


def test_robots_octets_outside_utf8_are_percent_escapes() -> None:
    assert RobotsRules.parse(b"User-agent: *\nDisallow: /caf\xe9").blocks(f"{SITE}/caf%E9")


def test_robots_rejection_names_the_line_that_counts() -> None:
    rules = RobotsRules.parse(b"User-agent: *\nDisallow: /a\nDisallow: /a/b\nDisallow: /c*d\n")
    decision = rules.allowed(f"{SITE}/a/b/x")
    assert (decision.stage, decision.rule) == ("robots", "Disallow: /a/b")
    assert "line 3" in decision.reason
    assert rules.allowed(f"{SITE}/a/x").rule == "Disallow: /a"
    assert rules.allowed(f"{SITE}/cxd").rule == "Disallow: /c*d"


def test_robots_what_is_beyond_the_limit_is_not_read() -> None:
    head = b"User-agent: *\nDisallow: /a\n"
    rules = RobotsRules.parse(head + b"#" * (PARSED_BYTES - len(head) - 5) + b"\nDisallow: /b")
    assert rules.blocks(f"{SITE}/a")
    assert not rules.blocks(f"{SITE}/b")


@pytest.mark.parametrize(
    ("line", "name", "addressed"),
    [
        pytest.param("Agent2", "Agent2", True, id="digit"),
        pytest.param("Agent2 extra", "agent2", True, id="digit-and-words"),
        pytest.param("Agent2/1.0", "Agent2/3", True, id="digit-and-version"),
        pytest.param("Agent2", "Agent", False, id="not-without-its-digit"),
        pytest.param("Agent2 extra", "Agent", False, id="not-without-its-digit-with-words"),
        pytest.param("Agent", "Agent2", False, id="not-the-beginning-of-a-name"),
    ],
)
def test_robots_names_with_digits(line: str, name: str, addressed: bool) -> None:
    rules = RobotsRules.parse(f"User-agent: {line}\nDisallow: /\n", name=name)
    assert rules.blocks(f"{SITE}/a") is addressed


@pytest.mark.parametrize(
    ("robots", "delay"),
    [
        pytest.param("User-agent: me\nCrawl-delay: 5\nUser-agent: b\nDisallow: /", 5, id="agents-so-far"),
        pytest.param(
            "User-agent: a\nCrawl-delay: 5\nUser-agent: me\nCrawl-delay: 7\nDisallow: /",
            7,
            id="each-its-own",
        ),
        pytest.param(
            "User-agent: a\nCrawl-delay: 5\nUser-agent: me\nDisallow: /", None, id="another-agent's"
        ),
        pytest.param("User-agent: a\nUser-agent: me\nDisallow: /\nCrawl-delay: 5", 5, id="behind-rules"),
        pytest.param(
            "User-agent: me\nCrawl-delay: x\nCrawl-delay: -1\nCrawl-delay: inf", None, id="no-number"
        ),
        pytest.param("User-agent: me\nCrawl-delay: 3\nCrawl-delay: soon", 3, id="last-number"),
    ],
)
def test_robots_a_delay_is_for_the_agents_above_it(robots: str, delay: float | None) -> None:
    assert RobotsRules.parse(robots, name="me").crawl_delay == delay


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1/10", 10),
        ("2/10s", 5),
        ("30/1m 0600-0845", 2),
        ("1/1h", 3600),
        ("0/5", None),
        ("fast", None),
        ("1/", None),
    ],
)
def test_robots_request_rate_in_seconds_for_one_request(value: str, seconds: float | None) -> None:
    assert RobotsRules.parse(f"User-agent: *\nRequest-rate: {value}\n").request_rate == seconds


def test_robots_delay_rate_sitemaps_and_signals() -> None:
    rules = RobotsRules.parse(
        b"Sitemap: https://example.com/s.xml\nUser-agent: *\nCrawl-delay: 2.5\nRequest-rate: 1/10\n"
        b"Content-Signal: search=yes, AI-Train=no\nSitemap: https://example.com/s.xml\n"
    )
    assert rules.crawl_delay == 2.5
    assert rules.request_rate == 10
    assert rules.sitemaps == ("https://example.com/s.xml",)
    assert rules.content_signals == {"search": "yes", "ai-train": "no"}


@pytest.mark.parametrize("url", ["http://[", "http://[::1", "", "x", "http://e.com:bad/"])
def test_robots_odd_urls_do_not_raise(url: str) -> None:
    assert isinstance(RobotsRules.parse(b"User-agent: *\nDisallow: /a?b").blocks(url), bool)


@given(st.binary(max_size=300), st.text(max_size=20))
def test_robots_parse_never_raises(body: bytes, name: str) -> None:
    RobotsRules.parse(b"User-agent: *\n" + body, name=name).allowed("https://example.com/a?b=c")


_LINES = st.sampled_from(
    ["User-agent: *", "User-agent: me", "Disallow: /a*b$", "Allow: /%", "Disallow: /ä%zz", "x", ""]
)


@given(st.lists(_LINES, max_size=12), st.text(max_size=15))
def test_robots_blocks_and_allowed_agree(lines: list[str], path: str) -> None:
    rules = RobotsRules.parse("\n".join(lines), name="me")
    assert rules.allowed(f"{SITE}/{path}").accept is not rules.blocks(f"{SITE}/{path}")


@given(st.lists(_LINES, max_size=12), st.text() | st.text().map(f"{SITE}/".__add__))
def test_no_robots_rule_raises_on_any_url(lines: list[str], url: str) -> None:
    rules = RobotsRules.parse("\n".join(["User-agent: *", *lines]), name="me")
    assert isinstance(rules.blocks(url), bool)
    assert isinstance(rules.allowed(url).accept, bool)


@pytest.mark.parametrize(
    ("lines", "path", "allowed"),
    [
        ("Disallow: /index.html", "/", True),
        ("Disallow: /index.html", "/index.html", False),
        ("Disallow: /\nAllow: /index.html", "/", True),
        ("Disallow: /\nAllow: /index.html", "/x", False),
        ("Disallow: /\nAllow: /index.html$", "/", False),
        ("Disallow: /\nAllow: /index.html$", "/index.html", True),
        ("Disallow: /a/.", "/a/b", True),
        ("Disallow: /a/.", "/a/.b", False),
    ],
)
def test_a_rule_covers_no_more_than_it_names(lines: str, path: str, allowed: bool) -> None:
    rules = RobotsRules.parse(f"User-agent: *\n{lines}\n".encode(), name="us")
    assert rules.allowed(f"https://a.example{path}").accept is allowed
