"""Channels that send notices: a program, a webhook, or a service of Apprise."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from typing import Protocol

from ultracrawl.errors import MissingExtraError, UserError, WorkError
from ultracrawl.index.destinations.http_post import Poster, PostError
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.run.filters.programs import Programs
from ultracrawl.service.notices.notice import Notice
from ultracrawl.sources import Project
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.sources.sections.notices import NoticeChannel, NoticeKind
from ultracrawl.sources.sections.project import is_web_url

MAX_LINES = 20
"""Notices that one message lists."""


class Channel(Protocol):
    """Sends notices."""

    name: str
    kinds: frozenset[NoticeKind]
    """The kinds of notices that it sends; empty: all."""

    def send(self, notices: Sequence[Notice]) -> None:
        """Send some notices as one message; it may take seconds. Raises `WorkError`."""


def title_of(notices: Sequence[Notice]) -> str:
    """Return the subject of a message."""
    return str(notices[0]) if len(notices) == 1 else f"ultracrawl: {len(notices)} notices"


def text_of(notices: Sequence[Notice]) -> str:
    """Return the lines of a message."""
    lines = [str(notice) for notice in notices[:MAX_LINES]]
    left = len(notices) - MAX_LINES
    return "\n".join([*lines, *([f"and {left} more"] if left > 0 else [])])


class ProgramChannel:
    """Runs a program with the notices in environment variables."""

    def __init__(self, name: str, section: NoticeChannel) -> None:
        self.name, self.kinds = name, frozenset(section.kinds)
        self._section = section

    def send(self, notices: Sequence[Notice]) -> None:
        """Run the program and wait for it."""
        environment = {
            "ULTRACRAWL_NOTICE": text_of(notices),
            "ULTRACRAWL_NOTICE_TITLE": title_of(notices),
            "ULTRACRAWL_NOTICE_KINDS": " ".join(sorted({one.kind.value for one in notices})),
            "ULTRACRAWL_NOTICE_SOURCES": " ".join(sorted({one.source for one in notices if one.source})),
        }
        try:
            result = Programs().run(self._section.command, self._section.timeout, environment)
        except OSError as error:
            raise WorkError(f"notices.to.{self.name}: {error}") from error
        if result.code or result.timed_out:
            raise WorkError(f"notices.to.{self.name}: {self._section.command[0]}: {result}")


class WebhookChannel:
    """Posts JSON to a web server, at allowed addresses only."""

    def __init__(self, name: str, section: NoticeChannel, secrets: SecretReader) -> None:
        assert section.webhook is not None
        self.name, self.kinds = name, frozenset(section.kinds)
        self._url, self._timeout = (
            secrets.read(section.webhook, f"notices.to.{name}.webhook"),
            section.timeout,
        )
        if not is_web_url(self._url):
            raise UserError(f"notices.to.{name}.webhook: this is not the URL of a web server")
        self._policy = AddressPolicy.for_source((), map(str, section.networks))
        values = {
            header: secrets.read(value, f"notices.to.{name}.headers.{header}")
            for header, value in section.headers.items()
        }
        self._headers = [f"{header}: {value}" for header, value in values.items()]
        if any(not (line.isascii() and line.isprintable()) for line in self._headers):
            raise UserError(f"notices.to.{name}.headers: a value is not one line of plain ASCII text")

    def send(self, notices: Sequence[Notice]) -> None:
        """Post the notices."""
        body = {
            "title": title_of(notices),
            "text": text_of(notices),
            "notices": [one.as_json() for one in notices],
        }
        data = json.dumps(body, ensure_ascii=False).encode()
        poster = Poster(
            self._url, ["Content-Type: application/json", *self._headers], self._timeout, self._policy
        )
        try:
            answer = poster.post(data, sha256(data).hexdigest())
        except PostError as error:
            raise WorkError(f"notices.to.{self.name}: {error}") from None
        finally:
            poster.close()
        if not answer.is_success:
            raise WorkError(f"notices.to.{self.name}: the server responded with status {answer.status}")


class AppriseChannel:
    """Sends notices with Apprise: mail, chats, telephones."""

    def __init__(self, name: str, section: NoticeChannel, secrets: SecretReader) -> None:
        assert section.url is not None
        self.name, self.kinds = name, frozenset(section.kinds)
        if find_spec("apprise") is None:
            raise MissingExtraError(f"notices.to.{name}.url", "notices")
        from apprise import Apprise  # noqa: PLC0415 - an extra

        self._service = Apprise()
        if not self._service.add(secrets.read(section.url, f"notices.to.{name}.url")):
            raise UserError(f"notices.to.{name}.url: Apprise knows no such service; see `apprise --details`")

    def send(self, notices: Sequence[Notice]) -> None:
        """Send the notices."""
        if not self._service.notify(title=title_of(notices), body=text_of(notices)):
            raise WorkError(f"notices.to.{self.name}: the service did not accept the notice")


def open_channels(project: Project) -> list[Channel]:
    """Return the channels of a project. Raises `UserError` for one that cannot be used."""
    secrets = SecretReader(os.environ, project.key_file)
    return [_open(name, section, secrets) for name, section in project.notices.to.items()]


def _open(name: str, section: NoticeChannel, secrets: SecretReader) -> Channel:
    if section.command:
        return ProgramChannel(name, section)
    if section.webhook is not None:
        return WebhookChannel(name, section, secrets)
    return AppriseChannel(name, section, secrets)
