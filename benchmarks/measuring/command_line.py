"""What the programs that measure a manual have in common: options, the manual, and the page that shows the figures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from judging.corpora import CORPORA

from measuring.table import replace_blocks

ROOT = Path(__file__).resolve().parents[2]


def parser_of(text: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows the text of the program as it stands, with what they all understand."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the figures into the documentation")
    parser.add_argument(
        "--packages",
        type=lambda name: Path(name).absolute(),
        default="var/packages",
        help="for unpacked packages",
    )
    return parser


def manual_of(corpus: str, packages: Path) -> Path:
    """Return the folder of a manual; ends the program if it cannot be had."""
    manual = CORPORA[corpus].manual(packages)
    if manual is None:
        sys.exit(f"{CORPORA[corpus].package} cannot be had")
    return manual


def show_blocks(blocks: Mapping[str, str], *, write: bool) -> None:
    """Print texts, and put them into the page about speed where that is asked for."""
    print("\n\n".join(blocks.values()))
    if write:
        replace_blocks(ROOT / "docs" / "performance.md", blocks)
