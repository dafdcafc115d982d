"""Conflicts of lines with other users' uids, names, outside accounts, profiles and ids of rows.

A batch of lines is compared with the database and with earlier lines, so that a line is refused before any part of it
is written. The constraints of the database are checked last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any, TypeVar

from django.db.models import QuerySet

from accounts.models import LinkedAccount, Name, User
from infrastructure.databases import bulk
from lookup.models import Comment, GalleryItem, Profile
from lookup.shapes.strict_fields import Problem
from lookup.transfer.reading import Line
from lookup.transfer.tables import TABLES

Key = tuple[str, object]  # the kind of thing, and which one
Taken = dict[Key, str | None]
Row = TypeVar("Row")
BATCH = 500  # values in one query: SQLite takes not many more

USER, UID, NAME, PROFILE, COMMENT = "user", "uid", "name", "profile", "comment"
CHAT, SCROBBLER = LinkedAccount.Kind.CHAT.value, LinkedAccount.Kind.SCROBBLER.value
_WORDS = {CHAT: "chat account", SCROBBLER: "scrobbler account"}
_GIVEN_UP = {NAME, CHAT, SCROBBLER}  # what a user no longer holds once a line names another one


def found(rows: QuerySet[Any, Row], column: str, values: Collection[Any]) -> Iterator[Row]:
    """Yield the rows whose `column` is one of `values`, in as many queries as that takes."""
    for batch in batches(values):
        yield from rows.filter(**{f"{column}__in": bulk.one_parameter(batch)})


def batches(values: Collection[Any]) -> Iterator[list[Any]]:
    """Yield parts of `values` that fit into one query."""
    wanted = sorted(values)
    for start in range(0, len(wanted), BATCH):
        yield wanted[start : start + BATCH]


class Claims:
    """The rows that a batch of lines names, and their holders.

    `taken`: what earlier lines have taken without writing it; None: what they gave up.
    """

    def __init__(self, lines: Iterable[Line], taken: Taken) -> None:
        self._lines, self._taken = list(lines), taken
        self._held: dict[Key, str] = {}
        self._keys_of: dict[str, set[Key]] = defaultdict(set)
        self.users: dict[str, User] = {}
        self.banned: set[str] = set()
        self.main_profiles: dict[str, Profile] = {}
        self.main_ids: dict[str, str] = {}
        self.alias_profiles: dict[str, set[str]] = defaultdict(set)
        self.names: dict[str, dict[str, Name]] = defaultdict(dict)
        self.accounts: dict[str, dict[str, LinkedAccount]] = defaultdict(dict)
        self.rows: dict[tuple[str, str], list[Any]] = defaultdict(list)  # Any: rows of a table, by its name and profile
        self.comments: dict[str, Comment] = {}
        owners = {line.user_id for line in self._lines}
        self._read_people(owners)
        self._read_profiles(owners)

    def problems(self, line: Line) -> Iterator[Problem]:
        """Yield the things that the line names and another user holds."""
        in_line: dict[Key, str] = {}
        for key, holder, path in self._named(line):
            held_by = self._holder(key) or in_line.setdefault(key, holder)
            if held_by == holder:
                continue
            if key[0] == USER:
                yield path, f"The user {key[1]} has the uid {held_by} here, not {holder}."
            else:
                word = _WORDS.get(key[0], key[0])
                yield path, f"The {word} {key[1]} belongs to {self._described(held_by)}, not to {holder}."
        if line.profile_id in self.alias_profiles[line.user_id]:
            yield "profile.profileId", "Is the profile of an alias here."
        for place, alias in enumerate(line.rows("aliases")):
            if alias["profileId"] and alias["profileId"] == self.main_ids.get(line.user_id):
                yield f"aliases.{place}.profileId", "Is the main profile here."

    def warnings(self, line: Line) -> Iterator[Problem]:
        """Yield authors whose stored names differ from the names in the line."""
        warned = {line.user_id}
        for place, item in enumerate(line.comments()):
            author = item["author"]
            user = self.users.get(author["id"])
            if user is None or user.pk in warned:
                continue
            if (user.username, user.display_name) != (author["username"], author["name"]):
                warned.add(user.pk)
                yield f"comments.items.{place}.author", "Has other names here, and lookups show those."

    def take(self, line: Line) -> None:
        """Accept the line: its user holds what it names, and gives up what it does not name."""
        named = {key: holder for key, holder, _ in self._named(line)}
        for key in self._keys_of[line.user_id] - set(named):
            if key[0] in _GIVEN_UP:
                self._taken[key] = None
        for key, holder in named.items():
            self._taken[key] = holder
            self._keys_of[holder].add(key)

    def _named(self, line: Line) -> Iterator[tuple[Key, str, str]]:
        """Yield keys, their holders by this line, and their paths in it."""
        user = line.user
        yield (USER, user["id"]), str(user["uid"]), "user.uid"
        yield (UID, user["uid"]), user["id"], "user.uid"
        yield (NAME, user["username"].upper()), user["id"], "user.username"
        if user["chatId"] is not None:
            yield (CHAT, user["chatId"]), user["id"], "user.chatId"
        if user["scrobblerUsername"] is not None:
            yield (SCROBBLER, user["scrobblerUsername"]), user["id"], "user.scrobblerUsername"
        yield (PROFILE, line.profile_id), user["id"], "profile.profileId"
        for place, alias in enumerate(line.rows("aliases")):
            yield (NAME, alias["name"].upper()), user["id"], f"aliases.{place}.name"
            if alias["profileId"] is not None:
                yield (PROFILE, alias["profileId"]), user["id"], f"aliases.{place}.profileId"
        main = self.main_ids.get(user["id"])
        for table in TABLES:
            for path, entry in table.of(line):
                held = self._held.get((table.name, entry["id"]))
                # A profile that gets another id keeps its rows.
                holder = main if main and held == main else line.profile_id
                yield (table.name, entry["id"]), holder, f"{path}.id"
        for place, item in enumerate(line.comments()):
            author, path = item["author"], f"comments.items.{place}"
            yield (COMMENT, item["id"]), user["id"], f"{path}.id"
            if author["id"] != user["id"]:
                yield (USER, author["id"]), str(author["uid"]), f"{path}.author.uid"
                if self._holder((USER, author["id"])) is None:
                    yield (UID, author["uid"]), author["id"], f"{path}.author.uid"
                    yield (NAME, author["username"].upper()), author["id"], f"{path}.author.username"

    def _holder(self, key: Key) -> str | None:
        return self._taken[key] if key in self._taken else self._held.get(key)

    def _described(self, holder: str) -> str:
        user = User.objects.filter(pk=holder).first() or User.objects.filter(profiles=holder).first()
        return f"{user.username} ({holder})" if user else holder

    def _hold(self, key: Key, holder: str) -> None:
        self._held[key] = holder
        self._keys_of[holder].add(key)

    def _read_people(self, owners: set[str]) -> None:
        """Read the users with their names and outside accounts."""
        named = [line.user for line in self._lines]
        outside = {user[name] for user in named for name in ("chatId", "scrobblerUsername")} - {None}
        named += [item["author"] for line in self._lines for item in line.comments()]
        for user in found(User.objects.all(), "pk", {user["id"] for user in named}):
            self.users[user.pk] = user
            self._held[USER, user.pk] = str(user.uid)
        self.banned = {pk for pk, user in self.users.items() if not user.is_active}
        for uid, pk in found(User.objects.values_list("uid", "pk"), "uid", {user["uid"] for user in named}):
            self._held[UID, uid] = pk
        keys = {user["username"].upper() for user in named}
        keys |= {alias["name"].upper() for line in self._lines for alias in line.rows("aliases")}
        names = Name.objects.select_related("alias")
        for name in [*found(names, "pk", keys), *found(names, "user", owners)]:
            self._hold((NAME, name.pk), name.user_id)
            self.names[name.user_id][name.pk] = name
        accounts = LinkedAccount.objects.all()
        for account in [*found(accounts, "external_id", outside), *found(accounts, "user", owners)]:
            self._hold((account.kind, account.external_id), account.user_id)
            self.accounts[account.user_id][account.kind] = account

    def _read_profiles(self, owners: set[str]) -> None:
        """Read the profiles with their rows, and the comments."""
        named = {alias["profileId"] for line in self._lines for alias in line.rows("aliases")} - {None}
        named |= {line.profile_id for line in self._lines}
        profiles = [*found(Profile.objects.all(), "pk", named), *found(Profile.objects.all(), "user", owners)]
        for profile in {row.pk: row for row in profiles}.values():
            self._held[PROFILE, profile.pk] = profile.user_id
            if profile.is_main:
                self.main_profiles[profile.user_id], self.main_ids[profile.user_id] = profile, profile.pk
            else:
                self.alias_profiles[profile.user_id].add(profile.pk)
        mains = {self.main_ids[user_id] for user_id in owners & set(self.main_ids)}
        for table in TABLES:
            rows: QuerySet[Any] = table.model._default_manager.all()  # Any: what is on a profile
            if table.model is GalleryItem:
                rows = rows.select_related("section")
            ids = {entry["id"] for line in self._lines for _, entry in table.of(line)}
            for row in {row.pk: row for row in [*found(rows, "pk", ids), *found(rows, "profile", mains)]}.values():
                self._held[table.name, row.pk] = row.profile_id
                self.rows[table.name, row.profile_id].append(row)
        ids = {item["id"] for line in self._lines for item in line.comments()}
        for comment in found(Comment.objects.all(), "pk", ids):
            self.comments[comment.pk] = comment
            self._held[COMMENT, comment.pk] = comment.user_id if comment.parent_id is None else "another comment"
