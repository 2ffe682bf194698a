"""A node: it renews its lease, takes plans that are due, and gives back those whose run has ended."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from typing import Protocol
from uuid import uuid4

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.errors import StateError
from ultracrawl.service.nodes.deliveries import Deliveries
from ultracrawl.service.nodes.node_facts import age_of, differing_files, facts_of
from ultracrawl.service.nodes.watch_share import WatchShare
from ultracrawl.service.schedules.optimisation import all_plans
from ultracrawl.service.schedules.plan_crawls import NEVER
from ultracrawl.service.schedules.plan_state import next_launch, restored_state
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.sources import Project
from ultracrawl.stores.port.leases import LEASE_SECONDS, RENEW_SECONDS
from ultracrawl.stores.port.node_store import NodeFacts, NodeStore, NodeWork
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleStore, own_key
from ultracrawl.stores.project_stores import open_nodes

logger = logging.getLogger("ultracrawl.service")

LOOK_SECONDS = min(1.0, RENEW_SECONDS)
"""Seconds between two looks at what is due; each renews the lease."""
OVERDUE_SECONDS = 10.0
"""Seconds after which a plan that is due is taken by a node whose slots are all in use: it waits in its queue then."""


class Workplace(Protocol):
    """What a node needs of the supervisor of its machine."""

    @property
    def free_slots(self) -> int:
        """Number of crawls that could begin now."""

    @property
    def crawled(self) -> Collection[str]:
        """The sources whose crawls run or wait here, those too that are just ending."""

    def replace_plans(self) -> str:
        """Run the plans that the node holds; returns a message, and changes nothing, if another process runs one.

        Raises `StateError`.
        """

    def replace_watches(self) -> None:
        """Watch the folders that the node has to."""

    def is_idle(self, key: str) -> bool:
        """Return whether a plan neither runs nor is due."""

    def end_source(self, source: str) -> None:
        """End the crawl of a source, if there is one."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A plan with its stored state, and the state with which it would start."""

    plan: Plan
    stored: KeptSchedule | None
    row: KeptSchedule


@dataclass(slots=True)
class _Look:
    """What a look at the store has found."""

    lost_name: bool = False
    draining: bool = False
    lost: set[str] = field(default_factory=set)
    """Keys of plans that another node has taken over."""
    taken: dict[str, Plan] = field(default_factory=dict)
    ordered: Collection[str] = ()
    watches_differ: bool = False
    """Whether it has to watch other folders than before."""
    crawled: Collection[str] = ()
    """Sources that some process crawls."""


class Node:
    """A registered node; the plans that it holds are what its supervisor runs."""

    def __init__(
        self,
        name: str,
        store: NodeStore,
        schedules: ScheduleStore,
        project: Callable[[], Project],
        files: Callable[[], Mapping[str, str]],
        *,
        stays: bool = False,
    ) -> None:
        """`schedules` is the store for the supervisor: it writes only the plans that this node holds.

        `files` returns the digests of the definition files. One that `stays` does not end when it has drained.
        """
        self.name = name
        self.schedules = schedules
        self.lost = False
        """Whether another process is the node of this name now."""
        self._store, self._project, self._files, self._stays = store, project, files, stays
        self._read: tuple[Project | None, list[Plan], NodeFacts] = (None, [], NodeFacts("", ""))
        """The project as it was last seen, with what was made of it."""
        self._held: dict[str, Plan] = {}
        self._returned: set[str] = set()
        """Keys of plans that are to be given back, unless it comes to run them."""
        self._draining = False
        self._reason = ""
        """Why it drains, if it has found that itself."""
        self._ending = False
        self._ordered: Collection[str] = ()
        self._seen: dict[str, _Seen] = {}
        self._kept: Mapping[str, KeptSchedule] = {}
        """The stored states of all plans, as they were last seen."""
        self._conflict = ""
        """What was last said about another process that runs a plan."""
        self._is_cut_off = False
        self._absent: dict[str, float] = {}
        """Nodes to which plans are bound and that take none -> since when, by the monotonic clock."""
        self._released: Mapping[str, str] = {}
        """The released digests, as they were last seen."""
        self._refused: dict[str, str] = {}
        """Sources that it does not take -> the released digest."""
        self._stop = asyncio.Event()
        self._deliveries = Deliveries(project)
        self._watch_share = WatchShare(store)

    # ---- what the supervisor asks

    def held(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the plans that this node holds; one that drains launches none of them again."""
        return [
            replace(plan, enabled=plan.enabled and not self._draining)
            for plan in plans
            if plan.key in self._held
        ]

    def row_of(self, plan: Plan) -> KeptSchedule:
        """Return the state of a plan as it was last seen; one that never ran has none."""
        kept, seen = self._kept.get(plan.key), self._seen.get(plan.key)
        return seen.row if seen is not None and seen.stored == kept else kept or KeptSchedule(plan.key)

    def may_take(self, source: str) -> bool:
        """Return whether it may crawl a source now: it does not drain, and has the source as it was released."""
        is_released = not self._released or self._facts().digests.get(source) == self._released.get(source)
        return is_released and not (self._draining or self._ending)

    def watches(self, source: str) -> bool:
        """Return whether it watches the folders of a source that is bound to no node."""
        return source in self._watch_share.sources

    # ---- the life of a node

    def register(self) -> None:
        """Be a node from now on. Raises `UserError` if another process is the node of this name, `StateError`."""
        self._store.register_node(self.name, self._facts(), LEASE_SECONDS)

    def _facts(self) -> NodeFacts:
        return self._known()[1]

    def _known(self) -> tuple[list[Plan], NodeFacts]:
        project = self._project()
        if project is not self._read[0]:
            self._read = (project, all_plans(project), facts_of(project, self._files()))
        plans, facts = self._read[1:]
        return plans, replace(facts, reason=self._reason)

    @asynccontextmanager
    async def running(self, workplace: Workplace, ended: Callable[[], None]) -> AsyncIterator[None]:
        """Take and give back plans in the block; `ended` is called when this node has drained or lost its name."""
        work = asyncio.ensure_future(self._run(workplace))
        work.add_done_callback(lambda _: ended())
        try:
            yield
        finally:
            self._stop.set()
            await work
            await self._deliveries.end_deliveries()

    def take_nothing_more(self) -> None:
        """Keep what is held, and renew the lease, while the supervisor ends its crawls."""
        self._ending = True

    async def _run(self, workplace: Workplace) -> None:
        while self._stays or not self._draining or self._held:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), LOOK_SECONDS)
                return
            try:
                look = await self._act(workplace)
            except StateError as error:
                if not self._is_cut_off:
                    logger.warning("node %s: %s; it goes on when it can", self.name, error)
                self._is_cut_off = True
                continue
            self._is_cut_off = False
            if look.lost_name:
                self.lost = True
                logger.error("another process is the node %s now; this one ends", self.name)
                return
            if not self._ending:
                held = (source for plan in self._held.values() for source in plan.sources)
                self._deliveries.begin_due({*look.crawled, *held, *workplace.crawled})
        logger.info("the node %s has drained: it ends", self.name)

    async def _act(self, workplace: Workplace) -> _Look:
        """Give back what is done, look at the store, and follow it. After `StateError` the next time does the rest."""
        done = [key for key in self._held if self._is_done(key, workplace)]
        self._hold_without(workplace, done)
        self._returned.update(done)
        free = 0 if self._ending else workplace.free_slots
        look = await asyncio.to_thread(self._look, sorted(self._returned), free)
        if not look.lost_name:
            self._obey(look, workplace)
        return look

    def _is_done(self, key: str, workplace: Workplace) -> bool:
        return workplace.is_idle(key) and (self._draining or not self._is_ordered(self._held[key]))

    def _is_ordered(self, plan: Plan) -> bool:
        return plan.key in self._ordered or any(own_key(source) in self._ordered for source in plan.sources)

    def _hold(self, workplace: Workplace, held: dict[str, Plan]) -> str:
        """Run these plans; returns what is in the way. Raises `StateError`, and then the ones before are held."""
        before, self._held = self._held, held
        try:
            return workplace.replace_plans()
        except StateError:
            self._held = before
            raise

    def _hold_without(self, workplace: Workplace, keys: Collection[str]) -> None:
        if keys:
            self._hold(workplace, {key: plan for key, plan in self._held.items() if key not in keys})

    def _obey(self, look: _Look, workplace: Workplace) -> None:
        """Run what was taken, and end what was lost."""
        self._ordered = look.ordered
        if look.watches_differ:
            workplace.replace_watches()
        if look.lost:
            sources = [source for key in look.lost for source in self._held[key].sources]
            logger.warning(
                "node %s: other nodes have taken over: %s", self.name, ", ".join(sorted(look.lost))
            )
            self._hold_without(workplace, look.lost)
            for source in sources:
                workplace.end_source(source)
        if look.draining and not self._draining:
            logger.info("the node %s drains: it finishes what runs, and takes nothing new", self.name)
            self._draining = True
            try:
                workplace.replace_plans()
            except StateError:
                self._draining = False
                raise
        for key, plan in look.taken.items():
            if conflict := self._run_too(key, plan, workplace):
                if conflict != self._conflict:
                    logger.warning("node %s: %s", self.name, conflict)
                self._conflict = conflict
            else:
                self._returned.discard(key)
                logger.info("node %s: takes %s", self.name, ", ".join(plan.sources))

    def _run_too(self, key: str, plan: Plan, workplace: Workplace) -> str:
        """Run one more plan; returns what is in its way. Raises `StateError`, and then it is not held either."""
        before = self._held
        conflict = self._hold(workplace, {**before, key: plan})
        if conflict:
            self._held = before
            workplace.replace_plans()
        return conflict

    # ---- looking at the store, in a thread beside the event loop

    def _look(self, done: Sequence[str], free: int) -> _Look:
        """Give back what is done, renew the lease, and take what is due and fits into `free` slots."""
        plans, facts = self._known()
        if done:
            self._store.give_back(done)
            self._returned.difference_update(done)
            for key in done:
                self._seen.pop(key, None)  # it may have been seen while the state could not be read
        if not self._store.renew_node(facts, LEASE_SECONDS):
            return _Look(lost_name=True)
        work = self._store.node_work()
        (own,) = (node for node in work.nodes if node.name == self.name)
        newest = max((node for node in work.nodes if node.alive), key=age_of, default=own)
        if age_of(newest) > age_of(own) and not own.draining:
            self._reason = (
                f"the node {newest.name} runs a newer program ({newest.facts.program}, tables {newest.schema}; "
                f"here {own.facts.program}, {own.schema})"
            )
            logger.warning("%s: the node %s drains", self._reason, self.name)
            self._store.renew_node(self._facts(), LEASE_SECONDS)
            self._store.drain_node(self.name)
            own = replace(own, draining=True)
        look = _Look(draining=own.draining, lost=set(self._held) - set(own.plans), ordered=work.ordered)
        look.crawled = work.crawled
        self._ordered, self._kept, self._released = work.ordered, work.kept, work.released
        is_taking = not (own.draining or self._ending)
        if is_taking:
            self._take(plans, work, free, look)
        look.watches_differ = self._watch_share.share_out(
            self._project(), own, work, lambda source: is_taking and self.may_take(source)
        )
        return look

    def _take(self, plans: Sequence[Plan], work: NodeWork, free: int, look: _Look) -> None:
        now = time.time()
        held = {key for node in work.nodes if node.alive for key in node.plans} | set(self._held)
        others = [plan for plan in plans if plan.key not in held and work.crawled.isdisjoint(plan.sources)]
        for plan in others:
            self._store_due(plan, work.kept.get(plan.key), now)
        due = {plan.key: self._due(plan, work.kept.get(plan.key), now) for plan in others}
        taking = {node.name for node in work.nodes if node.alive and not node.draining}
        forsaken = self._forsaken({plan.node for plan in plans} - taking - {""})
        mine = [plan for plan in others if due[plan.key] <= now and plan.node in {"", self.name, *forsaken}]
        released = (plan for plan in mine if self._is_released(plan, work.released))
        wanted = sorted(released, key=lambda plan: due[plan.key])
        bound = sum(bool(plan.node) for plan in wanted)
        left = bound + math.ceil((len(wanted) - bound) / max(len(taking), 1))
        for plan in wanted:
            is_overdue = due[plan.key] < now - OVERDUE_SECONDS and not look.taken
            if not left or not (free > 0 or is_overdue or self._is_ordered(plan)):
                break
            if not self._take_plan(plan):
                continue
            if self._due(plan, self._store.get_schedule(plan.key), now) > now:
                self._give_back(plan)  # another node has just run it
                continue
            look.taken[plan.key] = plan
            left, free = left - 1, free - len(plan.sources)

    def _is_released(self, plan: Plan, released: Mapping[str, str]) -> bool:
        """Return whether it has all sources of a plan as they were released; says once which file differs if not."""
        own = self._facts()
        refused = {
            source: released.get(source, "")
            for source in (plan.sources if released and plan.launcher is None else ())
            if own.digests.get(source) != released.get(source)
        }
        for source, digest in refused.items():
            if self._refused.get(source) != digest:
                logger.warning(
                    "node %s does not take %s: %s", self.name, source, self._difference(source, digest)
                )
        self._refused |= refused
        return not refused

    def _difference(self, source: str, released: str) -> str:
        if not released:
            return "it was not released; `ultracrawl node release` releases it"
        files = differing_files(self._facts().files, self._store.released_files(source))
        differing = ", ".join(files) or "no file, so the program, a plug-in or the environment"
        return f"it is not as it was released; what differs: {differing}"

    def _forsaken(self, absent: Collection[str]) -> Collection[str]:
        """Return those nodes that have taken nothing for the length of a lease: what is bound to them fails here."""
        now = time.monotonic()
        self._absent = {name: self._absent.get(name, now) for name in absent}
        return [name for name, since in self._absent.items() if now - since >= LEASE_SECONDS]

    def _due(self, plan: Plan, stored: KeptSchedule | None, now: float) -> float:
        """Return when a plan is launched next; at once if a person has given an order."""
        if self._is_ordered(plan):
            return now
        row = self._restored(plan, stored, now)
        at = next_launch(plan, row, now)
        if at is not None and row.left:
            at = min(at, row.begun) if at <= now else at  # what a dead node left keeps its place
        return NEVER if at is None else at

    def _restored(self, plan: Plan, stored: KeptSchedule | None, now: float) -> KeptSchedule:
        """Return the state with which a plan would start; it is computed again only after a change."""
        seen = self._seen.get(plan.key)
        if seen is None or seen.plan is not plan or seen.stored != stored:
            seen = self._seen[plan.key] = _Seen(plan, stored, restored_state(plan, now, stored))
        return seen.row

    def _store_due(self, plan: Plan, stored: KeptSchedule | None, now: float) -> None:
        """Store when a schedule is due, so that whoever runs it then knows; sources know it by their latest run."""
        if plan.own or (stored is not None and stored.due == self._restored(plan, stored, now).due):
            return
        if self._take_plan(plan):
            if self._store.get_schedule(plan.key) == stored:
                self._store.put_schedule(self._restored(plan, stored, now))
            self._give_back(plan)

    def _take_plan(self, plan: Plan) -> bool:
        """Hold a plan in the store, unless another node does."""
        is_taken = self._store.take_plan(plan.key, plan.sources)
        if is_taken:
            self._returned.add(plan.key)
        return is_taken

    def _give_back(self, plan: Plan) -> None:
        self._store.give_back([plan.key])
        self._returned.discard(plan.key)


@contextmanager
def open_node(
    project: Callable[[], Project], files: Callable[[], Mapping[str, str]], name: str, *, stays: bool = False
) -> Iterator[Node]:
    """Be a node in the block; `files` and `stays` are as for `Node`.

    Raises `UserError` without a database or if the node lives already, `StateError`.
    """
    token = str(uuid4())
    with (
        closing(open_nodes(project(), token)) as store,
        closing(open_nodes(project(), token)) as schedules,
    ):
        node = Node(name, store, schedules, project, files, stays=stays)
        node.register()
        try:
            yield node
        finally:
            store.end_node()
