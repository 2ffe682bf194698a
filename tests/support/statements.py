"""Counts the statements that a crawl makes of its store, from outside: an extension of Scrapy beside the definition."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

_VALUES = re.compile(r"'[^']*'?|-?\b\d+")
_CODE = """
import asyncio
import json

from scrapy import signals
from ultracrawl.run.hooks import Feature
from ultracrawl.run.lifecycle import context_of


FLUSH_AT = 40


class Statements:
    def __init__(self, crawler):
        self.crawler, self.flushing, self.alone, self.transactions = crawler, False, [], 0
        self.visits, self.intervals = 0, []
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def opened(self):
        self.context = context_of(self.crawler)
        store = self.context.store
        if hasattr(store, "_db"):
            store._db.set_trace_callback(self.note)
        else:
            self.read = store._database.read
            store._database.read = self.read_noted
        self.context.hooks.call(Feature.visit_ended, self.ended)

    def ended(self, visit):
        self.visits += 1
        if self.visits % FLUSH_AT == 0:
            asyncio.get_running_loop().call_soon(self.context.flush)

    def read_noted(self, query, *values):
        self.note(query if isinstance(query, str) else query.decode())
        return self.read(query, *values)

    def note(self, statement):
        if statement.startswith("BEGIN"):
            self.flushing, self.transactions = True, self.transactions + 1
            self.intervals.append([self.visits, len(self.alone)])
        elif statement.startswith(("COMMIT", "ROLLBACK")):
            self.flushing = False
        elif not self.flushing:
            self.alone.append(" ".join(statement.split())[:500])

    def closed(self):
        with open("statements.json", "w") as file:
            json.dump([self.alone, self.transactions, self.intervals], file)
"""

OPTIONS = {"settings": {"EXTENSIONS": {"statements.Statements": 1}}}
"""The options of a source whose statements are counted."""


@dataclass(frozen=True, slots=True)
class Statements:
    """What one crawl asked of its store: SQLite, or PostgreSQL, whose transactions are not counted."""

    alone: list[str]
    """How the statements begin that were made by themselves, between two transactions."""
    transactions: int
    intervals: list[list[int]]
    """At the beginning of each transaction: the visits that had ended, and the statements that were made alone."""

    def alone_between(self, first: int, last: int) -> list[str]:
        """Return the statements alone between two transactions, which are named by their numbers."""
        return self.alone[self.intervals[first][1] : self.intervals[last][1]]

    @property
    def repeated(self) -> Counter[str]:
        """How often statements were made alone that differ in numbers and texts only, without those of the progress."""
        forms = (_VALUES.sub("?", statement) for statement in self.alone if "count(" not in statement)
        return Counter(form for form in forms if "FROM tally" not in form)


def count_statements(folder: Path) -> None:
    """Write the extension beside a definition."""
    (folder / "statements.py").write_text(_CODE)


def statements_of(folder: Path) -> Statements:
    """Return what the latest crawl in a folder asked."""
    return Statements(*json.loads((folder / "statements.json").read_text()))
