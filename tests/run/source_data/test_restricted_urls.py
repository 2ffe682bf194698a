"""`crawl URL` with --path, --exclude, --depth, --limit: what is crawled, and that later crawls are the same."""

from __future__ import annotations

import pytest
import yaml
from support.project import LOOPBACK, Workspace
from support.site import Site

from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.settings.adhoc import AdhocScope, add_adhoc_source


@pytest.fixture
def manual(site: Site) -> Site:
    """A site whose pages link from `/` to both sections, and in each from page to page."""
    site.page("/", title="Home", text="heron", links=["/docs/", "/archive/"])
    for section in ("/docs/", "/archive/"):
        site.page(section, title=section, text=f"heron in {section}", links=[f"{section}a"])
        site.page(f"{section}a", title="A", text=f"heron a of {section}", links=[f"{section}b"])
        site.page(f"{section}b", title="B", text=f"heron b of {section}")
    return site


def crawl(workspace: Workspace, url: str, *words: str, code: int = 0) -> dict[str, int]:
    """Crawl a URL and return the outcomes."""
    run = workspace.crawl(f"{url}/", "--delay", "0", *words, code=code).run
    outcomes = run["outcomes"]
    assert isinstance(outcomes, dict)
    return outcomes


def indexed(workspace: Workspace) -> list[str]:
    """Return the paths of all documents that a search finds."""
    hits = workspace.command("search", "--json", "--as-typed", "--limit", "100", "heron").json["hits"]
    return sorted("/" + hit["url"].split("/", 3)[3] for hit in hits)


ALL = ["/", "/archive/", "/archive/a", "/archive/b", "/docs/", "/docs/a", "/docs/b"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param([], ALL, id="all"),
        pytest.param(["--path", "/docs/"], ["/docs/", "/docs/a", "/docs/b"], id="path"),
        pytest.param(
            ["--path", "/docs/", "--path", "/archive/a", "--exclude", "/archive/b"],
            ["/archive/a", "/docs/", "/docs/a", "/docs/b"],
            id="paths",
        ),
        pytest.param(["--exclude", "/archive/"], ["/", "/docs/", "/docs/a", "/docs/b"], id="exclude"),
        pytest.param(["--depth", "1"], ["/", "/archive/", "/docs/"], id="depth"),
        pytest.param(["--depth", "0"], ["/"], id="depth 0"),
        pytest.param(["--path", "/docs/", "--depth", "1"], ["/docs/", "/docs/a"], id="both"),
    ],
)
def test_the_second_run_is_the_same_with_and_without_the_options(
    manual: Site, url: str, workspace: Workspace, words: list[str], found: list[str]
) -> None:
    assert crawl(workspace, url, *words) == {"NEW": len(found)}
    assert indexed(workspace) == found
    for again in ([], words):
        assert crawl(workspace, url, *again) == {"NOT_MODIFIED": len(found)}
        assert indexed(workspace) == found
    assert set(manual.paths()) <= {*found, "/robots.txt", "/sitemap.xml"}
    name = url.partition("://")[2].replace(":", "-")
    assert workspace.crawl(name).run["outcomes"] == {"NOT_MODIFIED": len(found)}


def test_a_limit_keeps_later_runs_at_the_documents_it_let_in(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="heron", links=["/0"])
    for number in range(20):
        site.page(f"/{number}", title=f"Page {number}", text=f"heron {number}", links=[f"/{number + 1}"])
    assert crawl(workspace, url, "--limit", "5")["NEW"] == 5
    known = indexed(workspace)
    for words in ([], ["--limit", "5"]):
        assert crawl(workspace, url, *words)["NOT_MODIFIED"] == 5
        assert indexed(workspace) == known
    assert crawl(workspace, url, "--limit", "none")["NEW"] == 16


def test_an_option_given_again_replaces_what_is_stored_and_none_drops_it(
    manual: Site, url: str, workspace: Workspace
) -> None:
    crawl(workspace, url, "--exclude", "/archive/", "--depth", "1")
    crawl(workspace, url, "--exclude", "/docs/")
    assert indexed(workspace) == ["/", "/archive/"]
    crawl(workspace, url, "--exclude", "none", "--depth", "none")
    assert indexed(workspace) == ALL
    crawl(workspace, url, "--path", "/archive/")
    assert indexed(workspace) == ["/archive/", "/archive/a", "/archive/b"]


def test_a_definition_takes_over_what_was_restricted(manual: Site, url: str, workspace: Workspace) -> None:
    crawl(workspace, url, "--path", "/docs/")
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "exclude": ["/archive/"]}
    workspace.write({"sources": {"manual": {**source, "politeness": {"delay": 0}}}})
    run = workspace.crawl().run
    assert run["outcomes"].get("NEW") == 1, "the start page, which --path left out"
    assert indexed(workspace) == ["/", "/docs/", "/docs/a", "/docs/b"]
    assert not (workspace.directory / "var" / "adhoc.yaml").exists()


def test_other_sources_and_what_was_written_by_hand_stay(
    manual: Site, url: str, workspace: Workspace
) -> None:
    crawl(workspace, url, "--exclude", "/archive/")
    file = workspace.directory / "var" / "adhoc.yaml"
    written = yaml.safe_load(file.read_text())
    (name,) = written["sources"]
    written["sources"][name]["attributes"] = {"author": "Author"}
    file.write_text(yaml.safe_dump(written))
    crawl(workspace, url, "--depth", "1")
    (source,) = yaml.safe_load(file.read_text())["sources"].values()
    assert (source["exclude"], source["depth"]) == (["/archive/"], 1)
    assert source["attributes"] == {"author": "Author"}
    assert workspace.command("rename", name, "manual", "--yes").code == 0
    (renamed,) = yaml.safe_load(file.read_text())["sources"].items()
    assert renamed == ("manual", source)


@pytest.mark.parametrize(
    "words",
    [
        ["URL", "--path", "docs"],
        ["URL", "--exclude", "https://h/x"],
        ["URL", "--exclude", "/"],
        ["URL", "--path", "/docs/", "--exclude", "/docs"],
        ["URL", "--depth", "-1"],
        ["URL", "--depth", "x"],
        ["URL", "--limit", "0"],
        ["--path", "/docs/"],
        ["site", "--limit", "5"],
    ],
    ids=" ".join,
)
def test_mistakes_store_and_fetch_nothing(
    manual: Site, url: str, workspace: Workspace, words: list[str]
) -> None:
    ended = workspace.command("crawl", *(f"{url}/" if word == "URL" else word for word in words))
    assert ended.code == 2
    assert ended.out == ""
    assert not (workspace.directory / "var").exists()
    assert manual.paths() == []


def test_a_service_refuses_them(workspace: Workspace) -> None:
    for option in ("--path=/x", "--exclude=/x", "--depth=0", "--limit=1"):
        ended = workspace.command("crawl", "--server", "http://127.0.0.1:9/", option, ULTRACRAWL_TOKEN="x")
        assert ended.code == 2


def test_a_service_that_starts_again_does_not_crawl_for_what_waits_for_a_person(
    site: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"/old/{number}" for number in range(30)]
    site.page("/", title="Home", text="heron", links=names)
    for name in names:
        site.page(name, title=name, text=f"heron {name}")
    monkeypatch.chdir(workspace.directory)
    crawl(workspace, url)

    def changed(*paths: str) -> bool:
        return bool(Definitions(None, (f"{url}/",), AdhocScope(paths)).changed_by_urls())

    assert [changed(), changed("/mistyped/")] == [False, True]
    crawl(workspace, url, code=1)
    assert len(indexed(workspace)) == 31, "they wait"
    assert [changed("/mistyped/"), changed("/old/"), changed("/mistyped/")] == [False, True, False]


def test_a_service_that_starts_again_does_not_crawl_for_what_a_limit_keeps_out(
    manual: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.directory)
    crawl(workspace, url, "--limit", "3")
    for documents, is_crawled in (("", False), ("3", False), ("100", True)):
        definitions = Definitions(None, (f"{url}/",), AdhocScope(documents=documents))
        assert bool(definitions.changed_by_urls()) is is_crawled


def test_a_url_that_was_crawled_with_one_of_another_port_is_crawled_alone(
    manual: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.directory)
    add_adhoc_source((f"{url}/", "http://127.0.0.1:9/"), workspace.directory)
    project, source = add_adhoc_source((f"{url}/",), workspace.directory)
    assert source.start_urls == (f"{url}/", "http://127.0.0.1:9/")
    assert [*project.sources] == [source.name]


def test_init_takes_over_what_was_asked_for_before(manual: Site, url: str, workspace: Workspace) -> None:
    words = ("--path", "/docs/", "--exclude", "/docs/b", "--depth", "2", "--limit", "50")
    crawl(workspace, url, *words)
    add_adhoc_source((f"{url}/docs/",), workspace.directory, AdhocScope(public=True, delay=0.25))
    assert workspace.command("init", f"{url}/docs/", "--no-look").code == 0
    (source,) = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())["sources"].values()
    assert {
        name: source[name] for name in ("only", "exclude", "depth", "limits", "public", "politeness")
    } == {
        "only": ["/docs/"],
        "exclude": ["/docs/b"],
        "depth": 2,
        "limits": {"documents": 50},
        "public": True,
        "politeness": {"delay": 0.25},
    }
    assert workspace.command("init", f"{url}/docs/", "--no-look", "--force", "--path", "/archive/").code == 0
    (source,) = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())["sources"].values()
    assert source["only"] == ["/archive/"]
