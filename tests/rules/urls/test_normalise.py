"""The steps of `urls.normalise`, by table and by property."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.rules.urls.normalise import STEPS, Normaliser, Step
from ultracrawl.rules.urls.site_table import SiteTable

TABLE: dict[Step, dict[str, str]] = {
    "https": {
        "http://h/a": "https://h/a",
        "http://h:8080/a": "http://h:8080/a",
        "http://[::1]/a": "https://[::1]/a",
        "http://[::1]:8080/a": "http://[::1]:8080/a",
    },
    "www": {
        "http://www.a.example/x": "http://a.example/x",
        "http://www12.a.example:81/x": "http://a.example:81/x",
        "http://www.www.a.example/": "http://a.example/",
        "http://www.example/": "http://www.example/",
        "http://wwww.a.example/": "http://wwww.a.example/",
        "http://start.example/": "http://www.start.example/",
        "http://www3.start.example:81/": "http://www.start.example:81/",
    },
    "double_slashes": {"http://h//a///b//?c=//": "http://h/a/b/?c=//"},
    "index_pages": {
        "http://h/index.html": "http://h/",
        "http://h/a/Default.aspx?id=1": "http://h/a/?id=1",
        "http://h/a/index.php": "http://h/a/",
        "http://h/a/index.php/b": "http://h/a/index.php/b",
        "http://h/a/myindex.html": "http://h/a/myindex.html",
        "http://h/a/index.pdf": "http://h/a/index.pdf",
    },
    "trailing_slash": {
        "http://h/": "http://h/",
        "http://h/a/": "http://h/a",
        "http://h/a/?b=/": "http://h/a?b=/",
    },
    "session_ids": {
        "http://h/p;jsessionid=1A?b=1": "http://h/p?b=1",
        "http://h/p?PHPSESSID=1": "http://h/p",
        "http://h/p?Bv_SessionID=1&_sid=2&_sessionID=3&a": "http://h/p?a",
        "http://h/(S(4hqa0555))/a/p.aspx": "http://h/a/p.aspx",
        "http://h/(A(x)S(y)F(z))/p.aspx": "http://h/p.aspx",
        "http://h/f(S)/x": "http://h/f(S)/x",
        "http://h/a/..;sid=1/b": "http://h/b",
    },
    "tracking": {"http://h/p?utm_source=x&a=1&gclid=2": "http://h/p?a=1"},
    "listing_order": {
        "http://h/files/?C=M;O=D": "http://h/files/",
        "http://h/files/?C=N&O=A&P=x": "http://h/files/?P=x",
        "http://h/files/?C=Cobol": "http://h/files/?C=Cobol",
        "http://h/shop?sort=price&page=2": "http://h/shop?page=2",
    },
    "empty_query": {
        "http://h/a?": "http://h/a",
        "http://h/a?&a=1&&b=2&": "http://h/a?a=1&b=2",
        "http://h/a?=&b=&=1&c==": "http://h/a?b&c==",
        "http://h/a?&": "http://h/a",
    },
    "query_order": {"http://h/p?b=2&a=1&b=1": "http://h/p?a=1&b=2&b=1"},
}
"""What each step makes of URLs; no other step is on."""
HOSTS = ("www.start.example",)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_by_itself(step: Step) -> None:
    policy = UrlPolicy(Normaliser([step], hosts=HOSTS))
    assert {url: policy.canonical(url) for url in TABLE[step]} == TABLE[step]
    for url, form in TABLE[step].items():
        changed = [*policy.normalising(url)]
        assert {name for name, _ in changed} == ({step} if form != url else set())
        assert not changed or changed[-1][1] == form
        assert UrlPolicy().canonical(url) == url, "without the step it is another URL"


def test_steps_go_on_with_what_others_left() -> None:
    policy = UrlPolicy(Normaliser(STEPS, ["p*"], HOSTS))
    url = "http://start.example//x/;sid=1/index.html/?z=1&&pA=2&param=1&a=2;jsessionid=1E6F"
    assert policy.canonical(url) == "https://www.start.example/x?a=2&z=1"


def test_the_order_in_which_they_are_written_does_not_matter() -> None:
    assert Normaliser(["www", "https"]) == Normaliser(["https", "www"])
    assert Normaliser(["www"]) != Normaliser(["www"], hosts=HOSTS)


def test_a_step_that_leads_to_another_site_is_followed_by_those_of_that_site() -> None:
    own = SiteTable({"www.a.example": Normaliser(["www"])})
    policy = UrlPolicy(Normaliser(["trailing_slash"]), own_normalisers=own)
    url = "http://www.a.example/x/"
    assert policy.canonical(url) == "http://a.example/x"
    assert [step for step, _ in policy.normalising(url)] == ["www", "trailing_slash"]


_PATHS = ["/", "//", ".", "..", "a", "B", "%2e", "index.html", "default.asp", "(S(x))", "www."]
_QUERIES = [
    ";",
    "=",
    "&",
    "?",
    "?&",
    "#",
    "1",
    "%3B",
    "sid=1",
    "jsessionid",
    "utm_x=1",
    "C=M",
    "O=D",
    "sort=a",
    "\xfc",
]
_PIECES = st.sampled_from([*_PATHS, *_QUERIES])
URLS = st.builds(
    "http{}://{}{}".format,
    st.sampled_from(["", "s"]),
    st.sampled_from(["h", "www.h.example", "www2.www.start.example", "start.example:81", "[::1]"]),
    st.lists(_PIECES, max_size=14).map("".join).map("/".__add__),
)


@settings(max_examples=400)
@given(st.sets(st.sampled_from(STEPS)), URLS)
def test_the_form_is_canonical_and_does_not_change_again(steps: set[Step], url: str) -> None:
    policy = UrlPolicy(Normaliser(steps, ["b*"], HOSTS))
    form = policy.canonical(url)
    assert form is not None
    assert policy.canonical(form) == form
    assert UrlPolicy().canonical(form) == form
    assert policy.canonicalise(url).url == form
    assert [*policy.normalising(form)] == []
