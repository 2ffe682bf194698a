"""The options of the kind `mail`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.rules.urls.shown import is_display_url
from ultracrawl.sources.mistakes import format_names, format_value, mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.fetching.request import PlacedPath
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import FilePath, one_or_list

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
"""A name in braces in a URL template."""
PLACEHOLDERS = ("message_id", "message_id_hash", "folder", "uid", "uidvalidity")
"""What a URL template can contain."""
FIXED_ATTRIBUTES: Mapping[str, str] = {"author": "Author", "from": "Author", "subject": "Subject"}
"""The search attributes of document attributes whose mapping cannot be changed (Ultra Search 2.4, line 35)."""
_ADDRESS = re.compile(r"[^\s@<>,;\"]+@[^\s@<>,;\"]+")
_WRITE_SERVER = "write `imaps://imap.example.com`, or `imap://imap.example.com` for STARTTLS"


def _check_server(server: str) -> str:
    try:
        parts = urlsplit(server)
        port = parts.port
    except ValueError:
        raise mistake(f"{format_value(server)} is not the URL of a mail server", _WRITE_SERVER) from None
    if parts.scheme not in ("imap", "imaps") or not parts.hostname or port == 0:
        raise mistake(f"{format_value(server)} is not the URL of a mail server", _WRITE_SERVER)
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise mistake(
            f"{format_value(server)} has more than a host and a port",
            "write the folders in `folders`, and the user in `user`",
        )
    return server


def _check_template(template: str) -> str:
    unknown = [name for name in PLACEHOLDER.findall(template) if name not in PLACEHOLDERS]
    if unknown:
        raise mistake(f"a mail has no {format_names(unknown)}", f"write {format_names(PLACEHOLDERS)}")
    if not PLACEHOLDER.search(template) or not is_display_url(PLACEHOLDER.sub("x", template)):
        raise mistake(
            f"{format_value(template)} makes no URLs that hits can link to",
            "write a template such as `https://lists.example.com/{message_id}`",
        )
    return template


def _check_address(address: str) -> str:
    if not _ADDRESS.fullmatch(address):
        raise mistake(f"{format_value(address)} is not an address", "write `dev@example.com`")
    return address.lower()


def _check_name(name: str) -> str:
    if not name or not name.isprintable():
        raise mistake(f"{format_value(name)} is not a name", "write printable characters")
    return name


Address = Annotated[str, AfterValidator(_check_address)]
FolderName = Annotated[str, AfterValidator(_check_name), Field(max_length=500)]


class MailSection(Section):
    """Folders of an IMAP server whose mails are documents."""

    ADVICE: ClassVar = {
        **dict.fromkeys(("url", "host", "imap"), "write `server: imaps://imap.example.com`"),
        **dict.fromkeys(("username", "login", "account"), "write `user: reader@example.com`"),
        **dict.fromkeys(("mailbox", "folder"), "write `folders: [INBOX]`"),
        **dict.fromkeys(
            ("path", "paths", "file", "files"),
            "files of mails, as mbox and Maildir, are read by `type: file`",
        ),
    }
    FETCH_OPTIONS: ClassVar = frozenset(
        {
            *("server", "user", "password", "token", "starttls", "ca"),
            *("folders", "addresses", "archive", "expunged"),
        }
    )

    server: Annotated[str, AfterValidator(_check_server)] = Field(examples=["imaps://imap.example.com"])
    """The server: `imaps://HOST` for TLS from the beginning (port 993), `imap://HOST` for STARTTLS (port 143)."""
    user: Annotated[str, AfterValidator(_check_name)] = Field(examples=["reader@example.com"])
    """The account."""
    password: Secret | None = Field(default=None, examples=["${MAIL_PASSWORD}"])
    """The password of the account."""
    token: Secret | None = Field(default=None, examples=["file:secrets/mail.token"])
    """An OAuth2 access token instead of a password (XOAUTH2). It is read again for each connection."""
    starttls: bool = Field(default=False, examples=[True])
    """Encrypt connections to loopback addresses by STARTTLS too. To all others it is always required."""
    ca: PlacedPath | None = Field(default=None, examples=["tls/ca.pem"])
    """Certificates (PEM) of authorities to trust instead of those of the system."""
    folders: Annotated[tuple[FolderName, ...], one_or_list(FolderName), Field(min_length=1)] = Field(
        default=("INBOX",), examples=[["INBOX", "Lists/dev"]]
    )
    """The folders to read, with the server's own separator in their names; subfolders are not read."""
    addresses: Annotated[tuple[Address, ...], one_or_list(Address)] = Field(
        default=(), examples=[["dev@example.com", "developers@example.com"]]
    )
    """The address of a mailing list, and its aliases: mails with one of them in To or Cc. None: all mails."""
    archive: FilePath | None = Field(default=None, examples=["mail-archive"])
    """The folder that keeps a copy of each mail; several sources may have the same. Default: beside the state."""
    expunged: Literal["remove", "keep"] = Field(default="remove", examples=["keep"])
    """What happens to the document of a mail that is expunged on the server; its copy in the archive always stays."""
    display_url: Annotated[str, AfterValidator(_check_template)] | None = Field(
        default=None, examples=["https://lists.example.com/dev/{message_id}"]
    )
    """The URL that hits link to: a template with `{message_id}`, `{message_id_hash}`, `{folder}`, `{uid}` or
    `{uidvalidity}`, whose values are percent-encoded."""

    @model_validator(mode="after")
    def _one_credential(self) -> Self:
        if (self.password is None) == (self.token is None):
            problem = "there is neither `password` nor `token`"
            if self.token is not None:
                problem = "`password` and `token` exclude each other"
            raise mistake(problem, "write one of them")
        return self

    @model_validator(mode="before")
    @classmethod
    def _attributes_are_fixed(cls, data: Any) -> Any:
        """Refuse to map From and Subject to other attributes; the names are as written here, so they have a line."""
        mapped = data.get("attributes") if isinstance(data, dict) else None
        for name, target in mapped.items() if isinstance(mapped, dict) else ():
            fixed = FIXED_ATTRIBUTES.get(str(name).lower())
            if fixed is not None and target != fixed:
                raise mistake(
                    f"`{name}` of a mail is always mapped to `{fixed}`", "remove it", at=("attributes", name)
                )
        return data
