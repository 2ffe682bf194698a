"""A provider of OpenID Connect: where a browser signs in, and whom its ID token names.

Authorization code flow with PKCE (OpenID Connect Core 1.0, section 3.1; RFC 7636, RFC 9700). What a provider sends is
believed only by an ID token that one of its keys has signed, for this client and this log-in.
"""

from __future__ import annotations

import logging
import os
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote_plus, urlencode, urlsplit
from urllib.request import Request

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import MissingExtraError, WorkError
from ultracrawl.rules.boundary.masks import LOOPBACK_NAMES
from ultracrawl.service.access.oidc.attempts import Attempt
from ultracrawl.service.access.outside import OutsideUser, outside_user
from ultracrawl.service.json_client import JsonClient
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.sources.sections.sign_in import OidcSignIn

logger = logging.getLogger(__name__)
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a key that only the provider has; `none` and those by a shared secret are none of them."""
METADATA_LIFE = 3600.0
"""Seconds for which the configuration of a provider, and its keys, count as known."""
_LEEWAY = 60
"""Seconds by which the clocks may differ."""
_TIMEOUT = 10.0
_TOO_MANY = (
    " (they are too many, see `_claim_names`; let it send those alone that count here, or use `sign_in.ldap`)"
)
_MAX_HEADER, _MAX_PAYLOAD = 16 << 10, 1 << 20


class SignInRefusedError(WorkError):
    """What a provider sent signs nobody in."""


@dataclass(frozen=True, slots=True)
class ProvidedUser:
    """A user whom a provider has signed in."""

    user: OutsideUser
    id_token: str
    """What shows the provider at the log-out whose session ends there."""
    lacks_groups: bool = False
    """Whether the provider left out the groups, as large directories do with users who are in many."""


class OidcProvider:
    """A provider, by the options of a project."""

    def __init__(
        self, options: OidcSignIn, key_file: Path | None, clock: Callable[[], float] = time.time
    ) -> None:
        """Raise `MissingExtraError` without the library for its tokens."""
        if find_spec("joserfc") is None:
            raise MissingExtraError("signing in with OpenID Connect", "oidc")
        self.options = options
        self._issuer = options.issuer or ""
        self._key_file = key_file
        self._clock = clock
        self._metadata: tuple[float, dict[str, Any]] = (0.0, {})
        self._keys: tuple[float, Any] = (0.0, None)

    def authorization_url(self, attempt: Attempt) -> str:
        """Return where the browser goes to sign in. Raises `WorkError` if the provider cannot be reached."""
        address = self._endpoint("authorization_endpoint")
        query = {
            "response_type": "code",
            "client_id": self.options.client_id,
            "redirect_uri": attempt.redirect_uri,
            "scope": " ".join(self.options.scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return _with_query(address, query)

    def log_out_url(self, id_token: str, back: str) -> str | None:
        """Return where a browser ends its session at the provider, which leads it back to `back`; None if nowhere.

        OpenID Connect RP-Initiated Logout 1.0, section 2. Without `id_token` the provider asks whether that is meant.
        Raises `WorkError` if the provider cannot be reached.
        """
        if not self._configuration().get("end_session_endpoint"):
            return None
        query = {"client_id": self.options.client_id, "post_logout_redirect_uri": back}
        if id_token:
            query["id_token_hint"] = id_token
        return _with_query(self._endpoint("end_session_endpoint"), query)

    def user_of(self, code: str, attempt: Attempt) -> ProvidedUser:
        """Return the user whom the provider has signed in. Raises `SignInRefusedError`, `WorkError`, `UserError`."""
        answer = self._ask_token(code, attempt)
        text = answer.get("id_token") if isinstance(answer, dict) else None
        if not isinstance(text, str):
            raise SignInRefusedError("the provider sent no ID token")
        claims, options = self._claims_of(text, attempt.nonce), self.options
        sent = [claims]
        if any(_claim(sent, one) is None for one in (options.user_claim, options.groups_claim)):
            sent.append(self._userinfo(claims["sub"], answer.get("access_token")))
        is_address = options.user_claim == "email"
        naming = [one for one in sent if not is_address or one.get("email_verified") is True]
        if not naming:
            raise SignInRefusedError("the provider has not verified the address in `email`")
        groups = _claim(sent, options.groups_claim)
        user = outside_user(_claim(naming, options.user_claim), groups)
        if user is None:
            raise SignInRefusedError(f"the provider sent no name in `{options.user_claim}`")
        lacks_groups = groups is None and _is_elsewhere(claims, options.groups_claim)
        if not isinstance(groups, str | list):
            logger.warning(
                "the provider sent no groups of %s in `%s`%s: the user is in none of them",
                user.name,
                options.groups_claim,
                _TOO_MANY if lacks_groups else "",
            )
        return ProvidedUser(user, text, lacks_groups)

    def _userinfo(self, subject: str, token: object) -> dict[str, Any]:
        """Return what the provider says of a user beside the ID token (OpenID Connect Core 1.0, section 5.3).

        Nothing if it does not say more, or speaks of somebody else.
        """
        try:
            if not isinstance(token, str) or not self._configuration().get("userinfo_endpoint"):
                return {}
            headers = {"Authorization": f"Bearer {token}"}
            found = self._read(self._endpoint("userinfo_endpoint"), None, headers)
        except (WorkError, ValueError) as error:  # a token that is no header
            logger.warning("the provider says no more than its ID token: %s", error)
            return {}
        if not isinstance(found, dict) or found.get("sub") != subject:
            logger.warning("`userinfo_endpoint` of %s speaks of another user", self._issuer)
            return {}
        return found

    def _ask_token(self, code: str, attempt: Attempt) -> Any:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.redirect_uri,
            "client_id": self.options.client_id,
            "code_verifier": attempt.verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if self.options.client_secret is not None:
            reader = SecretReader(os.environ, self._key_file)
            secret = reader.read(self.options.client_secret, "sign_in.oidc.client_secret")
            known = self._configuration().get("token_endpoint_auth_methods_supported")
            if isinstance(known, list) and "client_secret_basic" not in known:
                form["client_secret"] = secret
            else:  # RFC 6749, section 2.3.1
                pair = f"{quote_plus(self.options.client_id)}:{quote_plus(secret)}"
                headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        return self._read(self._endpoint("token_endpoint"), urlencode(form).encode(), headers)

    def _claims_of(self, text: str, nonce: str) -> dict[str, Any]:
        """Return the claims of an ID token. Raises `SignInRefusedError`, `WorkError`."""
        from joserfc import jwt  # noqa: PLC0415 - an extra
        from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError  # noqa: PLC0415 - an extra

        checks = jwt.JWTClaimsRegistry(
            now=lambda: int(self._clock()),
            leeway=_LEEWAY,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self.options.client_id},
            nonce={"essential": True, "value": nonce},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
        )
        try:
            try:
                claims: dict[str, Any] = self._verified(text, renewed=False)
            except (InvalidKeyIdError, BadSignatureError):  # the provider may have other keys by now
                claims = self._verified(text, renewed=True)
            checks.validate(claims)
        except (JoseError, ValueError, TypeError) as error:
            raise SignInRefusedError(f"the ID token is refused: {error}") from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else self.options.client_id) != self.options.client_id:
            raise SignInRefusedError("the ID token is refused: it is for another client")
        return claims

    def _verified(self, text: str, *, renewed: bool) -> dict[str, Any]:
        """Return the claims of a token with a right signature. Raises `JoseError`, `ValueError`, `WorkError`."""
        from joserfc import jws, jwt  # noqa: PLC0415 - an extra

        registry = jws.JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        registry.max_header_length, registry.max_payload_length = _MAX_HEADER, _MAX_PAYLOAD
        token = jwt.decode(text, self._key_set(renewed=renewed), list(ALGORITHMS), registry)
        return dict(token.claims)

    def _key_set(self, *, renewed: bool) -> Any:
        from joserfc.errors import JoseError  # noqa: PLC0415 - an extra
        from joserfc.jwk import KeySet  # noqa: PLC0415 - an extra

        read, keys = self._keys
        if renewed or keys is None or self._clock() - read > METADATA_LIFE:
            found = self._read(self._endpoint("jwks_uri"))
            try:
                keys = KeySet.import_key_set(found)
            except (JoseError, ValueError, TypeError, KeyError) as error:
                raise WorkError(f"the keys of {self._issuer} cannot be used: {error!r}") from None
            self._keys = self._clock(), keys
        return keys

    def _configuration(self) -> dict[str, Any]:
        """Return what the provider says of itself (OpenID Connect Discovery 1.0). Raises `WorkError`."""
        read, found = self._metadata
        if not found or self._clock() - read > METADATA_LIFE:
            found = self._read(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
            if not isinstance(found, dict) or found.get("issuer") != self._issuer:
                told = found.get("issuer") if isinstance(found, dict) else None
                raise WorkError(f"sign_in.oidc.issuer: {self._issuer} calls itself {told!r:.200}")
            self._metadata = self._clock(), found
        return found

    def _endpoint(self, name: str) -> str:
        """Return an address of the provider, which is encrypted unless it is on this machine. Raises `WorkError`."""
        address = self._configuration().get(name)
        parts = urlsplit(address) if isinstance(address, str) else urlsplit("")
        is_local = parts.hostname in LOOPBACK_NAMES and urlsplit(self._issuer).scheme == "http"
        if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
            raise WorkError(f"{self._issuer} has no `{name}` that can be used: {address!r:.200}")
        return str(address)

    def _read(self, address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Any:
        """Return what the provider sends. Raises `SignInRefusedError` for an error status, `WorkError`."""
        client = JsonClient(urlsplit(address).hostname or "", address, "provider of OpenID Connect", _TIMEOUT)
        sent = {"Accept": "application/json", **(headers or {})}
        try:
            return client.read_json(Request(address, body, sent))  # noqa: S310 - https, or this machine
        except HTTPError as error:
            with error:
                raise SignInRefusedError(f"{address} responded with status {error.code}") from None


def _with_query(address: str, query: Mapping[str, str]) -> str:
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}"


def _claim(sent: Sequence[Mapping[str, Any]], name: str) -> object:
    """Return a claim of the first that has it, by its name or else by its path through others; None without it."""
    for claims in sent:
        found: object = claims
        for step in (name,) if name in claims else name.split("."):
            found = found.get(step) if isinstance(found, dict) else None
        if found is not None:
            return found
    return None


def _is_elsewhere(claims: Mapping[str, Any], name: str) -> bool:
    """Return whether a claim is said to be at another address (OpenID Connect Core 1.0, section 5.6.2).

    Such an address is not asked: it is none that the provider names for all its users.
    """
    names = claims.get("_claim_names")
    return isinstance(names, dict) and (name in names or name.partition(".")[0] in names)
