"""Encryption with the key of a project: passwords in definitions, sessions of form logins."""

from __future__ import annotations

import binascii
import hmac
import os
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode

from ultracrawl.errors import UserError

MARK = "{aes}"
"""Prefix of an encrypted password, followed by base64 (RFC 4648, 5) of nonce, ciphertext and tag."""
_KEY = 16
_NONCE = 12
_PURPOSE = b"ultracrawl password"


class _Box:
    """AES-128-GCM; its library is imported with the first key, since few definitions have one."""

    def __init__(self, key: bytes) -> None:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - see above
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - see above

        self._cipher, self._errors = AESGCM(key), (InvalidTag, ValueError)

    def seal(self, text: str, purpose: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._cipher.encrypt(nonce, text.encode(), purpose)

    def unseal(self, sealed: bytes, purpose: bytes) -> str | None:
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], purpose).decode()
        except self._errors:
            return None


class PasswordCipher:
    """Encrypts passwords with AES-128-GCM, which detects a wrong key or a changed text. Raises `UserError`."""

    def __init__(self, key: bytes) -> None:
        if len(key) != _KEY:
            raise UserError(
                f"the key has {len(key)} bytes and not {_KEY}; make one with `ultracrawl secret new-key`"
            )
        self._box = _Box(key)

    @classmethod
    def of_text(cls, text: str) -> PasswordCipher:
        """Return the cipher for the text of a key file: 16 bytes in base64, or 32 hexadecimal digits."""
        return cls(_key_of(text))

    def encrypt(self, password: str) -> str:
        """Return the encrypted text of a password for a definition; each call returns another text."""
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
    """Encrypts the sessions of form logins (AES-128-GCM), each stored under a keyed hash of its identity.

    Its keys are derived from that of the project (HMAC-SHA-256, RFC 2104). Raises `UserError` for an invalid key.
    """

    def __init__(self, text: str) -> None:
        key = _key_of(text)
        self._names = hmac.digest(key, b"ultracrawl session name", "sha256")
        self._box = _Box(hmac.digest(key, b"ultracrawl session", "sha256")[:_KEY])

    def name_of(self, identity: str) -> str:
        """Return the name of a session; without the key nobody can test guesses of the identity."""
        return hmac.new(self._names, identity.encode(), "sha256").hexdigest()

    def seal(self, text: str, name: str) -> bytes:
        """Encrypt a text, bound to the name; each call returns another result."""
        return self._box.seal(text, name.encode())

    def unseal(self, sealed: bytes, name: str) -> str | None:
        """Decrypt a text; None if key or name differ, or it was changed."""
        return self._box.unseal(sealed, name.encode())


def _key_of(text: str) -> bytes:
    encoded = text.strip()
    try:
        return bytes.fromhex(encoded) if len(encoded) == 2 * _KEY else b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        raise UserError("the key file holds no key; make one with `ultracrawl secret new-key`") from None


def new_key() -> str:
    """Return the text of a new key file."""
    return os.urandom(_KEY).hex()
