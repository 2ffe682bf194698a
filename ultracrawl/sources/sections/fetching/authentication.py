"""The entries of `authentication`: users and passwords of web servers, each for its part of the web."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.rules.access.credentials import Scheme
from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.section import Section

PREFIX_ADVICE = "write a beginning of URLs without user and password, as `https://www.example.com/staff/`"


def _check_prefix(text: str) -> str:
    try:
        return str(UrlPrefix.parse(text))
    except ValueError as error:
        raise mistake(f"the URL cannot be used here: {error}", PREFIX_ADVICE) from None


PrefixText = Annotated[str, AfterValidator(_check_prefix)]
"""A beginning of URLs, in canonical form."""
EntryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$", max_length=100)]
"""A name of one's own for an entry; logs and reports show it in place of what is secret."""


class AuthenticationEntry(Section):
    """A user and a password, and where they are sent (FAST 5.19, Ultra Search 12.1)."""

    url: PrefixText | None = Field(default=None, examples=["https://www.example.com/staff/"])
    """Where they are sent: at this URL and below it; of entries that fit, the longest wins."""
    realm: str = Field(default="", examples=["Staff area"])
    """Send them only where the server names this realm. Without `url`: on the sites of the start URLs."""
    scheme: Scheme = Field(default=Scheme.AUTO, examples=["digest"])
    """How they are sent: `basic` at once, `digest`, `ntlm`, `ntlmv1` when asked; `auto`: the safest."""
    user: str = Field(examples=["crawler"], min_length=1)
    """The user; for NTLM also `DOMAIN\\user`."""
    password: Secret = Field(examples=["${STAFF_PASSWORD}"])
    """The password: `${NAME}` of the environment, `file:PATH`, encrypted, or as it is."""

    @model_validator(mode="after")
    def _has_place(self) -> AuthenticationEntry:
        if self.url is None and not self.realm:
            raise mistake("neither `url` nor `realm` says where the password is sent", PREFIX_ADVICE)
        if ":" in self.user and self.scheme in {Scheme.BASIC, Scheme.DIGEST}:
            raise mistake("the user holds a colon, which these schemes cannot send", "write it without")
        return self
