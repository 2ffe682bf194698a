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


def test_the_parts_of_a_page_go_with_as_much_of_its_text_as_is_kept(site: Site, robot: RobotFiles) -> None:
    page = "<title>Manual</title><h2 id=a>Herons</h2><p>fish</p><h2 id=b>Voles</h2><p>and {}".format(
        "more " * 60
    )
    site.file("/", f"{page}<h2 id=c>Frogs</h2><p>beyond".encode(), "text/html")
    describe(robot, "Generate fn=extract-full-text truncate=100")
    robot.crawl()
    (hit,) = robot.found("voles")
    assert hit["section"]["anchor"] == "b"
    assert robot.found("frogs") == []


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


HEAD = '<meta name="author" content="Jordan Lee"><meta name="x-team" content="Docs"><meta name="language" content="nl">'


def test_fields_that_filters_make_are_exported_and_found_by_name(
    site: Site, url: str, robot: RobotFiles
) -> None:
    site.page("/", title="Manual", text="start", head=HEAD)
    describe(
        robot,
        "Data     fn=generate-md5",
        "Generate fn=extract-html-meta truncate=255 type=text/html",
        "Generate fn=extract-html-text truncate=255 type=text/html",
        'Generate fn=rename-attribute src="author->author-name"',
        'Generate fn=extract-source src="URL->my-url,md5"',
        "Generate fn=generate-by-prefix dst=Area value=Web src=protocol match=http",
        "Generate fn=copy-attribute src=partial-text dst=abstract truncate=3",
    )
    robot.crawl()
    fields = {
        "author-name": "Jordan Lee",
        "my-url": f"{url}/",
        "area": "Web",
        "abstract": "sta",
        "x-team": "Docs",
    }
    for name, value in fields.items():
        (hit,) = robot.found("--where", f"{name}={value.upper()}")
        assert isinstance(hit["attributes"], dict)
        assert hit["attributes"][name] == [value]
        assert robot.found("--where", f"{name}=another") == []
        assert robot.found("--where", f"{name}!={value}") == []
    assert len(robot.found("--where", "language=nl", "--where", "Area=web", "--where", "x-team=docs")) == 1
    assert robot.found("--where", "x-team=web") == []
    (row,) = robot.command("robot", "export-rds", "--format", "json").lines
    assert {name: row["fields"].get(name) for name in fields} == {
        name: [text] for name, text in fields.items()
    }
    assert {"rd_fields", "rd-fields"}.isdisjoint(row["fields"])
    soif = robot.command("robot", "export-rds").out
    assert "author-name{10}:\tJordan Lee\n" in soif
    refused = robot.command("search", "--where", "area>a")
    assert (refused.code, "only = and !=" in refused.err) == (2, True)


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_fields_of_imported_descriptions_are_kept_and_found(
    workspace: Workspace, engine: str, url: str
) -> None:
    (workspace.directory / "filter.conf").write_text(FILTERS.format(lines="Generate fn=extract-html-meta"))
    filters = {"file": "filter.conf", "enumeration": "e", "generation": "g"}
    source = {"type": "web", "start_urls": [f"{url}/"], "filters": filters}
    workspace.write({"index": {"engine": engine}, "sources": {"site": source}})
    long = "word " * 40_000
    soif = workspace.directory / "rds.soif"
    fields = {
        "Title": "Other",
        "Author-Name": "Kim",
        "Colour": "deep blue",
        "Notes": long.strip(),
        "a=b": "c=d",
    }
    lines = "".join(f"{name}{{{len(value)}}}:\t{value}\n" for name, value in fields.items())
    soif.write_text(f"@DOCUMENT {{ http://h.example/\n{lines}}}\n")
    assert workspace.command("robot", "import-rds", str(soif), "--as", "others").code == 0
    for condition in ("author-name=kim", "Colour=Deep Blue"):
        assert workspace.search("--where", condition) == ["/"]
    (row,) = workspace.command("robot", "export-rds", "--all", "--format", "json").lines
    assert row["fields"]["title"] == ["Other"]
    assert row["fields"]["notes"] == [long.strip()]
    assert row["fields"]["colour"] == ["deep blue"]
    assert workspace.command("index", "check").code == 0


def test_a_line_that_reads_too_early_is_named_once_and_denies_nothing(site: Site, robot: RobotFiles) -> None:
    site.page("/", title="Manual", text="start", links=["/next"])
    site.page("/next", title="Next", text="more")
    describe(
        robot,
        "MetaData fn=filter-by-prefix src=type allow=text",
        "Generate fn=extract-html-meta truncate=255 type=text/html",
    )
    told = "`type` is not known before the fetch, so the line does nothing; write it under Data"
    linted = robot.workspace.command("lint", "config/robot.conf")
    assert (linted.code, linted.out.count(told) + linted.err.count(told)) == (0, 1)
    assert robot.crawl().run["outcomes"] == {"NEW": 2}
    (log,) = robot.workspace.directory.glob("**/*.robot.log")
    assert log.read_text().count(told) == 1
