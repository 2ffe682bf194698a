"""Members that take turns: a heap of those that wait for a time, and a FIFO queue per level of ready ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar


class Member(Protocol):
    """A site, or an address with its sites."""

    heap_number: int
    """The number of its valid heap item, 0 if it has none."""
    queued_levels: int
    """Bit mask of the levels in whose queue it is."""

    @property
    def ready_levels(self) -> int:
        """Bit mask of the levels with an entry that may be handed out now."""


M = TypeVar("M", bound=Member)


class ReadyQueue(Generic[M]):
    """Members in the order of their turns, without linear scans.

    A member has at most one valid item in the heap and is at most once in each queue. One that is no longer ready
    (`ready_levels` without the bit of the queue) is dropped when it comes to the front.
    """

    __slots__ = ("_heap", "_number", "_queues")

    def __init__(self, levels: int = 1) -> None:
        self._heap: list[tuple[float, int, M]] = []
        self._queues: tuple[deque[M], ...] = tuple(deque() for _ in range(levels))
        self._number = 0

    def schedule(self, member: M, at: float) -> None:
        """Put a member into the heap for a time, unless it is there."""
        if not member.heap_number:
            self._number += 1
            member.heap_number = self._number
            heappush(self._heap, (at, self._number, member))

    def pop_due(self, now: float) -> M | None:
        """Remove and return a member from the heap whose time has come, None if there is none."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            _, number, member = heappop(heap)
            if member.heap_number == number:
                member.heap_number = 0
                return member
        return None

    def enqueue(self, member: M, levels: int) -> None:
        """Append a member to the queues of these levels, unless it is there."""
        levels &= ~member.queued_levels
        member.queued_levels |= levels
        while levels:
            bit = levels & -levels
            self._queues[bit.bit_length() - 1].append(member)
            levels ^= bit

    def first_ready(self, level: int) -> M | None:
        """Return the first ready member of a level, None if there is none."""
        queue, bit = self._queues[level - 1], 1 << level - 1
        while queue:
            if queue[0].ready_levels & bit:
                return queue[0]
            queue.popleft().queued_levels &= ~bit
        return None

    def pop_first(self, level: int) -> M:
        """Remove and return the first member of a level, which must have one."""
        member = self._queues[level - 1].popleft()
        member.queued_levels &= ~(1 << level - 1)
        return member

    @property
    def ready_levels(self) -> int:
        """Bit mask of the levels with a ready member."""
        levels = 0
        for level in range(1, len(self._queues) + 1):
            if self.first_ready(level):
                levels |= 1 << level - 1
        return levels

    def next_at(self, waits: Callable[[M], bool]) -> float | None:
        """Return the earliest time in the heap of a member for which `waits` is true; drops others before it."""
        heap = self._heap
        while heap:
            at, number, member = heap[0]
            if member.heap_number == number and waits(member):
                return at
            heappop(heap)
            if member.heap_number == number:
                member.heap_number = 0
        return None
