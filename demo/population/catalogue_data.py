"""The catalogues that sections name: invented games, anime, films, series and music."""

from __future__ import annotations

from datetime import date

from django.utils.text import slugify

from demo import vocabulary
from lookup.models import Anime, Game, MediaTitle, MusicItem
from lookup.shapes import addresses

FIRST_ID = 9_000_000_001  # beyond the numbers of any catalogue that an import brings
data = vocabulary.load("catalogues")
GAME_IDS = tuple(range(FIRST_ID, FIRST_ID + len(data.GAMES)))
ANIME_IDS = tuple(range(FIRST_ID, FIRST_ID + len(data.ANIME)))
MEDIA_IDS = tuple(range(FIRST_ID, FIRST_ID + len(data.MEDIA)))
MUSIC_KEYS = tuple((kind, f"demo-{kind}-{slugify(title)}") for kind, title, _, _ in data.MUSIC)


def fill() -> None:
    """Insert missing rows. 4 queries."""
    games = [
        Game(
            id=pk,
            name=name,
            image=_image("game", place),
            slug=slugify(name),
            released=released and date.fromisoformat(released),
            rating=rating,
            metacritic=metacritic,
        )
        for place, (pk, (name, released, rating, metacritic)) in enumerate(
            zip(GAME_IDS, data.GAMES, strict=True), start=1
        )
    ]
    anime = [
        Anime(id=pk, title=title, image=_image("anime", place), format=form, year=year, score=score)
        for place, (pk, (title, form, year, score)) in enumerate(zip(ANIME_IDS, data.ANIME, strict=True), start=1)
    ]
    media = [
        MediaTitle(id=pk, media_type=kind, title=title, image=_image("media", place), year=year, rating=rating)
        for place, (pk, (kind, title, year, rating)) in enumerate(zip(MEDIA_IDS, data.MEDIA, strict=True), start=1)
    ]
    music = [
        MusicItem(kind=kind, music_id=key, title=title, image=_image("music", place), artist=artist, album=album)
        for place, ((_, key), (kind, title, artist, album)) in enumerate(
            zip(MUSIC_KEYS, data.MUSIC, strict=True), start=1
        )
    ]
    # The pictures follow the service to another address; everything else is left as it is.
    Game.objects.bulk_create(games, update_conflicts=True, unique_fields=["id"], update_fields=["image"])
    Anime.objects.bulk_create(anime, update_conflicts=True, unique_fields=["id"], update_fields=["image"])
    MediaTitle.objects.bulk_create(media, update_conflicts=True, unique_fields=["id"], update_fields=["image"])
    MusicItem.objects.bulk_create(
        music, update_conflicts=True, unique_fields=["kind", "music_id"], update_fields=["image"]
    )


def _image(kind: str, place: int) -> str:
    return addresses.upload(f"demo/{kind}-{place}.svg")
