"""Secrets in definitions: environment variables, files, encrypted or clear text."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, SecretStr, ValidationInfo

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError
from ultracrawl.rules.access.cipher import MARK, PasswordCipher
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.reading.rule_files import RuleFiles

FILE = "file:"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
ADVICE = (
    "write `${NAME}` for an environment variable, `file:PATH`, or what `ultracrawl secret encrypt` prints"
)


def _secret(value: object, info: ValidationInfo) -> object:
    """Validate a secret without showing it; a relative `file:` path is relative to the folder of the definition."""
    if isinstance(value, SecretStr):
        return value
    if not isinstance(value, str):
        raise mistake("the secret is not a text", f"{ADVICE}; put a number in quotes")
    if not value:
        raise mistake("the secret is empty", ADVICE)
    if value.startswith(FILE) and isinstance(info.context, RuleFiles):
        return FILE + str(info.context.base / value.removeprefix(FILE).strip())
    return value


Secret = Annotated[SecretStr, BeforeValidator(_secret, json_schema_input_type=str)]
"""A password or similar; its text is never shown, written or compared."""


def is_clear_text(secret: SecretStr) -> bool:
    """Whether the definition itself contains the secret, in clear text."""
    text = secret.get_secret_value()
    return not (text.startswith((FILE, MARK)) or _VARIABLE.fullmatch(text))


def unset_variable(secret: SecretStr) -> str:
    """Return the environment variable that a secret needs and that this process does not have; else an empty text."""
    variable = _VARIABLE.fullmatch(secret.get_secret_value())
    return "" if variable is None or os.environ.get(variable[1]) else variable[1]


def read_secrets(secrets: Mapping[str, SecretStr | str], place: str, key_file: Path | None) -> dict[str, str]:
    """Return the texts of the secrets in a group of options, as this process finds them.

    `place` is the path of the group. Raises `UserError`, see `SecretReader.read`.
    """
    reader = SecretReader(os.environ, key_file)
    return {
        name: reader.read(SecretStr(one) if isinstance(one, str) else one, f"{place}.{name}")
        for name, one in secrets.items()
    }


@dataclass(frozen=True, slots=True)
class SecretReader:
    """Reads secrets at the start of a crawl; `key_file` decrypts encrypted ones."""

    environment: Mapping[str, str]
    key_file: Path | None = None

    def read(self, secret: SecretStr, place: str) -> str:
        """Return the text of a secret. Raises `UserError`, which names the option (`place`) and never the value."""
        text = secret.get_secret_value()
        variable = _VARIABLE.fullmatch(text)
        if variable is not None:
            return self._of_environment(variable[1], place)
        if text.startswith(FILE):
            return self._of_file(Path(text.removeprefix(FILE)), place)
        if text.startswith(MARK):
            return self._decrypted(text, place)
        return text

    def _of_environment(self, name: str, place: str) -> str:
        if not self.environment.get(name):
            raise UserError(f"{place}: the environment variable {name} is not set")
        return self.environment[name]

    @staticmethod
    def _of_file(path: Path, place: str) -> str:
        try:
            text = path.read_text("utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
            raise UserError(f"{place}: {path} cannot be read: {reason}") from None
        if not text:
            raise UserError(f"{place}: {path} is empty")
        return text

    def read_key(self, place: str) -> str:
        """Return the text of the key file. Raises `UserError`, which names the option that needs it (`place`)."""
        if self.key_file is None:
            raise UserError(f"{place}: it is encrypted, and `key_file` of the project names no key")
        return self._of_file(self.key_file, "key_file")

    def _decrypted(self, text: str, place: str) -> str:
        key = self.read_key(place)
        try:
            return PasswordCipher.of_text(key).decrypt(text)
        except UserError as error:
            raise UserError(f"{place}: {error}") from None
