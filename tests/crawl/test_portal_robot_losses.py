"""Nothing that a robot's filters want gets lost: no description, no text, no field of one."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

FILTERS = """<Filter name="e">
   Enumerate fn=enumerate-urls max=1024 type=text/html
</Filter>
<Filter name="g">
{lines}
</Filter>
"""
NAVIGATION = " ".join(f"<li>Section {number}</li>" for number in range(600))


@pytest.fixture
def robot(workspace: Workspace, url: str) -> RobotFiles:
    made = RobotFiles(workspace)
    made.site(f"{url}/")
    return made


def describe(robot: RobotFiles, *lines: str) -> None:
    robot.write("filter.conf", FILTERS.format(lines="\n".join(f"   {line}" for line in lines)))
    robot.properties(enumeration_filter="e", generation_filter="g")


def described(robot: RobotFiles) -> set[str]:
    return {"/" + str(hit["url"]).split("/", 3)[3] for hit in robot.found("")}


@pytest.mark.parametrize("of_its_own", [False, True], ids=["default filters", "filters of its own"])
def test_pages_with_a_common_beginning_are_described_each(
    site: Site, robot: RobotFiles, of_its_own: bool
) -> None:
    articles = [f"/article{number}" for number in range(4)]
    site.page("/", title="Manual", text="start", links=articles)
    for path in articles:
        site.file(path, f"<title>Manual</title><ul>{NAVIGATION}</ul><p>About {path}".encode(), "text/html")
    if of_its_own:
        describe(robot, "Generate fn=extract-html-text truncate=255 type=text/html skip-headings=true")
    run = robot.crawl().run
    assert run["outcomes"] == {"NEW": 5}


def test_what_a_filter_asks_to_throw_away_is_thrown_away(site: Site, robot: RobotFiles) -> None:
    site.page("/", title="Manual", text="start", links=["/one", "/two"])
    for path in ("/one", "/two"):
        site.file(path, b"<title>Manual</title><p>the same", "text/html")
    assert robot.crawl().run["outcomes"] == {"NEW": 2, "NOT_INDEXED": 1}


def test_a_definition_with_filters_compares_whole_contents(
    site: Site, url: str, workspace: Workspace
) -> None:
    articles = [f"/article{number}" for number in range(4)]
    site.page("/", title="Manual", text="start", links=[*articles, "/copy"])
    for path in [*articles, "/copy"]:
        words = "article1" if path == "/copy" else path
        site.file(path, f"<ul>{NAVIGATION}</ul><p>About {words.strip('/')}".encode(), "text/html")
    lines = "Generate fn=extract-html-text truncate=255"
    (workspace.directory / "filter.conf").write_text(FILTERS.format(lines=lines))
    filters = {"file": "filter.conf", "enumeration": "e", "generation": "g"}
    workspace.define(f"{url}/", filters=filters, sitemaps={"use": False})
    workspace.crawl()
    assert workspace.indexed() == ["/", "/article0", "/article2", "/article3", "/copy"]


@pytest.mark.parametrize("of_its_own", [False, True], ids=["default filters", "filters of its own"])
def test_a_page_without_content_type_is_what_its_bytes_say(
    site: Site, robot: RobotFiles, of_its_own: bool
) -> None:
    body = b"<html><head><title>Untyped</title></head><body><p>needle <a href=/next>on</a></body></html>"
    site.respond("/", body=body)
    site.respond("/next", body=b"<!DOCTYPE html><title>Next</title><p>needle two")
    if of_its_own:
        describe(
            robot,
            "Data     fn=filter-by-prefix src=type allow=text",
            "Generate fn=extract-html-meta truncate=255 type=text/html",
            "Generate fn=extract-html-text truncate=4096 type=text/html",
            "Generate fn=extract-source src=type->content-type",
        )
    robot.crawl()
    hits = sorted((str(hit["title"]), hit["attributes"]["Content_Type"]) for hit in robot.found("needle"))
    assert hits == [("Next", ["text/html"]), ("Untyped", ["text/html"])]
