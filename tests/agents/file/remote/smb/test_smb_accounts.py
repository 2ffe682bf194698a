"""Names of accounts, when the server does not give them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ultracrawl.agents.file.remote.smb.accounts import AccountNames
from ultracrawl.errors import WorkError

ANN = "S-1-5-21-1-2-3-1000"


class _Session:
    def __init__(self, error: Exception) -> None:
        self.asked = 0
        self._error = error

    def tree(self, share: str) -> Any:
        self.asked += 1
        raise self._error


def test_an_identifier_stands_for_itself_if_the_server_refuses_to_say_more() -> None:
    session = _Session(PermissionError("no"))
    names = AccountNames(session)  # type: ignore[arg-type]  # the part that is used
    assert [names.name_of(ANN), names.name_of("S-1-5-32-545"), names.name_of(ANN)] == [
        ANN,
        "S-1-5-32-545",
        ANN,
    ]
    assert names.readers_of(ANN) == (f"user:{ANN}", f"group:{ANN}"), "one of both, nobody else has it"
    assert session.asked == 2  # a pipe that was closed is opened once more


def test_a_lost_connection_is_no_refusal() -> None:
    names = AccountNames(_Session(WorkError("lost")))  # type: ignore[arg-type]
    with pytest.raises(WorkError):
        names.name_of(ANN)


def test_an_answer_that_is_none_gives_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    session = SimpleNamespace(tree=lambda share: None)
    monkeypatch.setattr(
        "ultracrawl.agents.file.remote.smb.accounts._Pipe",
        lambda session: SimpleNamespace(account_of=_broken),
    )
    assert AccountNames(session).name_of(ANN) == ANN  # type: ignore[arg-type]


def _broken(identifier: str) -> str:
    raise ValueError("bytes")
