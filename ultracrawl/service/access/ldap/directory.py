"""An LDAP directory: in which groups a user is, and in which groups those are (RFC 4511, RFC 4515)."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ultracrawl.errors import MissingExtraError, UserError, WorkError
from ultracrawl.rules.boundary.masks import LOOPBACK_NAMES
from ultracrawl.service.access.outside import MAX_GROUPS
from ultracrawl.settings.trust import tls_context
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.sources.sections.sign_in import LdapGroups

logger = logging.getLogger(__name__)
TIMEOUT = 5
"""Seconds for a connection, and for each answer."""
_LONGEST = 15.0
"""Seconds for all answers about a user."""
_PAGE = 500
_AT_ONCE = 50
"""Members in one filter."""
_NO_ATTRIBUTES = "1.1"  # RFC 4511, section 4.5.1.8
_NAMES = "memberuid"
"""The attribute whose members are names of users, not of entries (RFC 2307)."""


class Directory:
    """A directory, by the options of a project. Each question has a connection of its own."""

    def __init__(
        self, options: LdapGroups, key_file: Path | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.options = options
        self._key_file = key_file
        self._clock = clock

    def groups_of(self, name: str) -> tuple[str, ...]:
        """Return the groups of a user, with those that they are in; none of a user who is not there, or in too many.

        What is wrong with one user is a line in the log: as an error it would take their groups from all others, too.
        Raises `WorkError` if the directory cannot answer as a whole, `UserError` for a secret that cannot be read, and
        `MissingExtraError` without the library.
        """
        if find_spec("ldap3") is None:
            raise MissingExtraError("groups of an LDAP directory", "ldap")
        try:
            with self._connection() as connection:
                return self._walk(_Search(connection, self._clock), name)
        except (UserError, WorkError):
            raise
        except Exception as error:  # the library passes on those of its parser, and of Python
            raise WorkError(f"{self.options.url}: {error or type(error).__name__}") from None

    def _walk(self, search: _Search, name: str) -> tuple[str, ...]:
        options, found = self.options, dict[str, None]()
        user = self._user(search, name)
        if user is None:
            return ()
        holds_names = options.member_attribute.lower() == _NAMES
        seen, members = set[str](), [name if holds_names else user]
        while members:  # groups within groups; each entry is looked at once, so that circles have an end
            groups = [
                entry
                for at in range(0, len(members), _AT_ONCE)
                for entry in search.entries(
                    options.groups,
                    _any_of(options.member_attribute, members[at : at + _AT_ONCE]),
                    options.group_attribute,
                )
            ]
            members = [dn for dn in dict.fromkeys(dn for dn, _ in groups) if dn not in seen]
            seen.update(members)
            found.update(dict.fromkeys(one for _, values in groups for one in values))
            if max(len(seen), len(found)) > MAX_GROUPS:
                logger.warning(
                    "%s: %s is in more than %d groups, which count as none", options.url, name, MAX_GROUPS
                )
                return ()
            if holds_names:
                break
        return tuple(found)

    def _user(self, search: _Search, name: str) -> str | None:
        """Return the entry of a user; None without one, and of several.

        A directory takes more names for equal than we do, such as those with characters that are not seen.
        """
        key = self.options.user_attribute
        entries = [
            dn
            for dn, values in search.entries(self.options.users, _any_of(key, [name]), key)
            if name.casefold() in (one.casefold() for one in values)
        ]
        if len(entries) > 1:
            logger.warning(
                "%s: %d users are called %s in `%s`; none of them is known",
                self.options.url,
                len(entries),
                name,
                key,
            )
        return entries[0] if len(entries) == 1 else None

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """Log in; log out in the end."""
        import ldap3  # noqa: PLC0415 - an extra

        parts = urlsplit(self.options.url or "")
        host, is_encrypted = parts.hostname or "", parts.scheme == "ldaps"
        server = ldap3.Server(
            host,
            parts.port or (636 if is_encrypted else 389),
            use_ssl=is_encrypted,
            tls=_checked_tls(host),
            connect_timeout=TIMEOUT,
            get_info=ldap3.NONE,
        )
        connection = ldap3.Connection(
            server,
            self.options.bind_dn or None,
            self._password() or None,
            auto_referrals=False,  # another server would get the password
            raise_exceptions=True,
            receive_timeout=TIMEOUT,
        )
        try:
            connection.open(read_server_info=False)
            if not is_encrypted and host not in LOOPBACK_NAMES:
                connection.start_tls(read_server_info=False)
            connection.bind(read_server_info=False)
            yield connection
        finally:
            with suppress(Exception):  # what it says at the end changes nothing
                connection.unbind()
            if connection.socket is not None:  # of a connection that was refused
                connection.socket.close()

    def _password(self) -> str:
        if self.options.password is None:
            return ""
        place = "sign_in.ldap.password"
        password = SecretReader(os.environ, self._key_file).read(self.options.password, place)
        if not password:  # RFC 4513, section 5.1.2: it would bind as nobody
            raise UserError(f"{place} is empty")
        return password


class _Search:
    """Asks for entries, within the time for all answers about a user."""

    def __init__(self, connection: Any, clock: Callable[[], float]) -> None:
        self._connection, self._clock = connection, clock
        self._ends = clock() + _LONGEST

    def entries(self, base: str, expression: str, key: str) -> Iterator[tuple[str, list[str]]]:
        """Yield each entry below `base` that fits, with the values of an attribute. Raises `WorkError`."""
        attributes = [_NO_ATTRIBUTES if key.lower() == "dn" else key]
        pages = self._connection.extend.standard.paged_search(
            base, expression, attributes=attributes, paged_size=_PAGE
        )
        for entry in pages:
            if self._clock() > self._ends:
                raise WorkError(f"the directory took more than {_LONGEST:.0f} s to answer")
            if entry["type"] == "searchResEntry":
                yield (
                    entry["dn"],
                    [entry["dn"]] if key.lower() == "dn" else _texts(entry["raw_attributes"], key),
                )
        if self._connection.result["result"]:  # such as a referral
            raise WorkError(f"the directory answered {self._connection.result['description']!r:.100}")


def _any_of(key: str, values: Iterable[str]) -> str:
    """Return a filter for entries that have one of some values; no character of them is part of the filter."""
    from ldap3.utils.conv import escape_filter_chars  # noqa: PLC0415 - an extra

    return f"(|{''.join(f'({key}={escape_filter_chars(one)})' for one in values)})"


def _texts(attributes: Mapping[str, Sequence[bytes]], key: str) -> list[str]:
    """Return the values of an attribute that are texts; a server may write its name in another case."""
    values = [one for name, found in attributes.items() if name.lower() == key.lower() for one in found]
    return [text for one in values if (text := one.decode("utf-8", "replace")).isprintable() and text.strip()]


def _checked_tls(host: str) -> Any:
    """Return how connections are encrypted: the server has a certificate for its host that is trusted here."""
    import ldap3  # noqa: PLC0415 - an extra

    class CheckedTls(ldap3.Tls):  # type: ignore[misc]
        """Leaves the check to Python, which knows addresses in certificates, too."""

        def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:
            """Encrypt a connection."""
            connection.socket = tls_context(None).wrap_socket(
                connection.socket, server_hostname=host, do_handshake_on_connect=do_handshake
            )

    return CheckedTls()
