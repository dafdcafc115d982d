"""The JSON form of presence, in the order of the table in docs/spec/lookup.md."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from infrastructure.requests.compiled_serializer import CompiledSerializer
from presence.answer import presentation
from presence.answer.presentation import Activity, Badge, Clan, Presence, Status
from presence.fields import Json


class ActivitySerializer(CompiledSerializer[Activity]):
    name = serializers.CharField(help_text="Empty for a plain custom status.")
    type = serializers.IntegerField(
        help_text="0 Playing, 1 Streaming, 2 Listening, 3 Watching, 4 Custom Status, 5 Competing."
    )
    state = serializers.CharField(allow_null=True, help_text="The second line, or the text of a custom status.")
    details = serializers.CharField(allow_null=True, help_text="The title line; the track's title for music.")
    tooltip = serializers.CharField(
        allow_null=True, help_text="The hover text of the large or small picture; the album's name for music."
    )
    emoji = serializers.CharField(
        allow_null=True, help_text="The URL of a custom emoji, the character itself of a standard one."
    )
    image = serializers.URLField(allow_null=True, help_text="Where the artwork is.")


class ChatBadgeSerializer(CompiledSerializer[Badge]):
    name = serializers.CharField(help_text="To be shown to people.")
    url = serializers.URLField(help_text="The badge's icon, an SVG.")


class PresenceStatusSerializer(CompiledSerializer[Status]):
    status = serializers.ChoiceField(
        presentation.STATUSES,
        help_text="The first of desktop, mobile and web that is not offline; `streaming` overrides everything. "
        "`offline` is also who is invisible or shows no presence.",
    )
    url = serializers.URLField(help_text="The status' picture, a PNG.")


class ClanSerializer(CompiledSerializer[Clan]):
    tag = serializers.CharField(help_text="The letters beside the name.")
    badge = serializers.URLField(help_text="The picture beside the letters.")


class ChatBadgesSerializer(serializers.Serializer[dict[str, Badge]]):
    """By key, in the canonical order; only held badges are present."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {key: ChatBadgeSerializer(required=False) for key in presentation.BADGE_NAMES}

    def to_representation(self, instance: dict[str, Badge]) -> Json:
        return {key: {"name": badge.name, "url": badge.url} for key, badge in instance.items()}


class PresenceSerializer(CompiledSerializer[Presence]):
    """A member of the chat server. Every key is always there."""

    id = serializers.CharField(help_text="The account's id on the chat platform.")
    username = serializers.CharField()
    globalName = serializers.CharField(source="global_name", help_text="The display name; the username without one.")
    serverNick = serializers.CharField(source="server_nick", allow_null=True, help_text="Null for most members.")
    avatar = serializers.URLField(help_text="The account's picture, or the platform's default one.")
    serverAvatar = serializers.URLField(source="server_avatar", allow_null=True, help_text="Null for most members.")
    serverBanner = serializers.URLField(source="server_banner", allow_null=True, help_text="Null for most members.")
    banner = serializers.URLField(allow_null=True)
    decoration = serializers.URLField(allow_null=True, help_text="The frame around the picture, an animated PNG.")
    nameplate = serializers.URLField(allow_null=True, help_text="The moving ground behind the name, a WebM video.")
    biography = serializers.CharField(allow_null=True)
    activity = ActivitySerializer(
        allow_null=True,
        help_text="The one worth showing, always one of `activities`: the music player, else what is played, "
        "streamed or watched, else other music, else the custom status.",
    )
    activities = ActivitySerializer(many=True, help_text="All that run, in the platform's own order.")
    badges = ChatBadgesSerializer(help_text="By key, in the canonical order; only held badges are present.")
    status = PresenceStatusSerializer()
    last_online = serializers.IntegerField(
        allow_null=True, help_text="UNIX seconds; null when never seen going offline. Kept while online."
    )
    clan = ClanSerializer(allow_null=True, help_text="The tag of a chat server, when the member wears one.")
