"""Count the code blocks of all pages by what tests do with them.

    python tools/page_blocks.py [--check]

A block is run (a test does what it says, and compares what it shows), read (definitions are loaded, commands and their
options parsed, Python compiled and its imports looked for, data parsed), or no test looks at it. With `--check` the
status is 1 if there are more of the last kind than `MOST_UNTESTED`.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = ("*.md", "docs/**/*.md", "examples/**/*.md")
RUN = {
    "README.md": {"console", "python"},
    "docs/tutorial/*.md": {"console", "yaml", "html"},
    "docs/troubleshooting.md": {"console"},
    "docs/first-steps.md": {"console"},
}
"""The languages of blocks that a test runs, by page."""
READ = {
    "*.md": {"console", "yaml", "python", "json", "toml", "xml", "yml"},
    "docs/search-engines/*.md": {"js"},
}
"""The languages of blocks that a test reads, by page; those of all pages in tests/documentation/test_pages.py."""
MOST_UNTESTED = 43
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def pages(root: Path = ROOT) -> list[Path]:
    """Return all pages below a folder."""
    return sorted({path for pattern in PATTERNS for path in root.glob(pattern)})


def count(paths: Iterable[Path], root: Path = ROOT) -> Counter[str]:
    """Return the numbers of blocks that are `run`, `read` and `untested`."""
    found: Counter[str] = Counter()
    for path in paths:
        run, read = (_languages(rules, path.relative_to(root)) for rules in (RUN, READ))
        for language, _ in BLOCK.findall(path.read_text(encoding="utf-8")):
            found["run" if language in run else "read" if language in read else "untested"] += 1
    return found


def _languages(rules: Mapping[str, set[str]], page: Path) -> set[str]:
    return {language for pattern, several in rules.items() if page.match(pattern) for language in several}


def main(arguments: list[str]) -> int:
    """Print the numbers."""
    found = count(pages())
    print(
        f"{found.total()} code blocks on the pages: {found['run']} are run by tests, {found['read']} are read by "
        f"tests, {found['untested']} are not tested"
    )
    if "--check" in arguments and found["untested"] > MOST_UNTESTED:
        print(
            f"there may be {MOST_UNTESTED}: have a test read the new one, or raise MOST_UNTESTED and say why"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
