"""Profiles and what is on them. Rows alone: `shown(user)` renders what lookups serve, as the doors do."""

import factory

from accounts.models import User
from lookup import models
from lookup.documents import counters, documents
from tests.factories import ModelFactory
from tests.factories.accounts import AliasFactory, UserFactory

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'


def shown(*users: User) -> None:
    """Bring the documents and counters of these users to what their rows say."""
    for user in users:
        documents.rebuild_of(user.pk)
        counters.recount_comments(models.Comment.objects.filter(user=user).values_list("pk", flat=True))
    counters.recount([user.pk for user in users])


def main_profile(user: User) -> models.Profile:
    return models.Profile.objects.get(user=user, is_main=True)


class ProfileFactory(ModelFactory[models.Profile]):
    """A profile for an alias; the main one comes with the user."""

    class Meta:
        model = models.Profile

    user = factory.SubFactory(UserFactory)
    is_main = False
    name = factory.Sequence(lambda number: f"Profile {number}")


class AliasRowFactory(ModelFactory[models.Alias]):
    """An alias with its row of the namespace: `AliasRowFactory(name__user=user, name__name="Other")`."""

    class Meta:
        model = models.Alias

    name = factory.SubFactory(AliasFactory)


class _OnProfileFactory(ModelFactory):  # type: ignore[type-arg]  # its subclasses say of which model
    class Meta:
        abstract = True

    profile = factory.LazyFunction(lambda: main_profile(UserFactory()))
    order = factory.Sequence(lambda number: number)


class AssetFactory(ModelFactory[models.Asset]):
    class Meta:
        model = models.Asset

    owner = factory.SubFactory(UserFactory)
    path = factory.Sequence(lambda number: f"files/{number}.png")
    mime = "image/png"
    width = 640
    height = 480


class BadgeFactory(ModelFactory[models.Badge]):
    class Meta:
        model = models.Badge

    id = factory.Sequence(lambda number: f"badge-{number}")
    name = factory.LazyAttribute(lambda badge: badge.id.title())
    image = factory.LazyAttribute(lambda badge: f"{badge.id}.svg")


class BadgeTierFactory(ModelFactory[models.BadgeTier]):
    class Meta:
        model = models.BadgeTier

    badge = factory.SubFactory(BadgeFactory)
    tier = 1
    threshold = 100.0
    title = factory.LazyAttribute(lambda tier: f"{tier.badge.name} {tier.tier}")
    description = "Reached."
    color = "#1b5e4b"
    image = factory.LazyAttribute(lambda tier: f"{tier.badge.id}-{tier.tier}.svg")


class ProfileBadgeFactory(_OnProfileFactory):
    class Meta:
        model = models.ProfileBadge

    badge = factory.SubFactory(BadgeFactory)


class CustomBadgeFactory(_OnProfileFactory):
    """With an icon; `icon_svg="", image=AssetFactory(...)`: with an image."""

    class Meta:
        model = models.CustomBadge

    name = "My badge"
    icon_svg = SVG


class WidgetFactory(_OnProfileFactory):
    class Meta:
        model = models.Widget

    platform = "scrobbler"
    type = "recent"
    identifier = factory.Sequence(lambda number: f"listener-{number}")


class AudioFactory(_OnProfileFactory):
    class Meta:
        model = models.Audio

    title = "A song"
    artist = "Somebody"
    audio = factory.LazyAttribute(
        lambda audio: AssetFactory(
            owner=audio.profile.user, path=f"audio/{audio.order}.mp3", mime="audio/mpeg", width=None, height=None
        )
    )


class BackgroundFactory(_OnProfileFactory):
    class Meta:
        model = models.Background

    title = "A view"
    asset = factory.LazyAttribute(lambda background: AssetFactory(owner=background.profile.user))


class LinkFactory(_OnProfileFactory):
    class Meta:
        model = models.Link

    title = "A link"
    url = factory.Sequence(lambda number: f"https://site-{number}.example/")


class ProjectFactory(_OnProfileFactory):
    class Meta:
        model = models.Project

    title = "A project"
    url = "https://project.example/"


class SectionFactory(_OnProfileFactory):
    """An empty CUSTOM_TEXT section, by default."""

    class Meta:
        model = models.Section

    type = "CUSTOM_TEXT"
    title = "A section"
    config = factory.LazyFunction(lambda: {"content": ""})


class GalleryItemFactory(_OnProfileFactory):
    class Meta:
        model = models.GalleryItem

    asset = factory.LazyAttribute(lambda item: AssetFactory(owner=item.profile.user))
    caption = "A picture"


class GameFactory(ModelFactory[models.Game]):
    class Meta:
        model = models.Game

    id = factory.Sequence(lambda number: 1000 + number)
    name = "A game"


class AnimeFactory(ModelFactory[models.Anime]):
    class Meta:
        model = models.Anime

    id = factory.Sequence(lambda number: 1000 + number)
    title = "An anime"


class MediaTitleFactory(ModelFactory[models.MediaTitle]):
    class Meta:
        model = models.MediaTitle

    id = factory.Sequence(lambda number: 1000 + number)
    media_type = "movie"
    title = "A film"


class MusicItemFactory(ModelFactory[models.MusicItem]):
    class Meta:
        model = models.MusicItem

    kind = "track"
    music_id = factory.Sequence(lambda number: f"music-{number}")
    title = "A track"


class FeedbackVoteFactory(ModelFactory[models.FeedbackVote]):
    class Meta:
        model = models.FeedbackVote

    user = factory.SubFactory(UserFactory)
    voter = factory.SubFactory(UserFactory)
    is_like = True


class CommentFactory(ModelFactory[models.Comment]):
    class Meta:
        model = models.Comment

    user = factory.SubFactory(UserFactory)
    author = factory.SubFactory(UserFactory)
    content = factory.Sequence(lambda number: f"Comment {number}")


class CommentLikeFactory(ModelFactory[models.CommentLike]):
    class Meta:
        model = models.CommentLike

    comment = factory.SubFactory(CommentFactory)
    user = factory.SubFactory(UserFactory)


class ReportFactory(ModelFactory[models.Report]):
    """An open report of a comment."""

    class Meta:
        model = models.Report

    comment = factory.SubFactory(CommentFactory)
    comment_text = factory.LazyAttribute(lambda report: report.comment.content if report.comment else "")
    author = factory.LazyAttribute(lambda report: report.comment and report.comment.author)
    user = factory.LazyAttribute(lambda report: report.comment.user)
    name = factory.LazyAttribute(lambda report: report.user.username)
    reporter = factory.SubFactory(UserFactory)
    reason = models.Report.Reason.SPAM
