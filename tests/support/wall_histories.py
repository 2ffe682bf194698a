"""Random histories of a site that walls replace, and a model of what the change guard has to do about them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ultracrawl.rules.duplicates.losses import MIN_GROUP

FRAME = "home products services about contact imprint careers press support blog"
LIMIT = 5
BLANK = ("blank",)
WALLS = [("wall", 0), ("wall", 1), ("wall", 2), BLANK]


@cache
def spelled(*numbers: int) -> str:
    """Return a word for some numbers, without digits."""
    return "".join(chr(97 + int(digit)) for number in numbers for digit in f"{number:04}")


def page_text(name: int, versions: tuple[int, ...]) -> str:
    """Return the text of a page of forty paragraphs, each in one of its versions."""
    return FRAME + "".join(f" own{spelled(name, place, no)}" for place, no in enumerate(versions))


Kind = tuple[Any, ...]
"""What a page is: `("own", versions)`, `("wall", number)`, `("random", number)` or `("blank",)`."""


@dataclass
class Model:
    """What the guard has to do, said of kinds of pages in place of words."""

    index: dict[int, Kind] = field(default_factory=dict)
    had: dict[Kind, set[int]] = field(default_factory=dict)
    """Documents that became a wall of a kind, and were let in."""
    held_kinds: set[Kind] = field(default_factory=set)

    def crawl(self, found: dict[int, Kind]) -> set[int]:
        """Return the documents that a run has to hold back."""
        walls = self.held_kinds | {kind for kind, names in self.had.items() if len(names) >= MIN_GROUP}
        lost = {name for name, kind in found.items() if self._is_lost(self.index.get(name), kind, walls)}
        is_over = len(lost) > LIMIT
        for kind in WALLS:
            names = {name for name in lost if found[name] == kind}
            became = self.had.get(kind, set())
            if (names and len(became | names) > LIMIT) or (is_over and len(names - became) >= MIN_GROUP):
                self.held_kinds.add(kind)
        seen = walls | self.held_kinds | {found[name] for name in lost}
        without_words = {name for name in found if self.index.get(name) in (None, BLANK)}
        fresh = {name for name in without_words if found[name] != self.index.get(name)}
        new = {name for name in fresh if found[name] in seen.intersection(WALLS)}
        held = {name for name in lost | new if is_over or found[name] in self.held_kinds}
        for name in lost - held:
            if found[name] in WALLS:
                self.had.setdefault(found[name], set()).add(name)
        self.index = {name: kind for name, kind in self.index.items() if name in found}
        self.index |= {name: kind for name, kind in found.items() if name not in held}
        return held

    @staticmethod
    def _is_lost(before: Kind | None, now: Kind, walls: set[Kind]) -> bool:
        if before in (None, now, BLANK) or before in walls:
            return False
        return not (before is not None and before[0] == now[0] == "own")


class History:
    """A random history of a site of forty documents."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._versions: dict[int, tuple[int, ...]] = dict.fromkeys(range(40), (0,) * 40)

    def run(self, number: int) -> dict[int, Kind]:
        """Return the kind of each document that a run finds."""
        chance = self._random
        share = chance.choice([0.0, 0.0, 0.05, 0.1, 0.15, 0.3, 0.9, 1.0]) if number else 0.0
        kinds = chance.choices(range(5), k=chance.choice([1, 1, 2]))
        gone = set(chance.sample(range(40), chance.choice([0, 0, 3]))) if not share and number else set()
        found: dict[int, Kind] = {}
        for name in self._versions:
            if number and chance.random() < 0.2:
                self._edit(name)
            if name in gone:
                continue
            kind = chance.choice(kinds)
            found[name] = ("own", self._versions[name])
            if chance.random() < share:
                found[name] = (
                    ("wall", kind) if kind < 3 else ("random", chance.random()) if kind == 3 else ("blank",)
                )
        return found

    def _edit(self, name: int) -> None:
        """Write up to an eighth of the paragraphs of a page anew."""
        chosen = set(self._random.sample(range(40), self._random.randint(1, 5)))
        self._versions[name] = tuple(no + (place in chosen) for place, no in enumerate(self._versions[name]))


def page_of(name: int, kind: Kind) -> tuple[str, str]:
    """Return title and text of a kind of page."""
    if kind[0] == "own":
        return f"Page of {spelled(name)}", page_text(name, kind[1])
    if kind[0] == "wall":
        words = [f"wall{spelled(kind[1], place)}" for place in range(12 * kind[1] + 8)]
        return ("" if kind[1] == 1 else " ".join(words[:2]), f"{' '.join(words[2:])} {name}77")
    if kind[0] == "random":
        chosen = random.Random(kind[1])
        return "", " ".join(f"maze{spelled.__wrapped__(chosen.randrange(10**8))}" for _ in range(60))
    return "", ""
