"""An agent for the entries of an LDAP directory, as people of an address book. It needs `pip install ldap3`."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from string import Formatter
from typing import Any, ClassVar
from urllib.parse import quote

import ldap3
from ldap3.core.exceptions import LDAPException

from ultracrawl.agents import AgentError, AgentParameter, CrawlerAgent, UrlData

WORDS = ("cn", "title", "ou", "mail", "telephoneNumber", "description")
KEYS = ("entryUUID", "objectGUID")
"""What a server calls the name of an entry that a new place in the directory does not change."""
AT_ONCE = 500


class LdapDirectory(CrawlerAgent):
    """Names every entry that a filter finds; what changed, and what is gone, the crawl finds by itself."""

    parameters: ClassVar = [
        AgentParameter("url", "ldaps://host, or ldap://host, which is encrypted by StartTLS", required=True),
        AgentParameter("base", "the entry below which people are", required=True),
        AgentParameter("user", "the name of the entry that reads; nobody, if it is not told"),
        AgentParameter("password", "its password", secret=True),
        AgentParameter("filter", "(objectClass=person), if it is not told"),
        AgentParameter("attributes", "the texts of a document; name, title, department, numbers by default"),
        AgentParameter("shown", "a URL with {dn}, or {uid} as any attribute: where people look at an entry"),
        AgentParameter("plain", "true: do without encryption, in a network of one's own"),
    ]

    def open(self, params: Mapping[str, Any]) -> None:
        """Log in. Raises `AgentError` if the server is not the one that its certificate names."""
        self._params = params
        self._words = tuple(params.get("attributes") or WORDS)
        self._shown = params.get("shown") or f"{params['url']}/{{dn}}"
        try:
            self._connection = _connection(params)
            self._log_in()
        except LDAPException as error:
            raise AgentError(f"{params['url']}: {error}") from error

    def _log_in(self) -> None:
        try:
            self._connection.open()
            if not (self._connection.server.ssl or self._params.get("plain")):
                self._connection.start_tls()
            self._connection.bind()
        except LDAPException:
            with suppress(LDAPException):
                self._connection.unbind()  # else its socket stays open
            raise

    def start_crawling(self, force_recrawl: bool, last_crawl_time: datetime | None) -> None:
        """Begin with the first entry."""
        self._documents = self._read_entries()

    def fetch(self) -> UrlData | None:
        """Return the next entry."""
        return next(self._documents, None)

    def close(self) -> None:
        """Log out."""
        self._connection.unbind()

    def _read_entries(self) -> Iterator[UrlData]:
        search = self._connection.extend.standard.paged_search
        shown = {field for _, field, *_ in Formatter().parse(self._shown) if field} - {"dn"}
        try:
            for entry in search(
                self._params["base"],
                self._params.get("filter") or "(objectClass=person)",
                attributes=sorted({*self._words, *KEYS, *shown}),  # no other: passwords are among them
                paged_size=AT_ONCE,
            ):
                if entry["type"] == "searchResEntry":
                    yield self._document(entry["dn"], entry["attributes"])
        except LDAPException as error:
            raise AgentError(f"{self._params['url']}: {error}") from error

    def _document(self, name: str, entry: Mapping[str, Any]) -> UrlData:
        values = {word: _texts(entry.get(word)) for word in self._words}
        parts = {word: quote(" ".join(_texts(entry[word])), safe="") for word in entry}
        keys = [key for word in KEYS for key in _texts(entry.get(word))]
        return UrlData(
            self._shown.format(**{**parts, "dn": quote(name)}),
            doc_key=keys[0] if keys else name,
            title=" ".join(values.get("cn", [])) or name,
            text="\n".join(text for found in values.values() for text in found),
            attributes={word: found for word, found in values.items() if found},
        )


def _connection(params: Mapping[str, Any]) -> ldap3.Connection:
    """Return a connection that is not open yet."""
    tls = ldap3.Tls(validate=ssl.CERT_REQUIRED)
    # Without its schema: with it, to ask for what no entry can have is an error.
    server = ldap3.Server(params["url"], tls=tls, connect_timeout=30, get_info=ldap3.NONE)
    return ldap3.Connection(
        server,
        params.get("user"),
        params.get("password"),
        auto_referrals=False,  # another server would get the password
        raise_exceptions=True,
        receive_timeout=60,
    )


def _texts(value: Any) -> list[str]:
    """Return the values of an attribute, which may have one, several or none."""
    values = value if isinstance(value, list) else [value]
    return [one.hex() if isinstance(one, bytes) else str(one) for one in values if one not in (None, "", b"")]
