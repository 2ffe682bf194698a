"""The Scrapy process that crawls run in: its settings, and the signals that end it."""

from __future__ import annotations

import signal
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from ultracrawl.settings.presets import WATCHED


def crawler_process(force: bool, overrides: dict[str, Any]) -> AsyncCrawlerProcess:
    """Return a process that crawls sources; `overrides` yield to the settings of a definition.

    When its terminal goes away it ends as after SIGTERM, which is Scrapy's business; unless it was started to outlive
    that (`nohup`).
    """
    process = AsyncCrawlerProcess(scrapy_settings(force, overrides))
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, process._signal_shutdown)
    return process


def scrapy_settings(force: bool, overrides: dict[str, Any]) -> Settings:
    """Return the Scrapy settings of a process that crawls sources; `overrides` yield to those of a definition."""
    settings = get_project_settings()
    settings.setmodule("ultracrawl.settings", priority="default")
    # A Scrapy project around us may have add-ons of its own, or none.
    settings["ADDONS"].setdefault("ultracrawl.addon.UltracrawlAddon", 500)
    settings.set("ULTRACRAWL_FORCE", force, priority="cmdline")
    settings.set(WATCHED, True, priority="cmdline")
    # The definition's own `settings` win over these.
    settings.setdict({"LOG_LEVEL": "WARNING", **overrides}, priority="project")
    return settings
