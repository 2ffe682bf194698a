"""Recognises walls: pages that a server or its protection returns in place of every page (challenges, script checks).

Headers say it where a provider documents one. Marks in the body are addresses and names that only such a page has, and
count only in a small page with little text of its own: a page that describes a provider, or carries its script beside
an article, is no wall.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

import re2

from ultracrawl.content.scanning import compile_for_bodies
from ultracrawl.rules.urls.canonical import UrlPolicy

MAX_BODY_BYTES = 65_536
"""A larger page has content."""
MAX_WORDS = 120
"""A wall has fewer words outside its scripts and styles."""
MAX_SCRIPT_WORDS = 40
"""Words of a page that only asks for JavaScript or cookies."""


class HeaderMark(NamedTuple):
    """A response header that only walls have."""

    name: str
    values: frozenset[str]
    """In lower case; empty for any."""
    wall: str


HEADERS = (
    # developers.cloudflare.com: Challenges, "Detect a Challenge Page response"
    HeaderMark("cf-mitigated", frozenset({"challenge"}), "Cloudflare challenge"),
    # docs.aws.amazon.com: WAF, "CAPTCHA and Challenge action behavior" (statuses 405 and 202)
    HeaderMark("x-amzn-waf-action", frozenset({"challenge", "captcha"}), "AWS WAF challenge"),
    # vercel.com/docs: Vercel Firewall (statuses 403 and 429)
    HeaderMark("x-vercel-mitigated", frozenset({"challenge", "deny"}), "Vercel challenge"),
    # docs.sucuri.net: Website Firewall, block page
    HeaderMark("x-sucuri-block", frozenset(), "Sucuri block page"),
)
"""Header, values, and the name of the wall, each with the place where it is documented."""


class BodyMark(NamedTuple):
    """A regular expression for what only the page of a wall contains."""

    pattern: bytes
    wall: str
    literals: tuple[bytes, ...]
    """Every match has one of these: most pages have none, and are not searched."""


BODIES = (
    # Options of the script on every challenge page; ordinary pages load `/cdn-cgi/challenge-platform/` without them.
    BodyMark(
        rb"_cf_chl_opt\b|\bcf-browser-verification\b",
        "Cloudflare challenge",
        (b"_cf_chl_opt", b"cf-browser-verification"),
    ),
    # The Access Denied page links here; the others are the interstitial of Bot Manager.
    BodyMark(
        rb"errors\.edgesuite\.net/|/_sec/verify\?provider=interstitial|\bsec-if-cpt-container\b|[?&]bm-verify=",
        "Akamai wall",
        (b"errors.edgesuite.net/", b"provider=interstitial", b"sec-if-cpt-container", b"bm-verify="),
    ),
    # The frame and the text of the block page; ordinary pages load `/_Incapsula_Resource` as a script.
    BodyMark(
        rb"incapsula incident id|<iframe[^>]{0,200}/_incapsula_resource\?", "Imperva wall", (b"incapsula",)
    ),
    # The host of the challenge; ordinary pages load js.datadome.co.
    BodyMark(rb"\b(?:geo|ct|c)\.captcha-delivery\.com/", "DataDome wall", (b"captcha-delivery.com/",)),
    BodyMark(rb"""\bid\s*=\s*["']?px-captcha\b""", "HUMAN (PerimeterX) wall", (b"px-captcha",)),
    BodyMark(
        rb"\bwindow\.gokuprops\b|\bawswafcookiedomainlist\b",
        "AWS WAF challenge",
        (b"window.gokuprops", b"awswafcookiedomainlist"),
    ),
    BodyMark(rb"\bsucuri_cloudproxy_js\b", "Sucuri challenge", (b"sucuri_cloudproxy_js",)),
    BodyMark(rb"/_fs-ch-[a-z0-9]", "Fastly challenge", (b"/_fs-ch-",)),
    BodyMark(
        rb"/vercel/security/static/challenge", "Vercel challenge", (b"/vercel/security/static/challenge",)
    ),
    # anubis.techaro.lol: the script of its challenge, status 200
    BodyMark(rb"/\.within\.website/x/cmd/anubis/", "Anubis challenge", (b"/.within.website/x/cmd/anubis/",)),
)
"""Marks in lower case, as bodies are searched in lower case."""

NEEDS_SCRIPTS = "page that only asks for JavaScript or cookies"
LOGIN_PAGE = "log-in page"

_LOGIN_WORDS = frozenset(
    ("login", "logon", "signin", "userlogin", "wplogin", "anmelden", "anmeldung", "connexion")
).union(("sso", "auth", "authenticate", "authorize", "oauth", "oauth2", "saml", "saml2", "cas", "idp"))
"""Words in the URLs of log-in pages, without hyphens and underscores."""
_FORM = UrlPolicy()

UNSEEN = re.compile(rb"<(script|style|title)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^>]*>", re.DOTALL)
"""What a page in lower case has beside the text that its readers see; a wall may have the title of the page."""

_ANY = re.compile(b"|".join(b"(" + mark.pattern + b")" for mark in BODIES))
ASKS = re.compile(
    rb"(?:enable|turn on|allow|activate)\s+(?:\w+\s+){0,3}?(?:javascript|java script|cookies)\b"
    rb"|(?:javascript|cookies)\b[^<]{0,60}?\b(?:to continue|is required|are required|must be enabled|is disabled)"
    rb"|(?:javascript|cookies)\b[^<]{0,40}?\b(?:aktivieren|einschalten)|activ(?:er|ez)\s+(?:le\s+)?javascript"
)
"""Sentences that ask for JavaScript or cookies, in lower case."""
ASKS_LITERALS = (b"javascript", b"java script", b"cookies")
"""Every match of `ASKS` has one of these."""
_LITERALS = [literal for mark in BODIES for literal in mark.literals]


def _one_of(literals: Iterable[bytes]) -> re2._Regexp[bytes]:
    """Return an expression that finds one of some literals in one pass."""
    return compile_for_bodies("|".join(re.escape(literal.decode()) for literal in literals))


_HAS_MARK, _MAY_BE_WALL = _one_of(_LITERALS), _one_of((*_LITERALS, *ASKS_LITERALS))
_LINK = re.compile(rb"<a\s[^>]*\bhref\b")
_URL_WORD = re.compile(r"[a-z0-9]+")
_JOINED = str.maketrans("", "", "-_")
_WORD = re.compile(rb"[\w\x80-\xff]+")


def wall_of_headers(values: Callable[[str], Sequence[str]]) -> str:
    """Return the name of the wall that headers declare, empty if there is none; `values` returns those of a name."""
    for mark in HEADERS:
        for value in values(mark.name):
            if not mark.values or value.strip().lower() in mark.values:
                return mark.wall
    return ""


def wall_of_body(body: bytes, *, scripts_run: bool = False) -> str:
    """Return the name of the wall that a body is, empty for an ordinary page.

    If `scripts_run`, the scripts of pages are run, and pages that ask for them are no walls.
    """
    if len(body) > MAX_BODY_BYTES or b"<" not in body or _MAY_BE_WALL.search(body) is None:
        return ""
    page = body.lower()
    found = None if _HAS_MARK.search(body) is None else _ANY.search(page)
    if found is not None and _number_of_words(page) <= MAX_WORDS:
        assert found.lastindex is not None
        return BODIES[found.lastindex - 1].wall
    if scripts_run or not any(map(page.__contains__, ASKS_LITERALS)):
        return ""
    if _LINK.search(page) is not None or ASKS.search(page) is None:
        return ""
    return NEEDS_SCRIPTS if _number_of_words(page) <= MAX_SCRIPT_WORDS else ""


def is_login_redirect(url: str, target: str) -> bool:
    """Return whether a redirect leads to a log-in page: its URL says so, and has a parameter that leads back to `url`.

    Both URLs are absolute.
    """
    place, mark, query = target.partition("?")
    if not mark or _LOGIN_WORDS.isdisjoint(_URL_WORD.findall(place.lower().translate(_JOINED))):
        return False
    origin = _FORM.canonical(url)
    return any(
        origin in (_FORM.canonical(value, url), _FORM.canonical(unquote(value), url))
        for _, value in parse_qsl(query)
    )


def is_short_page(body: bytes) -> bool:
    """Return whether a page has so little text that a form may be all that it is for."""
    return _number_of_words(body.lower()) <= MAX_WORDS


def _number_of_words(page: bytes) -> int:
    """Return the number of words outside scripts, styles, comments and the title."""
    return len(_WORD.findall(UNSEEN.sub(b" ", page)))
