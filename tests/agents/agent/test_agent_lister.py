"""How an agent is called, and what becomes of its documents."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from support.sentences import sentence

from ultracrawl.agents import AgentError, AgentParameter, AttributeLovs, CrawlerAgent, UrlData
from ultracrawl.agents.agent.lister import AgentLister
from ultracrawl.agents.agent.section import AgentSection
from ultracrawl.agents.port import Batch, Complete, KindSetup
from ultracrawl.errors import UserError, WorkError
from ultracrawl.sources.kinds import load_kind, source_model
from ultracrawl.sources.secrets import SecretReader


class RecordingAgent(CrawlerAgent):
    """Has two documents, and keeps what it was called for."""

    parameters: ClassVar = (
        AgentParameter("url", "address of the system", required=True),
        AgentParameter("password", secret=True),
    )
    documents: ClassVar[list[UrlData]] = [
        UrlData("https://cms.example.com/1", text="one"),
        UrlData("https://cms.example.com/2"),
    ]

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.left = iter(self.documents)

    def open(self, params: Mapping[str, Any]) -> None:
        self.calls.append(("open", dict(params)))

    def start_crawling(self, force_recrawl: bool, last_crawl_time: datetime | None) -> None:
        self.calls.append(("start_crawling", force_recrawl, last_crawl_time))

    def fetch(self) -> UrlData | None:
        self.calls.append("fetch")
        return next(self.left, None)

    def received(self, url_data: UrlData) -> None:
        self.calls.append(("received", str(url_data)))

    def stop_crawling(self) -> None:
        self.calls.append("stop_crawling")

    def close(self) -> None:
        self.calls.append("close")


class SmartAgent(RecordingAgent):
    """Names changes alone."""

    async def is_delta_crawling_capable(self) -> bool:  # type: ignore[override]
        return True


class AsyncAgent(RecordingAgent):
    """Has coroutines for methods."""

    async def open(self, params: Mapping[str, Any]) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().open(params)

    async def fetch(self) -> UrlData | None:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().fetch()


class LoopingAgent(RecordingAgent):
    """Is plain, and runs a loop of its own inside."""

    def fetch(self) -> UrlData | None:
        asyncio.run(asyncio.sleep(0))
        return super().fetch()


class StuckAgent(RecordingAgent):
    """Does not return."""

    def fetch(self) -> UrlData | None:
        threading.Event().wait()
        return None


class FailingAgent(RecordingAgent):
    """Fails with the error that a test sets."""

    error: ClassVar[BaseException] = AgentError("")

    def fetch(self) -> UrlData | None:
        raise self.error


class NothingWritten(CrawlerAgent):
    """Has no method."""


def setup(agent: type | str, *, force: bool = False, **options: Any) -> KindSetup[AgentSection]:
    path = agent if isinstance(agent, str) else f"{agent.__module__}.{agent.__qualname__}"
    written = {"name": "cms", "type": "agent", "class": path, "parameters": {"url": "here"}, **options}
    source: Any = source_model(load_kind("agent")).model_validate(written)
    return KindSetup(source, source, Path(), SecretReader({"SECRET": "tells"}), force, lambda: 86_400.0)


Made = Callable[..., AgentLister]


@pytest.fixture
def made() -> Iterator[Made]:
    """Give what makes listers; they are closed at the end, if they can be."""
    listers: list[AgentLister] = []

    def make(*words: Any, **options: Any) -> AgentLister:
        listers.append(AgentLister(setup(*words, **options)))
        return listers[-1]

    yield make
    for one in listers:
        with suppress(WorkError):
            one.close()


def listed(lister: AgentLister, since: str = "") -> Iterator[Any]:
    for one in lister.list_entries(since, ""):
        yield one
        if isinstance(one, Batch):
            lister.received(one)


def calls(lister: AgentLister) -> list[Any]:
    agent = lister._agent
    assert isinstance(agent, RecordingAgent)
    return agent.calls


@pytest.mark.parametrize("agent", [RecordingAgent, AsyncAgent, LoopingAgent])
def test_ultra_search_96_97_open_is_first_close_last_and_each_document_acknowledged(
    made: Made,
    agent: type[RecordingAgent],
) -> None:
    lister = made(agent)
    batch, end = listed(lister)
    lister.close()
    assert calls(lister) == [
        ("open", {"url": "here"}),
        ("start_crawling", False, None),
        "fetch",
        "fetch",
        "fetch",
        ("received", "https://cms.example.com/1"),
        ("received", "https://cms.example.com/2"),
        "stop_crawling",
        "close",
    ]
    assert [one.display_url for one in batch.entries] == [str(one) for one in agent.documents]
    assert isinstance(end, Complete)


def test_ultra_search_98_a_smart_agent_gets_the_time_of_the_last_crawl_and_names_changes(made: Made) -> None:
    lister = made(SmartAgent)
    *_, end = listed(lister)
    assert end == Complete("1970-01-02T00:00:00+00:00", changes_only=True)
    later = made(SmartAgent, force=True)
    list(listed(later, end.token))
    assert ("start_crawling", True, datetime(1970, 1, 2, tzinfo=UTC)) in calls(later)


def test_ultra_search_99_what_a_standard_agent_does_not_name_is_gone(made: Made) -> None:
    *_, end = listed(made(RecordingAgent))
    assert not end.changes_only


def test_ultra_search_102_after_an_interruption_with_all_queued_nothing_is_fetched(made: Made) -> None:
    lister = made(RecordingAgent)
    lister.resume_queued("1970-01-02T00:00:00+00:00")
    lister.close()
    assert [one if isinstance(one, str) else one[0] for one in calls(lister)] == [
        "open",
        "start_crawling",
        "stop_crawling",
        "close",
    ]


def test_a_delivered_document_has_an_address_that_outlives_its_display_url(made: Made) -> None:
    lister = made(RecordingAgent)
    batch, _ = listed(lister)
    first, second = batch.entries
    assert first.access_url == "agent://cms/https%3A%2F%2Fcms.example.com%2F1"
    assert (first.body, first.content_type) == (b"one", "text/plain; charset=utf-8")
    assert first.validators
    assert (second.access_url, second.body, second.validators) == ("https://cms.example.com/2", None, "")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            AgentError("the\nsystem is locked"),
            "the agent FailingAgent failed in fetch(): the system is locked",
        ),
        (KeyError("x"), "the agent FailingAgent failed in fetch(): KeyError: 'x'"),
        (SystemExit(3), "the agent FailingAgent failed in fetch(): SystemExit: 3"),
        (TimeoutError("slow"), "the agent FailingAgent failed in fetch(): TimeoutError: slow"),
    ],
)
def test_whatever_an_agent_raises_is_one_line(
    made: Made, error: BaseException, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FailingAgent, "error", error)
    lister = made(FailingAgent)
    with pytest.raises(WorkError) as raised:
        list(listed(lister))
    assert str(raised.value) == told
    lister.close()
    assert calls(lister)[-2:] == ["stop_crawling", "close"]


def test_an_agent_that_does_not_return_is_given_up(made: Made) -> None:
    lister = made(StuckAgent, call_timeout=0.5)
    with pytest.raises(WorkError, match=r"StuckAgent failed in fetch\(\): it did not return within 0.5 s"):
        list(listed(lister))
    with pytest.raises(WorkError, match=sentence("agents.earlier_call_not_returned")):
        lister.close()


def test_parameters_are_those_that_the_agent_declares(made: Made) -> None:
    lister = made(RecordingAgent, parameters={"url": "u", "password": "${SECRET}"})
    lister.check_connection()
    assert calls(lister) == [("open", {"url": "u", "password": "tells"})]
    with pytest.raises(UserError, match=r"parameters.urn: the agent has no such parameter; it has"):
        made(RecordingAgent, parameters={"urn": "u"})
    with pytest.raises(UserError, match=r"parameters.url: the agent needs it \(address of the system\)"):
        made(RecordingAgent, parameters={})
    with pytest.raises(UserError, match=r"parameters.password: the environment variable NONE is not set"):
        made(RecordingAgent, parameters={"url": "u", "password": "${NONE}"})


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("no.such.module", "cannot be loaded: No module named 'no'"),
        ("os.path", "is no subclass"),
        (f"{__name__}.NothingWritten", "has no `fetch`"),
    ],
)
def test_a_class_that_is_none_is_a_mistake(made: Made, path: str, told: str) -> None:
    with pytest.raises(UserError, match=f"source 'cms': agent '{path}' {told}"):
        made(path)


def test_ultra_search_103_an_agent_has_lists_of_values(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(self: object, lovs: AttributeLovs) -> bool:
        lovs.add_value("Country", "de", "Germany", "en")
        lovs.add_value("Country", "de", "Deutschland", "de")
        return True

    monkeypatch.setattr(RecordingAgent, "get_attribute_lovs", fill)
    (found,) = made(RecordingAgent).value_lists()
    assert found.attribute == "Country"
    assert [(one.value, dict(one.names)) for one in found.values] == [
        ("de", {"en": "Germany", "de": "Deutschland"})
    ]


def test_ultra_search_100_what_is_gone_is_reported_by_every_address_that_it_may_have_had(
    made: Made,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = UrlData(
        "https://cms.example.com/1", access_url="https://in.example.com/1", doc_key="k", deleted=True
    )
    monkeypatch.setattr(RecordingAgent, "documents", [gone])
    batch, _ = listed(made(RecordingAgent))
    (one,) = batch.entries
    assert (one.access_url, one.deleted, one.key) == ("agent://cms/k", True, "k")
    assert one.display_url == "https://cms.example.com/1"
    assert one.also == (
        "https://in.example.com/1",
        "agent://cms/https%3A%2F%2Fin.example.com%2F1",
        "agent://cms/https%3A%2F%2Fcms.example.com%2F1",
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"text": "a", "body": b"b"}, "not both"),
        ({"body": "text"}, "has to be bytes"),
        ({"title": 3}, sentence("agents.title_text")),
        ({"acl": "staff"}, "list of names"),
    ],
)
def test_url_data_says_what_is_wrong_with_it(given: dict[str, Any], told: str) -> None:
    with pytest.raises(AgentError, match=told):
        UrlData("https://cms.example.com/", **given)


def test_url_data_needs_a_url_unless_it_is_gone() -> None:
    with pytest.raises(AgentError, match="display_url"):
        UrlData("")
    assert UrlData("", doc_key="7", deleted=True).doc_key == "7"
