"""The earlier form of the lookup, and the entries of leaderboards. Their style fields come from the settings by one
table (settings_schema)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from infrastructure.requests.compiled_serializer import CompiledSerializer
from lookup.models import Alias, Asset, Audio, Background, Link
from lookup.serializers.current import AliasSerializer
from lookup.serializers.fields import Number, UnixTime, UploadUrl
from lookup.serializers.rows import ShownBadge, WholeProfile
from lookup.shapes import settings_schema

Json = dict[str, Any]  # Any: a JSON value
_ALIAS = AliasSerializer()


class TextOrEmpty(UploadUrl):
    """A text, or the URL of an asset; "" where there is none."""

    def to_representation(self, value: Asset | str) -> str:
        return value if isinstance(value, str) else super().to_representation(value)


class EarlierBadgeSerializer(CompiledSerializer[ShownBadge]):
    """A badge of the catalogue."""

    badgeId = serializers.CharField(source="badge_id")
    color = serializers.CharField(source="row.color")
    enabled = serializers.BooleanField(source="row.is_enabled")
    obtainedAt = UnixTime(source="row.obtained_at")


class EarlierCustomBadgeSerializer(CompiledSerializer[ShownBadge]):
    badgeName = serializers.CharField(source="name")
    imageUrl = UploadUrl(source="image")
    enabled = serializers.BooleanField(source="row.is_enabled")
    createdAt = UnixTime(source="row.created_at")


class EarlierLinkSerializer(CompiledSerializer[Link]):
    title = serializers.CharField()
    url = serializers.CharField()
    active = serializers.BooleanField(source="is_active")
    color = serializers.CharField()
    clicks = serializers.IntegerField()


class EarlierAudioSerializer(CompiledSerializer[Audio]):
    """`duration` in seconds, 0 where it is not known."""

    title = serializers.CharField()
    audioUrl = UploadUrl(source="audio")
    coverUrl = UploadUrl(source="cover")
    duration = serializers.SerializerMethodField()
    active = serializers.BooleanField(source="is_active")
    externalUrl = serializers.CharField(source="external_url")

    @extend_schema_field(Number())
    def get_duration(self, audio: Audio) -> float:
        return Number().to_representation(audio.audio.duration or 0)


class EarlierBackgroundSerializer(CompiledSerializer[Background]):
    id = serializers.CharField()
    backgroundUrl = UploadUrl(source="asset")
    active = serializers.BooleanField(source="is_active")


class EarlierProfileSerializer(CompiledSerializer[WholeProfile]):
    """The profile of the earlier form, with its style fields."""

    userId = serializers.IntegerField(source="profile.user.uid")
    avatar = TextOrEmpty(source="avatar_url")
    theme = serializers.CharField(source="profile.theme")
    banner = TextOrEmpty(source="profile.banner")
    description = serializers.CharField(source="profile.description")
    aboutMe = serializers.CharField(source="about.content")
    aboutMeTitle = serializers.CharField(source="about.title")
    aboutMeDescription = serializers.CharField(source="about.description")
    alias = serializers.CharField(source="alias_name")
    aliasRedirect = serializers.BooleanField(source="alias_redirects")
    profileFavicon = TextOrEmpty(source="profile.metadata_favicon")
    profileBanner = TextOrEmpty(source="profile.metadata_banner")
    profileSoundEffect = TextOrEmpty(source="sound_effect")
    font = serializers.CharField(source="profile.font")
    fontCustom = TextOrEmpty(source="profile.font_asset")
    skillsFrontend = serializers.ListField(child=serializers.CharField(), source="about.skills.frontend")
    skillsBackend = serializers.ListField(child=serializers.CharField(), source="about.skills.backend")
    skillsDatabase = serializers.ListField(child=serializers.CharField(), source="about.skills.database")
    skillsCore = serializers.ListField(child=serializers.CharField(), source="about.skills.core")

    def to_representation(self, instance: WholeProfile) -> Json:
        return {**super().to_representation(instance), **settings_schema.earlier_profile(instance.settings)}


class EarlierAliasSerializer(serializers.Serializer[Any]):
    """The user's first alias; an empty object where there is none."""

    name = serializers.CharField(required=False)
    redirect = serializers.BooleanField(required=False)
    profileId = serializers.CharField(required=False, allow_null=True)

    def to_representation(self, instance: list[Alias]) -> Json:
        return _ALIAS.to_representation(instance[0]) if instance else {}


class EarlierUserSerializer(CompiledSerializer[WholeProfile]):
    """The whole answer. Who is banned is not found."""

    id = serializers.CharField(source="profile.user_id")
    uid = serializers.IntegerField(source="profile.user.uid")
    username = serializers.CharField(source="profile.user.username")
    alias = EarlierAliasSerializer(source="aliases")
    displayUsername = serializers.CharField(source="display_name")
    banned = serializers.BooleanField(source="is_banned")
    createdAt = serializers.IntegerField(source="created_at")
    chatId = TextOrEmpty(source="chat_id")
    profile = EarlierProfileSerializer(source="*")
    badges = EarlierBadgeSerializer(source="standard_badges", many=True)
    customBadges = EarlierCustomBadgeSerializer(source="custom_badges", many=True)
    links = EarlierLinkSerializer(source="lists.links", many=True)
    audios = EarlierAudioSerializer(source="lists.audios", many=True)
    backgrounds = EarlierBackgroundSerializer(source="lists.backgrounds", many=True)
    viewCount = serializers.IntegerField(source="views")


# None is DRF's way to leave an inherited field out.
class BoardCustomBadgeSerializer(EarlierCustomBadgeSerializer):
    createdAt = None  # type: ignore[assignment]


class BoardLinkSerializer(EarlierLinkSerializer):
    clicks = None  # type: ignore[assignment]


class BoardAudioSerializer(EarlierAudioSerializer):
    externalUrl = None  # type: ignore[assignment]


class BoardProfileSerializer(CompiledSerializer[WholeProfile]):
    """The profile of an entry, with its style fields."""

    userId = serializers.IntegerField(source="profile.user.uid")
    avatar = TextOrEmpty(source="avatar_url")
    theme = serializers.CharField(source="profile.theme")
    background = TextOrEmpty()
    banner = TextOrEmpty(source="profile.banner")
    description = serializers.CharField(source="profile.description")
    chatServer = serializers.CharField(source="elsewhere.chat_server")
    socialPreference = serializers.CharField(source="elsewhere.social_preference")
    gameUsername = serializers.CharField(source="elsewhere.game_username")
    messagingChannel = serializers.CharField(source="elsewhere.messaging_channel")
    scrobblerUsername = TextOrEmpty(source="scrobbler_name")
    statsUsername = serializers.CharField(source="elsewhere.stats_username")
    location = serializers.CharField(source="profile.location")
    cursor = TextOrEmpty(source="profile.cursor")
    alias = serializers.CharField(source="alias_name")
    profileFavicon = TextOrEmpty(source="profile.metadata_favicon")
    profileBanner = TextOrEmpty(source="profile.metadata_banner")
    font = serializers.CharField(source="profile.font")

    def to_representation(self, instance: WholeProfile) -> Json:
        return {**super().to_representation(instance), **settings_schema.leaderboard_profile(instance.settings)}


class BoardUserSerializer(CompiledSerializer[WholeProfile]):
    """The user of an entry. Who is banned has none."""

    id = serializers.IntegerField(source="profile.user.uid")
    username = serializers.CharField(source="profile.user.username")
    displayName = serializers.CharField(source="display_name")
    chatId = TextOrEmpty(source="chat_id")
    isVerified = serializers.BooleanField(source="profile.user.is_verified")
    isBanned = serializers.BooleanField(source="is_banned")
    createdAt = serializers.IntegerField(source="created_at")
    profile = BoardProfileSerializer(source="*")
    badges = EarlierBadgeSerializer(source="standard_badges", many=True)
    customBadges = BoardCustomBadgeSerializer(source="custom_badges", many=True)
    links = BoardLinkSerializer(source="lists.links", many=True)
    audios = BoardAudioSerializer(source="lists.audios", many=True)
    viewCount = serializers.IntegerField(source="views")


class BoardEntrySerializer(serializers.Serializer[Any]):
    rank = serializers.IntegerField()
    user = BoardUserSerializer()
    score = serializers.IntegerField()
    change = serializers.IntegerField()
