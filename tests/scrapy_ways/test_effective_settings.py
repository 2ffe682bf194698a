"""What a crawl of a source really runs with, whichever way it is started; what the user sets wins."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from scrapy_ways.runs import DUMP, Desk

from ultracrawl.settings.presets import max_concurrent_requests

ADDON = 'ADDONS = {"ultracrawl.addon.UltracrawlAddon": 500}\n'
EXTENSION = {"dump.SettingsDump": 1}

Way = Callable[[Desk], None]


def _definition(desk: Desk, url: str, **settings: object) -> None:
    dump = {"EXTENSIONS": EXTENSION, "DUMP_FILE": str(desk.directory / "dump.json")}
    desk.write("dump.py", DUMP)
    desk.define(site={"start_urls": [f"{url}/"], "settings": {**dump, **settings}})


def _ultracrawl(desk: Desk) -> None:
    desk.scrapy_cfg()
    ended = desk.python("-m", "ultracrawl", "crawl", "site")
    assert ended.code == 0, ended.err


def _scrapy_cfg(desk: Desk) -> None:
    desk.scrapy_cfg()
    desk.crawled("site")


def _settings_module(desk: Desk) -> None:
    desk.write("own_settings.py", "from ultracrawl.settings import *\n")
    desk.crawled("site", SCRAPY_SETTINGS_MODULE="own_settings")


def _addon(desk: Desk) -> None:
    desk.scrapy_cfg("theirs")
    desk.write("theirs.py", ADDON)
    desk.crawled("site")


WAYS = {
    "ultracrawl crawl": _ultracrawl,
    "scrapy crawl with scrapy.cfg": _scrapy_cfg,
    "scrapy crawl with a settings module": _settings_module,
    "add-on in a foreign project": _addon,
}


def effective(desk: Desk) -> dict[str, Any]:
    data = json.loads((desk.directory / "dump.json").read_text())
    assert isinstance(data, dict)
    return data


def assert_hardened(settings: dict[str, Any]) -> None:
    """Check everything that an unattended crawl relies on."""
    assert settings["TELNETCONSOLE_ENABLED"] is False
    assert settings["REMOTE_CONTROL_ENABLED"] is False
    assert settings["DOWNLOAD_VERIFY_CERTIFICATES"] is True
    assert settings["DOWNLOAD_TLS_MIN_VERSION"] in {"TLSv1.2", "TLSv1.3"}
    assert 0 < settings["DOWNLOAD_MAXSIZE"] <= 32 << 20
    handlers = settings["DOWNLOAD_HANDLERS"]
    assert {scheme: handlers[scheme] for scheme in ("data", "file", "ftp", "s3")} == dict.fromkeys(
        ("data", "file", "ftp", "s3")
    )
    assert handlers["http"]
    assert handlers["https"]
    assert settings["SCHEDULER"] == "ultracrawl.scheduler.UltracrawlScheduler"
    assert "ultracrawl.scheduler.scheduler.UltracrawlScheduler" in settings["parts"]
    assert settings["REFERRER_POLICY"] == "same-origin"
    assert settings["ROBOTSTXT_OBEY"] is True
    assert "ultracrawl.middlewares.robots.RobotsMiddleware" in settings["parts"]
    assert settings["COOKIES_ENABLED"] is False
    assert "ultracrawl.run.lifecycle.CrawlLifecycle" in settings["parts"]
    unwanted = (
        "spiderstate",
        "remote_control",
        "telnet",
        "referer",
        "cookies",
        "retry",
        "offsite",
        "robotstxt",
    )
    assert [
        part for part in settings["parts"] if part.startswith("scrapy.") and part.split(".")[2] in unwanted
    ] == []


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_every_way_to_run_is_hardened(desk: Desk, url: str, way: Way) -> None:
    _definition(desk, url)
    way(desk)
    assert_hardened(effective(desk))


OVERRIDES = {"DOWNLOAD_MAXSIZE": 1000, "REFERRER_POLICY": "no-referrer", "CONCURRENT_REQUESTS": 3}


def test_settings_of_the_definition_win(desk: Desk, url: str) -> None:
    _definition(desk, url, **OVERRIDES)
    _scrapy_cfg(desk)
    assert OVERRIDES.items() <= effective(desk).items()


def test_settings_of_the_project_win(desk: Desk, url: str) -> None:
    _definition(desk, url)
    desk.scrapy_cfg("theirs")
    lines = "".join(f"{name} = {value!r}\n" for name, value in OVERRIDES.items())
    off = 'ITEM_PIPELINES = {"ultracrawl.pipelines.IndexPipeline": 800}\n'
    desk.write("theirs.py", ADDON + lines + off)
    desk.crawled("site")
    settings = effective(desk)
    assert OVERRIDES.items() <= settings.items()
    assert settings["ITEM_PIPELINES"]["ultracrawl.pipelines.IndexPipeline"] == 800


def test_settings_of_the_command_line_win(desk: Desk, url: str) -> None:
    _definition(desk, url, DOWNLOAD_MAXSIZE=5000)
    desk.scrapy_cfg()
    desk.crawled("site", "-s", "DOWNLOAD_MAXSIZE=1000", "-s", "REFERRER_POLICY=no-referrer")
    settings = effective(desk)
    assert (int(settings["DOWNLOAD_MAXSIZE"]), settings["REFERRER_POLICY"]) == (1000, "no-referrer")


def test_limits_of_the_definition_are_applied(desk: Desk, url: str) -> None:
    dump = {"EXTENSIONS": EXTENSION, "DUMP_FILE": str(desk.directory / "dump.json")}
    desk.write("dump.py", DUMP)
    options = {"limits": {"max_size": "2 MB"}, "user_agent": "tester/1", "settings": dump}
    desk.define(site={"start_urls": [f"{url}/"], **options})
    _scrapy_cfg(desk)
    settings = effective(desk)
    assert settings["USER_AGENT"] == "tester/1"
    assert settings["DOWNLOAD_MAXSIZE"] in {2_000_000, 2 << 20}


@pytest.mark.parametrize(("files", "at_once"), [(1 << 20, 256), (1024, 256), (512, 192), (256, 64), (64, 16)])
def test_requests_at_once_keep_to_the_files_that_may_be_open(files: int, at_once: int) -> None:
    assert max_concurrent_requests(files) == at_once
