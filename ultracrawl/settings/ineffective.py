"""Settings of Scrapy that change nothing for a source, because its definition says what they are about."""

from __future__ import annotations

import logging
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from ultracrawl.settings.presets import hardened
from ultracrawl.sources.kinds import find_kind

if TYPE_CHECKING:
    from ultracrawl.sources import DataSource

logger = logging.getLogger(__name__)


class Instead(NamedTuple):
    """What decides in the place of a setting."""

    option: str
    """The option of a definition, empty if there is none with the same meaning."""
    advice: str = ""
    """What to write or to know, where a value of the setting cannot stand in the option."""

    def written(self, value: object = "…") -> str:
        """Return what to write in a definition for a value of the setting."""
        if self.advice:
            return self.advice
        shown = str(value).lower() if isinstance(value, bool) else value
        *sections, name = self.option.split(".")
        inner = f"{name}: {shown}"
        return f"write `{reduce(lambda text, section: f'{section}: {{{text}}}', reversed(sections), inner)}`"


_ERRORS = Instead("errors", "write what errors mean into `errors:`")
_PROXY = Instead("proxy", "write proxies into `proxy: {servers: …}`")
_PASSWORD = Instead("authentication", "write passwords into `authentication:`")
_QUEUE = Instead("", "remove it; the queue is in the document table")
_REFERER = Instead("", "remove it; `Referer` is not sent")
_THROTTLE = Instead("politeness.throttle", "write `politeness: {throttle: 1}`")
_STEADY = Instead("", "remove it; `politeness:` says all delays")

ineffective: dict[str, Instead] = {
    "AUTOTHROTTLE_ENABLED": _THROTTLE,
    "CONCURRENT_REQUESTS_PER_DOMAIN": Instead("politeness.concurrency"),
    "DEFAULT_REQUEST_HEADERS": Instead("headers", "write them into `headers:`"),
    "DEPTH_LIMIT": Instead("depth"),
    "DEPTH_PRIORITY": Instead("priority", "write levels into `priority:`"),
    "DOWNLOAD_DELAY": Instead("politeness.delay"),
    "DOWNLOAD_DELAY_JITTER": _STEADY,
    "DOWNLOAD_SLOTS": Instead("sites", "write options of single sites into `sites:`"),
    "DOWNLOAD_TIMEOUT": Instead("limits.timeout"),
    "DUPEFILTER_CLASS": Instead("", "remove it; every URL is asked for once in a run"),
    "HTTPAUTH_PASS": _PASSWORD,
    "HTTPAUTH_USER": _PASSWORD,
    "HTTPERROR_ALLOWED_CODES": _ERRORS,
    "HTTPERROR_ALLOW_ALL": _ERRORS,
    "HTTPPROXY_ENABLED": _PROXY,
    "JOBDIR": Instead("", "remove it; a crawl that was stopped goes on from its document table"),
    "METAREFRESH_ENABLED": Instead("links.refresh_redirects"),
    "METAREFRESH_MAXDELAY": Instead("links.refresh_seconds"),
    "RANDOMIZE_DOWNLOAD_DELAY": _STEADY,
    "REDIRECT_ENABLED": Instead("redirects", "write which redirects are followed into `redirects:`"),
    "REDIRECT_MAX_TIMES": Instead("limits.redirects"),
    "REFERER_ENABLED": _REFERER,
    "REFERRER_POLICY": _REFERER,
    "RETRY_ENABLED": Instead("limits.retries", "write `limits: {retries: 0}` for none"),
    "RETRY_HTTP_CODES": _ERRORS,
    "RETRY_TIMES": Instead("limits.retries"),
    "ROBOTSTXT_OBEY": Instead("robots.obey"),
    "ROBOTSTXT_PARSER": Instead("", "remove it; robots.txt is read by RFC 9309"),
    "ROBOTSTXT_USER_AGENT": Instead("robots.name"),
    "SCHEDULER_DISK_QUEUE": _QUEUE,
    "SCHEDULER_MEMORY_QUEUE": _QUEUE,
    "SCHEDULER_PRIORITY_QUEUE": _QUEUE,
    "URLLENGTH_LIMIT": Instead("limits.url_length"),
    "USER_AGENT": Instead("user_agent"),
}
"""What to write instead, by setting; docs/scrapy.md shows the same table."""

_told: set[str] = set()
"""What this process has said: a project has many sources, and one set of settings."""

REMARKS = "ULTRACRAWL_REMARKS"
"""The setting with the lines that the report of a crawl is to have about the settings themselves."""


def advice(source: DataSource, name: str, value: object) -> str:
    """Return what to write in the place of a setting; empty if it has an effect, or says what the definition says."""
    instead = ineffective.get(name)
    if instead is None or value is None:
        return ""
    if unfit := _unfit(source, instead.option):
        return unfit
    decides = reduce(getattr, instead.option.split("."), source) if instead.option else hardened.get(name)
    return "" if _same(value, decides) else instead.written(value)


def warn_of_ineffective(settings: BaseSettings, source: DataSource) -> None:
    """Tell of each setting of a user that changes nothing for a source, once in a process, and what to write instead.

    It is logged, and the report of the crawl has it.
    """
    remarks: list[str] = []
    for name, instead in ineffective.items():
        priority = settings.getpriority(name) or 0
        of_source = priority == SETTINGS_PRIORITIES["spider"]
        given = priority >= SETTINGS_PRIORITIES["project"] and (
            of_source or not _unfit(source, instead.option)
        )
        written = advice(source, name, settings[name]) if given else ""
        if not written:
            continue
        where = f"`settings:` of the source {source.name}" if of_source else "the settings"
        told = f"{name} in {where} changes nothing: {written}"
        told += "" if of_source or not instead.option else " in the definition"
        if told not in _told:
            _told.add(told)
            logger.warning(told)
            remarks.append(told)
    settings.set(REMARKS, remarks, priority="addon")


def _unfit(source: DataSource, option: str) -> str:
    """Return what to do about a setting whose option makes no sense for the type of a source; empty if it does."""
    kind = find_kind(source.type)
    return "" if kind is None else kind.unfit.get(option) or kind.unfit.get(option.partition(".")[0], "")


def _same(value: Any, other: Any) -> bool:
    """Whether two values say the same; what comes from a command line is a text."""
    try:
        return float(value) == float(other)
    except (TypeError, ValueError):
        return str(value).lower() == str(other).lower()
