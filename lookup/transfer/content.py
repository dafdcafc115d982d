"""Write uploads, profiles and their rows; comments, and totals beyond the rows that a line holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models import Model
from django.utils import timezone

from infrastructure.databases import bulk
from infrastructure.timestamps import milliseconds
from lookup.documents import counters, documents, queries
from lookup.models import Alias, Asset, Comment, Profile, ProfileBadge, ProfileDocument, UserDocument
from lookup.serializers.current import ProfileSerializer
from lookup.serializers.fields import AssetFacts, Mirrored
from lookup.serializers.rows import WholeProfile
from lookup.transfer import form
from lookup.transfer.conflicts import Claims, batches, found
from lookup.transfer.people import Author, People, kept
from lookup.transfer.reading import Json, Line
from lookup.transfer.tables import TABLES, Table, assets_of, is_hidden

_COLUMNS = form.columns_of(ProfileSerializer, Profile)
_ASSETS = {column: name for column, name in _COLUMNS.items() if column in Profile.ASSETS}
_TEXTS = {
    column: name
    for column, name in _COLUMNS.items()
    if column not in {*Profile.ASSETS, "settings", "created_at", "updated_at"}
}
_COMMENT_COLUMNS = (
    *("author", "content", "is_pinned", "created_at"),
    *("like_count", "reply_count", "imported_like_count", "imported_reply_count"),
)
_DOCUMENT_COLUMNS = (
    *("profile", "views", "likes", "dislikes", "comments", "unlock_due"),
    *("imported_likes", "imported_dislikes", "imported_comments"),
)
_MIRRORS = {"avatarSettings": {"mirrorChat": True}}


Uploads = dict[tuple[str, AssetFacts], Asset]  # by owner and facts


def _uploads(lines: Iterable[Line], authors: Iterable[Author]) -> Uploads:
    """Return the asset rows of what lines name: existing ones with equal facts, and new ones."""
    wanted = {(line.user_id, facts): None for line in lines for _, facts in assets_of(line)}
    pictures = [(author.user.pk, author.data["avatarUrl"]) for author in authors]
    wanted |= {(owner, facts): None for owner, facts in pictures if isinstance(facts, AssetFacts)}
    held = sorted(found(Asset.objects.all(), "owner", {owner for owner, _ in wanted}), key=lambda row: row.pk)
    rows = {(row.owner_id, facts_of(row)): row for row in reversed(held)}
    new = [bulk.build(Asset, owner_id=key[0], **key[1]._asdict()) for key in wanted if key not in rows]
    bulk.insert(new)
    return rows | {(row.owner_id, facts_of(row)): row for row in new}


def facts_of(row: Asset) -> AssetFacts:
    return AssetFacts(row.path, row.mime, row.width, row.height, row.duration)


@dataclass(frozen=True)
class WrittenProfiles:
    """`profiles`: the main profiles, by user. `new`: the profiles of new users with everything on them, by profile: no
    row has to be read to render them."""

    people: People
    profiles: dict[str, Profile]
    new: dict[str, WholeProfile]


def write(lines: list[Line], people: People, claims: Claims) -> WrittenProfiles:
    """Write the profiles of the lines with everything on them."""
    uploads = _uploads(lines, people.authors)
    rows = [_profile(line, claims, uploads) for line in lines] + [_empty(author, uploads) for author in people.authors]
    profiles = {row.user_id: row for row in rows}
    bulk.save(rows, held={profiles[user].pk for user in claims.main_ids if user in profiles}, columns=list(_COLUMNS))
    _write_aliases(lines, claims)
    deleted = {table.name: _delete(table, lines, claims) for table in reversed(TABLES)}  # pictures before sections
    listed = {table.model: _write_rows(table, lines, uploads, claims, deleted[table.name]) for table in TABLES}
    new = [row for row in rows if row.user_id not in claims.users]
    return WrittenProfiles(people, profiles, _whole(new, people, listed))


def _whole(profiles: list[Profile], people: People, listed: Mapping[type[Model], list[Any]]) -> dict[str, WholeProfile]:
    """Return whole profiles, by id. 2 queries plus the queries of `queries.fill`."""
    users = [profile.user_id for profile in profiles]
    aliases = queries.aliases_of(users)
    linked = queries.linked_of(users)
    for profile in profiles:
        profile.user = people.users[profile.user_id]
    found = {profile.pk: queries.begun(profile, aliases[profile.user_id], linked) for profile in profiles}
    queries.fill(found, *(listed[model] for model in queries.LISTED))
    return found


def _profile(line: Line, claims: Claims, uploads: Uploads) -> Profile:
    given = line.profile
    profile = claims.main_profiles.get(line.user_id)
    if profile is None:
        named = {"id": line.profile_id, "created_at": given["createdAt"], "updated_at": given["updatedAt"]}
        profile = bulk.build(Profile, **named, user_id=line.user_id)
    elif profile.pk != line.profile_id:
        _move(profile.pk, line.profile_id)
    profile.pk = line.profile_id
    for attribute, name in _TEXTS.items():
        setattr(profile, attribute, given[name])
    for attribute, name in _ASSETS.items():
        facts = given[name]
        if not isinstance(facts, Mirrored):  # the upload behind a mirrored picture stays
            setattr(profile, attribute, facts and uploads[line.user_id, facts])
    profile.settings = given["settings"]
    profile.created_at = kept(given["createdAt"], profile.created_at)
    profile.updated_at = kept(given["updatedAt"], profile.updated_at)
    return profile


def _empty(author: Author, uploads: Uploads) -> Profile:
    """Return the profile of an author, of whom only a name and a picture are known."""
    profile = Profile(user=author.user, name=author.user.username)
    picture = author.data["avatarUrl"]
    if isinstance(picture, AssetFacts):
        profile.avatar = uploads[author.user.pk, picture]
    elif picture is not None:
        profile.settings = _MIRRORS
    return profile


def _move(old: str, new: str) -> None:
    """Give a profile another id, with everything that names it. Foreign keys are checked at the commit."""
    Profile.objects.filter(pk=old).update(id=new)
    for relation in Profile._meta.related_objects:
        rows = relation.related_model._base_manager.filter(**{relation.field.name: old})
        rows.update(**{relation.field.attname: new})


def _write_aliases(lines: Iterable[Line], claims: Claims) -> None:
    """Write aliases in the order of the line; a profile that no alias shows any more is deleted. A new one is empty,
    and rendered when it is first read."""
    aliases, profiles, unused = [], [], set()
    for line in lines:
        own = claims.alias_profiles[line.user_id]
        shown = {alias["profileId"]: alias["name"] for alias in line.rows("aliases")}
        unused |= own - set(shown)
        profiles += [
            Profile(pk=pk, user_id=line.user_id, is_main=False, name=name)
            for pk, name in shown.items()
            if pk is not None and pk not in own
        ]
        aliases += _aliases(line, claims)
    for batch in batches([alias.pk for alias in aliases]):
        Alias.objects.filter(pk__in=batch).update(profile=None)  # they may change places
    for batch in batches(unused):
        Profile.objects.filter(pk__in=batch).delete()
    bulk.insert(profiles)
    bulk.insert([ProfileDocument(profile=row, user_id=row.user_id) for row in profiles])
    Alias.objects.bulk_create(
        aliases,
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["redirects", "profile", "created_at"],
    )


def _aliases(line: Line, claims: Claims) -> list[Alias]:
    """Return the aliases. Lookups show the oldest first: if stored timestamps give another order, all get new ones."""
    now = timezone.now()
    held = {key: getattr(name, "alias", None) for key, name in claims.names[line.user_id].items()}
    fresh = [now + timedelta(microseconds=place) for place in range(len(line.rows("aliases")))]
    created = [
        alias.created_at if (alias := held.get(given["name"].upper())) else at
        for given, at in zip(line.rows("aliases"), fresh, strict=True)
    ]
    if created != sorted(created) or len(set(created)) < len(created):
        created = fresh
    return [
        Alias(
            pk=given["name"].upper(), redirects=given["redirect"], profile_id=given["profileId"], created_at=created_at
        )
        for given, created_at in zip(line.rows("aliases"), created, strict=True)
    ]


def _delete(table: Table, lines: Iterable[Line], claims: Claims) -> set[str]:
    """Delete rows as `unnamed`, and rows that get another badge, which are inserted again; return their ids."""
    deleted: set[str] = set()
    for line in lines:
        deleted.update(row.pk for row in unnamed(table, line, claims))
        if table.model is ProfileBadge and (rows := held(table, line, claims)):
            badges = {entry["id"]: entry["badgeId"] for _, entry in table.of(line)}
            deleted.update(row.pk for row in rows if badges.get(row.pk, row.badge_id) != row.badge_id)
    for batch in batches(deleted):
        table.model._default_manager.filter(pk__in=batch).delete()
    return deleted


def unnamed(table: Table, line: Line, claims: Claims) -> list[Any]:
    """Return the rows that lookups show and the line does not name, which an import deletes."""
    rows = held(table, line, claims)
    named = {entry["id"] for _, entry in table.of(line)} if rows else set()
    unnamed = [row for row in rows if row.pk not in named and not is_hidden(row, line)]
    return sorted(unnamed, key=lambda row: row.pk)  # the database may read rows in another order the next time


def held(table: Table, line: Line, claims: Claims) -> list[Any]:
    """Return the rows on the main profile of the line's user."""
    return claims.rows.get((table.name, claims.main_ids.get(line.user_id, "")), [])


def _write_rows(table: Table, lines: Iterable[Line], uploads: Uploads, claims: Claims, deleted: set[str]) -> list[Any]:
    """Save the rows that the lines name, and return them."""
    rows: list[Any] = []
    columns: list[str] = []
    known: set[str] = set()
    for line in lines:
        known.update(row.pk for row in held(table, line, claims))
        for _, entry in table.of(line):
            values: Json = {
                name: uploads[line.user_id, value] if isinstance(value, AssetFacts) else value
                for name, value in table.columns(entry).items()
            }
            columns = list(values)
            rows.append(bulk.build(table.model, id=entry["id"], profile_id=line.profile_id, **values))
    bulk.save(rows, held=known - deleted, columns=[table.model._meta.get_field(name).name for name in columns])
    return rows


def write_totals(lines: list[Line], claims: Claims, written: WrittenProfiles) -> None:
    """Add and change comments, and write the totals of lines; other users' comments, votes and likes are never removed.

    So a total is what the line says, or what is stored where that is more.
    """
    _write_comments(lines, claims)
    held: dict[str, UserDocument] = {}
    for batch in batches(set(written.profiles) & set(claims.users)):
        locked = UserDocument.objects.select_for_update(no_key=True).filter(pk__in=batch).order_by("pk")
        held |= {document.pk: document for document in locked}
    counts = counters.counted(list(held))
    rows = [_document(line, held.get(line.user_id), counts, claims) for line in lines]
    rows += [bulk.build(UserDocument, user_id=author.user.pk, uid=author.user.uid) for author in written.people.authors]
    for row in rows:
        row.profile_id = written.profiles[row.pk].pk
        if one := written.new.get(row.profile_id):
            vars(row).update(documents.user_columns(one))
    bulk.save(rows, held=set(held), columns=_DOCUMENT_COLUMNS)


def _document(
    line: Line, held: UserDocument | None, counts: dict[str, tuple[int, int, int]], claims: Claims
) -> UserDocument:
    """Return the counters of the line, with what they hold beyond the rows. The line names the badges: none are due."""
    items = line.comments()
    own = sum(item["author"]["id"] not in claims.banned for item in items)
    likes, dislikes, comments = 0, 0, own
    if held is not None:
        counted = counts[line.user_id]
        likes, dislikes = counted[0] - held.imported_likes, counted[1] - held.imported_dislikes
        comments = counted[2] - held.imported_comments
    feedback = line.data["feedback"]
    row = bulk.build(
        UserDocument,
        user_id=line.user_id,
        uid=line.user["uid"],
        views=line.data["views"],
        imported_likes=max(feedback["likes"] - likes, 0),
        imported_dislikes=max(feedback["dislikes"] - dislikes, 0),
        imported_comments=max(line.data["comments"]["count"] - len(items) - (comments - own), 0),
    )
    row.likes, row.dislikes = likes + row.imported_likes, dislikes + row.imported_dislikes
    row.comments = comments + row.imported_comments
    return row


def _write_comments(lines: Iterable[Line], claims: Claims) -> None:
    counted: dict[str, tuple[int, int]] = {}
    for batch in batches(claims.comments):
        rows_there = Comment.objects.select_for_update(no_key=True).filter(pk__in=batch)
        list(rows_there.order_by("pk").values_list("pk"))  # concurrent bans and likes wait
        counted |= counters.counted_of_comments(batch)
    rows = [
        _comment(line, item, created_at, claims.comments.get(item["id"]), counted)
        for line in lines
        for item, created_at in zip(line.comments(), _timestamps(line, claims), strict=True)
    ]
    bulk.save(rows, held=set(claims.comments), columns=_COMMENT_COLUMNS)


def _comment(
    line: Line, item: Json, created_at: datetime, held: Comment | None, counted: dict[str, tuple[int, int]]
) -> Comment:
    likes, replies = counted.get(item["id"], (0, 0))
    if held is not None:
        likes, replies = likes - held.imported_like_count, replies - held.imported_reply_count
    return bulk.build(
        Comment,
        id=item["id"],
        user_id=line.user_id,
        author_id=item["author"]["id"],
        content=item["content"],
        is_pinned=item["pinned"],
        created_at=created_at,
        like_count=max(item["likeCount"], likes),
        reply_count=max(item["replyCount"], replies),
        imported_like_count=max(item["likeCount"] - likes, 0),
        imported_reply_count=max(item["replyCount"] - replies, 0),
    )


def _timestamps(line: Line, claims: Claims) -> list[datetime]:
    """Return the timestamps of the comments. Microseconds keep the order of the line among comments that lookups show
    with equal timestamps."""
    timestamps: list[datetime] = []
    for _, run in groupby(line.comments(), lambda item: (item["pinned"], milliseconds(item["createdAt"]))):
        items = list(run)
        stored = [getattr(claims.comments.get(item["id"]), "created_at", None) for item in items]
        found = [kept(item["createdAt"], at) for item, at in zip(items, stored, strict=True)]
        newest = max(found)
        places = [(newest - at, item["id"]) for at, item in zip(found, items, strict=True)]
        if places != sorted(places):
            start = newest.replace(microsecond=newest.microsecond // 1000 * 1000)
            found = [start + timedelta(microseconds=after) for after in range(len(items) - 1, -1, -1)]
        timestamps += found
    return timestamps
