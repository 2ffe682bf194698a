"""The base of every group of options."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator


class Section(BaseModel):
    """A frozen group of options; unknown options are errors, an empty group (`robots:`) has only defaults."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=False, validate_default=False
    )

    FETCHING: ClassVar[frozenset[str]] = frozenset()
    """Options that decide which pages are fetched, and how, but not what becomes of them.

    A change of all others makes documents anew; so does one of an option that nobody thought of.
    """

    @classmethod
    def only_fetching(cls) -> frozenset[str]:
        """Return the options of `FETCHING`, also of the groups that this one is made from."""
        return frozenset().union(*(vars(one).get("FETCHING", ()) for one in cls.__mro__))

    @model_validator(mode="before")
    @classmethod
    def _empty(cls, data: Any) -> Any:
        return {} if data is None else data
