"""`ultracrawl robot create`: writes the configuration files of a new robot."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import click

from ultracrawl.errors import UserError
from ultracrawl.system.files import convert_write_errors

_DEFAULTS = files("ultracrawl.dialects.portal_robot") / "defaults"
_FILES = ("robot.conf", "filter.conf", "filterrules.conf", "classification.conf", "schema.conf", "mime.types")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_CSID = "x-catalog://localhost:80/robot"


@click.command("create", short_help="Write the files of a new robot into a folder.")
@click.argument("directory", metavar="DIR")
@click.option("--name", metavar="NAME", help="Its name, the last part of its csid. Default: that of DIR.")
@click.option("--email", metavar="ADDRESS", help="Contact address for site owners; sent with every request.")
def create(directory: str, name: str | None, email: str | None) -> None:
    """Write the files of a new robot into DIR/config: default filters, the predefined rules, no site yet.

    \b
    Example:
      ultracrawl robot create docs --email me@example.com
      ultracrawl robot create-site www.example.com -c docs/config/robot.conf
      ultracrawl crawl -c docs/config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    robot_name = name or Path(directory).absolute().name
    if not _NAME.fullmatch(robot_name):
        raise UserError(
            f"{robot_name!r} cannot name a robot: use letters, digits, `.`, `_` and `-`; give it with --name"
        )
    if email is not None and ("@" not in email or '"' in email or not email.isprintable()):
        raise UserError(f"{email!r} is no e-mail address; write it like me@example.com")
    config = Path(directory) / "config"
    _write(config, robot_name, email)
    click.echo(f"{config}: {', '.join(_FILES)}. What to do next:")
    click.echo(f"  ultracrawl robot create-site www.example.com -c {config / 'robot.conf'}")
    click.echo(f"  ultracrawl simulate -c {config / 'robot.conf'}")
    click.echo(f"  ultracrawl crawl -c {config / 'robot.conf'}")


def _write(config: Path, name: str, email: str | None) -> None:
    """Write the files. Raises `UserError` if one exists already."""
    existing = next((config / file for file in _FILES if (config / file).exists()), None)
    if existing is not None:
        raise UserError(f"{existing} exists already; name another folder")
    with convert_write_errors(config):
        config.mkdir(parents=True, exist_ok=True)
        for file in _FILES:
            text = (_DEFAULTS / file).read_text(encoding="utf-8")
            if file == "robot.conf":
                text = text.replace(_CSID, _CSID.replace("robot", name))
                text = text.replace("   depth=", f'   email="{email}"\n   depth=') if email else text
            (config / file).write_text(text, encoding="utf-8")
