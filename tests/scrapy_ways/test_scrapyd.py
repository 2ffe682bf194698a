"""Sources on a real Scrapyd: deployed as an egg, listed, scheduled, crawled, crawled again."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy_ways.runs import DUMP, Desk
from scrapy_ways.scrapyd_server import Scrapyd, scrapyd
from scrapy_ways.test_effective_settings import assert_hardened
from support.site import Site

from ultracrawl.settings.places import placed
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.opening import open_state

pytestmark = pytest.mark.servers

NAME = "deployed_sources"


@pytest.fixture
def project(desk: Desk, url: str) -> Desk:
    """Return a project made by `ultracrawl init`, with three sources and an extension that shows settings."""
    ended = desk.ultracrawl("init", NAME)
    assert ended.code == 0, ended.err
    made = Desk(desk.directory / NAME)
    sources = f"{NAME}/sources"
    made.define(f"{sources}/local.yaml", local={"start_urls": [f"{url}/"]})
    made.define(f"{sources}/more.yaml", second={"start_urls": [f"{url}/a"]})
    made.write(f"{NAME}/dump.py", DUMP)
    settings = made.directory / NAME / "settings.py"
    settings.write_text(settings.read_text() + f'EXTENSIONS = {{"{NAME}.dump.SettingsDump": 1}}\n')
    return made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Scrapyd]:
    with scrapyd(tmp_path / "scrapyd", ULTRACRAWL_DATA=str(tmp_path / "data")) as running:
        yield running


def deploy(project: Desk, server: Scrapyd) -> None:
    cfg = project.directory / "scrapy.cfg"
    text = cfg.read_text()
    assert "url = http://localhost:6800/\n" in text
    cfg.write_text(text.replace("http://localhost:6800/", f"{server.url}/"))
    ended = project.python("-m", "scrapyd_client.deploy", NO_PROXY="127.0.0.1")
    assert ended.code == 0, ended.err + ended.out
    answer = json.loads(ended.out)
    assert (answer["status"], answer["spiders"]) == ("ok", 3)


def outcomes(project: Desk, data: Path) -> dict[str, str]:
    """Return the outcome of every known URL of the source `local`, by path."""
    definitions = read_definitions(project.directory / NAME / "sources")
    state = open_state(placed(require(definitions), data), "local", read_only=True)
    try:
        return {"/" + row.url.split("/", 3)[3]: row.outcome.value for row in state.records.all_records()}
    finally:
        state.close()


def test_deploy_schedule_and_crawl_again(project: Desk, server: Scrapyd, site: Site, tmp_path: Path) -> None:
    deploy(project, server)
    listed = server.get("listspiders", project=NAME)
    assert sorted(listed["spiders"]) == ["example", "local", "second"]

    dump = tmp_path / "dump.json"
    job = server.run(NAME, "local", f"DUMP_FILE={dump}")
    log = server.log(NAME, "local", job)
    assert "local: finished, 3 URLs" in log
    assert "ERROR" not in log
    assert "Traceback" not in log
    assert sorted(item["title"] for item in server.items(NAME, "local", job)) == ["Home", "Vacation"]
    assert site.count("/private") == 0
    assert_hardened(json.loads(dump.read_text()))

    assert (tmp_path / "data" / "var" / "state" / "local.sqlite").is_file()
    assert not (server.folder / "var").exists()
    assert not list((server.folder / "jobs").rglob("*.state")), "nothing is pickled"

    site.change("/a", text="how to request a vacation, new form")
    site.reset()
    again = server.run(NAME, "local", f"DUMP_FILE={dump}")
    assert site.statuses("/") == [304]
    assert site.statuses("/a") == [200]
    assert [item["title"] for item in server.items(NAME, "local", again)] == ["Vacation"]
    assert outcomes(project, tmp_path / "data") == {
        "/": "NOT_MODIFIED",
        "/a": "MODIFIED",
        "/private": "ROBOTS",
    }

    third = server.run(NAME, "local", f"DUMP_FILE={dump}")
    assert server.items(NAME, "local", third) == []
    assert outcomes(project, tmp_path / "data")["/a"] == "NOT_MODIFIED"
