"""A user of whom every field of docs/spec/lookup.md is filled at least once, and the people around her."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from accounts import bans, users
from accounts.models import LinkedAccount, Permission, User
from lookup.models import Asset, Comment, Profile, UserDocument
from tests.factories import lookup as make
from tests.factories.accounts import ApiKeyFactory, LinkedAccountFactory, UserFactory
from tests.lookup.answers import ACCOUNT_SECRET, LOOKUP_SECRET

BASE, CDN, ART = "https://id.example.net", "https://cdn.example.net", "https://art.example.net/v1"
HOSTS = {"BASE_URL": BASE, "UPLOAD_CDN_URL": CDN, "ASSET_URL": ART}


def row(number: int) -> str:
    """The id of a row: 32 lower-case hexadecimal characters."""
    return f"{number:032x}"


OPERATOR, ADA, BEN, CLEO, MAL, DAN, BARE, OTHER_PROFILE = (row(number) for number in range(1, 9))
MOMENT = datetime(2024, 5, 6, 7, 8, 9, 120_000, tzinfo=UTC)  # 1714979289.12
START = datetime(2025, 3, 1, 12, tzinfo=UTC)  # of the comments
FILLERS = 104  # comments with nothing special about them, a minute apart


@dataclass(frozen=True)
class Filled:
    """Ada with her main profile and that of her alias; the people who have been on her page, `mal` banned since."""

    user: User
    profile: Profile
    alias_profile: Profile
    operator: User
    ben: User
    cleo: User
    mal: User


def make_operator() -> User:
    """The first account of the service, with a key for each form."""
    operator = UserFactory(id=OPERATOR, username="Opal", plan="PREMIUM")
    ApiKeyFactory(owner=operator, secret=LOOKUP_SECRET, permissions=[Permission.LOOKUP_USER.value])
    ApiKeyFactory(owner=operator, secret=ACCOUNT_SECRET)
    assert operator.uid == 0
    return operator


def fill(operator: User) -> Filled:
    """Ada is uid 1, Ben 2, Cleo 3, Mal 4; Dan, who was 5, is deleted."""
    from tests.lookup import filled_rows

    ada = UserFactory(
        id=ADA, username="Ada", display_name="Ada Example", plan="PREMIUM", is_verified=True, created_at=MOMENT
    )
    LinkedAccountFactory(user=ada, external_id="80351110224678912", name="ada.chats")
    LinkedAccountFactory(user=ada, kind=LinkedAccount.Kind.SCROBBLER, external_id="77", name="ada_listens")
    ben, cleo, mal, dan = _visitors()
    profile = make.main_profile(ada)
    filled_rows.fill_profile(profile)
    other = filled_rows.other_profile(ada)
    redirecting = make.AliasRowFactory(name__user=ada, name__name="Countess", redirects=True, created_at=MOMENT)
    make.AliasRowFactory(
        name__user=ada,
        name__name="Lovelace",
        redirects=False,
        profile=other,
        created_at=redirecting.created_at + timedelta(days=1),
    )
    _comments(ada, operator, ben, cleo, mal, dan)
    for voter, is_like in ((ben, True), (cleo, True), (operator, False), (mal, True), (dan, False)):
        make.FeedbackVoteFactory(user=ada, voter=voter, is_like=is_like)
    UserDocument.objects.filter(user=ada).update(views=1234)
    make.shown(ada, ben, cleo)
    bans.ban(user=mal, by=operator, reason="spam")
    users.delete(user=dan, by=operator)
    return Filled(ada, profile, other, operator, ben, cleo, mal)


def _visitors() -> tuple[User, User, User, User]:
    """Ben mirrors the picture of his chat account, Cleo has one of her own."""
    ben = UserFactory(id=BEN, username="Ben", display_name="Ben Example")
    LinkedAccountFactory(user=ben, external_id="90351110224678912")
    Profile.objects.filter(user=ben).update(settings={"avatarSettings": {"mirrorChat": True}})
    cleo = UserFactory(id=CLEO, username="cleo", display_name="Cleo 🌱")
    Profile.objects.filter(user=cleo).update(avatar=make.AssetFactory(owner=cleo, path="avatars/cleo.png"))
    return ben, cleo, UserFactory(id=MAL, username="Mal"), UserFactory(id=DAN, username="Dan")


def _comments(ada: User, operator: User, ben: User, cleo: User, mal: User, dan: User) -> None:
    day = timedelta(days=1)
    pinned = make.CommentFactory(
        id=row(0x4001), user=ada, author=operator, content="First", is_pinned=True, created_at=START - 2 * day
    )
    make.CommentFactory(id=row(0x4002), user=ada, author=ben, content="Second", is_pinned=True, created_at=START - day)
    Comment.objects.bulk_create(
        Comment(
            id=row(0x5000 + number),
            user=ada,
            author=(ben, cleo)[number % 2],
            content=f"Comment {number}",
            created_at=START + number * timedelta(minutes=1),
        )
        for number in range(FILLERS)
    )
    for number in (0x4004, 0x4003):
        make.CommentFactory(id=row(number), user=ada, author=cleo, content="At once", created_at=START + day)
    make.CommentFactory(id=row(0x4005), user=ada, author=mal, content="Spam", created_at=START + 2 * day)
    make.CommentFactory(id=row(0x4006), user=ada, author=dan, content="Gone", created_at=START + 2 * day)
    for number, author in enumerate((ben, mal, dan), start=0x4007):
        make.CommentFactory(id=row(number), user=ada, author=author, parent=pinned, content="A reply")
    for user in (ben, cleo, mal, dan):
        make.CommentLikeFactory(comment=pinned, user=user)


def picture(owner: User, path: str, width: int | None = 640, height: int | None = 480) -> Asset:
    return make.AssetFactory(owner=owner, path=path, mime="image/png", width=width, height=height)


def file(owner: User, path: str, mime: str, duration: float | None = None) -> Asset:
    """An upload that has no size in pixels."""
    return make.AssetFactory(owner=owner, path=path, mime=mime, width=None, height=None, duration=duration)
