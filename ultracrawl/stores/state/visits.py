"""The visit history: what was seen, observed, advised and failed since the last flush, over the stored rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ultracrawl.rules.recrawl.adaptive import ChangeHistory, KnownPage, Observation, SiteSize
from ultracrawl.stores.port.visits import Advice, KnownUrl, LinkedUrl, UnseenUrl
from ultracrawl.stores.state.part import Access, Part, Writing, put_rows

Errors = tuple[tuple[str, int], ...]
"""Numbers of errors by rule."""


class FailureCounts:
    """The errors of URLs by rule; `load` returns key, rule and number of all that are stored.

    URLs with the same errors share one value, so that a key takes some 100 bytes.
    """

    def __init__(self, load: Callable[[], Iterable[tuple[int, str, int]]]) -> None:
        self._load = load
        self._errors: dict[int, Errors] | None = None
        self._shared: dict[Errors, Errors] = {}

    def count_error(self, key: int, rule: str) -> int:
        """Count one more error of a URL under a rule, and return how many there are."""
        errors = self._loaded()
        rules = dict(errors.get(key, ()))
        rules[rule] = rules.get(rule, 0) + 1
        errors[key] = self._share(tuple(rules.items()))
        return rules[rule]

    def drop_url(self, key: int) -> Errors:
        """Forget the errors of a URL, and return them."""
        return self._loaded().pop(key, ())

    def read_again(self) -> None:
        """Forget what was read, since the table has changed; without unflushed changes."""
        self._errors = None

    def _loaded(self) -> dict[int, Errors]:
        if self._errors is None:
            self._errors = {}
            for key, rule, number in self._load():
                self._errors[key] = self._share((*self._errors.get(key, ()), (rule, number)))
        return self._errors

    def _share(self, errors: Errors) -> Errors:
        return self._shared.setdefault(errors, errors)


class Visits(Part):
    """Base class of the visit history of each engine; see `VisitPart`."""

    SELECT_FAILURES = "SELECT key, rule, errors FROM failure WHERE {own}"
    PUT_FAILURE = put_rows("failure", "key bigint, rule text", "errors int")
    DELETE_FAILURES = "DELETE FROM failure WHERE {own} AND key = ANY(%s)"
    SELECT_FIRST_MET: str
    """The fields of `KnownUrl`; takes the cycle and a list of keys, of which those seen in it are left out."""
    SELECT_LINKED: str
    """Those fields, and whether a URL would be in `SELECT_FIRST_MET`, which takes the same."""
    SELECT_HISTORY: str
    """The fields of the `ChangeHistory` of a key."""
    SELECT_UNSEEN: str
    """The fields of `UnseenUrl` of what was seen in a cycle last, or before it; by URL."""
    COUNT_BY_SITE: str
    """Site, number of fetched and of other URLs."""
    COUNT_FETCHED_BY_SITE: str
    """Site and number of pages that were fetched since a time."""
    COUNT_BY_PATH: str
    """Path and number, of so many paths with the most URLs."""
    SELECT_PAGES: str
    """The fields of `KnownPage` up to `priority`, `told`, and the fields of `ChangeHistory`."""
    SELECT_PAGES_BY_KEYS: str
    """The same of a list of keys."""
    ADD_MISSING: str
    """Adds a row for a key, if it is known and has none."""
    UPDATE_ADVICE: str
    """Takes key, `changefreq`, priority, time of the change."""
    UPDATE_HISTORY: str
    """Takes key, time, whether it has changed, time of the change or None, kind of markup or None; a key once."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self.cycle = 0
        self._errors = FailureCounts(lambda: self._read(self.SELECT_FAILURES))

    def begin_generation(self) -> None:
        """Begin without visits."""
        self._seen: set[int] = set()
        self._observed: list[Observation] = []
        self._advice: dict[int, Advice] = {}
        self._failures: dict[tuple[int, str], int] = {}
        self._recovered: set[int] = set()
        """Keys of URLs that succeeded after errors."""
        self.changes = (self._seen, self._observed, self._advice, self._failures, self._recovered)

    def enter_cycle(self, number: int) -> None:
        """Set the current cycle."""
        self.cycle = number

    def note_seen(self, keys: Iterable[int]) -> None:
        """Record that URLs were seen in this cycle."""
        self._seen.update(keys)

    def note_met(self, keys: Iterable[int]) -> list[KnownUrl]:
        """Record that URLs were linked to; returns the known ones seen for the first time in this cycle."""
        unmet = [key for key in keys if key not in self._seen and key not in self.frozen._seen]
        self._seen.update(unmet)
        rows = self._read(self.SELECT_FIRST_MET, self.cycle, self._many(unmet)) if unmet else []
        found = {row[0]: KnownUrl(*row) for row in rows}
        return [found[key] for key in unmet if key in found]

    def linked_urls(self, keys: Sequence[int]) -> dict[int, LinkedUrl]:
        """Return those of the keys that are known, and whether each is seen for the first time in this cycle."""
        rows = self._read(self.SELECT_LINKED, self.cycle, self._many(list(keys)))
        seen, older = self._seen, self.frozen._seen
        return {
            row[0]: LinkedUrl(
                KnownUrl(*row[:-1]), bool(row[-1]) and row[0] not in seen and row[0] not in older
            )
            for row in rows
        }

    def note_visit(self, observation: Observation) -> None:
        """Add a visit to the change history of a page."""
        self._observed.append(observation)

    def history_of(self, key: int) -> ChangeHistory:
        """Return the change history of a page."""
        return next((ChangeHistory(*row) for row in self._read(self.SELECT_HISTORY, key)), ChangeHistory())

    def unseen_urls(self, cycles: int) -> list[UnseenUrl]:
        """Return the known URLs that were last seen at least so many cycles ago."""
        rows = self._read(self.SELECT_UNSEEN, self.cycle - cycles)
        return [UnseenUrl(key, url, shown, bool(has)) for key, url, shown, has in rows]

    def note_advice(self, advice: Iterable[Advice]) -> None:
        """Store what a sitemap says about URLs."""
        self._advice.update((hint.key, hint) for hint in advice)

    def site_sizes(self) -> dict[str, SiteSize]:
        """Return the numbers of known URLs by site."""
        return {site: SiteSize(fetched, new) for site, fetched, new in self._read(self.COUNT_BY_SITE)}

    def fetched_since(self, at: float) -> dict[str, int]:
        """Return the number of pages fetched since a time by site."""
        return dict(self._read(self.COUNT_FETCHED_BY_SITE, at))

    def path_sizes(self, limit: int) -> dict[str, int]:
        """Return the number of known URLs with a query string by path."""
        return dict(self._read(self.COUNT_BY_PATH, limit))

    def known_pages(self, keys: Sequence[int] | None = None) -> Iterator[KnownPage]:
        """Yield all known URLs, or those of some keys."""
        rows = (
            self._stream(self.SELECT_PAGES)
            if keys is None
            else self._read(self.SELECT_PAGES_BY_KEYS, self._many(list(keys)))
        )
        for key, url, site, depth, fetched, markup, changefreq, priority, told, *history in rows:
            page = (key, url, site, depth, fetched, bool(markup), changefreq, priority)
            yield KnownPage(*page, ChangeHistory(*history), told)

    # ---- errors

    def count_failure(self, key: int, rule: str) -> int:
        """Count one more error of a URL under a rule."""
        errors = self._failures[key, rule] = self._errors.count_error(key, rule)
        return errors

    def forget_failures(self, key: int) -> None:
        """Reset the error counts of a URL."""
        for rule, _ in self._errors.drop_url(key):
            self._recovered.add(key)
            self._failures.pop((key, rule), None)

    def forget_read(self) -> None:
        """Forget what was read of URLs, some of which have left the document table."""
        self._errors.read_again()

    # ---- writing, inside a transaction of the store

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes; the URLs must be in the document table."""
        to.run(self.DELETE_FAILURES, [(key,) for key in self._recovered])
        to.run(self.PUT_FAILURE, [(*of, errors) for of, errors in self._failures.items()])
        keys = {*self._advice, *(observation.key for observation in self._observed)}
        to.run(self.ADD_MISSING, [(key,) for key in keys - self._seen])
        self._mark_seen(to)
        to.run(
            self.UPDATE_ADVICE, [(a.key, a.changefreq, a.priority, a.changed) for a in self._advice.values()]
        )
        left = self._observed
        while left:  # a statement updates a row once
            turn: dict[int, tuple[object, ...]] = {}
            rest = []
            for o in left:
                if o.key in turn:
                    rest.append(o)
                else:
                    turn[o.key] = (o.key, o.at, o.changed, o.modified, o.markup)
            to.run(self.UPDATE_HISTORY, list(turn.values()))
            left = rest

    def _mark_seen(self, to: Writing) -> None:
        """Mark what was seen, unless an engine did it with the new URLs."""
