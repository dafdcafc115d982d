"""The artwork and the sounds of the demo profiles: small, complete, and able to do nothing."""

import wave
from pathlib import Path

import pytest
from django.conf import settings
from lxml import etree

from lookup.svg import svg_problems

ARTWORK = Path(settings.BASE_DIR) / "static" / "uploads" / "demo"
# Kind: how many there are, width, height.
PICTURES: dict[str, tuple[int, int, int]] = {
    "avatar": (12, 256, 256),
    "banner": (6, 1200, 400),
    "background": (4, 1600, 900),
    "cover": (6, 512, 512),
    "gallery": (8, 800, 600),
    "project": (6, 128, 128),
    "link": (4, 64, 64),
    "game": (8, 300, 400),
    "anime": (6, 300, 400),
    "media": (6, 300, 400),
    "music": (6, 300, 300),
}
SIZES = {f"{kind}-{number}.svg": size for kind, (count, *size) in PICTURES.items() for number in range(1, count + 1)}
SIZES |= {"cursor.svg": [32, 32], "favicon.svg": [32, 32]}
SOUNDS = {"tone-1.wav": 2.0, "tone-2.wav": 2.0, "click.wav": 0.22}


def test_the_demo_is_complete_and_under_300_kilobytes() -> None:
    files = list(ARTWORK.iterdir())
    assert {path.name for path in files} == {*SIZES, *SOUNDS}
    assert sum(path.stat().st_size for path in files) < 300_000


@pytest.mark.parametrize("name", SIZES)
def test_a_picture_has_its_size_and_can_only_be_drawn(name: str) -> None:
    source = (ARTWORK / name).read_text()
    assert svg_problems(source) == []
    root = etree.fromstring(source)
    width, height = SIZES[name]
    assert (root.get("width"), root.get("height")) == (str(width), str(height))
    assert root.get("viewBox") == f"0 0 {width} {height}"


@pytest.mark.parametrize(("name", "seconds"), SOUNDS.items())
def test_a_sound_is_short_and_can_be_played(name: str, seconds: float) -> None:
    with wave.open(str(ARTWORK / name), "rb") as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (8000, 1, 1)
        assert sound.getnframes() / 8000 == pytest.approx(seconds)
        assert len(set(sound.readframes(sound.getnframes()))) > 50
