"""The kind `mail`: the object that its entry point names."""

from __future__ import annotations

from types import MappingProxyType

from ultracrawl.agents import mail
from ultracrawl.agents.mail.section import MailSection
from ultracrawl.agents.port import LISTED, WEB_OPTIONS, Fetcher, KindSetup, ListedKind, Lister

_FIXED_TYPES = "remove it; all documents of this source are mails, and their attachments belong to them"


class MailKind(ListedKind[MailSection]):
    """Each mail in folders of an IMAP server is a document, with its attachments."""

    section = MailSection
    schemes = frozenset({"mail"})
    hit_code = 903
    keeps_attributes = True
    fixed = MappingProxyType({**LISTED, "types": ["message/rfc822", "text/plain"]})
    unfit = MappingProxyType({**WEB_OPTIONS, "types": _FIXED_TYPES, "exclude_types": _FIXED_TYPES})

    def make_lister(self, setup: KindSetup[MailSection]) -> Lister:
        """Return the lister of a source. Raises `UserError` if the archive folder cannot be written."""
        return mail.MailLister(setup)

    def make_fetcher(self, setup: KindSetup[MailSection]) -> Fetcher:
        """Return the fetcher of a source. Raises `UserError` if the archive folder cannot be written."""
        return mail.MailFetcher(setup)

    def kept_message(self, setup: KindSetup[MailSection], access_url: str) -> bytes | None:
        """Return the copy of a mail in the archive."""
        place = mail.place_of(access_url)
        return None if place is None else mail.archive_of(setup).read(place.name)


KIND = MailKind()
