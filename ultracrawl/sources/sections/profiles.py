"""The `profiles` section of a project: other machines that run scheduled crawls."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.project import check_web_url
from ultracrawl.sources.sections.section import Section


def _check_server(url: str) -> str:
    parts = urlsplit(check_web_url(url))
    if parts.username or parts.query or parts.fragment:
        raise mistake(
            "this is more than the address of a server",
            "write it as `http://north.example.com:6800`, and the account into `user` and `password`",
        )
    return url.rstrip("/")


class ProfileSection(Section):
    """Another machine with a Scrapyd server that runs crawls."""

    scrapyd: Annotated[str, AfterValidator(_check_server)] = Field(examples=["http://north.example.com:6800"])
    """The URL of Scrapyd on the other machine."""
    project: Annotated[str, Field(min_length=1, max_length=200)] = Field(examples=["intranet_sources"])
    """The project deployed in that Scrapyd. Its spiders have the names of the sources."""
    user: str = Field(default="", max_length=200, examples=["crawls"])
    """The user for Scrapyd, if it requires authentication."""
    password: Secret | None = Field(default=None, examples=["${NORTH_PASSWORD}"])
    """The password of `user`."""

    @model_validator(mode="after")
    def _both(self) -> ProfileSection:
        if bool(self.user) is not (self.password is not None):
            given, missing = ("user", "password") if self.user else ("password", "user")
            raise mistake(f"`{given}` has no effect without `{missing}`", f"add `{missing}`, or remove it")
        return self
