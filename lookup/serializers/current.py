"""The current form of the lookup: one serializer for each include, with keys in the order of the document.

`lookup.documents.registry` derives the serializers of section types.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from infrastructure.requests.api_json import utf8
from infrastructure.requests.compiled_serializer import CompiledSerializer
from lookup.models import (
    Alias,
    Anime,
    Audio,
    Background,
    GalleryItem,
    Game,
    Link,
    MediaTitle,
    MusicItem,
    Profile,
    Project,
    Widget,
)
from lookup.models.validators import TAGS
from lookup.serializers.fields import AssetSerializer, Day, Number, TextOrNull, Timestamp
from lookup.serializers.rows import CommentRow, ShownBadge, ShownTier, WholeProfile
from lookup.shapes import settings_schema
from lookup.shapes.sections import Alignment

Json = dict[str, Any]  # Any: a JSON value

# Of the lines that this release exports. Raise it with a key that earlier releases lack: a field gets its default in
# `DEFAULTS` of its serializer, an include its `since` in the registry.
VERSION = 1


class UserSerializer(CompiledSerializer[WholeProfile]):
    """`user`: always there."""

    id = serializers.CharField(source="profile.user_id")
    uid = serializers.IntegerField(min_value=0, source="profile.user.uid")
    username = serializers.CharField(source="profile.user.username")
    name = TextOrNull(source="profile.user.display_name")
    avatarUrl = serializers.URLField(source="avatar_url", allow_null=True)
    chatId = serializers.CharField(source="chat_id", allow_null=True)
    scrobblerUsername = serializers.CharField(source="scrobbler_name", allow_null=True)
    premium = serializers.BooleanField(source="is_premium")
    verified = serializers.BooleanField(source="profile.user.is_verified")
    imagehost = serializers.BooleanField(source="is_imagehost")
    inactive = serializers.BooleanField(source="profile.user.is_inactive")
    createdAt = Timestamp(source="profile.user.created_at")


@extend_schema_field(settings_schema.json_schema())
class SettingsField(serializers.Field[Json, Any, Json, Json]):
    """The settings objects, each with all of its keys."""

    def to_representation(self, value: Json) -> Json:
        return value


class ProfileSerializer(CompiledSerializer[Profile]):
    """`avatar` is the uploaded picture, or where the current one of the chat platform is found."""

    profileId = serializers.CharField(source="id")
    name = serializers.CharField()
    displayName = serializers.CharField(source="display_name")
    description = serializers.CharField()
    location = serializers.CharField()
    theme = serializers.CharField()
    font = serializers.CharField()
    fontUsername = serializers.CharField(source="font_username")
    soundEffect = serializers.CharField(source="sound_effect")
    soundEffectButton = serializers.CharField(source="sound_effect_button")
    createdAt = Timestamp(source="created_at")
    updatedAt = Timestamp(source="updated_at")
    avatar = AssetSerializer(allow_null=True)
    banner = AssetSerializer(allow_null=True)
    cursor = AssetSerializer(allow_null=True)
    cursorPointer = AssetSerializer(source="cursor_pointer", allow_null=True)
    fontAsset = AssetSerializer(source="font_asset", allow_null=True)
    fontUsernameAsset = AssetSerializer(source="font_username_asset", allow_null=True)
    soundEffectAsset = AssetSerializer(source="sound_effect_asset", allow_null=True)
    soundEffectButtonAsset = AssetSerializer(source="sound_effect_button_asset", allow_null=True)
    metadataFavicon = AssetSerializer(source="metadata_favicon", allow_null=True)
    metadataBanner = AssetSerializer(source="metadata_banner", allow_null=True)
    settings = SettingsField()

    MIRRORED = {"mime": "image/png", "width": None, "height": None, "duration": None}

    def of(self, one: WholeProfile) -> Json:
        """Return the profile with its settings filled in."""
        shown = {**self.to_representation(one.profile), "settings": one.settings}
        if one.mirrors_chat:
            shown["avatar"] = {"url": one.avatar_url, **self.MIRRORED}
        return shown


class TierSerializer(CompiledSerializer[ShownTier]):
    tier = serializers.IntegerField()
    threshold = Number()
    title = serializers.CharField()
    description = serializers.CharField()
    color = serializers.CharField()
    unlocked = serializers.BooleanField(source="is_unlocked")
    selected = serializers.BooleanField(source="is_selected")
    imageUrl = serializers.URLField(source="image_url")


class BadgeSerializer(CompiledSerializer[ShownBadge]):
    """A catalogue badge has `imageUrl`; a custom one has `image`, or `iconSvg`."""

    id = serializers.CharField(source="row.id")
    type = serializers.ChoiceField(["STANDARD", "CUSTOM"])
    badgeId = serializers.CharField(source="badge_id", allow_null=True)
    enabled = serializers.BooleanField(source="row.is_enabled")
    selectedTier = serializers.IntegerField(source="selected_tier", allow_null=True)
    unlockedTiers = serializers.ListField(child=serializers.IntegerField(), source="unlocked_tiers")
    color = TextOrNull(source="row.color")
    recolor = serializers.BooleanField(source="row.recolor")
    name = TextOrNull()
    order = serializers.IntegerField(source="row.order")
    image = AssetSerializer(allow_null=True)
    imageUrl = serializers.URLField(source="image_url", allow_null=True)
    iconSvg = TextOrNull(source="icon_svg")
    tiers = TierSerializer(many=True)


class WidgetSerializer(CompiledSerializer[Widget]):
    id = serializers.CharField()
    platform = serializers.CharField()
    type = serializers.CharField()
    identifier = serializers.CharField()
    order = serializers.IntegerField()


class AudioSerializer(CompiledSerializer[Audio]):
    id = serializers.CharField()
    title = serializers.CharField()
    artist = serializers.CharField()
    externalUrl = serializers.CharField(source="external_url")
    order = serializers.IntegerField()
    audio = AssetSerializer()
    cover = AssetSerializer(allow_null=True)


class BackgroundSerializer(CompiledSerializer[Background]):
    id = serializers.CharField()
    title = serializers.CharField()
    order = serializers.IntegerField()
    asset = AssetSerializer()


class LinkSerializer(CompiledSerializer[Link]):
    """Never both `icon` and `iconSvg`."""

    id = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField()
    platformId = TextOrNull(source="platform_id")
    platformType = TextOrNull(source="platform_type")
    isText = serializers.BooleanField(source="is_text")
    recolor = serializers.BooleanField()
    color = TextOrNull()
    order = serializers.IntegerField()
    icon = AssetSerializer(allow_null=True)
    iconSvg = TextOrNull(source="icon_svg")


class ProjectSerializer(CompiledSerializer[Project]):
    id = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    url = serializers.CharField()
    tags = copy.deepcopy(TAGS)  # a copy has its place in the order of the keys
    order = serializers.IntegerField()
    icon = AssetSerializer(allow_null=True)


class AliasSerializer(CompiledSerializer[Alias]):
    name = serializers.CharField(source="name.name")
    redirect = serializers.BooleanField(source="redirects")
    profileId = serializers.CharField(source="profile_id", allow_null=True)


class GalleryItemSerializer(CompiledSerializer[GalleryItem]):
    id = serializers.CharField()
    caption = serializers.CharField()
    width = serializers.ChoiceField(GalleryItem.Width.choices)
    asset = AssetSerializer()


class FeedbackSerializer(CompiledSerializer[Any]):
    """Votes by banned users are not counted."""

    likes = serializers.IntegerField()
    dislikes = serializers.IntegerField()


class AuthorSerializer(CompiledSerializer[CommentRow]):
    id = serializers.CharField(source="author_id")
    username = serializers.CharField()
    name = serializers.CharField(source="display_name")
    avatarUrl = serializers.CharField(source="avatar_url")
    uid = serializers.IntegerField()


class CommentSerializer(CompiledSerializer[CommentRow]):
    id = serializers.CharField()
    content = serializers.CharField()
    likeCount = serializers.IntegerField(source="like_count")
    replyCount = serializers.IntegerField(source="reply_count")
    pinned = serializers.BooleanField(source="is_pinned")
    createdAt = Timestamp(source="created_at")
    author = AuthorSerializer(source="*")


_COMMENT = CommentSerializer()


def comments_json(count: int, shown: Iterable[CommentRow]) -> bytes:
    """Return `comments`: how many there are, and the first ones."""
    return utf8(f'{{"count":{count},"items":[{",".join([_COMMENT.to_json(row) for row in shown])}]}}')


@extend_schema_serializer(many=False)
class CommentsSerializer(serializers.Serializer[Any]):
    """Pinned first, newest first. `count` is the full total; neither holds replies or comments of banned users."""

    count = serializers.IntegerField()
    items = CommentSerializer(many=True)


class SectionSerializer(CompiledSerializer[Json]):
    """What every type has."""

    id = serializers.CharField()
    type = serializers.CharField()
    order = serializers.IntegerField()
    title = serializers.CharField()
    description = serializers.CharField()
    alignment = serializers.ChoiceField(Alignment.choices)


class GameSerializer(CompiledSerializer[Game]):
    gameCatalogId = serializers.IntegerField(source="id")
    name = serializers.CharField()
    image = serializers.CharField()
    slug = serializers.CharField()
    released = Day(allow_null=True)
    rating = Number(allow_null=True)
    metacritic = serializers.IntegerField(allow_null=True)


class AnimeItemSerializer(CompiledSerializer[Anime]):
    animeCatalogId = serializers.IntegerField(source="id")
    title = serializers.CharField()
    image = serializers.CharField()
    format = serializers.CharField()
    year = serializers.IntegerField(allow_null=True)
    score = Number(allow_null=True)


class MediaTitleSerializer(CompiledSerializer[MediaTitle]):
    mediaCatalogId = serializers.IntegerField(source="id")
    mediaType = serializers.CharField(source="media_type")
    title = serializers.CharField()
    image = serializers.CharField()
    year = serializers.IntegerField(allow_null=True)
    rating = Number(allow_null=True)


class MusicItemSerializer(CompiledSerializer[MusicItem]):
    """`artist` stands on tracks and albums, `album` on tracks alone."""

    kind = serializers.ChoiceField(MusicItem.Kind.choices)
    musicId = serializers.CharField(source="music_id")
    title = serializers.CharField()
    image = serializers.CharField()
    artist = serializers.CharField(required=False)
    album = serializers.CharField(required=False)

    ABSENT = {MusicItem.Kind.ARTIST: ("artist", "album"), MusicItem.Kind.ALBUM: ("album",)}

    def to_representation(self, instance: MusicItem) -> Json:
        absent = self.ABSENT.get(MusicItem.Kind(instance.kind), ())
        return {name: value for name, value in super().to_representation(instance).items() if name not in absent}
