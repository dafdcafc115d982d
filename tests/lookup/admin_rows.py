"""A row of each model that the admin shows, with all that hangs on it: each call makes another one, of other people."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from django.apps import apps
from django.db.models import Model

from lookup.models import LeaderboardEntry, ProfileDocument, UserDocument, Visit
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory

HASH = "c0ffee" * 10
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
# Rendered, ranked or counted.
READ_ONLY: set[type[Model]] = {UserDocument, ProfileDocument, LeaderboardEntry, Visit}


def model_of(name: str) -> type[Model]:
    return apps.get_model("lookup", name)


def entry() -> LeaderboardEntry:
    user = UserFactory()
    return LeaderboardEntry.objects.create(board="views", rank=user.uid, user=user, score=1)


def visit() -> Visit:
    return Visit.objects.create(user=UserFactory(), visitor=HASH, counted_at=NOON)


def alias() -> Model:
    user = UserFactory()
    return make.AliasRowFactory(name__user=user, profile=make.ProfileFactory(user=user))


def picture() -> Model:
    profile = make.main_profile(UserFactory())
    section = make.SectionFactory(profile=profile, type="GALLERY", config={})
    picture: Model = make.GalleryItemFactory(profile=profile, section=section)
    return picture


def link() -> Model:
    profile = make.main_profile(UserFactory())
    link: Model = make.LinkFactory(profile=profile, icon=make.AssetFactory(owner=profile.user))
    return link


def reply() -> Model:
    parent = make.CommentFactory()
    return make.CommentFactory(user=parent.user, parent=parent)


MAKE: dict[str, Callable[[], Model]] = {
    "alias": alias,
    "anime": make.AnimeFactory,
    "asset": make.AssetFactory,
    "audio": make.AudioFactory,
    "background": make.BackgroundFactory,
    "badge": make.BadgeFactory,
    "comment": reply,
    "commentlike": make.CommentLikeFactory,
    "custombadge": make.CustomBadgeFactory,
    "feedbackvote": make.FeedbackVoteFactory,
    "galleryitem": picture,
    "game": make.GameFactory,
    "leaderboardentry": entry,
    "link": link,
    "mediatitle": make.MediaTitleFactory,
    "musicitem": make.MusicItemFactory,
    "profile": make.ProfileFactory,
    "profilebadge": make.ProfileBadgeFactory,
    "profiledocument": lambda: ProfileDocument.objects.get(user=UserFactory()),
    "project": make.ProjectFactory,
    "section": make.SectionFactory,
    "userdocument": lambda: UserDocument.objects.get(user=UserFactory()),
    "visit": visit,
    "widget": make.WidgetFactory,
}
