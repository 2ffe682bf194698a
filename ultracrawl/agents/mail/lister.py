"""The lister of the kind `mail`: lists the mails of folders, and reads the headers of those that are new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from ultracrawl.agents.mail.archive import archive_of
from ultracrawl.agents.mail.connection import FolderMissingError, FolderState, MailConnection
from ultracrawl.agents.mail.headers import HEADER_ITEM, read_header
from ultracrawl.agents.mail.known_mails import KnownMail, KnownMails, Progress, known_mails_file
from ultracrawl.agents.mail.mail_urls import display_url, mail_url
from ultracrawl.agents.mail.section import MailSection
from ultracrawl.agents.port import Batch, Complete, Entry, KindSetup, Listed, Lister, Partial
from ultracrawl.errors import UserError, WorkError

BATCH_SIZE = 500
"""Mails in a batch, and headers in a request."""


class MailLister(Lister):
    """Lists all mails of the folders of a source; of those known before nothing is requested but their UIDs."""

    def __init__(self, setup: KindSetup[MailSection]) -> None:
        self._setup = setup
        self._options = setup.options
        self._connection = MailConnection(setup.options, setup.secrets, setup.source.limits.timeout)
        self._addresses = frozenset(setup.options.addresses)
        texts = "\n".join(sorted(self._addresses)).encode()
        self._addresses_digest = blake2b(texts, digest_size=8).hexdigest()
        self._shown: set[str] = set()
        """Display URLs of this listing; of mails with the same one, only one has it: the first, if it is there."""
        archive_of(setup).check_writable()

    def check_connection(self) -> None:
        """Log in, and open the folders."""
        for folder in self._options.folders:
            self._connection.open_folder(folder)

    def list_entries(self, since: str, cursor: str) -> Iterator[Listed]:
        """Yield the mails that are sent to the source, without bodies.

        A folder that is missing or fails makes the listing partial; the other folders are listed all the same. A
        mistake that shows before the first batch ends the run.
        """
        problems, has_mistake, has_batches = list[str](), False, False
        self._shown.clear()
        for folder in self._options.folders:
            try:
                for batch in self._list_folder(folder):
                    yield batch
                    has_batches = True
            except FolderMissingError as error:
                problems.append(str(error))
                has_mistake = True
            except UserError as error:
                if not has_batches:
                    raise
                problems.append(str(error))
                has_mistake = True
                break
            except WorkError as error:
                problems.append(str(error))
                break
        yield Partial("; ".join(problems), mistake=has_mistake) if problems else Complete()

    def _list_folder(self, folder: str) -> Iterator[Batch]:
        state = self._connection.open_folder(folder)
        known = KnownMails(known_mails_file(self._setup.folder, folder))
        keep = self._options.expunged == "keep"
        if not keep:
            known.expunged.clear()
        if (known.progress.addresses, known.progress.uidvalidity) != (
            self._addresses_digest,
            state.uidvalidity,
        ):
            known.forget_numbers(keep=keep)
        new = self._compare(known, state, keep=keep)
        yield from _batches(self._entries(folder, list(known.mails.values())))
        progress = Progress(self._addresses_digest, state.uidvalidity)
        if new:
            known.begin(progress)
        for first in range(0, len(new), BATCH_SIZE):
            added = self._read_headers(known, state, new[first : first + BATCH_SIZE])
            yield from _batches(self._entries(folder, added))
        yield from _batches(self._entries(folder, known.expunged.values()))
        known.finish(Progress(self._addresses_digest, state.uidvalidity, state.uidnext, state.highestmodseq))

    def _compare(self, known: KnownMails, state: FolderState, *, keep: bool) -> list[int]:
        """Drop the known mails that are no longer on the server; returns the UIDs that are not known.

        Nothing is requested if no number of the folder has changed, CONDSTORE's number of changes included.
        """
        before = known.progress
        numbers = before.uidnext, before.highestmodseq, len(known.mails)
        if state.highestmodseq and numbers == (state.uidnext, state.highestmodseq, state.mails):
            return []
        present = set(self._connection.search_uids())
        known.drop(known.mails.keys() - present, keep=keep)
        return sorted(present - known.mails.keys())

    def _read_headers(self, known: KnownMails, state: FolderState, uids: Sequence[int]) -> list[KnownMail]:
        mails = [
            (mail.uid, mail.size, read_header(mail.body, mail.size, self._addresses))
            for mail in self._connection.fetch(uids, HEADER_ITEM)
        ]
        names = dict[int, str]()
        taken = set[str]()
        for uid, _, header in sorted(mails, key=lambda mail: (mail[2].place, mail[0])):
            names[uid] = known.free_name(header.name, header.place[1], taken)
            taken.add(names[uid])
        added = [
            KnownMail(state.uidvalidity, uid, size, header.belongs, False, names[uid], header.message_id)
            for uid, size, header in sorted(mails)
        ]
        known.add(added)
        return added

    def _entries(self, folder: str, mails: Iterable[KnownMail]) -> Iterator[Entry]:
        for mail in sorted(mails, key=lambda mail: mail.name if mail.is_second else ""):
            if mail.belongs:
                shown = display_url(self._options.display_url, folder, mail)
                if shown in self._shown:
                    shown = ""
                elif shown:
                    self._shown.add(shown)
                url = mail_url(self._setup.source.name, folder, mail.name)
                yield Entry(url, display_url=shown, validators=mail.validators)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _batches(entries: Iterable[Entry]) -> Iterator[Batch]:
    batch = list[Entry]()
    for entry in entries:
        batch.append(entry)
        if len(batch) >= BATCH_SIZE:
            yield Batch(batch)
            batch = []
    if batch:
        yield Batch(batch)
