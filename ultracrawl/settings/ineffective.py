"""Scrapy settings without effect on a source, because its definition decides instead, and warnings about them."""

from __future__ import annotations

import logging
from functools import reduce
from typing import Any, NamedTuple

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from ultracrawl.settings.presets import HARDENED_SETTINGS
from ultracrawl.sources import DataSource
from ultracrawl.sources.kinds import find_kind

logger = logging.getLogger(__name__)


class Replacement(NamedTuple):
    """What replaces a setting."""

    option: str
    """Dotted name of the option in a definition, empty if none has the same meaning."""
    advice: str = ""
    """Advice to the user, where the value of the setting cannot be copied to the option."""

    def text(self, value: object = "…") -> str:
        """Return the advice for a value of the setting."""
        if self.advice:
            return self.advice
        shown = str(value).lower() if isinstance(value, bool) else value
        *sections, name = self.option.split(".")
        inner = f"{name}: {shown}"
        return f"write `{reduce(lambda text, section: f'{section}: {{{text}}}', reversed(sections), inner)}`"


_ERRORS = Replacement("errors", "write how errors are handled into `errors:`")
_PROXY = Replacement("proxy", "write proxies into `proxy: {servers: …}`")
_PASSWORD = Replacement("authentication", "write passwords into `authentication:`")
_QUEUE = Replacement("", "remove it; the queue is in the document table")
_REFERER = Replacement("", "remove it; `Referer` is not sent")
_THROTTLE = Replacement("politeness.throttle", "write `politeness: {throttle: 1}`")
_STEADY = Replacement("", "remove it; `politeness:` defines all delays")

REPLACEMENTS: dict[str, Replacement] = {
    "AUTOTHROTTLE_ENABLED": _THROTTLE,
    "CONCURRENT_REQUESTS_PER_DOMAIN": Replacement("politeness.concurrency"),
    "DEFAULT_REQUEST_HEADERS": Replacement("headers", "write them into `headers:`"),
    "DEPTH_LIMIT": Replacement("depth"),
    "DEPTH_PRIORITY": Replacement("priority", "write levels into `priority:`"),
    "DOWNLOAD_DELAY": Replacement("politeness.delay"),
    "DOWNLOAD_DELAY_JITTER": _STEADY,
    "DOWNLOAD_SLOTS": Replacement("sites", "write options of single sites into `sites:`"),
    "DOWNLOAD_TIMEOUT": Replacement("limits.timeout"),
    "DUPEFILTER_CLASS": Replacement("", "remove it; every URL is requested once per run"),
    "HTTPAUTH_PASS": _PASSWORD,
    "HTTPAUTH_USER": _PASSWORD,
    "HTTPERROR_ALLOWED_CODES": _ERRORS,
    "HTTPERROR_ALLOW_ALL": _ERRORS,
    "HTTPPROXY_ENABLED": _PROXY,
    "JOBDIR": Replacement("", "remove it; a stopped crawl is resumed from its document table"),
    "METAREFRESH_ENABLED": Replacement("links.refresh_redirects"),
    "METAREFRESH_IGNORE_TAGS": Replacement("", "remove it; META refresh in `noscript` is never followed"),
    "METAREFRESH_MAXDELAY": Replacement("links.refresh_seconds"),
    "RANDOMIZE_DOWNLOAD_DELAY": _STEADY,
    "REDIRECT_ENABLED": Replacement("redirects", "write which redirects are followed into `redirects:`"),
    "REDIRECT_MAX_TIMES": Replacement("limits.redirects"),
    "REFERER_ENABLED": _REFERER,
    "REFERRER_POLICY": _REFERER,
    "RETRY_ENABLED": Replacement("limits.retries", "write `limits: {retries: 0}` for none"),
    "RETRY_HTTP_CODES": _ERRORS,
    "RETRY_TIMES": Replacement("limits.retries"),
    "ROBOTSTXT_OBEY": Replacement("robots.obey", "`robots: {obey: …}` decides"),
    "ROBOTSTXT_PARSER": Replacement("", "remove it; robots.txt is read by RFC 9309"),
    "ROBOTSTXT_USER_AGENT": Replacement("robots.name"),
    "SCHEDULER_DISK_QUEUE": _QUEUE,
    "SCHEDULER_MEMORY_QUEUE": _QUEUE,
    "SCHEDULER_PRIORITY_QUEUE": _QUEUE,
    "URLLENGTH_LIMIT": Replacement("limits.url_length"),
    "USER_AGENT": Replacement("user_agent"),
}
"""Replacements by setting; docs/scrapy.md has the same table."""

_TEMPLATE = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_DELAY": 1}
"""Settings that `scrapy startproject` writes: in a project these values say nothing about its sources."""

_warned: set[str] = set()
"""Warnings logged by this process, to log each once: many sources share the settings of a project."""

REMARKS_SETTING = "ULTRACRAWL_REMARKS"
"""Name of the setting with warnings about settings, for the report of the crawl."""


def replacement_advice(source: DataSource, name: str, value: object) -> str:
    """Return what to write instead of a setting; empty if it has an effect, or agrees with the definition."""
    replacement = REPLACEMENTS.get(name)
    if replacement is None or value is None:
        return ""
    if unfit := _unfit(source, replacement.option):
        return unfit
    decides = (
        reduce(getattr, replacement.option.split("."), source)
        if replacement.option
        else HARDENED_SETTINGS.get(name)
    )
    return "" if _same(value, decides) else replacement.text(value)


def warn_of_ineffective(settings: BaseSettings, source: DataSource) -> None:
    """Warn of each user setting without effect on a source, once per process, with what to write instead.

    The warning is logged, and added to the report of the crawl.
    """
    remarks: list[str] = []
    for name, replacement in REPLACEMENTS.items():
        priority = settings.getpriority(name) or 0
        of_source = priority == SETTINGS_PRIORITIES["spider"]
        given = priority >= SETTINGS_PRIORITIES["project"] and (
            of_source or not _unfit(source, replacement.option)
        )
        written = replacement_advice(source, name, settings[name]) if given else ""
        of_template = priority == SETTINGS_PRIORITIES["project"] and _same(
            settings[name], _TEMPLATE.get(name)
        )
        if not written or of_template:
            continue
        where = f"`settings:` of the source {source.name}" if of_source else "the settings"
        warning = f"{name} in {where} changes nothing: {written}"
        warning += "" if of_source or not replacement.option else " in the definition"
        if warning not in _warned:
            _warned.add(warning)
            logger.warning(warning)
            remarks.append(warning)
    settings.set(REMARKS_SETTING, remarks, priority="addon")


def _unfit(source: DataSource, option: str) -> str:
    """Return the advice for an option that the type of a source does not support; empty if it does."""
    kind = find_kind(source.type)
    return "" if kind is None else kind.unfit.get(option) or kind.unfit.get(option.partition(".")[0], "")


def _same(value: Any, other: Any) -> bool:
    """Return whether two values are equal; values of a command line are strings."""
    try:
        return float(value) == float(other)
    except (TypeError, ValueError):
        return str(value).lower() == str(other).lower()
