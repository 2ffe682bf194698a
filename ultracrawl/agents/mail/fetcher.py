"""The fetcher of the kind `mail`: reads mails by UID, and keeps a copy of each in the archive."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ultracrawl.agents.file.mailboxes import MAIL_TYPE, message_entry
from ultracrawl.agents.mail.archive import archive_of
from ultracrawl.agents.mail.connection import FolderMissingError, MailConnection
from ultracrawl.agents.mail.known_mails import KnownMails, known_mails_file
from ultracrawl.agents.mail.mail_urls import MailPlace, place_of
from ultracrawl.agents.mail.responses import FetchedMail
from ultracrawl.agents.mail.section import MailSection
from ultracrawl.agents.port import Entry, Failure, Fetcher, KindSetup, Wanted
from ultracrawl.errors import WorkError
from ultracrawl.model.status import StatusCode

MAX_FAILURES = 3
"""Failures in a row after which a server is left alone for the rest of the run."""
MAX_REQUEST = 8 << 20
"""Bytes of mails that one command requests; a larger mail is requested alone."""
_HEADER = re.compile(rb"\s*[!-9;-~]{1,100}:")


class _Request(NamedTuple):
    """A mail to be read."""

    wanted: Wanted
    place: MailPlace
    uidvalidity: int
    uid: int
    size: int


class MailFetcher(Fetcher):
    """Reads mails of one folder after the other. Flags are not changed: a mail that was unread stays so."""

    batch_size = 16

    def __init__(self, setup: KindSetup[MailSection]) -> None:
        self._setup = setup
        self._connection = MailConnection(setup.options, setup.secrets, setup.source.limits.timeout)
        self._archive = archive_of(setup)
        self._archive.check_writable()
        self._failures = 0

    def fetch(self, wanted: Sequence[Wanted]) -> Sequence[Entry | Failure]:
        """Return the mails as entries; `Failure` 404 for those that are expunged and have no copy to be kept."""
        answers: dict[str, Entry | Failure] = {}
        requests = [request for one in wanted if (request := self._request(one)) is not None]
        for group in _groups(requests):
            answers.update(self._fetch_group(group))
        missing = Failure(StatusCode.NOT_FOUND, "there is no such mail")
        return [answers.get(one.access_url, missing) for one in wanted]

    def _request(self, wanted: Wanted) -> _Request | None:
        """Return where a mail is, as the listing said; without an entry, as the last listing noted."""
        place = place_of(wanted.access_url)
        if place is None:
            return None
        validators = wanted.entry.validators if wanted.entry is not None else ""
        if not validators:
            mail = KnownMails(known_mails_file(self._setup.folder, place.folder)).find(place.name)
            validators = mail.validators if mail is not None else "0 0 0"
        uidvalidity, uid, size = map(int, validators.split())
        return _Request(wanted, place, uidvalidity, uid, size)

    def _fetch_group(self, group: Sequence[_Request]) -> Iterator[tuple[str, Entry | Failure]]:
        try:
            found = self._read(group)
        except (FolderMissingError, WorkError) as error:
            failure = Failure(StatusCode.IO_ERROR, str(error))
            yield from ((request.wanted.access_url, failure) for request in group)
            return
        for request in group:
            mail = found.get(request.uid) if found is not None else None
            yield request.wanted.access_url, self._answer(request, mail, renumbered=found is None)

    def _read(self, group: Sequence[_Request]) -> dict[int, FetchedMail] | None:
        """Return mails of a folder by UID; None if the server has given new ones. Raises `WorkError`."""
        if self._failures >= MAX_FAILURES:
            raise WorkError(f"the mail server failed {MAX_FAILURES} times in a row")
        first = group[0]
        limit = first.wanted.max_bytes
        try:
            state = self._connection.open_folder(first.place.folder, again=False)
            if state.uidvalidity != first.uidvalidity:
                return None
            item = f"BODY.PEEK[]<0.{limit}>" if limit else "BODY.PEEK[]"
            found = self._connection.fetch([request.uid for request in group], item)
            mails = {mail.uid: mail for mail in found}
        except WorkError:
            self._failures += 1
            raise
        self._failures = 0
        return mails

    def _answer(self, request: _Request, mail: FetchedMail | None, *, renumbered: bool) -> Entry | Failure:
        """Return the entry of a mail, after it was archived; of one that is gone, of the copy that is kept."""
        url, name, limit = request.wanted.access_url, request.place.name, request.wanted.max_bytes
        if mail is None:
            kept = self._archive.read(name) if self._setup.options.expunged == "keep" else None
            if kept is not None:
                return message_entry(Entry(url, content_type=_media_type(kept)), kept)
            if renumbered:
                reason = f"the folder {request.place.folder} has other UIDs than when it was listed"
                return Failure(StatusCode.IO_ERROR, reason)
            return Failure(StatusCode.NOT_FOUND, "the mail is no longer on the server")
        if not limit or len(mail.body) < limit:  # else it may be cut
            try:
                self._archive.save(name, mail.body)
            except WorkError as error:
                return Failure(StatusCode.IO_ERROR, str(error))
        entry = Entry(url, content_type=_media_type(mail.body), last_modified=mail.received)
        return message_entry(entry, mail.body)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _media_type(body: bytes) -> str:
    """Return the media type of a mail: one without a header is plain text."""
    return MAIL_TYPE if _HEADER.match(body) else "text/plain"


def _groups(requests: Sequence[_Request]) -> Iterator[list[_Request]]:
    """Yield requests of one folder, with its UIDs of one time, that together are not too large."""
    by_folder: dict[tuple[str, int], list[_Request]] = {}
    for request in requests:
        by_folder.setdefault((request.place.folder, request.uidvalidity), []).append(request)
    for same in by_folder.values():
        group, size = list[_Request](), 0
        for request in same:
            if group and size + request.size > MAX_REQUEST:
                yield group
                group, size = [], 0
            group.append(request)
            size += request.size
        yield group
