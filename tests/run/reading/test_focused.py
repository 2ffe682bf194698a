"""Crawling by language (FAST 5.18): what is kept, how far links lead through the rest, and that hops are exact."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.project import ROOT, Workspace, kill_group
from support.site import Site
from support.until import until

TEXTS = {
    "en": "This is a page about the rules that hold for every employee of the company and for their families.",
    "de": "Dies ist eine Seite über die Regeln, die für alle Beschäftigten der Firma und ihre Familien gelten.",
    "fr": "Ceci est une page sur les règles qui valent pour tous les employés de la société et leurs familles.",
    "no": "Dette er en side om reglene som gjelder for alle ansatte i selskapet og for familiene deres.",
    "": "12 34 56 78",
}

Define = Callable[..., None]


@pytest.fixture
def define(workspace: Workspace, url: str) -> Define:
    def defined(**focused: object) -> None:
        workspace.define(f"{url}/", focused=focused)

    return defined


def page(site: Site, path: str, language: str, *links: str, lang: str | None = None) -> None:
    """Put a page whose text is in a language; `lang` is what it declares."""
    site.page(path, title=path.strip("/"), links=links, text=TEXTS[language], lang=lang)


@pytest.fixture
def mixed(site: Site) -> Site:
    page(site, "/", "en", "/de", "/fr", "/no", "/none", "/en")
    for language in ("en", "de", "fr", "no"):
        page(site, f"/{language}", language)
    page(site, "/none", "")
    return site


@pytest.mark.parametrize(
    ("languages", "kept"),
    [
        pytest.param(["en"], ["/", "/en"], id="fast_175-code"),
        pytest.param(["English", "GERMAN"], ["/", "/de", "/en"], id="fast_175-names"),
        pytest.param(["en", "norwegian"], ["/", "/en", "/no"], id="fast_175-norwegian"),
        pytest.param(["en", "unknown"], ["/", "/en", "/none"], id="fast_175-unknown"),
        pytest.param([], ["/", "/de", "/en", "/fr", "/no", "/none"], id="fast_175-no-check"),
    ],
)
def test_only_documents_in_one_of_the_languages_are_kept(
    mixed: Site, workspace: Workspace, define: Define, languages: list[str], kept: list[str]
) -> None:
    define(languages=languages)
    workspace.crawl()
    assert workspace.indexed() == kept
    refused = {path: row for path, row in workspace.urls().items() if path not in kept}
    assert {row["outcome"] for row in refused.values()} <= {"NOT_INDEXED"}
    for path, row in refused.items():
        language = path.strip("/").replace("none", "unknown")
        assert row["reason"] == f"focused: its language is {language}"


def test_text_wins_over_lang_attribute_and_that_over_the_header__fast_175(
    site: Site, workspace: Workspace, define: Define
) -> None:
    links = ["/says-de", "/says-en", "/header-en", "/attribute-first"]
    page(site, "/", "en", *links)
    page(site, "/says-de", "en", lang="de")
    page(site, "/says-en", "de", lang="en")
    header = {"Content-Language": "en, de"}
    site.page("/header-en", title="1 2", text="12 34", lang=None, headers=header)
    site.page("/attribute-first", title="1 2", text="12 34", lang="de", headers=header)
    define(languages=["en"])
    workspace.crawl()
    assert workspace.indexed() == ["/", "/header-en", "/says-de"]
    define(languages=["en"], detect=False)
    workspace.crawl()
    assert workspace.indexed() == ["/header-en", "/says-en"]
    assert workspace.urls()["/"]["reason"] == "focused: its language is unknown"


def test_a_page_that_changes_its_language_leaves_the_index_and_comes_back__fast_175(
    mixed: Site, workspace: Workspace, define: Define
) -> None:
    define(languages=["en"])
    workspace.crawl()
    page(mixed, "/en", "de")
    run = workspace.crawl().run
    assert (run["deleted"], workspace.indexed()) == (1, ["/"])
    page(mixed, "/en", "en")
    workspace.crawl()
    assert workspace.indexed() == ["/", "/en"]


@pytest.fixture
def chain(site: Site) -> Site:
    """Return a site whose German pages lead on and on, and to an English page behind each."""
    page(site, "/", "en", "/d1")
    for number in range(1, 5):
        page(site, f"/d{number}", "de", f"/d{number + 1}", f"/e{number}")
        page(site, f"/e{number}", "en")
    return site


@pytest.mark.parametrize(
    ("depth", "fetched"),
    [
        pytest.param(None, ["/", "/d1"], id="fast_176-default"),
        pytest.param(0, ["/", "/d1"], id="fast_176-none"),
        pytest.param(1, ["/", "/d1", "/d2", "/e1"], id="fast_176-one"),
        pytest.param(2, ["/", "/d1", "/d2", "/d3", "/e1", "/e2"], id="fast_176-two"),
    ],
)
def test_links_are_followed_so_many_hops_through_other_languages(
    chain: Site, workspace: Workspace, define: Define, depth: int | None, fetched: list[str]
) -> None:
    define(languages=["en"], **({} if depth is None else {"depth": depth}))
    run = workspace.crawl().run
    assert sorted(workspace.urls()) == fetched
    assert workspace.indexed() == [path for path in fetched if "d" not in path]
    assert run["rejected_by"] == {"focused": 2}


def test_a_page_in_a_kept_language_starts_the_count_anew__fast_176(
    site: Site, workspace: Workspace, define: Define
) -> None:
    page(site, "/", "en", "/d1")
    page(site, "/d1", "de", "/e1")
    page(site, "/e1", "en", "/d2")
    page(site, "/d2", "de", "/e2")
    page(site, "/e2", "en", "/d3")
    page(site, "/d3", "de", "/d4")
    page(site, "/d4", "de", "/d5")
    define(languages=["en"], depth=1)
    workspace.crawl()
    assert sorted(workspace.urls()) == ["/", "/d1", "/d2", "/d3", "/d4", "/e1", "/e2"]


def test_the_shortest_way_counts_even_if_it_is_found_late__fast_176(
    site: Site, workspace: Workspace, define: Define
) -> None:
    page(site, "/", "en", "/d1", "/e1")
    page(site, "/d1", "de", "/d2")
    page(site, "/d2", "de", "/d3")
    page(site, "/d3", "de", "/e3")
    page(site, "/e3", "en")
    page(site, "/e1", "en", "/e2")
    page(site, "/e2", "en", "/ex")
    page(site, "/ex", "en", "/d3")
    define(languages=["en"], depth=2)
    run = workspace.crawl().run
    assert workspace.indexed() == ["/", "/e1", "/e2", "/e3", "/ex"]
    assert site.count("/d3") == 2, "it was refused to lead on, and is read once more"
    assert sum(run["outcomes"].values()) == run["scheduled"]


@pytest.mark.processes
def test_hops_survive_a_kill__fast_176(chain: Site, workspace: Workspace, url: str) -> None:
    chain.slow("/d2", 30.0)
    workspace.define(f"{url}/", focused={"languages": ["en"], "depth": 2})
    process = workspace.start("crawl")
    until(lambda: chain.count("/d2") and "/d2" in workspace.urls(), process)
    kill_group(process)
    page(chain, "/d2", "de", "/d3", "/e2")
    workspace.crawl()
    assert sorted(workspace.urls()) == ["/", "/d1", "/d2", "/d3", "/e1", "/e2"]
    page(chain, "/d3", "de", "/d4", "/e3", "/d2")
    workspace.crawl()
    assert sorted(workspace.urls()) == ["/", "/d1", "/d2", "/d3", "/e1", "/e2"], "also by the next run"


def test_a_redirect_is_no_hop_and_takes_the_count_along__fast_176(
    chain: Site, workspace: Workspace, define: Define
) -> None:
    page(chain, "/d1", "de", "/moved")
    chain.redirect("/moved", "/d2")
    define(languages=["en"], depth=1)
    workspace.crawl()
    assert sorted(workspace.urls()) == ["/", "/d1", "/d2", "/moved"]


def test_other_languages_and_depths_are_counted_from_the_start__fast_176(
    chain: Site, workspace: Workspace, define: Define
) -> None:
    define()
    workspace.crawl()
    assert len(workspace.indexed()) == 9
    define(languages=["en"], depth=1)
    page(chain, "/d2", "de", "/d3", "/e2", "/new-behind-d2")
    page(chain, "/d1", "de", "/d2", "/e1", "/new-behind-d1")
    workspace.crawl()
    assert workspace.indexed() == ["/", "/e1", "/e2", "/e3", "/e4"], "known URLs stay known"
    assert "/new-behind-d1" in workspace.urls()
    assert "/new-behind-d2" not in workspace.urls()
    define(languages=["en"], depth=2)
    workspace.crawl()
    assert "/new-behind-d2" in workspace.urls()


@pytest.mark.processes
def test_a_kill_does_not_let_the_new_count_begin_again__fast_176(
    chain: Site, workspace: Workspace, define: Define
) -> None:
    define()
    workspace.crawl()
    define(languages=["en"], depth=1)
    chain.slow("/d1", 30.0)
    chain.reset()
    before = workspace.urls()["/"]
    process = workspace.start("crawl")
    until(lambda: chain.count("/d1") and workspace.urls()["/"] != before, process)
    kill_group(process)
    page(chain, "/d1", "de", "/d2", "/e1", "/new-behind-d1")
    assert workspace.crawl().run["resumed"] is True
    assert "/new-behind-d1" in workspace.urls(), "no hop leads to its page, as was known before the kill"


def test_exempt_hosts_are_not_checked_and_start_the_count_anew__fast_175(
    chain: Site, workspace: Workspace, define: Define
) -> None:
    define(languages=["en"], exempt=["127.0.0.1"])
    workspace.crawl()
    assert len(workspace.indexed()) == 9


def test_refused_links_are_in_the_log__fast_176(chain: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", focused={"languages": ["en"]}, log={"screened": True})
    workspace.crawl()
    lines = workspace.command("screened", "--json").lines
    assert {(line["rule"], line["url"], line["parent"]) for line in lines} == {
        ("focused", f"{url}/d2", f"{url}/d1"),
        ("focused", f"{url}/e1", f"{url}/d1"),
    }


def test_examined_documents_are_focused_too(mixed: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", focused={"languages": ["en"]}, crawling_mode="examine")
    assert workspace.crawl().run["outcomes"] == {"NOT_INDEXED": 4, "PENDING": 2}


@pytest.mark.processes
def test_without_the_extra_the_message_names_the_install_line(
    mixed: Site, workspace: Workspace, define: Define
) -> None:
    define(languages=["en"])
    hidden = workspace.directory / "hidden"
    hidden.mkdir()
    (hidden / "py3langid.py").write_text("raise ImportError('not here')\n")
    ended = workspace.crawl(code=2, hosted=False, PYTHONPATH=f"{hidden}:{ROOT}")
    assert 'pip install "ultracrawl[language]"' in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        pytest.param("[qqqqqqqq]", "write a code", id="unknown"),
        pytest.param("[englsh]", "`english`", id="misspelt"),
        pytest.param("[no]", '"no" in quotes', id="yaml-truth"),
    ],
)
def test_an_unknown_language_is_a_finding__fast_175(workspace: Workspace, written: str, instead: str) -> None:
    text = f"sources:\n  s:\n    start_urls: [http://h.example/]\n    focused:\n      languages: {written}\n"
    (workspace.directory / "ultracrawl.yaml").write_text(text)
    ended = workspace.command("lint")
    assert ended.code == 2
    assert "ultracrawl.yaml:5 - sources.s.focused.languages" in ended.out
    assert instead in ended.out
