"""Conditions as they are typed."""

from __future__ import annotations

import pytest

from ultracrawl.errors import UserError
from ultracrawl.index.filters import Filter, Operator, all_of


def test_values_of_one_attribute_are_one_condition() -> None:
    found = all_of([" Author = Miller ", "Size=3", "Author=a=b"])
    assert found == [
        Filter("Author", Operator.ALL_OF, ("Miller", "a=b")),
        Filter("Size", Operator.ALL_OF, ("3",)),
    ]


@pytest.mark.parametrize("text", ["Author", "=Miller", " =Miller", ""])
def test_what_names_no_attribute_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        all_of([text])
