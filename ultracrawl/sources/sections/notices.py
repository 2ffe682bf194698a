"""The section `notices` of a project: who is told when something needs a person."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr, model_validator

from ultracrawl.sources.durations import Interval
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.secrets import Secret, is_clear_text
from ultracrawl.sources.sections.completion import Command
from ultracrawl.sources.sections.fetching.request import SiteHeader
from ultracrawl.sources.sections.project import check_web_url
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Network, Seconds, Size, one_or_list

_WAYS = ("command", "webhook", "url")


class NoticeKind(StrEnum):
    """What a notice is about; definitions name them, and no version changes them."""

    RUN_FAILED = "run-failed"
    CHILD_DIED = "child-died"
    """The process of a crawl crashed, or was killed; it is begun again."""
    DELETIONS_HELD = "deletions-held"
    """Documents wait for `ultracrawl approve-deletions`."""
    SOURCE_STALE = "source-stale"
    """Its last good run is longer ago than it should be."""
    DISK_LOW = "disk-low"
    CERTIFICATE_EXPIRES = "certificate-expires"
    RELOAD_REFUSED = "reload-refused"
    """A changed definition has mistakes, and does not count."""
    RECOVERED = "recovered"
    """A source of which it was told that a run failed, or that it is stale, was crawled well."""
    TEST = "test"


def _check_webhook(url: SecretStr) -> SecretStr:
    if is_clear_text(url):
        check_web_url(url.get_secret_value())
    return url


class NoticeChannel(Section):
    """One way on which notices go out: a program, a webhook, or whatever a URL of Apprise names."""

    command: Command = Field(default=(), examples=["/usr/local/bin/page-someone"])
    """A program and its arguments, which finds the notice in its environment. No shell."""
    webhook: Annotated[Secret, AfterValidator(_check_webhook)] | None = Field(
        default=None, examples=["https://chat.example.com/hooks/crawls", "${CHAT_HOOK}"]
    )
    """A URL that gets notices by POST, as JSON; one that holds a key of a chat may be a secret."""
    headers: Mapping[SiteHeader, Secret] = Field(
        default={}, repr=False, examples=[{"Authorization": "${CHAT_TOKEN}"}]
    )
    """Headers for `webhook`; values may be secrets."""
    networks: Annotated[tuple[Network, ...], one_or_list(Network)] = Field(
        default=(), examples=[["10.1.0.0/16"]]
    )
    """Private networks that `webhook` may connect to; none of them otherwise."""
    url: Secret | None = Field(default=None, examples=["${OPERATORS_MAIL}"])
    """A service of Apprise (`mailto://`, `slack://` and many more); it holds a password, so it may be a secret."""
    kinds: Annotated[tuple[NoticeKind, ...], one_or_list(NoticeKind)] = Field(
        default=(), examples=[["run-failed", "disk-low"]]
    )
    """What is told on this way; none is everything."""
    timeout: Seconds = Field(default=30.0, gt=0, examples=[10])
    """Seconds for one notice."""

    @model_validator(mode="after")
    def _one_way(self) -> NoticeChannel:
        given = [name for name in _WAYS if getattr(self, name)]
        if len(given) != 1:
            raise mistake(
                "this names no way" if not given else f"`{given[0]}` and `{given[1]}` are two ways",
                "write one of `command`, `webhook` and `url`; further ways have names of their own",
            )
        if self.webhook is None and (
            foreign := [one for one in ("headers", "networks") if getattr(self, one)]
        ):
            raise mistake(f"`{foreign[0]}` has an effect on `webhook` alone", "remove it")
        return self


class NoticesSection(Section):
    """Who is told of runs that failed, stale sources, retained deletions, a full disk, certificates that expire."""

    to: Mapping[Annotated[str, Field(min_length=1, max_length=100)], NoticeChannel] = Field(
        default={}, examples=[{"operators": {"command": "/usr/local/bin/page-someone"}}]
    )
    """The ways on which notices go out, by name."""
    every: Interval = Field(default=3600.0, examples=["6 h"])
    """How long the same notice is not repeated: what happens again meanwhile is told as a number."""
    disk_free: Size = Field(default=1 << 30, examples=["5 GB"])
    """A disk with less free space is low."""
    certificate_days: int = Field(default=14, ge=0, examples=[30])
    """Days before its end from which on the certificate of a site is told of; 0 looks at none."""
    stale_after: float = Field(default=2.0, ge=1, examples=[3])
    """So many intervals after its last good run a source is stale."""
