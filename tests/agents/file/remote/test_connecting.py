"""Connections that are made again."""

from __future__ import annotations

import pytest

from ultracrawl.agents.file.remote import connecting
from ultracrawl.agents.file.remote.connecting import Reconnecting
from ultracrawl.errors import WorkError


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
