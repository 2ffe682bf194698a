"""TLS as Scrapy's settings ask for it, in the words of libcurl."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pycurl

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ultracrawl.rules.access.certificate import ClientCertificate

Option = tuple[int, int | str]

_LEAST = {
    "TLSv1.0": pycurl.SSLVERSION_TLSv1_0,
    "TLSv1.1": pycurl.SSLVERSION_TLSv1_1,
    "TLSv1.2": pycurl.SSLVERSION_TLSv1_2,
    "TLSv1.3": pycurl.SSLVERSION_TLSv1_3,
}
_MOST = {
    None: 0,
    "TLSv1.0": pycurl.SSLVERSION_MAX_TLSv1_0,
    "TLSv1.1": pycurl.SSLVERSION_MAX_TLSv1_1,
    "TLSv1.2": pycurl.SSLVERSION_MAX_TLSv1_2,
    "TLSv1.3": pycurl.SSLVERSION_MAX_TLSv1_3,
}


def tls_options(settings: BaseSettings) -> list[Option]:
    """Return libcurl's options; certificates are checked if DOWNLOAD_VERIFY_CERTIFICATES says so.

    Without DOWNLOAD_TLS_MIN_VERSION the least version is TLS 1.2. Raises ValueError for an unknown version.
    """
    least = settings.get("DOWNLOAD_TLS_MIN_VERSION") or "TLSv1.2"
    most = settings.get("DOWNLOAD_TLS_MAX_VERSION")
    for name, value in (("MIN", least), ("MAX", most)):
        if value not in _LEAST and value is not None:
            raise ValueError(f"DOWNLOAD_TLS_{name}_VERSION is {value!r}; write one of {', '.join(_LEAST)}")
    options: list[Option] = [(pycurl.SSLVERSION, _LEAST[least] | _MOST[most])]
    ciphers = settings.get("DOWNLOADER_CLIENT_TLS_CIPHERS")
    if ciphers and ciphers != "DEFAULT":
        options.append((pycurl.SSL_CIPHER_LIST, ciphers))
    verified = settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
    options += [(pycurl.SSL_VERIFYPEER, int(verified)), (pycurl.SSL_VERIFYHOST, 2 * verified)]
    options += [(pycurl.PROXY_SSL_VERIFYPEER, int(verified)), (pycurl.PROXY_SSL_VERIFYHOST, 2 * verified)]
    return [*options, *_trust()] if verified else options


def certificate_options(certificate: ClientCertificate) -> list[Option]:
    """Return the options that show a client certificate to the server (never to a proxy)."""
    options: list[Option] = [(pycurl.SSLCERT, certificate.certificate), (pycurl.SSLKEY, certificate.key)]
    return [*options, (pycurl.KEYPASSWD, certificate.password)] if certificate.password else options


def _trust() -> Iterator[Option]:
    """Yield where trusted roots are: the machine's own store, where intranets put theirs, else certifi's."""
    system = ssl.get_default_verify_paths()
    if system.cafile:
        yield pycurl.CAINFO, system.cafile
        yield pycurl.PROXY_CAINFO, system.cafile
    elif system.capath and any(Path(system.capath).glob("*.0")):
        yield pycurl.CAPATH, system.capath
        yield pycurl.PROXY_CAPATH, system.capath
    else:
        yield from _packaged()


def _packaged() -> Iterator[Option]:
    try:
        import certifi  # noqa: PLC0415 - only where the machine has no roots of its own
    except ImportError:
        return
    yield pycurl.CAINFO, certifi.where()
    yield pycurl.PROXY_CAINFO, certifi.where()
