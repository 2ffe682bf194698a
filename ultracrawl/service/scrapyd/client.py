"""Speaks with the Scrapyd of a profile: begins jobs, ends them, and asks how they stand."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request

from ultracrawl.errors import WorkError
from ultracrawl.service.json_client import JsonClient
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.sources.sections.profiles import ProfileSection

TIMEOUT = 30.0
"""Seconds for an answer: Scrapyd may have to list the spiders of a project before it takes an order."""
_END_OF_LOG = 1 << 20
"""Bytes of the end of a log that are looked at. (It is asked for whole: Twisted fails on the end of a short file.)"""


class JobPhase(StrEnum):
    """What Scrapyd says of a job."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    """It ended; how, only its log says."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as Scrapyd knows it."""

    key: str
    spider: str
    phase: JobPhase


class ScrapydClient:
    """Asks one Scrapyd about one project; every method may take seconds, and raises `WorkError` with one line."""

    def __init__(self, profile: str, section: ProfileSection, secrets: SecretReader) -> None:
        """Raise `UserError` for a password that cannot be read."""
        self.name = f"profile {profile!r}: the Scrapyd at {section.scrapyd}"
        self._base = section.scrapyd
        self._project = section.project
        self._headers = {"Accept": "application/json"}
        if section.password is not None:
            password = secrets.read(section.password, f"profiles.{profile}.password")
            pair = b64encode(f"{section.user}:{password}".encode()).decode("ascii")
            self._headers["Authorization"] = f"Basic {pair}"
        self._server = JsonClient(urlsplit(section.scrapyd).hostname or "", self.name, "Scrapyd", TIMEOUT)

    def list_jobs(self) -> list[Job]:
        """Return all jobs of the project that Scrapyd knows; it forgets those that ended long ago."""
        answer = self._ask(f"listjobs.json?{urlencode({'project': self._project})}")
        try:
            return [
                Job(row["id"], row["spider"], phase) for phase in JobPhase for row in answer.get(phase, ())
            ]
        except (AttributeError, TypeError, KeyError):
            raise WorkError(f"{self.name} did not answer as a Scrapyd does") from None

    def schedule_job(self, spider: str, key: str, settings: Mapping[str, str]) -> None:
        """Have a spider run as soon as there is room for it."""
        given = [("setting", f"{name}={value}") for name, value in settings.items()]
        self._order("schedule.json", [("spider", spider), ("jobid", key), *given])

    def cancel_job(self, key: str) -> None:
        """Have a job end cleanly, or not begin. A second order has it end without waiting for what is in flight."""
        self._order("cancel.json", [("job", key)])

    def kill_job(self, key: str) -> None:
        """End a job at once."""
        self._order("cancel.json", [("job", key), ("signal", "KILL")])

    def log_of(self, spider: str, key: str) -> str | None:
        """Return the end of the log of a job; None if Scrapyd shows none. Does not raise."""
        parts = (quote(part, safe="") for part in (self._project, spider, f"{key}.log"))
        headers = {**self._headers, "Accept": "*/*"}
        request = Request(f"{self._base}/logs/{'/'.join(parts)}", None, headers)  # noqa: S310 - as below
        end = b""
        try:
            with self._server.open_response(request) as response:
                while piece := response.read(_END_OF_LOG):
                    end = (end + piece)[-_END_OF_LOG:]
            return str(end, "utf-8", "replace")
        except (OSError, HTTPException) as error:
            if isinstance(error, HTTPError):
                error.close()
            return None

    def _order(self, service: str, fields: Sequence[tuple[str, str]]) -> None:
        self._ask(service, urlencode([("project", self._project), *fields]).encode())

    def _ask(self, service: str, body: bytes | None = None) -> dict[str, Any]:
        request = Request(f"{self._base}/{service}", body, self._headers)  # noqa: S310 - http or https, by its section
        try:
            answer = self._server.read_json(request)
        except HTTPError as error:
            error.close()
            raise WorkError(f"{self.name} answered {error.code} {error.reason}") from None
        if not isinstance(answer, dict) or answer.get("status") != "ok":
            told = str(answer.get("message") if isinstance(answer, dict) else answer).strip()
            raise WorkError(f"{self.name} refuses: {told.splitlines()[-1] if told else 'no reason'}")
        return answer
