"""Options of requests: headers, cookies, client certificates, the version of HTTP."""

from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.sources.header_rules import HeaderName
from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.reading.rule_files import RuleFiles
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.fetching.authentication import PrefixText
from ultracrawl.sources.sections.section import Editable, Section
from ultracrawl.sources.values import HostName, Seconds, check_path, one_or_list

_HEADERS_WITH_OPTION = {
    "user-agent": "write `user_agent`",
    "accept-encoding": "write `http: {compression: false}` if responses are not to be compressed",
    "proxy-authorization": "write user and password of the proxy below `proxy.servers`",
    "range": "write `cut_off`",
}
_FRAMING = frozenset({
    "connection", "content-length", "expect", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip
SECRET_HEADERS = frozenset({"authorization", "cookie"})
"""Headers with credentials."""


def _check_sendable(name: str) -> str:
    lower = name.lower()
    if lower in _HEADERS_WITH_OPTION:
        raise mistake(
            f"the header {format_value(name)} has an option of its own", _HEADERS_WITH_OPTION[lower]
        )
    if lower in _FRAMING:
        raise mistake(f"the header {format_value(name)} is made by the crawler itself", "remove it")
    return name


def _check_harmless(name: str) -> str:
    if _check_sendable(name).lower() in SECRET_HEADERS:
        raise mistake(
            f"the header {format_value(name)} would be sent to every server that is crawled",
            "write it below `site_headers`, with the `url` that it is for",
        )
    return name


def _check_site(text: str) -> str:
    prefix = UrlPrefix.parse(text)
    if prefix.scheme != "https" or prefix.path != "/":
        raise mistake(
            "a certificate belongs to a whole site, and to https",
            "write scheme and host alone, as `https://www.example.com/`",
        )
    return text


def _placed(value: object, info: ValidationInfo) -> object:
    """Make a relative path absolute, from the folder of the definition."""
    if isinstance(check_path(value), str) and isinstance(info.context, RuleFiles):
        return info.context.base / str(value)
    return value


RequestHeader = Annotated[HeaderName, AfterValidator(_check_harmless)]
SiteHeader = Annotated[HeaderName, AfterValidator(_check_sendable)]
HttpsSite = Annotated[PrefixText, AfterValidator(_check_site)]
PlacedPath = Annotated[Path, BeforeValidator(_placed, json_schema_input_type=str)]


class SiteHeadersEntry(Section):
    """Headers for certain URLs."""

    url: PrefixText = Field(examples=["https://api.example.com/docs/"])
    """The headers are sent for this URL and all URLs below it."""
    headers: Mapping[SiteHeader, Secret] = Field(examples=[{"X-Api-Key": "${API_KEY}"}], min_length=1)
    """The headers. Values may be secrets."""


class CookiesSection(Section):
    """Whether cookies of servers are accepted."""

    enabled: Editable[bool] = Field(default=False, examples=[True])
    """Accept cookies of all sites. If off, only `logins` use cookies."""
    session_age: Seconds = Field(default=300.0, gt=0, examples=[1800])
    """Seconds after which a cookie without an expiry date is dropped, from the time it was set."""
    across_ports: bool = Field(default=False, examples=[True])
    """Send a cookie to every port of its host, also those of `logins`, as browsers do. If off, only to the port that
    set it; 80 and 443 count as one."""


def _check_pin(text: str) -> str:
    scheme, _, digest = text.partition("//")
    try:
        decoded = b64decode(digest, validate=True)
    except ValueError:
        decoded = b""
    if scheme != "sha256" or len(decoded) != 32:
        raise mistake(
            f"{format_value(text)} is not the SHA-256 of a public key",
            "write `sha256//` and 44 characters of Base64",
        )
    return text


Pin = Annotated[str, AfterValidator(_check_pin)]
"""The SHA-256 of a public key (SubjectPublicKeyInfo, DER), as `sha256//BASE64`."""


class CertificateEntry(Section):
    """A client certificate, and the site it is for."""

    url: HttpsSite | None = Field(default=None, examples=["https://www.example.com/"])
    """The site to which the certificate is sent. None: the https sites of the start URLs."""
    certificate: PlacedPath = Field(examples=["tls/client.pem"])
    """A PEM file with the certificate and its chain."""
    key: PlacedPath | None = Field(default=None, examples=["tls/client.key"])
    """A PEM file with the key of the certificate. None: the key is in the certificate file."""
    password: Secret | None = Field(default=None, examples=["${KEY_PASSWORD}"])
    """The password of the key, if it has one."""


class HttpSection(Section):
    """The version and compression of HTTP."""

    version: Literal["1.0", "1.1", "2"] = Field(default="1.1", examples=["1.0"])
    """The HTTP version. `2` is used where a server offers it over TLS."""
    compression: bool = Field(default=True, examples=[False])
    """Accept compressed responses. With version 1.0 they are never accepted."""
    ca: PlacedPath | None = Field(default=None, examples=["tls/ca.pem"])
    """A PEM file with the root certificates for https servers, in place of those of the machine."""
    pins: Mapping[HostName, Annotated[tuple[Pin, ...], one_or_list(Pin)]] = Field(
        default={}, examples=[{"www.example.com": "sha256//MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="}]
    )
    """Public keys of https servers by host: SHA-256 in Base64. A server with another key is not talked to."""
