"""The catalogues that sections name: invented games, anime, films, series and music, with pictures of our own."""

from __future__ import annotations

from datetime import date

from django.utils.text import slugify

from lookup import addresses
from lookup.models import Anime, Game, MediaTitle, MusicItem

FIRST_ID = 9_000_000_001  # beyond the numbers of any catalogue that an import brings
GAMES = (
    ("Hollow Tide", date(2019, 10, 4), 4.5, 88),
    ("Lanternfall", date(2021, 3, 18), 4.2, 81),
    ("Small Kingdom Post", date(2023, 5, 30), 4.7, 91),
    ("Rustbloom", date(2017, 11, 9), 3.9, 74),
    ("Orbit Garden", date(2022, 8, 25), 4.4, 86),
    ("The Cartographer's Debt", date(2020, 2, 14), 4.1, None),
    ("Kitchen Thunder", date(2024, 4, 11), 3.8, 72),
    ("Untitled Lighthouse Game", None, None, None),
)
ANIME = (
    ("Clockwork Harbour", "TV", 2018, 8.1),
    ("The Bakery on Platform Nine", "TV", 2021, 7.9),
    ("Letters to the Rain", "MOVIE", 2016, 8.7),
    ("Paper Crane Detectives", "TV", 2023, 7.4),
    ("Snowline", "OVA", 2014, 7.1),
    ("Songs for a Small Moon", "MOVIE", None, None),
)
MEDIA = (
    ("movie", "The Last Ferry", 2015, 7.8),
    ("movie", "Winter Orchard", 2020, 7.2),
    ("series", "Night Desk", 2019, 8.4),
    ("series", "The Glass Parish", 2022, 8.0),
    ("movie", "A Map of Ordinary Days", 2023, 7.5),
    ("series", "Two Doors Down", None, None),
)
MUSIC = (
    ("track", "Salt and Cedar", "Velvet Ferry", "Open Water"),
    ("track", "Half Past Quiet", "Mina Harrow", "Kitchen Light"),
    ("album", "Open Water", "Velvet Ferry", ""),
    ("album", "Rooms Without Clocks", "Night Shift Choir", ""),
    ("artist", "The Tin Orchard", "", ""),
    ("artist", "Mina Harrow", "", ""),
)
GAME_IDS = tuple(range(FIRST_ID, FIRST_ID + len(GAMES)))
ANIME_IDS = tuple(range(FIRST_ID, FIRST_ID + len(ANIME)))
MEDIA_IDS = tuple(range(FIRST_ID, FIRST_ID + len(MEDIA)))
MUSIC_KEYS = tuple((kind, f"demo-{kind}-{slugify(title)}") for kind, title, _, _ in MUSIC)


def fill() -> None:
    """Make the rows that are missing. 4 queries."""
    games = [
        Game(
            id=pk,
            name=name,
            image=_image("game", place),
            slug=slugify(name),
            released=released,
            rating=rating,
            metacritic=metacritic,
        )
        for place, (pk, (name, released, rating, metacritic)) in enumerate(zip(GAME_IDS, GAMES, strict=True), start=1)
    ]
    anime = [
        Anime(id=pk, title=title, image=_image("anime", place), format=form, year=year, score=score)
        for place, (pk, (title, form, year, score)) in enumerate(zip(ANIME_IDS, ANIME, strict=True), start=1)
    ]
    media = [
        MediaTitle(id=pk, media_type=kind, title=title, image=_image("media", place), year=year, rating=rating)
        for place, (pk, (kind, title, year, rating)) in enumerate(zip(MEDIA_IDS, MEDIA, strict=True), start=1)
    ]
    music = [
        MusicItem(kind=kind, music_id=key, title=title, image=_image("music", place), artist=artist, album=album)
        for place, ((_, key), (kind, title, artist, album)) in enumerate(zip(MUSIC_KEYS, MUSIC, strict=True), start=1)
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
