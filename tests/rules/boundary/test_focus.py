"""Which languages are kept, and how far links lead through others (FAST 5.18)."""

from __future__ import annotations

import pytest

from ultracrawl.content.languages import CODES, language_code, languages_meant
from ultracrawl.rules.boundary.focus import NO_LINKS, FocusPolicy
from ultracrawl.rules.boundary.rules import DomainRule, Kind


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("en", {"en"}),
        ("EN", {"en"}),
        ("english", {"en"}),
        (" German ", {"de"}),
        ("NORWEGIAN", {"no", "nb", "nn"}),
        ("no", {"no", "nb", "nn"}),
        ("nb", {"nb", "no"}),
        ("nynorsk", {"nn"}),
        ("norwegian  bokmål", {"nb", "no"}),
        ("scottish gaelic", {"gd"}),
        ("castilian", {"es"}),
        ("iw", {"he"}),
        ("Unknown", {"unknown"}),
        ("klingon", None),
        ("", None),
        ("en-GB", None),
    ],
)
def test_names_of_languages__fast_175(name: str, codes: set[str] | None) -> None:
    assert languages_meant(name) == codes


def test_the_table_holds_iso_639_1() -> None:
    codes = set(CODES.values())
    assert len(codes) == 183
    assert all(len(code) == 2 and CODES[code] == code for code in codes)


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("en", "en"), ("en-GB", "en"), ("DE_at", "de"), (" fr ", "fr"), ("zh-Hant-TW", "zh"), ("iw", "he"),
        ("cmn", "zh"), ("nb-NO", "nb"), ("", ""), ("und", ""), ("zxx", ""), ("x-default", "x"), ("xyz", "xyz"),
    ],
)  # fmt: skip
def test_tags_as_pages_declare_them__fast_175(tag: str, code: str) -> None:
    assert language_code(tag) == code


@pytest.mark.parametrize(
    ("languages", "language", "kept"),
    [
        ({"en"}, "en", True),
        ({"en"}, "de", False),
        ({"en"}, "", False),
        ({"unknown"}, "", True),
        ({"unknown"}, "en", False),
        ({"en", "unknown"}, "", True),
    ],
)
def test_languages_kept__fast_175(languages: set[str], language: str, kept: bool) -> None:
    assert FocusPolicy(languages).keeps(language) is kept


@pytest.mark.parametrize(
    ("depth", "hops"),
    [
        pytest.param(0, [NO_LINKS, NO_LINKS, NO_LINKS], id="fast_176-none"),
        pytest.param(1, [1, NO_LINKS, NO_LINKS], id="fast_176-one"),
        pytest.param(2, [1, 2, NO_LINKS], id="fast_176-two"),
    ],
)
def test_hops_behind_a_document_with_0_1_and_2_hops(depth: int, hops: list[int]) -> None:
    policy = FocusPolicy({"en"}, depth)
    assert [policy.hops_of_links(before) for before in (0, 1, 2)] == hops


@pytest.mark.parametrize(
    ("host", "exempt"),
    [("press.example.com", True), ("a.press.example.com", True), ("example.com", False), ("news.org", True)],
)
def test_exempt_hosts__fast_175(host: str, exempt: bool) -> None:
    rules = [DomainRule(Kind.DOMAIN, ".press.example.com"), DomainRule(Kind.EXACT, "news.org")]
    assert FocusPolicy({"en"}, exempt=rules).exempts(host) is exempt
    assert not FocusPolicy({"en"}).exempts(host)
