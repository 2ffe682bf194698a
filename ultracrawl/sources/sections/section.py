"""The base of every group of options."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Section(BaseModel):
    """A frozen group of options; unknown options are errors, an empty group (`robots:`) has only defaults."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=False, validate_default=False
    )

    @model_validator(mode="before")
    @classmethod
    def _empty(cls, data: Any) -> Any:
        return {} if data is None else data
