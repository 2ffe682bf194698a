"""What forms about users, tokens and public keys say: read, checked, and confirmed by the password of their sender."""

from __future__ import annotations

import time
from collections.abc import Collection
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ultracrawl.service.access.logins import TooManyLoginsError
from ultracrawl.service.access.passwords import MAX_CHARACTERS, MIN_CHARACTERS
from ultracrawl.service.access.reader_names import defined_readers
from ultracrawl.service.access.requester import Requester, Role
from ultracrawl.service.access.sessions import KEY_LIFE, Session
from ultracrawl.service.api.access import Administrator
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.account.own_account import confirmed_user
from ultracrawl.service.pages.admin.rendering import render_admin

SEARCHER = "searcher"
"""What a form sends for a user without a role."""
Problems = dict[str, tuple[str, str]]
"""What is wrong with a field: a code, which the template puts into words, and the value that it is about."""
_LONGEST_READER, _MOST_LINES = 1000, 1000


async def person(requester: Administrator) -> Requester:
    """Return the administrator who sends a form. Raises status 403 for a token: it makes nobody who may do more."""
    if not requester.uses_forms:
        raise HTTPException(HTTPStatus.FORBIDDEN, "users and tokens are made by people who log in")
    return requester


Person = Annotated[Requester, Depends(person)]


class Rights(NamedTuple):
    """What somebody may do and see."""

    role: Role | None
    principals: tuple[str, ...] | None
    sources: tuple[str, ...] | None


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a field, each once, without blanks around them and empty ones."""
    return tuple(dict.fromkeys(one.strip() for one in text.splitlines() if one.strip()))


def rights_of(form: dict[str, str], known: Collection[str], problems: Problems) -> Rights:
    """Return the rights that a form gives in the sources `known`, and note what is wrong with them."""
    word = form.get("role", SEARCHER)
    if word not in (SEARCHER, *(role.value for role in Role)):
        problems["role"] = ("role", word)
        word = SEARCHER
    principals, sources = lines_of(form.get("principals", "")), lines_of(form.get("sources", ""))
    if len(principals) > _MOST_LINES:
        problems["principals"] = ("many", str(_MOST_LINES))
    for name in principals:
        if len(name) > _LONGEST_READER or not name.isprintable():
            problems["principals"] = ("reader", name[:100])
    for name in sources:
        if name not in known:
            problems["sources"] = ("source", name[:100])
    role = None if word == SEARCHER else Role(word)
    return Rights(role, None if form.get("all") else principals, sources or None)


def check_bounds(maker: Requester, rights: Rights, problems: Problems) -> Rights:
    """Return the rights of a token, and note what its maker may not give: none shows more than its maker sees.

    Where its maker finds documents of some sources only, it is for these as well, unless it names some of them.
    """
    sources = rights.sources
    if maker.principals is not None:
        if rights.principals is None:
            problems["principals"] = ("beyond-all", "")
        elif beyond := [one for one in rights.principals if one not in maker.principals]:
            problems["principals"] = ("beyond", ", ".join(beyond))
    if maker.sources is not None:
        sources = maker.sources if sources is None else sources
        if beyond := [one for one in sources if one not in maker.sources]:
            problems["sources"] = ("beyond", ", ".join(beyond))
    return rights._replace(sources=sources)


async def check_own_password(
    request: Request, state: ApiState, form: dict[str, str], problems: Problems
) -> None:
    """Note it unless a form has the password of who sends it.

    Whoever started the service has none: the first minutes of a session by a one-time key count for it. Users whom
    another system signs in cannot show who they are here.
    """
    session: Session | None = getattr(request.state, "session", None)
    if session is not None and session.has_password:
        try:
            if await confirmed_user(request, state, session, form.get("own", "")) is None:
                problems["own"] = ("wrong", "")
        except TooManyLoginsError:
            problems["own"] = ("many-passwords", "")
    elif session is None or session.number or session.issuer or time.time() - session.began >= KEY_LIFE:
        problems["own"] = ("elsewhere", "")


def grant_page(
    request: Request, state: ApiState, template: str, problems: Problems | None = None, **context: Any
) -> Response:
    """Return the page of a form, with what is wrong in its fields."""
    found = problems or {}
    is_guessing = found.get("own", ("", ""))[0] == "many-passwords"
    status = HTTPStatus.TOO_MANY_REQUESTS if is_guessing else HTTPStatus.BAD_REQUEST
    return render_admin(
        request,
        template,
        status if found else HTTPStatus.OK,
        section="access",
        problems=found,
        roles=[role.value for role in Role],
        readers=defined_readers(state.project)[:50],
        source_names=sorted(state.project.known_sources)[:50],
        least=MIN_CHARACTERS,
        most=MAX_CHARACTERS,
        **context,
    )


def as_typed(rights: Rights) -> dict[str, str]:
    """Return the fields of a form that has rights."""
    return {
        "role": rights.role.value if rights.role else SEARCHER,
        "principals": "\n".join(rights.principals or ()),
        "all": "1" if rights.principals is None else "",
        "sources": "\n".join(rights.sources or ()),
    }


def told(rights: Rights) -> dict[str, Any]:
    """Return what the audit log says of rights."""
    principals = "all" if rights.principals is None else list(rights.principals)
    return {
        "role": rights.role.value if rights.role else SEARCHER,
        "principals": principals,
        **({} if rights.sources is None else {"sources": list(rights.sources)}),
    }
