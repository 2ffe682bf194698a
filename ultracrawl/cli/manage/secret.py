"""`ultracrawl secret`: encrypts passwords for definitions with a key from a key file."""

from __future__ import annotations

import os
import sys
from getpass import getpass
from pathlib import Path

import click

from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.errors import WorkError
from ultracrawl.rules.access.cipher import PasswordCipher, new_key
from ultracrawl.system.files import cause_and_remedy


@click.group("secret", cls=VerbGroup)
def command() -> None:
    """Encrypt passwords, so that a definition can be shown to others.

    \b
    Example:
      ultracrawl secret new-key config/password.key
      ultracrawl secret encrypt --key config/password.key
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("new-key", short_help="Write a new key into a file.")
@click.argument("file", type=click.Path(path_type=Path))
def make_key(file: Path) -> None:
    """Write a new key into FILE, readable by you only; name it as `key_file` in the project file.

    \b
    Example:
      ultracrawl secret new-key config/password.key
    """  # noqa: D301 - click's mark for a block that keeps its lines
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Mistake.KEY_EXISTS.error(file=file) from None
    except OSError as error:
        raise WorkError(f"{file} cannot be written: {cause_and_remedy(error)}") from None
    with os.fdopen(descriptor, "w") as out:
        out.write(new_key() + "\n")
    click.echo(f"The key is in {file}; write `key_file: {file}` at the top of the project file.")


@command.command("encrypt")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The file with the key.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the password from the standard input.")
def encrypt(key: Path, from_stdin: bool) -> None:
    """Ask for a password, and print it encrypted, for a definition.

    \b
    Example:
      ultracrawl secret encrypt --key config/password.key
    """  # noqa: D301 - click's mark for a block that keeps its lines
    try:
        cipher = PasswordCipher.of_text(key.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        raise Mistake.NO_KEY.error(file=key) from None
    password = sys.stdin.readline().rstrip("\r\n") if from_stdin else _prompt_password()
    if not password:
        raise Mistake.EMPTY_PASSWORD.error()
    click.echo(cipher.encrypt(password))


def _prompt_password() -> str:
    password = getpass("Password: ")
    if getpass("Once more: ") != password:
        raise Mistake.PASSWORDS_DIFFER.error()
    return password
