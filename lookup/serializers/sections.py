"""`sections[]` of the current form: one serializer for each of the nine types."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_serializer
from rest_framework import serializers

from accounts.compiled_serializer import CompiledSerializer
from lookup.models import Anime, Game, MediaTitle, MusicItem
from lookup.sections import Alignment, SectionType
from lookup.serializers.current import GalleryItemSerializer
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


class CustomSkillSerializer(CompiledSerializer[Json]):
    label = serializers.CharField()  # type: ignore[assignment]  # the document's name; DRF's own `label` is a caption
    iconName = serializers.CharField()
    iconSvg = serializers.CharField()


def _names() -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField())


class SkillsSerializer(CompiledSerializer[Json]):
    frontend = _names()
    backend = _names()
    database = _names()
    core = _names()
    game = _names()
    tools = _names()
    cloud = _names()
    mobile = _names()
    design = _names()
    music = _names()
    custom = CustomSkillSerializer(many=True)


class AboutMeSerializer(SectionSerializer):
    enabled = serializers.BooleanField()
    content = serializers.CharField()
    widgetIds = _names()
    skills = SkillsSerializer()
    skillsEnabled = serializers.BooleanField()
    skillsAlignment = serializers.ChoiceField(Alignment.choices)


class ProjectsSerializer(SectionSerializer):
    """The ids are those of the `projects` include."""

    projectIds = _names()


class CustomTextSerializer(SectionSerializer):
    enabled = serializers.BooleanField()
    content = serializers.CharField()


class GallerySerializer(SectionSerializer):
    items = GalleryItemSerializer(many=True)


class AudioPlayerSerializer(SectionSerializer):
    """Nothing of its own."""


class GameSerializer(CompiledSerializer[Game]):
    gameCatalogId = serializers.IntegerField(source="id")
    name = serializers.CharField()
    image = serializers.CharField()
    slug = serializers.CharField()
    released = Day(allow_null=True)
    rating = Number(allow_null=True)
    metacritic = serializers.IntegerField(allow_null=True)


class GamesSerializer(SectionSerializer):
    games = GameSerializer(many=True)


class AnimeItemSerializer(CompiledSerializer[Anime]):
    animeCatalogId = serializers.IntegerField(source="id")
    title = serializers.CharField()
    image = serializers.CharField()
    format = serializers.CharField()
    year = serializers.IntegerField(allow_null=True)
    score = Number(allow_null=True)


class AnimeSerializer(SectionSerializer):
    anime = AnimeItemSerializer(many=True)


class MediaTitleSerializer(CompiledSerializer[MediaTitle]):
    mediaCatalogId = serializers.IntegerField(source="id")
    mediaType = serializers.CharField(source="media_type")
    title = serializers.CharField()
    image = serializers.CharField()
    year = serializers.IntegerField(allow_null=True)
    rating = Number(allow_null=True)


class MediaSerializer(SectionSerializer):
    media = MediaTitleSerializer(many=True)


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


class MusicSerializer(SectionSerializer):
    music = MusicItemSerializer(many=True)


SERIALIZERS: dict[str, type[SectionSerializer]] = {
    SectionType.ABOUT_ME: AboutMeSerializer,
    SectionType.PROJECTS: ProjectsSerializer,
    SectionType.CUSTOM_TEXT: CustomTextSerializer,
    SectionType.GALLERY: GallerySerializer,
    SectionType.AUDIO_PLAYER: AudioPlayerSerializer,
    SectionType.GAMES: GamesSerializer,
    SectionType.ANIME: AnimeSerializer,
    SectionType.MEDIA: MediaSerializer,
    SectionType.MUSIC: MusicSerializer,
}
for _serializer in SERIALIZERS.values():
    extend_schema_serializer(component_name=f"{_serializer.__name__.removesuffix('Serializer')}Section")(_serializer)

ANY_SECTION = PolymorphicProxySerializer(
    component_name="Section",
    serializers={str(type_): serializer for type_, serializer in SERIALIZERS.items()},
    resource_type_field_name="type",
    many=True,
)

FORMS = {type_: serializer() for type_, serializer in SERIALIZERS.items()}


def rendered(section: Json) -> Json:
    """A section as `queries` gathers it, in the form of its type."""
    return dict(FORMS[section["type"]].to_representation(section))
