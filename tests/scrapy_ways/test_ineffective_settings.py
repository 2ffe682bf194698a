"""Settings and arguments that change nothing for a source are warned of once, with what to write instead."""

from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest
import scrapy
from scrapy.crawler import Crawler
from scrapy.settings import Settings, default_settings
from support.project import ROOT
from support.sentences import sentence

from ultracrawl.addon import UltracrawlAddon
from ultracrawl.cli.look.local_checks import check_settings
from ultracrawl.settings import ineffective as module
from ultracrawl.settings.ineffective import REMARKS_SETTING, REPLACEMENTS
from ultracrawl.sources import DataSource, adhoc_project
from ultracrawl.spiders.loader import make_spider_class

STARTPROJECT = {"ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_DELAY": 1}


@pytest.fixture(autouse=True)
def _nothing_reported() -> Iterator[None]:
    module._warned.clear()
    yield
    module._warned.clear()


@pytest.fixture
def source() -> DataSource:
    return next(iter(adhoc_project(("http://127.0.0.1:1/",), Path("/nowhere")).sources.values()))


def switched_on(source: DataSource, priority: str = "project", **values: object) -> Settings:
    """Return the settings of a crawl of a source, in a project that sets some itself."""
    settings = Settings()
    settings.setdict(values, priority=priority)
    UltracrawlAddon(source).update_settings(settings)
    return settings


def test_the_docs_have_the_table() -> None:
    rows = [f"| `{name}` | {replacement.text()} |" for name, replacement in REPLACEMENTS.items()]
    assert "\n".join(rows) in (ROOT / "docs" / "scrapy.md").read_text()


def test_the_table_names_settings_and_options_that_exist(source: DataSource) -> None:
    assert [name for name in REPLACEMENTS if not hasattr(default_settings, name)] == []
    for replacement in REPLACEMENTS.values():
        if replacement.option:
            reduce(getattr, replacement.option.split("."), source)


def test_every_setting_is_warned_of_once(source: DataSource, caplog: pytest.LogCaptureFixture) -> None:
    mappings = {name: {"a.example": {}} for name in ("DEFAULT_REQUEST_HEADERS", "DOWNLOAD_SLOTS")}
    for _ in range(2):
        switched_on(source, **{**dict.fromkeys(REPLACEMENTS, "7"), **mappings})
    assert [line.split()[0] for line in caplog.messages] == list(REPLACEMENTS)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DEPTH_LIMIT", 3, "write `depth: 3` in the definition"),
        ("DEPTH_LIMIT", "3", "write `depth: 3` in the definition"),
        ("RETRY_TIMES", 5, "write `limits: {retries: 5}` in the definition"),
        ("ROBOTSTXT_OBEY", False, "`robots: {obey: …}` decides in the definition"),
        ("JOBDIR", "job", sentence("scrapy.remove_stopped_crawl_resumed_from")),
    ],
)
def test_what_to_write_is_said(
    source: DataSource, caplog: pytest.LogCaptureFixture, name: str, value: object, told: str
) -> None:
    switched_on(source, "cmdline", **{name: value})
    assert caplog.messages == [f"{name} in the settings changes nothing: {told}"]


def test_settings_of_a_definition_are_reported_with_its_name_in_log_and_report(
    source: DataSource, caplog: pytest.LogCaptureFixture
) -> None:
    settings = switched_on(source, "spider", USER_AGENT="me")
    told = f"USER_AGENT in `settings:` of the source {source.name} changes nothing: write `user_agent: me`"
    assert caplog.messages == settings.getlist(REMARKS_SETTING) == [told]
    assert switched_on(source, "spider", USER_AGENT="me").getlist(REMARKS_SETTING) == []


def test_lint_tells_of_those_in_a_definition(source: DataSource) -> None:
    settings = {"RETRY_TIMES": 5, "DOWNLOAD_TIMEOUT": 30, "LOG_LEVEL": "INFO"}
    own = source.model_copy(update={"name": "own", "settings": settings})
    (hint,) = check_settings(own)
    assert (hint.path, hint.instead) == (("settings", "RETRY_TIMES"), "write `limits: {retries: 5}`")
    assert not hint.fatal


def test_what_says_the_same_or_was_not_said_is_not_reported(
    source: DataSource, caplog: pytest.LogCaptureFixture
) -> None:
    switched_on(source)
    switched_on(source, USER_AGENT=source.user_agent, DOWNLOAD_TIMEOUT="30", ROBOTSTXT_OBEY="True")
    switched_on(source, REFERRER_POLICY="same-origin", CONCURRENT_REQUESTS=3, DOWNLOAD_MAXSIZE=100)
    assert caplog.messages == []


@pytest.mark.parametrize("priority", ["project", "spider", "cmdline"])
def test_politeness_has_one_owner(source: DataSource, priority: str) -> None:
    settings = switched_on(
        source,
        priority,
        **STARTPROJECT,
        **{"AUTOTHROTTLE_ENABLED": True, "DOWNLOAD_SLOTS": {"a.example": {}}},
    )
    assert settings.getfloat("DOWNLOAD_DELAY") == 0
    assert settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") >= settings.getint("CONCURRENT_REQUESTS")
    assert not settings.getbool("AUTOTHROTTLE_ENABLED")
    assert not settings["DOWNLOAD_SLOTS"]


def test_other_spiders_keep_their_settings(caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(STARTPROJECT)
    UltracrawlAddon(None).update_settings(settings)
    assert {name: settings[name] for name in STARTPROJECT} == STARTPROJECT
    assert caplog.messages == []


def test_arguments_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    project = adhoc_project(("http://127.0.0.1:1/",), Path("/nowhere"))
    spider = make_spider_class(project, next(iter(project.sources.values())))
    spider.from_crawler(Crawler(spider), depth="1", note="hello", _job="26")
    nothing = "changes nothing: sources take no arguments"
    assert caplog.messages == [
        f"The argument depth {nothing}; write `depth: 1` in the definition",
        f"The argument note {nothing}",
    ]


def test_what_scrapy_writes_into_each_project_is_not_warned_of(
    source: DataSource, caplog: pytest.LogCaptureFixture
) -> None:
    template = Path(scrapy.__file__).parent / "templates/project/module/settings.py.tmpl"
    lines = template.read_text().splitlines()
    written = dict(line.split(" = ") for line in lines if line.split(" = ")[0] in STARTPROJECT)
    assert set(written) == set(STARTPROJECT)
    switched_on(source, **written)
    assert caplog.messages == []
    switched_on(source, DOWNLOAD_DELAY=2)
    switched_on(source, "cmdline", CONCURRENT_REQUESTS_PER_DOMAIN=1)
    assert [line.split()[0] for line in caplog.messages] == [
        "DOWNLOAD_DELAY",
        "CONCURRENT_REQUESTS_PER_DOMAIN",
    ]
