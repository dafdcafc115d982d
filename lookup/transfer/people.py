"""Users of lines and authors of their comments: their rows, their names, their outside accounts."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX, UNUSABLE_PASSWORD_SUFFIX_LENGTH

from accounts import hooks
from accounts.api_keys import records
from accounts.linking import account_links
from accounts.models import LinkedAccount, Name, UidCounter, User
from accounts.models.names import NameKind
from accounts.plans import Plan
from accounts.users import changed_names
from infrastructure.databases import bulk
from infrastructure.timestamps import milliseconds
from lookup.models import Alias
from lookup.transfer.conflicts import Claims, batches
from lookup.transfer.reading import Json, Line

_COLUMNS = (
    *("username", "display_name", "created_at", "is_verified", "is_inactive"),
    *("plan", "plan_expires_at", "public_api_access"),
)
_KINDS = {LinkedAccount.Kind.CHAT: "chatId", LinkedAccount.Kind.SCROBBLER: "scrobblerUsername"}


@dataclass(frozen=True)
class Author:
    """A user of whom only the author object of a comment is known."""

    user: User
    data: Json


@dataclass(frozen=True)
class People:
    """`users`: by id, with the authors. `authors`: the new ones."""

    users: dict[str, User]
    authors: list[Author]


def lock(lines: Iterable[Line]) -> None:
    """Make sign-ups, other imports and deletions of these users wait until this transaction ends."""
    UidCounter.objects.get_or_create(pk=UidCounter.THE_ROW)
    UidCounter.objects.select_for_update().get(pk=UidCounter.THE_ROW)
    for batch in batches({line.user_id for line in lines}):
        list(User.objects.select_for_update(no_key=True).filter(pk__in=batch).order_by("pk").values_list("pk"))


def write(lines: list[Line], claims: Claims, now: datetime) -> People:
    """Write the users as the lines say them, and new authors of comments."""
    names = {pk: (user.username, user.get_full_name()) for pk, user in claims.users.items()}
    authors = list(_new_authors(lines, claims, now))
    users = [_user(line, claims.users.get(line.user_id), now) for line in lines] + [author.user for author in authors]
    new = [user.uid for user in users if user.pk not in claims.users]
    if new:
        UidCounter.objects.filter(pk=UidCounter.THE_ROW, next_uid__lte=max(new)).update(next_uid=max(new) + 1)
    # An account that is added to a user raises the version that documents are rendered from: new users come after it.
    _write_accounts(lines, claims)
    bulk.save(users, held=set(claims.users), columns=_COLUMNS)
    _write_names(lines, authors, claims)
    hooks.claims_changed({user.pk: changed_names(user, *names[user.pk]) for user in users if user.pk in names})
    return People({user.pk: user for user in users}, authors)


def kept(given: datetime, stored: datetime | None) -> datetime:
    """Return the stored timestamp if it is shown like `given`: it may be finer than what lookups show."""
    return stored if stored and milliseconds(stored) == milliseconds(given) else given


def _user(line: Line, user: User | None, now: datetime) -> User:
    given = line.user
    if user is None:
        named = {"id": line.user_id, "uid": given["uid"], "created_at": given["createdAt"]}
        user = bulk.build(User, **named, password=_no_password())
    user.username, user.display_name = given["username"], given["name"]
    user.created_at = kept(given["createdAt"], user.created_at)
    user.is_verified, user.is_inactive = given["verified"], given["inactive"]
    # Who is only known from comments cannot have turned public API access off.
    is_only_an_author = user.last_login is None and not user.email and not user.has_usable_password()
    user.public_api_access = user.public_api_access or (is_only_an_author and not user.is_hidden)
    if (user.is_premium(now), user.is_imagehost(now)) != (given["premium"], given["imagehost"]):
        user.plan = Plan.IMAGEHOST if given["imagehost"] else Plan.PREMIUM if given["premium"] else Plan.FREE
        user.plan_expires_at = None
        if not user._state.adding:
            records.forget_of(user)
    return user


def _no_password() -> str:
    """Return a hash that no password matches, as `make_password(None)` does, from one read of the source of randomness
    instead of forty."""
    return f"{UNUSABLE_PASSWORD_PREFIX}{secrets.token_hex(UNUSABLE_PASSWORD_SUFFIX_LENGTH // 2)}"


def _new_authors(lines: list[Line], claims: Claims, now: datetime) -> Iterator[Author]:
    known = {*claims.users, *(line.user_id for line in lines)}
    for line in lines:
        for item in line.comments():
            author = item["author"]
            if author["id"] not in known:
                known.add(author["id"])
                user = bulk.build(
                    User,
                    id=author["id"],
                    uid=author["uid"],
                    username=author["username"],
                    display_name=author["name"],
                    password=_no_password(),
                    public_api_access=False,  # whether they want to be found, a comment does not say
                    created_at=now,
                )
                yield Author(user, author)


def _write_names(lines: Iterable[Line], authors: Iterable[Author], claims: Claims) -> None:
    """Release names before other users take them, and turn a username into an alias before writing the new username."""
    aliases: dict[str, Name] = {}
    usernames = {author.user.username.upper(): _name(author.user.username, author.user.pk) for author in authors}
    given_up: set[str] = set()
    for line in lines:
        username = _name(line.user["username"], line.user_id)
        usernames[username.key] = username
        own = {
            alias["name"].upper(): _name(alias["name"], line.user_id, NameKind.ALIAS) for alias in line.rows("aliases")
        }
        aliases.update(own)
        given_up |= set(claims.names[line.user_id]) - {username.key, *own}
    for batch in batches(given_up):
        Name.objects.filter(pk__in=batch).delete()
    for batch in batches(usernames):
        Alias.objects.filter(pk__in=batch).delete()
    for names in (aliases, usernames):
        held = {key for key, name in names.items() if key in claims.names[name.user_id]}
        bulk.save([*names.values()], held=held, columns=["name", "kind"])


def _name(name: str, user_id: str, kind: str = NameKind.USERNAME) -> Name:
    return bulk.build(Name, key=name.upper(), name=name, kind=kind, user_id=user_id)


def _write_accounts(lines: Iterable[Line], claims: Claims) -> None:
    deleted: list[Any] = []  # Any: primary keys
    new: list[LinkedAccount] = []
    changed: dict[str, frozenset[str]] = {}
    for line in lines:
        for kind, key in _KINDS.items():
            held, given = claims.accounts[line.user_id].get(kind), line.user[key]
            if held and (held.external_id if kind == LinkedAccount.Kind.CHAT else held.name) == given:
                continue
            if held:
                deleted.append(held.pk)
            if line.user_id in claims.users and (held or given is not None):
                changed[line.user_id] = account_links.CLAIMS
            if given is not None:
                new.append(LinkedAccount(user_id=line.user_id, kind=kind, external_id=given, name=given))
    for batch in batches(deleted):
        LinkedAccount.objects.filter(pk__in=batch).delete()
    bulk.insert(new)
    hooks.claims_changed(changed)
