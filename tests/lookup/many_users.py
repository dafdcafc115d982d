"""Thousands of users as cheaply as rows can be made: what the statements of the lookups walk along."""

from __future__ import annotations

from datetime import timedelta

from django.db import connection
from django.utils import timezone

from accounts.models import LinkedAccount, Name, User
from accounts.models.names import NameKind
from lookup.documents import documents
from lookup.models import Alias, Comment, LeaderboardEntry, Profile, ProfileDocument, UserDocument
from tests.lookup.filled import row

SIZE = 3000
FIRST_UID = 10_000
FIRST_CHAT_ID = 10**17
WRITTEN = 500  # comments on the first user's profile, and as many on others'


def gather() -> None:
    """Users `c0` to `c2999` with uids from FIRST_UID; each has an alias `a<number>` with a profile of its own, and two
    linked accounts. The first thousand are on every board."""
    users = User.objects.bulk_create(
        User(id=row(0x100000 + n), uid=FIRST_UID + n, username=f"c{n}", password="!") for n in range(SIZE)
    )
    _names(users)
    _profiles(users)
    now = timezone.now()
    Comment.objects.bulk_create(
        Comment(
            user=users[0 if n < WRITTEN else n],
            author=users[n],
            content="x",
            is_pinned=n % 100 == 0,
            created_at=now - timedelta(minutes=n),
        )
        for n in range(2 * WRITTEN)
    )
    LeaderboardEntry.objects.bulk_create(
        LeaderboardEntry(board=board, rank=n + 1, user=users[n], score=SIZE - n)
        for board in ("views", "badges", "uid")
        for n in range(1000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _names(users: list[User]) -> None:
    Name.objects.bulk_create(
        Name(key=f"{letter}{n}".upper(), name=f"{letter}{n}", user=user, kind=kind)
        for n, user in enumerate(users)
        for letter, kind in (("c", NameKind.USERNAME), ("a", NameKind.ALIAS))
    )
    LinkedAccount.objects.bulk_create(
        LinkedAccount(user=user, kind=kind, external_id=str(FIRST_CHAT_ID + n), name=f"n{n}")
        for n, user in enumerate(users)
        for kind in LinkedAccount.Kind.values
    )


def _profiles(users: list[User]) -> None:
    """Two of each user, with their documents."""
    profiles = Profile.objects.bulk_create(
        Profile(id=row((0x200000 if is_main else 0x300000) + n), user=user, is_main=is_main, name="x")
        for n, user in enumerate(users)
        for is_main in (True, False)
    )
    ProfileDocument.objects.bulk_create(
        ProfileDocument(
            profile=profile,
            user_id=profile.user_id,
            is_main=profile.is_main,
            fingerprint=documents.fingerprint(),
            user_version=len(LinkedAccount.Kind.values),  # each linked account has raised that of its user
        )
        for profile in profiles
    )
    Alias.objects.bulk_create(Alias(name_id=f"A{n}", profile=profiles[2 * n + 1], redirects=False) for n in range(SIZE))
    UserDocument.objects.bulk_create(
        UserDocument(user=user, uid=user.uid, profile=profiles[2 * n], views=n * 7919 % 5000, badge_count=n * 31 % 40)
        for n, user in enumerate(users)
    )
