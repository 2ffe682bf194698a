"""What is encrypted with the key of a project, in a file of its own: passwords of definitions, sessions of log-ins."""

from __future__ import annotations

import binascii
import hmac
import os
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode

from ultracrawl.errors import UserError

MARK = "{aes}"
"""What an encrypted password begins with; the rest is base64 (RFC 4648, 5) of nonce, text and tag."""
_KEY = 16
_NONCE = 12
_PURPOSE = b"ultracrawl password"


class _Box:
    """AES-128 in Galois/Counter Mode, whose library is loaded with the first key; few definitions have one."""

    def __init__(self, key: bytes) -> None:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as said above
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        self._cipher, self._refusals = AESGCM(key), (InvalidTag, ValueError)

    def seal(self, text: str, purpose: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._cipher.encrypt(nonce, text.encode(), purpose)

    def unseal(self, sealed: bytes, purpose: bytes) -> str | None:
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], purpose).decode()
        except self._refusals:
            return None


class PasswordCipher:
    """AES-128 in Galois/Counter Mode, so that a wrong key or a changed text is noticed. Raises `UserError`."""

    def __init__(self, key: bytes) -> None:
        if len(key) != _KEY:
            raise UserError(
                f"the key has {len(key)} bytes and not {_KEY}; make one with `ultracrawl secret new-key`"
            )
        self._box = _Box(key)

    @classmethod
    def of_text(cls, text: str) -> PasswordCipher:
        """Return the cipher of a key as a key file holds it: 16 bytes in base64, or as 32 hexadecimal digits."""
        return cls(_key_of(text))

    def encrypt(self, password: str) -> str:
        """Return a password as it may stand in a definition; each call gives another text."""
        return MARK + urlsafe_b64encode(self._box.seal(password, _PURPOSE)).decode()

    def decrypt(self, text: str) -> str:
        """Return the password of an encrypted text."""
        try:
            password = self._box.unseal(urlsafe_b64decode(text.removeprefix(MARK).encode()), _PURPOSE)
        except (ValueError, binascii.Error):
            password = None
        if password is None:
            raise UserError("the password was encrypted with another key, or its text was changed")
        return password


class SessionCipher:
    """Seals the sessions of log-ins (AES-128 in Galois/Counter Mode), each under a name that tells nothing of it.

    Its keys are made from that of the project (HMAC-SHA-256, RFC 2104). Raises `UserError` if the text is no key.
    """

    def __init__(self, text: str) -> None:
        key = _key_of(text)
        self._names = hmac.digest(key, b"ultracrawl session name", "sha256")
        self._box = _Box(hmac.digest(key, b"ultracrawl session", "sha256")[:_KEY])

    def name_of(self, identity: str) -> str:
        """Return the name of a session; whoever has no key cannot try what the identity may be."""
        return hmac.new(self._names, identity.encode(), "sha256").hexdigest()

    def seal(self, text: str, name: str) -> bytes:
        """Return a text that is opened under the same name only; each call gives another one."""
        return self._box.seal(text, name.encode())

    def unseal(self, sealed: bytes, name: str) -> str | None:
        """Return the text; None if it was sealed with another key, under another name, or changed."""
        return self._box.unseal(sealed, name.encode())


def _key_of(text: str) -> bytes:
    written = text.strip()
    try:
        return bytes.fromhex(written) if len(written) == 2 * _KEY else b64decode(written, validate=True)
    except (ValueError, binascii.Error):
        raise UserError("the key file holds no key; make one with `ultracrawl secret new-key`") from None


def new_key() -> str:
    """Return a new key as a key file holds it."""
    return os.urandom(_KEY).hex()
