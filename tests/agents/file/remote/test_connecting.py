"""Addresses of servers, and connections that are made again."""

from __future__ import annotations

import pytest

from ultracrawl.agents.file.remote import connecting
from ultracrawl.agents.file.remote.connecting import Reconnecting, allowed_addresses
from ultracrawl.errors import UserError, WorkError


def test_a_server_of_an_intranet_is_allowed_and_a_metadata_service_is_not() -> None:
    assert allowed_addresses("127.0.0.1", 22, 5) == ["127.0.0.1"]
    assert allowed_addresses("10.1.2.3", 22, 5) == ["10.1.2.3"]
    with pytest.raises(UserError, match=r"169\.254\.169\.254"):
        allowed_addresses("169.254.169.254", 22, 5)


def test_a_host_that_cannot_be_resolved_is_no_mistake_of_the_definition() -> None:
    with pytest.raises(WorkError, match=r"nowhere\.invalid"):
        allowed_addresses("nowhere.invalid", 22, 5)


def test_a_failed_attempt_is_not_repeated_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[str] = []

    def connect() -> str:
        attempts.append("attempt")
        if len(attempts) == 1:
            raise WorkError("no answer")
        return "connection"

    closed: list[str] = []
    connection = Reconnecting(connect, closed.append)
    for _ in range(3):
        with pytest.raises(WorkError, match="no answer"):
            connection.get()
    assert len(attempts) == 1
    monkeypatch.setattr(connecting, "RETRY_SECONDS", 0.0)
    assert [connection.get(), connection.get()] == ["connection"] * 2
    connection.drop("another")
    assert closed == []
    connection.drop("connection")
    connection.drop()
    assert closed == ["connection"]
