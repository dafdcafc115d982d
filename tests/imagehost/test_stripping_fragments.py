"""MP4 and MOV in fragments: of a track that goes no sample stays, and no byte of the others is lost."""

from __future__ import annotations

import random
import struct
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import pytest

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import pieces, real_videos
from tests.imagehost.media_corpus.many_tracks import STYLE
from tests.imagehost.stripped import SECRET, pictures_and_sound, refusal, stripped

_box = pieces.box
_FLAGS = (
    "frag_keyframe+empty_moov", "frag_keyframe", "frag_keyframe+empty_moov+default_base_moof",
    "frag_keyframe+empty_moov+omit_tfhd_offset", "frag_keyframe+empty_moov+separate_moof",
    "frag_every_frame+empty_moov", "dash+global_sidx", "cmaf", "hybrid_fragmented", "faststart", "rtphint", "",
)  # fmt: skip
_TYPES = {"mp4": media.MP4, "mov": media.MOV}


@cache
def _with_text(muxer: str, flags: str, sound: str) -> bytes:
    """A film with a text in each third of a second, as captions, positions and telemetry are recorded."""
    recipe = real_videos.Recipe(muxer, "libx264", tune={"preset": "ultrafast"})
    with tempfile.TemporaryDirectory() as directory:  # some muxers read again what they wrote
        path = Path(directory, "recorded")
        _record(path, recipe, flags, sound)
        return path.read_bytes()


def _record(path: Path, recipe: real_videos.Recipe, flags: str, sound: str) -> None:
    options = {"movflags": flags} if flags else {}
    with av.open(str(path), "w", format=recipe.muxer, container_options=options) as container:
        text: Any = container.add_stream("mov_text")
        text.codec_context.subtitle_header = STYLE
        shown: Any = real_videos.video(container, recipe)
        heard: Any = container.add_stream(sound, rate=48000)
        packets = [packet for frame in [*real_videos.frames(recipe), None] for packet in shown.encode(frame)]
        packets += [packet for frame in [*real_videos.silence(heard), None] for packet in heard.encode(frame)]
        for third in range(3):
            packet: av.Packet[Any] = av.Packet(len(SECRET).to_bytes(2, "big") + SECRET)
            packet.stream, packet.time_base, packet.duration = text, Fraction(1, 1000), 300
            packet.pts = packet.dts = third * 300
            packets.append(packet)
        for packet in sorted(packets, key=lambda one: (one.dts or 0) * (one.time_base or 1)):
            container.mux(packet)


@pytest.mark.parametrize("sound", ["aac", "pcm_s16le"])
@pytest.mark.parametrize("flags", _FLAGS)
def test_no_sample_of_a_text_track_stays(flags: str, sound: str) -> None:
    muxer = "mp4" if sound == "aac" else "mov"
    content = _with_text(muxer, flags, sound)
    after = stripped(content, _TYPES[muxer])
    assert content.count(SECRET) == 3
    assert SECRET not in after
    assert len(after) == len(content)
    assert pictures_and_sound(after) == pictures_and_sound(content)
    assert stripped(after, _TYPES[muxer]) == after


def _tracks_of(content: bytes, kind: bytes) -> list[int]:
    """The numbers of the tracks that the boxes of that kind name."""
    starts = [at + 8 for at in range(len(content)) if content[at : at + 4] == kind]
    return [struct.unpack_from(">I", content, start)[0] for start in starts]


@pytest.mark.parametrize(("flags", "index"), [("frag_keyframe+empty_moov", b"tfra"), ("dash+global_sidx", b"sidx")])
def test_indexes_of_a_track_that_goes_go_too(flags: str, index: bytes) -> None:
    content = _with_text("mp4", flags, "aac")
    after = stripped(content, media.MP4)
    removed = _tracks_of(content, b"tkhd")  # the times come before the number there
    assert removed
    assert set(_tracks_of(after, index)) == set(_tracks_of(content, index)) - {1}
    assert set(_tracks_of(after, b"tfhd")) == set(_tracks_of(content, b"tfhd")) - {1}


_FILM = stripped(
    real_videos.recorded(real_videos.Recipe("mp4", "libx264", options={"movflags": "frag_keyframe+empty_moov"})),
    media.MP4,
)
_KEPT = b"picture " * 3
_ALL_FIELDS = 0xF00


def _run(flags: int, sizes: list[int], offset: int | None = None) -> bytes:
    """`flags`: the fields of each sample."""
    fields = [flag for flag in (0x100, 0x200, 0x400, 0x800) if flags & flag]
    samples = b"".join(struct.pack(">I", size if flag == 0x200 else 7) for size in sizes for flag in fields)
    place = b"" if offset is None else struct.pack(">i", offset)
    first = struct.pack(">I", 9) if flags & 0x4 else b""
    return _box(b"trun", struct.pack(">II", flags | (offset is not None), len(sizes)), place, first, samples)


def _fragment(start: int, form: str, *, track: int = 1) -> bytes:
    """A moof at `start` whose track has _KEPT at the second and third eight bytes after it."""
    size, third = 8, len(_KEPT) // 3
    for _ in range(2):  # the second time with the true size
        head, runs = {
            "from the fragment": ((0x20000, b""), [_run(0x200, [third] * 3, size + 8)]),
            "from the fragment by rule": ((0, b""), [_run(0x200, [third] * 3, size + 8)]),
            "from a position": ((1, struct.pack(">Q", start + size + 8)), [_run(0x204, [third] * 3)]),
            "back from a position": ((1, struct.pack(">Q", start + size + 108)), [_run(0x200, [third] * 3, -100)]),
            "one size": ((0x20010, struct.pack(">I", third)), [_run(0x400, [0] * 3, size + 8)]),
            "all fields": ((0x2003A, struct.pack(">4I", 1, 7, 7, 7)), [_run(_ALL_FIELDS, [third] * 3, size + 8)]),
            "two runs": ((0x20000, b""), [_run(0x300, [third], size + 8), _run(0x200, [third] * 2)]),
        }[form]
        header = _box(b"tfhd", struct.pack(">II", head[0], track), head[1])
        moof = _box(b"moof", _box(b"mfhd", struct.pack(">II", 0, 99)), _box(b"traf", header, *runs))
        size = len(moof)
    return moof


_FORMS = (
    "from the fragment", "from the fragment by rule", "from a position", "back from a position", "one size",
    "all fields", "two runs",
)  # fmt: skip


@pytest.mark.parametrize("form", _FORMS)
def test_samples_are_found_wherever_a_fragment_counts_from(form: str) -> None:
    moof = _fragment(len(_FILM), form)
    after = stripped(_FILM + moof + _box(b"mdat", _KEPT + SECRET), media.MP4)
    assert after == _FILM + moof + _box(b"mdat", _KEPT + bytes(len(SECRET)))


@pytest.mark.parametrize("form", _FORMS)
def test_a_fragment_of_a_track_that_does_not_exist_goes_with_its_samples(form: str) -> None:
    content = _FILM + _fragment(len(_FILM), form, track=2) + _box(b"mdat", SECRET * 2)
    after = stripped(content, media.MP4)
    assert SECRET not in after
    assert b"tfhd" not in after[len(_FILM) :]
    assert after[: len(_FILM)] == _FILM


def test_a_fragment_behind_another_one_counts_from_its_end() -> None:
    def moof(size: int) -> bytes:
        first = _box(b"traf", _box(b"tfhd", struct.pack(">II", 0, 2)), _run(0x200, [len(SECRET)], size + 8))
        second = _box(b"traf", _box(b"tfhd", struct.pack(">II", 0, 1)), _run(0x200, [len(_KEPT)], 0))
        return _box(b"moof", first, second)

    after = stripped(_FILM + moof(len(moof(0))) + _box(b"mdat", SECRET + _KEPT), media.MP4)
    assert after.endswith(_box(b"mdat", bytes(len(SECRET)) + _KEPT))
    assert after[: len(_FILM)] == _FILM


def test_the_size_of_samples_may_be_in_the_movie_alone() -> None:
    at = _FILM.index(b"trex") + 4
    film = _FILM[: at + 16] + struct.pack(">I", 8) + _FILM[at + 20 :]
    size = len(_fragment(0, "one size")) - 4

    moof = _box(
        b"moof", _box(b"mfhd", bytes(8)),
        _box(b"traf", _box(b"tfhd", struct.pack(">II", 0x20000, 1)), _run(0x400, [0] * 3, size + 8)),
    )  # fmt: skip
    assert len(moof) == size
    after = stripped(film + moof + _box(b"mdat", _KEPT + SECRET), media.MP4)
    assert after.endswith(_box(b"mdat", _KEPT + bytes(len(SECRET))))


_NEXT = b"next"


@pytest.mark.parametrize(
    "runs",
    [
        b"",
        _box(b"tfhd", bytes(4)),
        _box(b"tfhd", struct.pack(">II", 1, 1), bytes(4)),
        _box(b"tfhd", struct.pack(">II", 0x20000, 1)) + _box(b"trun", struct.pack(">II", 0x201, 1), bytes(4)),
        _box(b"tfhd", struct.pack(">II", 0x20000, 1)) + _box(b"trun", struct.pack(">II", 0x200, 1 << 31), bytes(40)),
        _box(b"tfhd", struct.pack(">II", 0x20000, 2)) + _box(b"trun", struct.pack(">II", 0x200, 9), bytes(4)),
        _box(b"tfhd", struct.pack(">II", 0, 2))
        + _run(0x200, [8], 99)
        + _NEXT
        + _box(b"tfhd", struct.pack(">II", 0, 1))
        + _run(0x200, [8]),
        _box(b"tfhd", struct.pack(">II", 0, 2))
        + _run(0x200, [8], 1 << 30)
        + _NEXT
        + _box(b"tfhd", struct.pack(">II", 0, 1))
        + _run(0x200, [8], 1 << 30),
    ],
)
def test_a_fragment_without_its_fields_or_its_place_is_refused(runs: bytes) -> None:
    content = _FILM + _box(b"moof", *(_box(b"traf", part) for part in runs.split(_NEXT))) + _box(b"mdat", SECRET)
    assert refusal(content, media.MP4) is stripping.Malformed


def test_two_tracks_of_one_number_are_refused_where_a_fragment_names_it() -> None:
    content = _with_text("mp4", "frag_keyframe+empty_moov", "aac")
    first, second = (at for at in range(len(content)) if content[at : at + 4] == b"tkhd" and content[at + 19] < 3)
    assert refusal(content[: first + 16] + content[second + 16 : second + 20] + content[first + 20 :], media.MP4) is (
        stripping.Malformed
    )


def _changed_fragments(content: bytes, *, rounds: int) -> Iterator[bytes]:
    """With a few bytes changed in what the fragments say of the text."""
    chance = random.Random(20260103)  # noqa: S311 (nothing secret: a repeatable series)
    heads = [at for at in range(len(content)) if content[at : at + 4] == b"tfhd" and content[at + 11] == 1]
    places = [at + offset for at in heads for offset in range(4, 60) if content[at : at + offset].count(b"traf") == 0]
    for _ in range(rounds):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            changed[chance.choice(places)] = chance.choice((0, 1, 2, 0x7F, 0xFF, chance.randrange(256)))
        yield bytes(changed)


def _played(content: bytes) -> Any:
    try:
        return pictures_and_sound(content)
    except av.FFmpegError:
        return None


def test_whatever_a_fragment_says_of_a_text_no_byte_of_the_film_is_lost() -> None:
    content = _with_text("mp4", "frag_keyframe+empty_moov+default_base_moof", "aac")
    assert content.count(b"traf") >= 6
    taken = 0
    for changed in _changed_fragments(content, rounds=150):
        try:
            after = stripped(changed, media.MP4)
        except stripping.Refusal:
            continue
        taken += 1
        if (played := _played(changed)) is not None:
            assert _played(after) == played
    assert 0 < taken < 150


def test_millions_of_samples_of_a_run_are_read_in_small_pieces() -> None:
    count = 1_000_000
    header = _box(b"tfhd", struct.pack(">II", 0x20000, 1))
    run = _run(0x200, [1] * count, 76 + 4 * count)
    moof = _box(b"moof", _box(b"mfhd", bytes(8)), _box(b"traf", header, run))
    assert len(moof) + 8 == 76 + 4 * count
    content = _FILM + moof + _box(b"mdat", b"x" * count, SECRET)
    assert stripped(content, media.MP4) == content[: -len(SECRET)] + bytes(len(SECRET))


def test_a_live_recording_of_an_hour_may_have_a_fragment_for_each_frame() -> None:
    header = _box(b"tfhd", struct.pack(">II", 0x20000, 1))
    inside = _box(b"traf", header, _box(b"tfdt", bytes(8)), _run(0x200, [4], 100))
    fragment = _box(b"moof", _box(b"mfhd", bytes(8)), inside) + _box(b"mdat", bytes(4))
    content = _FILM + fragment * (3600 * 30)
    assert stripped(content, media.MP4) == content


def test_more_chunks_than_any_film_has_are_refused() -> None:
    count = 1_000_001
    tables = [
        _box(b"stsz", struct.pack(">III", 0, 1, count)),
        _box(b"stsc", struct.pack(">2I3I", 0, 1, 1, 1, 1)),
        _box(b"stco", struct.pack(">2I", 0, count), struct.pack(">2I", 9, 90) * (count // 2 + 1)),
    ]
    picture = _box(b"hdlr", bytes(8), b"vide", bytes(12))
    track = _box(b"trak", _box(b"mdia", picture, _box(b"minf", _box(b"stbl", *tables))))
    assert refusal(pieces.ftyp(b"isom") + _box(b"moov", track), media.MP4) is stripping.TooManyParts
