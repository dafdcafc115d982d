"""The earlier form of the lookup. Its style fields come from the settings by one table (settings_schema)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from infrastructure.requests.compiled_serializer import CompiledSerializer
from lookup.models import Audio, Background, Link
from lookup.serializers.fields import Number, UnixTime, UploadUrl
from lookup.serializers.rows import EarlierFacts, ShownBadge
from lookup.shapes import settings_schema

Json = dict[str, Any]  # Any: a JSON value


class EarlierBadgeSerializer(CompiledSerializer[ShownBadge]):
    """A badge of the catalogue."""

    badgeId = serializers.CharField(source="badge_id")
    color = serializers.CharField()
    enabled = serializers.BooleanField(source="is_enabled")
    obtainedAt = UnixTime(source="row.obtained_at")


class EarlierCustomBadgeSerializer(CompiledSerializer[ShownBadge]):
    badgeName = serializers.CharField(source="name")
    imageUrl = UploadUrl(source="image")
    enabled = serializers.BooleanField(source="is_enabled")
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


class EarlierProfileSerializer(CompiledSerializer[EarlierFacts]):
    """What is no setting stands here; `to_representation` adds the style fields."""

    userId = serializers.IntegerField(source="user_id")
    avatar = serializers.CharField()
    theme = serializers.CharField()
    banner = serializers.CharField()
    description = serializers.CharField()
    aboutMe = serializers.CharField(source="about_me")
    aboutMeTitle = serializers.CharField(source="about_me_title")
    aboutMeDescription = serializers.CharField(source="about_me_description")
    alias = serializers.CharField()
    aliasRedirect = serializers.BooleanField(source="alias_redirects")
    profileFavicon = serializers.CharField(source="favicon")
    profileBanner = serializers.CharField(source="metadata_banner")
    profileSoundEffect = serializers.CharField(source="sound_effect")
    font = serializers.CharField()
    fontCustom = serializers.CharField(source="custom_font")
    skillsFrontend = serializers.ListField(child=serializers.CharField(), source="skills.frontend")
    skillsBackend = serializers.ListField(child=serializers.CharField(), source="skills.backend")
    skillsDatabase = serializers.ListField(child=serializers.CharField(), source="skills.database")
    skillsCore = serializers.ListField(child=serializers.CharField(), source="skills.core")

    def to_representation(self, instance: EarlierFacts) -> Json:
        return {**super().to_representation(instance), **settings_schema.earlier_profile(instance.settings)}


class EarlierAliasSerializer(serializers.Serializer[Any]):
    """The user's first alias; an empty object where there is none."""

    name = serializers.CharField(required=False)
    redirect = serializers.BooleanField(required=False)
    profileId = serializers.CharField(required=False, allow_null=True)


class EarlierUserSerializer(serializers.Serializer[Any]):
    """The whole answer, as the views put it together (views/earlier.py)."""

    id = serializers.CharField()
    uid = serializers.IntegerField()
    username = serializers.CharField()
    alias = EarlierAliasSerializer()
    displayUsername = serializers.CharField()
    banned = serializers.BooleanField()
    createdAt = serializers.IntegerField()
    chatId = serializers.CharField()
    profile = EarlierProfileSerializer()
    badges = EarlierBadgeSerializer(many=True)
    customBadges = EarlierCustomBadgeSerializer(many=True)
    links = EarlierLinkSerializer(many=True)
    audios = EarlierAudioSerializer(many=True)
    backgrounds = EarlierBackgroundSerializer(many=True)
    viewCount = serializers.IntegerField()
