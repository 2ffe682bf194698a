"""`ultracrawl startproject` writes a project that works at once."""

import zipfile
from pathlib import Path

import pytest
from scrapy_ways.runs import Desk
from support.named import named
from support.site import Site

FILES = [
    ".gitignore",
    "README.md",
    "my_sources/__init__.py",
    "my_sources/settings.py",
    "my_sources/sources/example.yaml",
    "my_sources/spiders.py",
    "pyproject.toml",
    "scrapy.cfg",
    "setup.py",
    "tests/conftest.py",
    "tests/test_sources.py",
]


@pytest.fixture
def made(desk: Desk) -> Desk:
    """Return the project that `ultracrawl startproject my-sources` writes."""
    ended = desk.ultracrawl("startproject", "my-sources")
    assert ended.code == 0, ended.err
    assert "cd my-sources" in ended.out
    return Desk(desk.directory / "my-sources")


MORE = {
    "file": (["files/handbook/vacation.html", "files/welcome.txt"], "kingfisher", "/welcome.txt"),
    "table": (["tickets.db", "tickets.sql"], "printer", "https://tickets.example.com/1"),
    "agent": (
        ["my_sources/agent.py", "notes/heron.json", "notes/kite.json"],
        "heron",
        "https://notes.example.com/heron",
    ),
}
"""What examples of other types of sources bring along, and words that find one of their documents."""


def files_below(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(str(path.relative_to(folder)) for path in found)


def test_the_files(made: Desk) -> None:
    assert files_below(made.directory) == FILES
    for path in FILES:
        text = (made.directory / path).read_text()
        assert text.endswith("\n")
        assert "$" not in text, path
        assert max(map(len, text.splitlines())) <= 120, path


def test_its_source_is_listed_and_has_no_mistakes(made: Desk) -> None:
    assert made.scrapy("list").out.split() == ["example"]
    lint = made.ultracrawl("lint")
    assert (lint.code, lint.out) == (0, "")


def test_its_own_tests_pass(made: Desk) -> None:
    ended = made.python("-m", "pytest", "-q", "-p", "no:cacheprovider", PYTHONDONTWRITEBYTECODE="1")
    assert ended.code == 0, ended.out
    assert "2 passed" in ended.out


@pytest.mark.parametrize("kind", MORE)
def test_examples_of_other_types_are_crawled_at_once_and_have_no_mistakes(desk: Desk, kind: str) -> None:
    more, word, url = MORE[kind]
    assert desk.ultracrawl("startproject", "my-sources", "--type", kind).code == 0
    made = Desk(desk.directory / "my-sources")
    assert files_below(made.directory) == sorted([*FILES, *more])
    lint = made.ultracrawl("lint", "--connect")
    assert (lint.code, lint.out == "") == (0, kind != "file"), "no browser opens the hits of a folder: a hint"
    made.crawled("example")
    again = made.ultracrawl("crawl")
    assert "2  NOT_MODIFIED" in again.out
    assert "changes nothing" not in again.out
    (hit,) = made.ultracrawl("search", "--json", "--as-typed", word).json["hits"]
    assert hit["url"].endswith(url)
    own = made.python("-m", "pytest", "-q", "-p", "no:cacheprovider", PYTHONDONTWRITEBYTECODE="1")
    assert "2 passed" in own.out, own.out


def test_what_an_example_needs_is_reported_and_depended_on(desk: Desk) -> None:
    ended = desk.ultracrawl("startproject", "my-sources", "--type", "table")
    assert 'pip install "ultracrawl[table]"' in ended.out
    made = Desk(desk.directory / "my-sources")
    assert 'dependencies = ["ultracrawl[table]"]' in (made.directory / "pyproject.toml").read_text()


def test_its_own_tests_find_a_mistake(made: Desk) -> None:
    made.write("my_sources/sources/example.yaml", "start_urls: [https://a.example/]\ndept: 3\n")
    ended = made.python("-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert ended.code == 1
    assert "example.yaml:2 - dept - " in ended.out
    assert "depth" in named(ended.out)


def test_sources_crawl_by_either_command(made: Desk, site: Site, url: str) -> None:
    made.define("my_sources/sources/local.yaml", local={"start_urls": [f"{url}/"]})
    made.crawled("local")
    assert made.outcomes("--source", "local") == {"/": "NEW", "/a": "NEW", "/private": "ROBOTS"}
    again = made.ultracrawl("crawl", "--json", "local")
    assert again.run["outcomes"] == {"NOT_MODIFIED": 2, "ROBOTS": 1}
    assert made.found("vacation") == ["/a"]
    assert (made.directory / "var" / "index").is_dir()


def test_its_class_does_what_every_source_does(made: Desk, url: str) -> None:
    made.define(
        "my_sources/sources/local.yaml",
        local={"start_urls": [f"{url}/"], "class": "my_sources.spiders.ExampleSource"},
    )
    made.crawled("local")
    assert made.outcomes("--source", "local") == {"/": "NEW", "/a": "NEW", "/private": "ROBOTS"}


def test_definitions_elsewhere_by_the_environment(made: Desk, url: str) -> None:
    made.define("elsewhere/ultracrawl.yaml", moved={"start_urls": [f"{url}/"]})
    assert made.scrapy("list", ULTRACRAWL_CONFIG="elsewhere").out.split() == ["moved"]


def test_an_egg_holds_the_definitions(made: Desk) -> None:
    ended = made.python("setup.py", "-q", "bdist_egg", "-d", "eggs")
    assert ended.code == 0, ended.err
    (egg,) = (made.directory / "eggs").glob("*.egg")
    with zipfile.ZipFile(egg) as archive:
        names = archive.namelist()
        entry_points = archive.read("EGG-INFO/entry_points.txt").decode()
    assert "my_sources/sources/example.yaml" in names
    assert "settings = my_sources.settings" in entry_points


def test_definitions_are_read_from_a_zipped_egg(made: Desk, desk: Desk) -> None:
    made.python("setup.py", "-q", "bdist_egg", "-d", "eggs")
    (egg,) = (made.directory / "eggs").glob("*.egg")
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from scrapy.cmdline import execute; execute()"
    ended = desk.python("-c", code, str(egg), "list", SCRAPY_SETTINGS_MODULE="my_sources.settings")
    assert ended.out.split() == ["example"], ended.err


@pytest.mark.parametrize(
    ("folder", "package"),
    [("Intranet Search", "intranet_search"), ("a.b-c", "a_b_c"), ("Größe", "gr_e"), ("x__y", "x_y")],
)
def test_the_package_is_named_after_the_folder(desk: Desk, folder: str, package: str) -> None:
    assert desk.ultracrawl("startproject", folder).code == 0
    made = Desk(desk.directory / folder)
    assert (made.directory / package / "settings.py").is_file()
    assert made.scrapy("list").out.split() == ["example"]


def test_a_name_of_ones_own_and_the_working_directory(desk: Desk) -> None:
    here = desk.directory / "here"
    here.mkdir()
    assert desk.ultracrawl("startproject", ".", "--name", "Our_Sources", cwd=here).code == 0
    assert Desk(here).scrapy("list").out.split() == ["example"]


REFUSED = {
    "own name": ("ultracrawl",),
    "own name given": ("x", "--name", "Ultracrawl"),
    "installed package": ("scrapy",),
    "standard library": ("x", "--name", "json"),
    "tests": ("tests",),
    "keyword": ("class",),
    "digit first": ("2nd",),
    "nothing left": ("---",),
    "path as a name": ("x", "--name", "a/../b"),
    "other script": ("x", "--name", "größe"),
    "not empty": ("full",),
    "a file": ("file",),
}
"""What is typed; the last word is what the line has to name."""


@pytest.mark.parametrize("words", REFUSED.values(), ids=list(REFUSED))
def test_refused(desk: Desk, words: tuple[str, ...]) -> None:
    desk.write("full/keep.txt", "mine\n")
    desk.write("file", "mine\n")
    ended = (
        desk.ultracrawl("startproject", "--", *words)
        if words[0] == "---"
        else desk.ultracrawl("startproject", *words)
    )
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert words[-1].strip("-") in ended.err
    assert files_below(desk.directory) == ["file", "full/keep.txt"]
