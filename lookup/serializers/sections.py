"""What all of `sections[]` of the current form have, and entries of catalogues. `lookup.registry` derives the types."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.compiled_serializer import CompiledSerializer
from lookup.models import Anime, Game, MediaTitle, MusicItem
from lookup.sections import Alignment
from lookup.serializers.fields import Day, Number

Json = dict[str, Any]  # Any: a JSON value


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
