"""What members listen to, play, watch and stream."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Track:
    title: str
    artists: str
    album: str
    cover: str  # of the player's own pictures
    seconds: int


@dataclass(frozen=True)
class Game:
    """`picture`: of the application's own (digits), from outside (`mp:`), or none. `scenes`: details and state."""

    name: str
    application_id: str
    picture: str | None
    tooltip: str | None
    scenes: tuple[tuple[str | None, str | None], ...]


def _album(album: str, artists: str, cover: str, tracks: tuple[tuple[str, int], ...]) -> tuple[Track, ...]:
    return tuple(Track(title, artists, album, f"ab67616d0000b273{cover}", seconds) for title, seconds in tracks)


TRACKS = (
    *_album(
        "Harbour Lights",
        "Marlow Quay",
        "5d1c7e40f2a98b36c0de1147",
        (("Slack Water", 214), ("Buoy Bells", 187), ("Last Ferry Home", 241), ("Fog on the Breakwater", 263)),
    ),
    *_album(
        "Small Machines",
        "Tessellate; Ivo Brandt",
        "a07be912cc4d3f6581902e7d",
        (("Cog", 198), ("Mainspring", 226), ("Ratchet", 173), ("Escapement", 305)),
    ),
    *_album(
        "Nine Gardens",
        "Yuki Amano",
        "19f34ab7d2056c8e9b7710fa",
        (("Moss", 152), ("Stone Lantern", 208), ("Rain Chain", 194), ("Koi", 233)),
    ),
)

GAMES = (
    Game(
        "Starfall Drift",
        "268473310550000001",
        "268473310551000001",
        "Level 42",
        (
            ("Docked at Ceres", "In a party"),
            ("Racing: Ring Nebula", "Lap 1 of 3"),
            ("Racing: Ring Nebula", "Lap 2 of 3"),
            ("Racing: Ring Nebula", "Lap 3 of 3"),
        ),
    ),
    Game(
        "Thornwood",
        "268473310550000002",
        "mp:external/2bVqPZ0x/https/thornwood.example/keyart.png",
        "Chapter III",
        (
            ("In the Drowned Abbey", "Playing alone"),
            ("At the campfire", "Playing alone"),
            ("Fighting the Warden", None),
        ),
    ),
    Game("Block Meadow", "268473310550000003", None, None, ((None, None),)),
    Game(
        "Quiet Chess",
        "268473310550000004",
        "268473310551000004",
        None,
        (("Rapid, 10+5", "Opening"), ("Rapid, 10+5", "Middlegame"), ("Rapid, 10+5", "Endgame")),
    ),
)
STREAMS = (
    ("Building a tiny synth from scratch", "Science & Technology"),
    ("First run, no spoilers", "Thornwood"),
    ("Late night races with chat", "Starfall Drift"),
)
VIDEOS = (
    ("How tide clocks work", "The Workshop", "q7Vd0nX2kLs"),
    ("A walk through nine gardens", "Slow Places", "Zb3TtR8yJ4w"),
)
EDITOR, EDITOR_PICTURE = "268473310550000009", "268473310551000009"
FILES = ("roster.py", "styles.css", "README.md", "worker.py", "index.html")
