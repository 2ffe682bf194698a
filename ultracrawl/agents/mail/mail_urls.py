"""Access URLs of mails (`mail://SOURCE/FOLDER/NAME`), and the URLs that hits link to."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from ultracrawl.agents.mail.headers import message_id_hash
from ultracrawl.agents.mail.known_mails import KnownMail
from ultracrawl.agents.mail.section import PLACEHOLDER


class MailPlace(NamedTuple):
    """The mail that an access URL names."""

    folder: str
    name: str


def mail_url(source: str, folder: str, name: str) -> str:
    """Return the access URL of a mail: the same on another server, and with other UIDs."""
    return f"mail://{quote(source)}/{quote(folder, safe='')}/{name}"


def place_of(url: str) -> MailPlace | None:
    """Return the mail of an access URL; None if it is not one of this kind."""
    parts = urlsplit(url).path.split("/")
    return MailPlace(unquote(parts[1]), parts[2]) if len(parts) == 3 else None


def display_url(template: str | None, folder: str, mail: KnownMail) -> str:
    """Return the URL that hits of a mail link to; empty without a template, or without the Message-ID it needs."""
    if template is None or ("{message_id" in template and not mail.message_id):
        return ""
    values = {
        "message_id": mail.message_id,
        "message_id_hash": message_id_hash(unquote(mail.message_id)),
        "folder": quote(folder, safe=""),
        "uid": str(mail.uid),
        "uidvalidity": str(mail.uidvalidity),
    }
    return PLACEHOLDER.sub(lambda found: values[found[1]], template)
