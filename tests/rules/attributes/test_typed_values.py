"""What programs set as a search attribute becomes a value of its type, or is left out."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from support.sentences import sentence

from ultracrawl.index import IndexDocument
from ultracrawl.index.values import change_to_line
from ultracrawl.model import AttributeValue
from ultracrawl.rules.attributes.schema import AttributeType
from ultracrawl.rules.attributes.values import typed

STRING, NUMBER, DATE = AttributeType.STRING, AttributeType.NUMBER, AttributeType.DATE
MIDNIGHT = datetime(2024, 5, 1, tzinfo=UTC)
EAST = datetime(2024, 5, 1, 2, tzinfo=timezone(timedelta(hours=2)))

CASES: list[tuple[object, AttributeType, AttributeValue | None]] = [
    (" a ", STRING, "a"), ("", STRING, None), (7, STRING, "7"), (2.5, STRING, "2.5"), (Decimal("1.10"), STRING, "1.10"),
    (date(2024, 5, 1), STRING, "2024-05-01"), (EAST, STRING, "2024-05-01T02:00:00+02:00"),
    (None, STRING, None), (b"a", STRING, None), ({"a": 1}, STRING, None), (Ellipsis, STRING, None),
    (7, NUMBER, 7.0), (Decimal("3.5"), NUMBER, 3.5), ("12", NUMBER, 12.0), ("abc", NUMBER, None), (True, NUMBER, 1.0),
    (float("nan"), NUMBER, None), (Decimal("Infinity"), NUMBER, None), (MIDNIGHT, NUMBER, None), (None, NUMBER, None),
    (date(2024, 5, 1), DATE, MIDNIGHT), (MIDNIGHT, DATE, MIDNIGHT), (EAST, DATE, MIDNIGHT),
    (datetime(2024, 5, 1), DATE, MIDNIGHT), ("2024-05-01", DATE, MIDNIGHT), (20240501, DATE, None), ([], DATE, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "kind", "expected"), CASES, ids=[f"{one[0]!r} {one[1]}"[:40] for one in CASES]
)
def test_ultra_search_5_2_any_value_by_its_type(
    value: object, kind: AttributeType, expected: AttributeValue | None
) -> None:
    assert typed(value, kind) == expected


@pytest.mark.parametrize("value", [None, {"a": 1}, b"x", ["nested"]], ids=repr)
def test_what_could_not_be_read_again_never_enters_the_cache(value: object) -> None:
    document = IndexDocument("site", "http://a.example/", "A", "a", {"Author": [value]})  # type: ignore[list-item]
    with pytest.raises(TypeError, match=sentence("attributes.not_attribute_value")):
        change_to_line(1, document)
