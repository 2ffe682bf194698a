"""A client of the Scrapyd API: schedules, cancels and lists jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import WorkError
from ultracrawl.rules.access.credentials import basic_answer
from ultracrawl.service.json_client import JsonClient
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.sources.sections.project import ProfileSection

TIMEOUT = 30.0
"""Seconds for a response: Scrapyd may have to list the spiders of a project before it accepts a job."""
_LOG_TAIL_BYTES = 1 << 20
"""Bytes at the end of a log that are searched. It is fetched whole: Twisted fails on suffix ranges of short files."""


class JobPhase(StrEnum):
    """The phase of a job in Scrapyd."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    """It has ended; only its log says how."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job of Scrapyd."""

    key: str
    spider: str
    phase: JobPhase


class ScrapydClient:
    """A client for one project on one Scrapyd; methods block for seconds, and raise one-line `WorkError`s."""

    def __init__(self, profile: str, section: ProfileSection, secrets: SecretReader) -> None:
        """Read the password. Raises `UserError` if that fails."""
        self.name = f"profile {profile!r}: the Scrapyd at {section.scrapyd}"
        self._base = section.scrapyd
        self._project = section.project
        self._headers = {"Accept": "application/json"}
        if section.password is not None:
            password = secrets.read(section.password, f"profiles.{profile}.password")
            self._headers["Authorization"] = basic_answer(section.user, password)
        self._server = JsonClient(urlsplit(section.scrapyd).hostname or "", self.name, "Scrapyd", TIMEOUT)

    def list_jobs(self) -> list[Job]:
        """Return the jobs of the project; Scrapyd drops those that ended long ago."""
        answer = self._ask(f"listjobs.json?{urlencode({'project': self._project})}")
        try:
            return [
                Job(row["id"], row["spider"], phase) for phase in JobPhase for row in answer.get(phase, ())
            ]
        except (AttributeError, TypeError, KeyError):
            raise WorkError(f"{self.name} did not respond as a Scrapyd does") from None

    def schedule_job(self, spider: str, key: str, settings: Mapping[str, str]) -> None:
        """Schedule a spider; it runs when Scrapyd has a free slot."""
        given = [("setting", f"{name}={value}") for name, value in settings.items()]
        self._order("schedule.json", [("spider", spider), ("jobid", key), *given])

    def cancel_job(self, key: str) -> None:
        """End a job cleanly, or remove it from the queue; a second call does not wait for requests in flight."""
        self._order("cancel.json", [("job", key)])

    def kill_job(self, key: str) -> None:
        """Kill a job."""
        self._order("cancel.json", [("job", key), ("signal", "KILL")])

    def log_of(self, spider: str, key: str) -> str | None:
        """Return the end of the log of a job; None if it cannot be read. Does not raise."""
        parts = (quote(part, safe="") for part in (self._project, spider, f"{key}.log"))
        headers = {**self._headers, "Accept": "*/*"}
        request = Request(f"{self._base}/logs/{'/'.join(parts)}", None, headers)  # noqa: S310 - as below
        end = b""
        try:
            with self._server.open_response(request) as response:
                while block := response.read(_LOG_TAIL_BYTES):
                    end = (end + block)[-_LOG_TAIL_BYTES:]
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
            raise WorkError(f"{self.name} responded with {error.code} {error.reason}") from None
        if not isinstance(answer, dict) or answer.get("status") != "ok":
            text = str(answer.get("message") if isinstance(answer, dict) else answer).strip()
            raise WorkError(f"{self.name} refuses: {text.splitlines()[-1] if text else 'no reason'}")
        return answer
