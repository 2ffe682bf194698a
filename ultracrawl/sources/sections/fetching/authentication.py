"""The entries of `authentication` (passwords of web servers) and of `logins` (HTML login forms)."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.rules.access.credentials import Scheme
from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.rules.urls.canonical import UrlPolicy, host_of
from ultracrawl.sources.durations import Interval
from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds, one_or_list

PREFIX_ADVICE = "write a beginning of URLs without user and password, as `https://www.example.com/staff/`"


def _prefix(text: str, *, instead: str = PREFIX_ADVICE) -> str:
    try:
        return str(UrlPrefix.parse(text))
    except ValueError as error:
        raise mistake(f"the URL cannot be used here: {error}", instead) from None


PrefixText = Annotated[str, AfterValidator(_prefix)]
"""A URL prefix in canonical form."""
EntryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$", max_length=100)]
"""A user-defined name of an entry; logs and reports show it instead of secrets."""


class PasswordEntry(Section):
    """A user and a password (FAST 5.19, Ultra Search 12.1)."""

    realm: str = Field(default="", examples=["Staff area"])
    """Send user and password only if the server names this realm."""
    scheme: Scheme = Field(default=Scheme.AUTO, examples=["digest"])
    """The authentication scheme: `basic` is sent with the first request, `digest`, `ntlm` and `ntlmv1` when the server
    asks for them; `auto`: the safest that it offers.
    """
    user: str = Field(examples=["crawler"], min_length=1)
    """The user; for NTLM also `DOMAIN\\user`."""
    password: Secret = Field(examples=["${STAFF_PASSWORD}"])
    """The password: `${NAME}` of the environment, `file:PATH`, encrypted, or as it is."""

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        if ":" in self.user and self.scheme in {Scheme.BASIC, Scheme.DIGEST}:
            raise mistake("the user holds a colon, which these schemes cannot send", "write it without")
        return self


class AuthenticationEntry(PasswordEntry):
    """A user and a password, and the URLs they are sent to."""

    url: PrefixText | None = Field(default=None, examples=["https://www.example.com/staff/"])
    """User and password are sent for this URL and all URLs below it. Of several matching entries, the one with the
    longest URL applies. None: to the sites of the start URLs, for `realm`."""

    @model_validator(mode="after")
    def _has_place(self) -> Self:
        if self.url is None and not self.realm:
            raise mistake("neither `url` nor `realm` says where the password is sent", PREFIX_ADVICE)
        return self


_FORM = UrlPolicy()


def _check_url(text: str) -> str:
    _prefix(text, instead="write it in full, as `https://www.example.com/login`")
    return _FORM.canonical(text) or text


def _check_host(text: str) -> str:
    url = _FORM.canonical(f"http://{text.strip()}/") if "/" not in text and "@" not in text else None
    if url is None or ":" in host_of(url).strip("[]") or url.count(":") > 1:
        raise mistake(f"{format_value(text)} is not the name of a host", "write it as `members.example.com`")
    return host_of(url)


FormUrl = Annotated[str, AfterValidator(_check_url)]
Hosts = Annotated[tuple[Annotated[str, AfterValidator(_check_host)], ...], one_or_list(str)]


class LoginEntry(Section):
    """One login form, its field values, and the sites it gives access to (FAST 5.30, Ultra Search 12.2)."""

    ADVICE: ClassVar = {
        "url": "write `page` for the page with the form, or `action` for the URL that it is sent to",
        **dict.fromkeys(
            ("user", "username", "password"),
            "write it in `fields`, by the name that the field has in the form",
        ),
    }

    page: FormUrl | None = Field(default=None, examples=["https://login.example.com/session"])
    """The page with the form: the first form with a password field is used."""
    preload: FormUrl | None = Field(default=None, examples=["https://login.example.com/hello"])
    """A page to fetch first, for its cookies."""
    action: FormUrl | None = Field(default=None, examples=["https://login.example.com/session/new"])
    """The URL to which the form is sent. None: the URL in the form itself, which must be on the site of `page`."""
    method: Literal["GET", "POST"] | None = Field(default=None, examples=["POST"])
    """The method. None: that of the form, else POST. With GET, servers may log the password."""
    autofill: bool = Field(default=True, examples=[False])
    """Send all fields of the form on `page`, hidden ones too, with `fields` filled in."""
    fields: Mapping[str, Secret] = Field(
        examples=[{"account": "${MEMBERS_USER}", "password": "${MEMBERS_PASSWORD}"}]
    )
    """Values by field name. Values may be secrets. Empty: nothing is filled in."""
    sites: Hosts = Field(default=(), examples=[["members.example.com", "forum.example.com"]])
    """Hosts crawled with this login. Empty: the host of the form."""
    ttl: Interval = Field(default=None, examples=["1 h"])
    """Age at which a login is renewed. None: only when the session is lost."""
    relogin_if_failed: bool = Field(default=False, examples=[True])
    """Retry a failed login after `ttl`; pages wait for it, for three failures in a row at most. If off, only the next
    run retries."""
    required: bool = Field(default=True, examples=[False])
    """Do not crawl the sites after a failed login (status 959). If off, crawl them without login; what it had shown
    stays."""
    timeout: Seconds = Field(default=300.0, gt=0, examples=[30])
    """Seconds after which a request of the login is given up."""
    failed_text: str = Field(default="", examples=["Wrong password"])
    """Text of the page after a failed login, for servers that do not show this by the status."""
    lost_text: str = Field(default="", examples=["Your session has expired"])
    """Text of pages that need a new login, for servers that do not redirect to the form."""
    keep_session: bool = Field(default=False, examples=[True])
    """Store the cookies of the login, encrypted, for later runs and for other sources with the same login."""

    @model_validator(mode="after")
    def _has_target(self) -> Self:
        if self.action is None and (self.page is None or not self.autofill):
            raise mistake(
                "neither `action` nor a `page` to fill in says where the form is sent",
                "write for example `page: https://www.example.com/login`",
            )
        return self
