"""Whose turn it is: who waits for a time stands in a heap, who may go stands in line, one line for each level."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar


class Member(Protocol):
    """What takes turns: a site, or an address with its sites."""

    listed: int
    """The number under which it stands in the heap, 0 if it does not."""
    lines: int
    """The levels in whose line it stands, a bit each."""

    @property
    def offers(self) -> int:
        """The levels of which it has an entry that may go out now, a bit each."""


M = TypeVar("M", bound=Member)


class ReadyQueue(Generic[M]):
    """Members in the order of their turns; nothing is ever scanned.

    A member is listed once in the heap and stands at most once in each line. Who has lost its turn in between
    (`offers` without the bit of the line) is left out when it comes to the front.
    """

    __slots__ = ("_heap", "_lines", "_number")

    def __init__(self, levels: int = 1) -> None:
        self._heap: list[tuple[float, int, M]] = []
        self._lines: tuple[deque[M], ...] = tuple(deque() for _ in range(levels))
        self._number = 0

    def list_member(self, member: M, at: float) -> None:
        """List a member for a time, unless it is listed."""
        if not member.listed:
            self._number += 1
            member.listed = self._number
            heappush(self._heap, (at, self._number, member))

    def take_due(self, now: float) -> M | None:
        """Take one member whose time has come out of the heap."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            _, number, member = heappop(heap)
            if member.listed == number:
                member.listed = 0
                return member
        return None

    def stand_in_line(self, member: M, levels: int) -> None:
        """Put a member at the end of the lines of these levels, where it does not stand already."""
        levels &= ~member.lines
        member.lines |= levels
        while levels:
            bit = levels & -levels
            self._lines[bit.bit_length() - 1].append(member)
            levels ^= bit

    def first_in_line(self, level: int) -> M | None:
        """Return who is first in the line of a level."""
        line, bit = self._lines[level - 1], 1 << level - 1
        while line:
            if line[0].offers & bit:
                return line[0]
            line.popleft().lines &= ~bit
        return None

    def take_first(self, level: int) -> M:
        """Take the first out of the line of a level; there is one."""
        member = self._lines[level - 1].popleft()
        member.lines &= ~(1 << level - 1)
        return member

    @property
    def offers(self) -> int:
        """The levels in whose line somebody stands who may go."""
        found = 0
        for level in range(1, len(self._lines) + 1):
            if self.first_in_line(level):
                found |= 1 << level - 1
        return found

    def next_at(self, waits: Callable[[M], bool]) -> float | None:
        """Return the earliest time in the heap of a member that still waits for its time."""
        heap = self._heap
        while heap:
            at, number, member = heap[0]
            if member.listed == number and waits(member):
                return at
            heappop(heap)
            if member.listed == number:
                member.listed = 0
        return None
