"""Shared command line of the benchmarks on manuals: options, the manual, and output to the documentation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from judging.corpora import CORPORA

from measuring.table import replace_blocks

ROOT = Path(__file__).resolve().parents[2]


def parser_of(text: str | None) -> argparse.ArgumentParser:
    """Return a parser with the shared options and the docstring of the program as its description."""
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
    """Return the folder of a manual; exits if it is not available."""
    manual = CORPORA[corpus].manual(packages)
    if manual is None:
        sys.exit(f"{CORPORA[corpus].package} cannot be had")
    return manual


def show_blocks(blocks: Mapping[str, str], *, write: bool) -> None:
    """Print texts; with `write` put them into docs/performance.md."""
    print("\n\n".join(blocks.values()))
    if write:
        replace_blocks(ROOT / "docs" / "performance.md", blocks)
