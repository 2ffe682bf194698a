"""Sources on a real Scrapyd: deployed as an egg, listed, scheduled, crawled, crawled again."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from scrapy_ways.runs import DUMP, Desk
from scrapy_ways.scrapyd_server import Scrapyd, scrapyd
from scrapy_ways.test_effective_settings import assert_hardened
from support.launching import Launcher
from support.site import Site
from support.until import until_on_loop

from ultracrawl.service.orders import CrawlEnd, CrawlOrder, WallClock
from ultracrawl.service.scrapyd.launcher import ProfileLauncher
from ultracrawl.settings.locations import with_data_folder
from ultracrawl.settings.projects import find_project
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import open_state

pytestmark = pytest.mark.servers

NAME = "deployed_sources"


@pytest.fixture
def project(desk: Desk, url: str) -> Desk:
    """Return a project made by `ultracrawl startproject`, with three sources and an extension that shows settings."""
    ended = desk.ultracrawl("startproject", NAME)
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
    state = open_state(with_data_folder(require(definitions), data), "local", read_only=True)
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


# ---- as the launcher of a schedule


def schedule_here(desk: Desk, server: Scrapyd, **schedule: Any) -> None:
    """Define the source here as well, with a schedule whose crawls run there."""
    definition = {
        "sources": {"local": {"start_urls": ["http://127.0.0.1:1/"]}},
        "profiles": {"north": {"scrapyd": server.url, "project": NAME}},
        "schedules": {"nightly": {"sources": "local", "cron": "0 0 29 2 *", "profile": "north", **schedule}},
    }
    desk.write("ultracrawl.yaml", yaml.safe_dump(definition))


def launch(desk: Desk, server: Scrapyd) -> str:
    """Launch the schedule, and return the log of its job."""
    before = {job["id"] for job in server.get("listjobs", project=NAME)["finished"]}
    ended = desk.ultracrawl("schedule", "launch", "nightly", "--json")
    assert ended.code == 0, ended.out + ended.err
    assert [run["outcomes"] for run in ended.json["runs"]] != [{}], "its report stands in the log of the job"
    (job,) = {job["id"] for job in server.get("listjobs", project=NAME)["finished"]} - before
    assert job.startswith("nightly.local.")
    return server.log(NAME, "local", job)


def test_a_schedule_bound_to_it_runs_only_there__ultra_search_128(
    project: Desk, server: Scrapyd, site: Site, tmp_path: Path
) -> None:
    deploy(project, server)
    here = Desk(tmp_path / "here")
    schedule_here(here, server, mode="index-only")
    assert "local: finished, 1 URL," in launch(here, server)
    schedule_here(here, server)
    assert "local: finished, 3 URLs" in launch(here, server)
    assert outcomes(project, tmp_path / "data").keys() == {"/", "/a", "/private"}
    schedule_here(here, server, force=True)
    site.reset()
    launch(here, server)
    assert site.statuses("/") == [200], "forced"
    assert not (here.directory / "var" / "state" / "local.sqlite").exists()
    assert not (here.directory / "var" / "index").exists()

    schedule_here(here, server)
    with (here.directory / "ultracrawl.yaml").open("a") as definition:
        definition.write(f"state: {tmp_path}/data/var/state\n")
    ended = here.ultracrawl("schedule", "launch", "nightly", "--json")
    assert [run["outcomes"]["NOT_MODIFIED"] for run in ended.json["runs"]] == [2], (
        "the state is here: so is the report"
    )


def test_a_crawl_that_outlives_who_launched_it_is_found_again(
    project: Desk, server: Scrapyd, site: Site, tmp_path: Path
) -> None:
    deploy(project, server)
    here = Desk(tmp_path / "here")
    schedule_here(here, server)
    held = site.hold("/a")
    found, _ = find_project(str(here.directory / "ultracrawl.yaml"))

    async def play() -> CrawlEnd:
        launcher = ProfileLauncher(Launcher(), lambda: found, WallClock())
        order = CrawlOrder("local", schedule="nightly", profile="north")
        await launcher.launch(order)
        await until_on_loop(lambda: site.count("/a"))
        again = await launcher.launch(order)
        jobs = server.get("listjobs", project=NAME)
        assert (len(jobs["running"]), jobs["pending"], jobs["finished"]) == (1, [], [])
        await again.stop_crawl()
        asyncio.get_running_loop().call_later(3, held.set)
        return await again.finished()

    end = asyncio.run(play())
    assert end.report is not None, "it stands in the log of the job"
    assert (end.report.interrupted, end.died, end.error) == (True, False, "")
    (job,) = server.get("listjobs", project=NAME)["finished"]
    assert "Received SIGINT" in server.log(NAME, "local", job["id"])
