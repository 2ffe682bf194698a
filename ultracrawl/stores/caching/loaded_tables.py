"""Small tables that a store reads whole, so that pages cost no statement: errors, hops, signatures of texts."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable

from ultracrawl.rules.duplicates.fingerprint import PART_BITS, PARTS, SIZE, blocks, distance

MAX_HOPS = 3_000_000
"""With more URLs behind documents in other languages than these (36 MB), hops are looked up for each page."""
MAX_CHANGED_HOPS = 100_000
"""Changes of hops after which the table is read anew, some 10 MB."""
MAX_SIGNATURES = 1_000_000
"""With more texts than these (40 MB), similar ones are looked up for each page."""
_BLOCKS = len(blocks(0))
_BLOCK_VALUES = 1 << PARTS * PART_BITS // _BLOCKS

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


class StoredHops:
    """The off-focus hops of URLs, 12 bytes for each that has some.

    `load` returns keys and hops in order of the keys, or None if another process may write some; it takes a limit, and
    tells `put_hops` what is not flushed.
    """

    def __init__(self, load: Callable[[int], Iterable[tuple[int, int]] | None]) -> None:
        self._load = load
        self._keys = array("q")
        self._hops = array("I")
        self._changed: dict[int, int] = {}
        self._loaded = self._too_many = False

    def of(self, keys: Iterable[int]) -> dict[int, int] | None:
        """Return the hops of those of the keys that have some, None if only the table can tell."""
        if not (self._loaded or self._too_many):
            self._read()
        if not self._loaded:
            return None
        found: dict[int, int] = {}
        for key in keys:
            hops = self._changed.get(key)
            if hops is None:
                at = bisect_left(self._keys, key)
                hops = self._hops[at] if at < len(self._keys) and self._keys[at] == key else 0
            if hops:
                found[key] = hops
        return found

    def _read(self) -> None:
        rows = self._load(MAX_HOPS + 1)
        if rows is None:
            self._too_many = True
            return
        for key, hops in rows:
            self._keys.append(key)
            self._hops.append(hops)
        if len(self._keys) > MAX_HOPS:
            self.read_again()
            self._too_many = True
        else:
            self._loaded = True

    def put_hops(self, key: int, hops: int) -> None:
        """Change the hops of a URL; they are in the table when the next flush is over."""
        if not self._too_many:
            self._changed[key] = hops

    def note_flushed(self, *, anew: bool) -> None:
        """Have the table read again if it was made `anew`, or if much of it has changed."""
        if anew or len(self._changed) > MAX_CHANGED_HOPS:
            self.read_again()

    def read_again(self) -> None:
        """Forget what was read, since the table has changed; without unflushed changes."""
        self._keys, self._hops = array("q"), array("I")
        self._changed.clear()
        self._loaded = self._too_many = False


class Signatures:
    """The signatures of texts with their fingerprints, 40 bytes each and 1 MB: chains of those with a block in common.

    `load` returns fingerprints and signatures of the texts with one of a range of blocks, those that are not flushed
    included, or None if another process may write some; it takes a limit.
    """

    def __init__(self, load: Callable[[range, int], Iterable[tuple[bytes, int]] | None]) -> None:
        self._load = load
        self._form = -1
        """The form of the signatures that were read, as `blocks` tells it; negative: none were."""
        self._too_many = False
        self._clear()

    def _clear(self) -> None:
        self._values = array("Q")
        self._prints = bytearray()
        self._latest = array("I")
        """By block: the number of the text that was added last, from 1; 0 for none."""
        self._before = array("I")
        """By text and place of a block: the number of the text that was added before."""

    def holds_all(self) -> bool:
        """Return whether all texts are in memory, now that they were needed."""
        first = blocks(0)[0]
        if self._form != first and not self._too_many:
            rows = self._load(range(first, first + _BLOCK_VALUES), MAX_SIGNATURES + 1)
            if rows is None:
                self._too_many = True
            else:
                self._fill(first, rows)
        return not self._too_many

    def _fill(self, form: int, rows: Iterable[tuple[bytes, int]]) -> None:
        self._clear()
        self._form, self._latest = form, array("I", bytes(4 * _BLOCKS * _BLOCK_VALUES))
        for fingerprint, signature in rows:
            self.add(fingerprint, signature)

    def add(self, fingerprint: bytes, signature: int) -> None:
        """Add a text, once or again."""
        if self._form < 0 or self._too_many:
            return
        self._values.append(signature)
        self._prints += fingerprint
        number = len(self._values)
        for block in blocks(signature):
            slot = block - self._form
            self._before.append(self._latest[slot])
            self._latest[slot] = number
        if number > MAX_SIGNATURES:
            self._too_many = True
            self._clear()

    def nearest(self, signature: int, within: int) -> bytes | None:
        """Return the fingerprint with the nearest signature; see `RecordPart.nearest_signature`."""
        least, best = within, None
        for place, block in enumerate(blocks(signature)):
            number = self._latest[block - self._form]
            while number:
                differing = distance(signature, self._values[number - 1])
                if differing <= least:
                    found = bytes(self._prints[SIZE * (number - 1) : SIZE * number])
                    if best is None or (differing, found) < (least, best):
                        least, best = differing, found
                number = self._before[_BLOCKS * (number - 1) + place]
        return best

    def read_again(self) -> None:
        """Forget what was read, since the table has changed."""
        self._form, self._too_many = -1, False
        self._clear()
