"""Who may see the documents of a source, as its definition says it."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site

WAYS = {"": (), "hr": ("--principal", "hr"), "staff": ("--principal", "staff"), "all": ("--all-principals",)}


def test_the_option_says_who_sees_a_source_and_a_change_of_it_reaches_unchanged_pages(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="heron")

    def found_with(**options: object) -> list[int]:
        workspace.define(f"{url}/", **options)
        workspace.crawl()
        ways = ((), ("--principal", "staff"), ("--all-principals",))
        return [
            workspace.command("search", "--json", "--as-typed", "heron", *way).json["total"] for way in ways
        ]

    assert found_with() == [1, 1, 1]
    assert found_with(acl=["boss", "staff"]) == [0, 1, 1]
    assert workspace.command("index", "dump").json["acl"] == ["boss", "staff"]
    assert found_with(acl="boss") == [0, 0, 1]
    assert found_with() == [1, 1, 1]


def readers(workspace: Workspace, word: str) -> list[str]:
    """Return who finds a word."""
    found = {
        who: workspace.command("search", "--json", "--as-typed", word, *way).json["total"]
        for who, way in WAYS.items()
    }
    assert set(found.values()) <= {0, 1}
    return [who for who, total in found.items() if total]


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_paths_name_readers_and_nobody_sees_what_none_names(
    site: Site, url: str, workspace: Workspace, engine: str
) -> None:
    def define(**options: object) -> None:
        workspace.define(f"{url}/", **options)
        with (workspace.directory / "ultracrawl.yaml").open("a") as file:
            file.write(f"index: {{engine: {engine}}}\n")

    links = ["/hr/pay", "/HR/bonus", "/press/", "/moved", "/press/copy.pdf.html"]
    site.page("/", title="Home", text="heron", links=links)
    site.page("/hr/pay", title="Pay", text="gull")
    site.page("/HR/bonus", title="Bonus", text="owl")
    site.page("/press/", title="Press", text="crane")
    site.page("/press/copy.pdf.html", title="Copy", text="stork")
    site.page("/hr/moved", title="Moved", text="swift")
    site.redirect("/moved", "/hr/moved")
    paths: dict[str, object] = {"/hr/": "hr", "/press/": [], "/press/*.pdf": ["staff", "hr"]}

    def found() -> dict[str, list[str]]:
        workspace.crawl()
        return {
            word: readers(workspace, word) for word in ("heron", "gull", "owl", "crane", "stork", "swift")
        }

    everybody = ["", "hr", "staff", "all"]
    expected = {"heron": ["all"], "gull": ["hr", "all"], "owl": ["hr", "all"], "crane": everybody,
                "stork": ["hr", "staff", "all"], "swift": ["hr", "all"]}  # fmt: skip
    define(acl="required", acl_paths=paths)
    assert found() == expected
    assert found() == expected, "unchanged pages keep them"
    define(acl="staff", acl_paths={**paths, "/hr/": "staff"})
    assert found()["gull"] == ["staff", "all"]
    define(acl="required")
    assert found()["crane"] == ["all"]


def test_equal_pages_with_different_readers_are_two_documents(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="heron", links=["/hr/gull", "/open/gull"])
    for path in ("/hr/gull", "/open/gull"):
        site.page(path, title="Gull", text="the gull steals what the heron leaves")
    workspace.define(f"{url}/", acl_paths={"/hr/": "hr"})
    workspace.crawl()
    hits = workspace.command("search", "--json", "--as-typed", "steals").json["hits"]
    assert [hit["url"] for hit in hits] == [f"{url}/open/gull"]
    assert (
        workspace.command("search", "--json", "--as-typed", "steals", "--principal", "hr").json["total"] == 2
    )


def test_the_first_report_says_who_sees_what_is_read_behind_a_log_in(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="heron")
    entry = {"staff": {"url": f"{url}/", "user": "ada", "password": "${PW}"}}
    for options, noted in (({}, [True, False, False]), ({"acl": "everybody"}, [False])):
        workspace.define(f"{url}/", authentication=entry, **options)
        told = [workspace.crawl("--force", PW="x").run["remarks"] for _ in noted]
        assert [any("authentication.staff" in remark for remark in one) for one in told] == noted
        lint = workspace.command("lint", "--json", PW="x")
        assert (lint.code, "authentication.staff" in lint.out) == (0, not options)
