"""`scrapy list` and `scrapy crawl` know every source, from a project directory or from anywhere."""

import json
from pathlib import Path

import pytest
from scrapy_ways.runs import Desk
from support.named import named
from support.project import ROOT
from support.site import Site

from ultracrawl.stores.sqlite.database import lock_file

CRAWLED = {"/": "NEW", "/a": "NEW", "/private": "ROBOTS"}


@pytest.fixture
def project(desk: Desk, url: str) -> Desk:
    """Return a directory with scrapy.cfg and a definition of two sources."""
    desk.scrapy_cfg()
    desk.define(site={"start_urls": [f"{url}/"]}, other={"start_urls": [f"{url}/a"]})
    return desk


def test_list_names_every_source(project: Desk) -> None:
    ended = project.scrapy("list")
    assert ended.code == 0, ended.err
    assert ended.out.split() == ["other", "site"]


def test_crawl_does_what_ultracrawl_crawl_does(project: Desk, site: Site) -> None:
    project.crawled("site")
    assert project.outcomes("--source", "site") == CRAWLED
    assert site.count("/private") == 0
    assert project.found("vacation") == ["/a"]
    again = project.ultracrawl("crawl", "--json", "site")
    assert again.run["outcomes"] == {"NOT_MODIFIED": 2, "ROBOTS": 1}


def test_crawl_from_a_folder_below_the_project(project: Desk) -> None:
    below = project.directory / "docs"
    below.mkdir()
    config = str(project.directory / "ultracrawl.yaml")
    project.crawled("site", cwd=below, ULTRACRAWL_CONFIG=config)
    assert project.outcomes("--source", "site") == CRAWLED
    assert list(below.iterdir()) == []


def test_setting_on_the_command_line(project: Desk) -> None:
    project.crawled("site")
    project.crawled("site", "-s", "ULTRACRAWL_FORCE=1")
    assert project.outcomes("--source", "site") == {**CRAWLED, "/": "REINDEXED", "/a": "REINDEXED"}


def test_another_crawling_mode(project: Desk) -> None:
    project.crawled("site", "-s", "ULTRACRAWL_MODE=index-only")
    assert project.outcomes("--source", "site") == {"/": "NEW"}
    refused = project.scrapy("crawl", "site", "-s", "ULTRACRAWL_MODE=everything")
    assert refused.code == 2
    assert "ULTRACRAWL_MODE: " in refused.err
    assert {"everything", "accept-all"} <= set(named(refused.err))
    assert "Traceback" not in refused.err


def test_spider_arguments_are_taken(project: Desk) -> None:
    project.crawled("site", "-a", "_job=26", "-a", "note=hello")
    assert project.outcomes("--source", "site") == CRAWLED


def test_documents_can_be_exported(project: Desk) -> None:
    project.crawled("site", "-O", "items.jsonl", "-O", "items.csv", "-O", "items.xml")
    lines = (project.directory / "items.jsonl").read_text().splitlines()
    items = {item["title"]: item for item in map(json.loads, lines)}
    assert sorted(items) == ["Home", "Vacation"]
    assert items["Vacation"]["source"] == "site"
    assert items["Vacation"]["search_attributes"]["Title"] == ["Vacation"]
    assert len(bytes.fromhex(items["Vacation"]["checksum"])) == 32
    assert "request a vacation" in (project.directory / "items.csv").read_text()
    assert "request a vacation" in (project.directory / "items.xml").read_text()


@pytest.mark.parametrize("below", ["", "elsewhere"])
def test_settings_module_from_any_directory(desk: Desk, url: str, below: str) -> None:
    desk.define("conf/ultracrawl.yaml", site={"start_urls": [f"{url}/"]})
    here = desk.directory / below
    here.mkdir(exist_ok=True)
    env = {
        "SCRAPY_SETTINGS_MODULE": "ultracrawl.settings",
        "ULTRACRAWL_CONFIG": str(desk.directory / "conf" / "ultracrawl.yaml"),
    }
    assert desk.scrapy("list", cwd=here, **env).out.split() == ["site"]
    desk.crawled("site", cwd=here, **env)
    assert desk.outcomes(**env) == CRAWLED
    assert (desk.directory / "conf" / "var" / "state" / "site.sqlite").is_file()
    assert not (here / "var").exists()


def test_user_wide_scrapy_cfg_from_any_directory(desk: Desk, url: str) -> None:
    desk.write("home-config/scrapy.cfg", "[settings]\ndefault = ultracrawl.settings\n")
    desk.define("conf/ultracrawl.yaml", site={"start_urls": [f"{url}/"]})
    env = {
        "XDG_CONFIG_HOME": str(desk.directory / "home-config"),
        "ULTRACRAWL_CONFIG": str(desk.directory / "conf" / "ultracrawl.yaml"),
    }
    assert desk.scrapy("list", **env).out.split() == ["site"]
    desk.crawled("site", **env)
    assert desk.outcomes(**env) == CRAWLED


@pytest.mark.parametrize("how", ["setting", "variable"])
def test_data_folder_elsewhere(project: Desk, tmp_path: Path, how: str) -> None:
    data = tmp_path / "data"
    words = ["-s", f"ULTRACRAWL_DATA={data}"] if how == "setting" else []
    env = {"ULTRACRAWL_DATA": str(data)} if how == "variable" else {}
    project.crawled("site", *words, **env)
    assert project.outcomes("--source", "site", ULTRACRAWL_DATA=str(data)) == CRAWLED
    assert (data / "var" / "state" / "site.sqlite").is_file()
    assert (data / "var" / "index").is_dir()
    assert not (project.directory / "var").exists()


def test_a_thousand_definitions_are_listed(desk: Desk) -> None:
    desk.scrapy_cfg()
    names = [f"source-{number:04}" for number in range(1000)]
    desk.write("ultracrawl.yaml", "defaults: {depth: 3}\n")
    for name in names:
        desk.write(f"sources/{name}.yaml", f"start_urls: [https://{name}.example/]\ndepth: 5\n")
    assert desk.scrapy("list").out.split() == names


@pytest.mark.parametrize("words", [("list",), ("crawl", "site")], ids=" ".join)
def test_a_mistake_is_shown_without_a_traceback(project: Desk, words: tuple[str, ...]) -> None:
    project.write("ultracrawl.yaml", "sources:\n  site: {start_urls: [https://a.example/], dept: 3}\n")
    ended = project.scrapy(*words)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert "ultracrawl.yaml:2 - sources.site.dept - " in ended.err
    assert "depth" in named(ended.err)


def test_an_unknown_source_is_not_found(project: Desk) -> None:
    ended = project.scrapy("crawl", "stie")
    assert ended.code == 1
    assert "Spider not found: stie" in ended.err


def test_without_definitions_the_own_spiders_remain(desk: Desk) -> None:
    desk.scrapy_cfg()
    ended = desk.scrapy("list")
    assert (ended.code, ended.out.split()) == (0, [])
    assert "ULTRACRAWL_CONFIG" in ended.err


def test_this_checkout_is_a_scrapy_project(desk: Desk, url: str) -> None:
    desk.define(site={"start_urls": [f"{url}/"]})
    assert desk.scrapy("list", cwd=ROOT).out.split() == ["sample"]
    ended = desk.scrapy("list", cwd=ROOT, ULTRACRAWL_CONFIG=str(desk.directory / "ultracrawl.yaml"))
    assert ended.out.split() == ["sample", "site"]


def test_a_second_crawl_of_a_source_is_refused_in_a_line(project: Desk) -> None:
    project.write("ultracrawl.yaml", "sources: {site: {start_urls: ['http://127.0.0.1:1/']}}\n")
    state = project.directory / "var" / "state" / "site.sqlite"
    state.parent.mkdir(parents=True)
    with lock_file(state, "site"):
        ended = project.scrapy("crawl", "site", "-L", "ERROR")
    assert ended.code == 1
    assert len(ended.err.splitlines()) == 1, ended.err
