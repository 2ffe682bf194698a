"""The `notices` section of a project: notifications when something needs attention."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from ultracrawl.sources.durations import Interval
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.secrets import Secret, is_clear_text
from ultracrawl.sources.sections.completion import Command
from ultracrawl.sources.sections.fetching.request import SiteHeader
from ultracrawl.sources.sections.project import check_web_url
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Network, Seconds, Size, one_or_list

_CHANNELS = ("command", "webhook", "url")


class NoticeKind(StrEnum):
    """Kinds of notices. Definitions name them, so they stay the same in all versions."""

    RUN_FAILED = "run-failed"
    CHILD_DIED = "child-died"
    """The process of a crawl crashed or was killed; it is restarted."""
    DELETIONS_HELD = "deletions-held"
    """Documents wait for `ultracrawl approve-deletions`."""
    CHANGES_HELD = "changes-held"
    """Documents would lose their words and wait for `ultracrawl approve-changes`."""
    TRAP_FOUND = "trap-found"
    """A pattern of URLs is a crawler trap: no further URL of it is requested."""
    SOURCE_STALE = "source-stale"
    """The last successful run is too long ago."""
    DISK_LOW = "disk-low"
    CERTIFICATE_EXPIRES = "certificate-expires"
    ANSWERS_FELL = "answers-fell"
    """Pages are no longer among the first hits of their golden queries."""
    RELOAD_REFUSED = "reload-refused"
    """A changed definition has mistakes and was not loaded."""
    RECOVERED = "recovered"
    """A source was crawled successfully after a notice that a run failed or that it is stale."""
    TEST = "test"


def _check_webhook(url: SecretStr) -> SecretStr:
    if is_clear_text(url):
        check_web_url(url.get_secret_value())
    return url


class NoticeChannel(Section):
    """One channel for notices: a program, a webhook, or an Apprise URL."""

    command: Command = Field(default=(), examples=["/usr/local/bin/page-someone"])
    """A program and its arguments. It gets the notice in environment variables. No shell is used."""
    webhook: Annotated[Secret, AfterValidator(_check_webhook)] | None = Field(
        default=None, examples=["https://chat.example.com/hooks/crawls", "${CHAT_HOOK}"]
    )
    """A URL that receives notices by POST, as JSON. It may be a secret."""
    headers: Mapping[SiteHeader, Secret] = Field(
        default={}, repr=False, examples=[{"Authorization": "${CHAT_TOKEN}"}]
    )
    """Headers for `webhook`. Values may be secrets."""
    networks: Annotated[tuple[Network, ...], one_or_list(Network)] = Field(
        default=(), examples=[["10.1.0.0/16"]]
    )
    """Private networks that `webhook` may connect to. The default is none."""
    url: Secret | None = Field(default=None, examples=["${OPERATORS_MAIL}"])
    """An Apprise URL (`mailto://`, `slack://` and many more). It may be a secret."""
    kinds: Annotated[tuple[NoticeKind, ...], one_or_list(NoticeKind)] = Field(
        default=(), examples=[["run-failed", "disk-low"]]
    )
    """The kinds of notices sent through this channel. None: all."""
    timeout: Seconds = Field(default=30.0, gt=0, examples=[10])
    """Seconds after which sending a notice is given up."""

    @model_validator(mode="after")
    def _has_one_channel(self) -> Self:
        given = [name for name in _CHANNELS if getattr(self, name)]
        if len(given) != 1:
            raise mistake(
                "this names no channel" if not given else f"`{given[0]}` and `{given[1]}` are two channels",
                "write one of `command`, `webhook` and `url`; further channels have names of their own",
            )
        if self.webhook is None and (
            foreign := [option for option in ("headers", "networks") if getattr(self, option)]
        ):
            raise mistake(f"`{foreign[0]}` only has an effect with `webhook`", "remove it")
        return self


class NoticesSection(Section):
    """Notifications of failed runs, stale sources, what was held back, a full disk, expiring certificates."""

    to: Mapping[Annotated[str, Field(min_length=1, max_length=100)], NoticeChannel] = Field(
        default={}, examples=[{"operators": {"command": "/usr/local/bin/page-someone"}}]
    )
    """The channels for notices, by name."""
    every: Interval = Field(default=3600.0, examples=["6 h"])
    """Minimum time between equal notices. Repetitions in between are counted."""
    disk_free: Size = Field(default=1 << 30, examples=["5 GB"])
    """A notice is sent when less disk space is free."""
    certificate_days: int = Field(default=14, ge=0, examples=[30])
    """Days before the expiry of a site's certificate at which a notice is sent; 0: never."""
    stale_after: float = Field(default=2.0, ge=1, examples=[3])
    """Number of intervals after the last successful run after which a source is stale."""
