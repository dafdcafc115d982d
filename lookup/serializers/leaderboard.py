"""A leaderboard entry, and the part of its user that the read model holds."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from infrastructure.requests.compiled_serializer import CompiledSerializer
from lookup.serializers.earlier import (
    EarlierAudioSerializer,
    EarlierBadgeSerializer,
    EarlierCustomBadgeSerializer,
    EarlierLinkSerializer,
)
from lookup.serializers.rows import EarlierFacts
from lookup.shapes import settings_schema

Json = dict[str, Any]  # Any: a JSON value


# None is DRF's way to leave an inherited field out.
class BoardCustomBadgeSerializer(EarlierCustomBadgeSerializer):
    createdAt = None  # type: ignore[assignment]


class BoardLinkSerializer(EarlierLinkSerializer):
    clicks = None  # type: ignore[assignment]


class BoardAudioSerializer(EarlierAudioSerializer):
    externalUrl = None  # type: ignore[assignment]


class BoardProfileSerializer(CompiledSerializer[EarlierFacts]):
    """What is no setting stands here; `to_representation` adds the style fields."""

    userId = serializers.IntegerField(source="user_id")
    avatar = serializers.CharField()
    theme = serializers.CharField()
    background = serializers.CharField()
    banner = serializers.CharField()
    description = serializers.CharField()
    chatServer = serializers.CharField(source="elsewhere.chat_server")
    socialPreference = serializers.CharField(source="elsewhere.social_preference")
    gameUsername = serializers.CharField(source="elsewhere.game_username")
    messagingChannel = serializers.CharField(source="elsewhere.messaging_channel")
    scrobblerUsername = serializers.CharField(source="scrobbler_name")
    statsUsername = serializers.CharField(source="elsewhere.stats_username")
    location = serializers.CharField()
    cursor = serializers.CharField()
    alias = serializers.CharField()
    profileFavicon = serializers.CharField(source="favicon")
    profileBanner = serializers.CharField(source="metadata_banner")
    font = serializers.CharField()

    def to_representation(self, instance: EarlierFacts) -> Json:
        return {**super().to_representation(instance), **settings_schema.leaderboard_profile(instance.settings)}


class BoardUserSerializer(serializers.Serializer[Any]):
    """The user of an entry, as the views put it together (views/leaderboards.py)."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    displayName = serializers.CharField()
    chatId = serializers.CharField()
    isVerified = serializers.BooleanField()
    isBanned = serializers.BooleanField()
    createdAt = serializers.IntegerField()
    profile = BoardProfileSerializer()
    badges = EarlierBadgeSerializer(many=True)
    customBadges = BoardCustomBadgeSerializer(many=True)
    links = BoardLinkSerializer(many=True)
    audios = BoardAudioSerializer(many=True)
    viewCount = serializers.IntegerField()


class BoardEntrySerializer(serializers.Serializer[Any]):
    rank = serializers.IntegerField()
    user = BoardUserSerializer()
    score = serializers.IntegerField()
    change = serializers.IntegerField()
