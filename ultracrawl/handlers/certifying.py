"""Client certificates for Scrapy's own handler: each is shown to its site only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography import x509
from OpenSSL import crypto
from scrapy.core.downloader.contextfactory import _ScrapyClientContextFactory
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer  # type: ignore[import-untyped]  # it has no stubs

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet._sslverify import ClientTLSOptions

    from ultracrawl.rules.access.certificate import ClientCertificate


class _CertifiedFactory(_ScrapyClientContextFactory):
    """Scrapy's own way to TLS with a certificate to show."""

    pair: dict[str, Any]

    def _get_cert_options_kwargs(self) -> dict[str, Any]:
        return {**super()._get_cert_options_kwargs(), **self.pair}


@implementer(IPolicyForHTTPS)
class CertifyingPolicy:
    """Twisted's policy for https: sites with a certificate have a factory of their own, all others the usual one."""

    def __init__(
        self, crawler: Crawler, usual: Any, certificates: Mapping[tuple[str, int], ClientCertificate]
    ) -> None:
        self._usual = usual
        self._factories = {site: _factory(crawler, one) for site, one in certificates.items()}

    def creatorForNetloc(self, hostname: bytes, port: int) -> ClientTLSOptions:  # noqa: N802 - Twisted's name
        """Return the TLS options for a site; called for each new connection."""
        factory = self._factories.get((hostname.decode("ascii"), port), self._usual)
        options: ClientTLSOptions = factory.creatorForNetloc(hostname, port)
        return options


def _factory(crawler: Crawler, certificate: ClientCertificate) -> _CertifiedFactory:
    """Return the factory of a certificate; its files were checked when the crawl began."""
    chain = x509.load_pem_x509_certificates(Path(certificate.certificate).read_bytes())
    own, *above = [crypto.X509.from_cryptography(one) for one in chain]
    key = crypto.load_privatekey(
        crypto.FILETYPE_PEM, Path(certificate.key).read_bytes(), certificate.password.encode()
    )
    factory = _CertifiedFactory.from_crawler(crawler)
    factory.pair = {"privateKey": key, "certificate": own, "extraCertChain": above}
    return factory
