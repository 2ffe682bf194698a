"""Why somebody does not see a document of the index, by what the definition and the person have."""

import pytest

from ultracrawl.service.access.requester import Requester, RequesterKind
from ultracrawl.service.access.seen import Sight, why_unseen


@pytest.mark.parametrize(
    ("principals", "readers", "sight"),
    [
        (("sales",), ("group:sales",), Sight.NEAR_MISS),
        (("sales", "user:ben"), ("group:sales", "user:ben"), Sight.OWN_READERS),
        (("staff",), ("group:sales",), Sight.OTHER_READERS),
        (("staff",), (), Sight.OWN_READERS),
    ],
    ids=["alike", "alike beside one that counts", "others", "a document of its own"],
)
def test_what_the_definition_grants_comes_first(
    principals: tuple[str, ...], readers: tuple[str, ...], sight: Sight
) -> None:
    assert why_unseen(Requester("user:ben", RequesterKind.USER, None, principals), readers) is sight
