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

    ADDED: ClassVar[frozenset[str]] = frozenset()
    """Options that an earlier version did not have; as long as they have their defaults, documents are not made anew.

    An option that is added to a group goes in here: no crawl makes all documents again because there is such an option.
    """

    @classmethod
    def only_fetching(cls) -> frozenset[str]:
        """Return the options of `FETCHING`, also of the groups that this one is made from."""
        return cls._gathered("FETCHING")

    @classmethod
    def _gathered(cls, name: str) -> frozenset[str]:
        return frozenset().union(*(vars(one).get(name, ()) for one in cls.__mro__))

    def without_effect(self) -> frozenset[str]:
        """Return the options that make no other documents: those that only fetch, and added ones at their defaults."""
        fields = type(self).model_fields
        added = self._gathered("ADDED")
        return self.only_fetching() | {one for one in added if getattr(self, one) == fields[one].default}

    @model_validator(mode="before")
    @classmethod
    def _empty(cls, data: Any) -> Any:
        return {} if data is None else data
