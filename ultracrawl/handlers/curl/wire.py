"""Translates Scrapy requests and TLS settings into libcurl's options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pycurl
from scrapy.utils.url import add_http_if_no_scheme

from ultracrawl.settings.trust import CA_SETTING, trusted_roots

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

    from ultracrawl.rules.access.credentials import ClientCertificate

Option = tuple[int, int | str | None]

_MIN_VERSIONS = {
    "TLSv1.0": pycurl.SSLVERSION_TLSv1_0,
    "TLSv1.1": pycurl.SSLVERSION_TLSv1_1,
    "TLSv1.2": pycurl.SSLVERSION_TLSv1_2,
    "TLSv1.3": pycurl.SSLVERSION_TLSv1_3,
}
_MAX_VERSIONS = {
    None: 0,
    "TLSv1.0": pycurl.SSLVERSION_MAX_TLSv1_0,
    "TLSv1.1": pycurl.SSLVERSION_MAX_TLSv1_1,
    "TLSv1.2": pycurl.SSLVERSION_MAX_TLSv1_2,
    "TLSv1.3": pycurl.SSLVERSION_MAX_TLSv1_3,
}


def tls_options(settings: BaseSettings) -> list[Option]:
    """Return the TLS options; certificates are verified with DOWNLOAD_VERIFY_CERTIFICATES.

    The default of DOWNLOAD_TLS_MIN_VERSION is TLS 1.2. Raises ValueError for an unknown version.
    """
    minimum = settings.get("DOWNLOAD_TLS_MIN_VERSION") or "TLSv1.2"
    maximum = settings.get("DOWNLOAD_TLS_MAX_VERSION")
    for name, value in (("MIN", minimum), ("MAX", maximum)):
        if value not in _MIN_VERSIONS and value is not None:
            raise ValueError(
                f"DOWNLOAD_TLS_{name}_VERSION is {value!r}; write one of {', '.join(_MIN_VERSIONS)}"
            )
    options: list[Option] = [(pycurl.SSLVERSION, _MIN_VERSIONS[minimum] | _MAX_VERSIONS[maximum])]
    ciphers = settings.get("DOWNLOADER_CLIENT_TLS_CIPHERS")
    if ciphers and ciphers != "DEFAULT":
        options.append((pycurl.SSL_CIPHER_LIST, ciphers))
    verified = settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
    options += [(pycurl.SSL_VERIFYPEER, int(verified)), (pycurl.SSL_VERIFYHOST, 2 * verified)]
    options += [(pycurl.PROXY_SSL_VERIFYPEER, int(verified)), (pycurl.PROXY_SSL_VERIFYHOST, 2 * verified)]
    return [*options, *_root_options(settings.get(CA_SETTING))] if verified else options


def certificate_options(certificate: ClientCertificate) -> list[Option]:
    """Return the options that present a client certificate to the server (never to a proxy)."""
    options: list[Option] = [(pycurl.SSLCERT, certificate.certificate), (pycurl.SSLKEY, certificate.key)]
    return [*options, (pycurl.KEYPASSWD, certificate.password)] if certificate.password else options


def _root_options(own: str | None) -> Iterator[Option]:
    file, folder = (own, "") if own else trusted_roots()
    if own:
        yield pycurl.CAPATH, None  # else a folder of the machine could be trusted, too
    if file:
        yield pycurl.CAINFO, file
        yield pycurl.PROXY_CAINFO, file
    elif folder:
        yield pycurl.CAPATH, folder
        yield pycurl.PROXY_CAPATH, folder


_FRAMING_HEADERS = frozenset({b"Content-Length", b"Transfer-Encoding", b"Expect"})
"""Framing headers, which libcurl writes itself; a second set would allow request smuggling."""
_PROXY_HEADERS = frozenset({b"Proxy-Authorization", b"Proxy-Connection"})
_LIBCURL_HEADERS = (b"Accept", b"Content-Type", b"User-Agent")
"""Headers that libcurl adds unless they are disabled."""
_LINE_BREAKS = re.compile(rb"[\r\n\0]+")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CREDENTIALS = re.compile(r"^(https?://)[^/?#]*@", re.IGNORECASE)


def header_lines(request: Request) -> list[bytes]:
    """Return the header lines of a request in order, without those for a proxy."""
    headers = request.headers
    lines = [
        _line(name, value)
        for name, values in dict.items(headers)
        if name not in _FRAMING_HEADERS and name not in _PROXY_HEADERS
        for value in values
    ]
    lines += [name + b":" for name in _LIBCURL_HEADERS if not dict.__contains__(headers, name)]
    lines.append(b"Expect:")
    return lines


def proxy_lines(request: Request) -> list[bytes]:
    """Return the header lines that only the proxy gets."""
    values = request.headers.getlist(b"Proxy-Authorization")
    return [_line(b"Proxy-Authorization", value) for value in values] + [b"Proxy-Connection:", b"User-Agent:"]


def proxy_url(request: Request) -> str:
    """Return the proxy of a request; empty for none."""
    proxy = request.meta.get("proxy")
    return add_http_if_no_scheme(proxy) if proxy else ""


def target_url(request: Request) -> str:
    """Return the URL without user and password, which libcurl would send as a header."""
    url = request.url
    return _CREDENTIALS.sub(r"\1", url) if "@" in url else url


def checked_method(request: Request) -> str:
    """Return the method. Raises ValueError if it is not a token (RFC 9110, 9.1)."""
    if _TOKEN.fullmatch(request.method) is None:
        raise ValueError(f"{request.method!r} is no HTTP method")
    return request.method


def bind_options(address: str | tuple[str, int] | None) -> list[tuple[int, int | str]]:
    """Return the options that bind connections to a local address (Scrapy's `bindaddress`)."""
    if not address:
        return []
    host, port = (address, 0) if isinstance(address, str) else address
    return [(pycurl.INTERFACE, f"host!{host}"), (pycurl.LOCALPORT, port)]


def _line(name: bytes, value: bytes) -> bytes:
    """Return one header line; line breaks become a space, and an empty value uses libcurl's syntax `Name;`."""
    line = b"%b: %b" % (name, value) if value else name + b";"
    return _LINE_BREAKS.sub(b" ", line) if b"\n" in line or b"\r" in line or b"\0" in line else line
