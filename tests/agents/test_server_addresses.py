"""The addresses of servers that a definition names."""

from __future__ import annotations

import pytest

from ultracrawl.agents.server_addresses import allowed_addresses
from ultracrawl.errors import UserError, WorkError


def test_a_server_of_an_intranet_is_allowed_and_a_metadata_service_is_not() -> None:
    assert allowed_addresses("127.0.0.1", 22, 5) == ["127.0.0.1"]
    assert allowed_addresses("10.1.2.3", 22, 5) == ["10.1.2.3"]
    with pytest.raises(UserError, match=r"169\.254\.169\.254"):
        allowed_addresses("169.254.169.254", 22, 5)


def test_a_host_that_cannot_be_resolved_is_no_mistake_of_the_definition() -> None:
    with pytest.raises(WorkError, match=r"nowhere\.invalid"):
        allowed_addresses("nowhere.invalid", 22, 5)
