"""WebM: private elements become Void, in place."""

from __future__ import annotations

import io
from fractions import Fraction
from typing import Any

import av
import pytest
from av.stream import Disposition

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import pieces, real_videos
from tests.imagehost.stripped import SECRET, film, metadata, pictures_and_sound, refusal, stripped

_ebml = pieces.ebml
_HEAD = pieces.ebml_header(b"webm")
_SEGMENT, _INFO, _TRACKS, _CLUSTER, _TAGS, _VOID = 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675, 0x1254C367, 0xEC
_TRACK = _ebml(0xAE, _ebml(0xD7, b"\x01") + _ebml(0x83, b"\x01"))
_UNKNOWN = b"\x01" + b"\xff" * 7
_BLOCK = _ebml(0xA3, b"\x81\x00\x00\x80picture")


def _file(*parts: bytes, size: bytes | None = None, head: bytes = _HEAD) -> bytes:
    return head + _ebml(_SEGMENT, b"".join(parts), size=size)


def _void(length: int) -> bytes:
    """In place of an element of four bytes of ID, eight of size, and `length` others."""
    return _ebml(_VOID, bytes(length + 3))


def _tagged(**options: str) -> bytes:
    tags = {"title": SECRET.decode(), "comment": SECRET.decode(), "creation_time": "2026-01-02T03:04:05Z"}
    return real_videos.recorded(
        real_videos.Recipe(
            "webm", "libvpx", sound="libopus", tune={"deadline": "realtime"}, metadata=tags, options=options
        )
    )


@pytest.mark.parametrize("options", [{}, {"live": "1"}, {"reserve_index_space": "500"}])
def test_tags_and_titles_go_and_the_film_stays(options: dict[str, str]) -> None:
    content = _tagged(**options)
    after = stripped(content, media.WEBM)
    assert SECRET in content
    assert SECRET not in after
    assert b"Lavf" not in after
    assert metadata(after) <= {"language", "encoder"}  # of no one, in the place where it must be
    assert film(after) == film(content)
    assert len(after) == len(content)
    assert stripped(after, media.WEBM) == after


@pytest.mark.parametrize("identity", [_TAGS, 0x1941A469, 0x1043A770])
def test_private_parts_of_the_segment_become_void(identity: int) -> None:
    tracks, cluster = _ebml(_TRACKS, _TRACK), _ebml(_CLUSTER, _BLOCK)
    content = _file(tracks, _ebml(identity, SECRET), cluster, _ebml(_VOID, SECRET), _ebml(identity, SECRET))
    after = stripped(content, media.WEBM)
    void = _void(len(SECRET))
    assert after == _file(tracks, void, cluster, _ebml(_VOID, bytes(len(SECRET))), void)
    assert stripped(after, media.WEBM) == after


@pytest.mark.parametrize(
    ("private", "void"),
    [
        (b"\xbf\x80", b"\xec\x80"),
        (b"\xbf\x40\x01!", b"\xec\x40\x01\x00"),
        (b"\x53\x78\x81!", b"\xec\x40\x01\x00"),
        (b"\x12\x54\xc3\x67\x10\x00\x00\x02!!", b"\xec\x02" + bytes(5) + b"\x02\x00\x00"),
        (b"\x12\x54\xc3\x67\x01" + bytes(6) + b"\x02!!", b"\xec\x01" + bytes(6) + b"\x05" + bytes(5)),
    ],
)
def test_a_void_is_as_long_as_what_it_replaces(private: bytes, void: bytes) -> None:
    tracks = _ebml(_TRACKS, _TRACK)
    assert stripped(_file(private, tracks), media.WEBM) == _file(void, tracks)


def test_what_info_says_of_the_file_goes_but_its_time_scale() -> None:
    scale, duration = _ebml(0x2AD7B1, b"\x0f\x42\x40"), _ebml(0x4489, b"\x44\x7a\x00\x00")
    private = b"".join(_ebml(identity, SECRET) for identity in (0x7BA9, 0x4461, 0x7384, 0x73A4, 0x3CB923, 0xBF))
    writers = _ebml(0x4D80, SECRET) + _ebml(0x5741, SECRET)
    content = _file(_ebml(_INFO, private + scale + writers + duration), _ebml(_TRACKS, _TRACK))
    after = stripped(content, media.WEBM)
    assert SECRET not in after
    assert scale in after
    assert duration in after
    assert _ebml(0x4D80, bytes(len(SECRET))) + _ebml(0x5741, bytes(len(SECRET))) in after
    assert stripped(after, media.WEBM) == after


def test_names_and_unknown_elements_of_a_track_go() -> None:
    known = _ebml(0xD7, b"\x01") + _ebml(0x83, b"\x01") + _ebml(0x86, b"V_VP8") + _ebml(0xE0, _ebml(0xB0, b"\x60"))
    private = _ebml(0x536E, SECRET) + _ebml(0x258688, SECRET) + _ebml(0x7446, SECRET) + _ebml(0x4FFF, SECRET)
    content = _file(_ebml(_TRACKS, _ebml(0xAE, private + known)))
    after = stripped(content, media.WEBM)
    assert SECRET not in after
    assert known in after
    assert len(after) == len(content)


def test_pointers_to_what_is_void_now_are_void() -> None:
    to_tracks = _ebml(0x4DBB, _ebml(0x53AB, _TRACKS.to_bytes(4, "big")) + _ebml(0x53AC, b"\x40"))
    to_tags = _ebml(0x4DBB, _ebml(0x53AB, _TAGS.to_bytes(4, "big")) + _ebml(0x53AC, b"\x7f"))
    content = _file(_ebml(0x114D9B74, to_tracks + to_tags), _ebml(_TRACKS, _TRACK))
    after = stripped(content, media.WEBM)
    void = _ebml(_VOID, bytes(len(to_tags) - 9))
    assert after == _file(_ebml(0x114D9B74, to_tracks + void), _ebml(_TRACKS, _TRACK))


def test_what_hides_in_the_file_s_own_header_goes() -> None:
    head = _ebml(0x1A45DFA3, _HEAD[12:] + _ebml(0x4FFE, SECRET))
    after = stripped(_file(_ebml(_TRACKS, _TRACK), head=head + _ebml(_VOID, SECRET)), media.WEBM)
    assert SECRET not in after


def test_a_live_recording_is_walked_block_by_block() -> None:
    cluster = _ebml(_CLUSTER, _ebml(0xE7, b"\x00") + _BLOCK * 3, size=_UNKNOWN)
    hidden = _ebml(_CLUSTER, _ebml(0xE7, b"\x00") + _BLOCK + _ebml(_VOID, SECRET), size=_UNKNOWN)
    tracks = _ebml(_TRACKS, _TRACK)
    content = _file(tracks, cluster, hidden, _ebml(_TAGS, SECRET), cluster, size=_UNKNOWN)
    after = stripped(content, media.WEBM)
    blank = _ebml(_CLUSTER, _ebml(0xE7, b"\x00") + _BLOCK + _ebml(_VOID, bytes(len(SECRET))), size=_UNKNOWN)
    assert after == _file(tracks, cluster, blank, _void(len(SECRET)), cluster, size=_UNKNOWN)


_POSITIONS = _ebml(0xAE, _ebml(0xD7, b"\x02") + _ebml(0x83, b"\x21") + _ebml(0x86, b"D_WEBVTT/METADATA"))
_PRIVATE_BLOCKS = {
    "simple": _ebml(0xA3, b"\x82\x00\x00\x80" + SECRET),
    "in a group": _ebml(0xA0, _ebml(0xA1, b"\x82\x00\x00\x00" + SECRET) + _ebml(0x9B, b"\x09")),
    "Xiph lacing": _ebml(0xA3, b"\x82\x00\x00\x82\x01\x10" + SECRET * 2),
    "EBML lacing": _ebml(0xA3, b"\x82\x00\x00\x86\x01\x90" + SECRET * 2),
    "lacing of one size": _ebml(0xA0, _ebml(0xA1, b"\x82\x00\x00\x04\x01" + SECRET * 2)),
    "a long number of the track": _ebml(0xA3, b"\x40\x02\x00\x00\x80" + SECRET),
    "of no track": _ebml(0xA3, b"\x85\x00\x00\x80" + SECRET),
    "without a number": _ebml(0xA3) + _ebml(_VOID, SECRET),
    "encrypted": _ebml(0xAF, SECRET),
    "unknown": _ebml(0x4FFE, SECRET),
    "unknown in a group": _ebml(0xA0, _BLOCK.replace(b"\xa3", b"\xa1") + _ebml(0xA4, SECRET)),
    "no element": b"\x00" + SECRET,
}


@pytest.mark.parametrize(
    ("name", "size"),
    [
        (name, size)
        for name in _PRIVATE_BLOCKS
        for size in (None, _UNKNOWN)
        if (name, size) != ("no element", _UNKNOWN)  # a live cluster ends there
    ],
)
def test_of_a_track_that_goes_no_block_stays(name: str, size: bytes | None) -> None:
    """Of positions and the like; in whole clusters and in those of a live recording."""
    tracks = _ebml(_TRACKS, _TRACK + _POSITIONS)
    cluster = _ebml(_CLUSTER, _ebml(0xE7, b"\x00") + _BLOCK + _PRIVATE_BLOCKS[name] + _BLOCK, size=size)
    content = _file(tracks, cluster, size=size)
    after = stripped(content, media.WEBM)
    assert SECRET not in after
    assert b"METADATA" not in after
    assert after.count(b"picture") == after.count(_BLOCK) + ("group" in name and "unknown" in name)
    assert after.count(_BLOCK) == (1 if name == "no element" else 2)
    assert len(after) == len(content)
    assert stripped(after, media.WEBM) == after


_OF_NO_KEPT_TRACK = {
    "its block first": _ebml(0xA1, b"\x82\x00\x00\x00" + SECRET * 9),
    "its block last": _ebml(0xFB, b"\x09") + _ebml(0xA1, b"\x82\x00\x00\x00" + SECRET * 9),
    "no block": _ebml(0x75A1, SECRET * 9),
    "no element": b"\x00" + SECRET * 9,
    "an unknown element": _ebml(0xA1, b"\x81\x00\x00\x00picture") + _ebml(0xA4, SECRET * 9),
    "no element behind its block": _ebml(0xA1, b"\x81\x00\x00\x00picture") + b"\x00" + SECRET * 9,
}


@pytest.mark.parametrize("size", [None, _UNKNOWN])
@pytest.mark.parametrize("name", _OF_NO_KEPT_TRACK)
def test_where_the_file_ends_in_a_group_no_private_block_stays(name: str, size: bytes | None) -> None:
    group = _ebml(0xA0, _OF_NO_KEPT_TRACK[name])
    tracks = _ebml(_TRACKS, _TRACK + _POSITIONS)
    content = _file(tracks, _ebml(_CLUSTER, _BLOCK + group, size=size), size=size)[:-10]
    after = stripped(content, media.WEBM)
    assert SECRET not in after
    assert after.count(b"picture") == content.count(b"picture")
    assert len(after) == len(content)
    assert stripped(after, media.WEBM) == after


def test_where_the_file_ends_in_a_group_of_a_kept_track_it_stays() -> None:
    group = _ebml(0xA0, _ebml(0x9B, b"\x09") + _ebml(0xA1, b"\x81\x00\x00\x00" + b"picture" * 9))
    content = _file(_ebml(_TRACKS, _TRACK), _ebml(_CLUSTER, _BLOCK + group))[:-10]
    assert stripped(content, media.WEBM) == content


def test_a_real_track_of_captions_stays_and_one_of_positions_goes() -> None:
    for disposition, stays in ((Disposition.captions, True), (Disposition.metadata, False)):
        written = io.BytesIO()
        with av.open(written, "w", format="webm") as container:
            text = container.add_mux_stream("webvtt")
            text.disposition = disposition
            shown = real_videos.video(container, real_videos.WEBM)
            for number in range(3):
                packet: av.Packet[Any] = av.Packet(SECRET)
                packet.stream, packet.time_base, packet.duration = text, Fraction(1, 1000), 300
                packet.pts = packet.dts = number * 300
                container.mux(packet)
            for frame in [*real_videos.frames(real_videos.WEBM), None]:
                container.mux(shown.encode(frame))
        after = stripped(written.getvalue(), media.WEBM)
        assert after.count(SECRET) == (3 if stays else 0)
        assert pictures_and_sound(after) == pictures_and_sound(written.getvalue())
        assert stripped(after, media.WEBM) == after


def test_places_of_a_track_that_goes_leave_the_cues() -> None:
    def cues(*tracks: bytes) -> bytes:
        places = b"".join(track for track in tracks)
        return _ebml(0x1C53BB6B, _ebml(0xBB, _ebml(0xB3, b"\x00") + places))

    first, second = (_ebml(0xB7, _ebml(0xF7, number) + _ebml(0xF1, b"\x40")) for number in (b"\x01", b"\x02"))
    content = _file(_ebml(_TRACKS, _TRACK + _POSITIONS), _ebml(_CLUSTER, _BLOCK), cues(first, second))
    after = stripped(content, media.WEBM)
    assert after.endswith(cues(first, _ebml(_VOID, bytes(len(second) - 9))))


def test_a_film_that_is_cut_off_stays_and_tags_and_cues_in_which_it_ends_become_void() -> None:
    whole = _file(_ebml(_TRACKS, _TRACK), _ebml(_CLUSTER, _BLOCK * 9))
    assert stripped(whole[:-30], media.WEBM) == whole[:-30]
    for identity in (_TAGS, 0x1C53BB6B):
        cut = _file(_ebml(_TRACKS, _TRACK), _ebml(_CLUSTER, _BLOCK), _ebml(identity, SECRET * 3))[:-20]
        assert SECRET[:5] not in stripped(cut, media.WEBM)


@pytest.mark.parametrize("size", [None, _UNKNOWN])
def test_behind_the_clusters_what_is_no_part_of_the_film_is_cut_off(size: bytes | None) -> None:
    content = _file(_ebml(_TRACKS, _TRACK), _ebml(_CLUSTER, _BLOCK), size=size)
    for rest in (content, b"\x00\x00" + SECRET):
        assert stripped(content + rest, media.WEBM) == content
    assert refusal(content + b"\x00" + SECRET + b"<script>", media.WEBM) is stripping.ForeignBytes
    live = _file(_ebml(_TRACKS, _TRACK), _ebml(_CLUSTER, _BLOCK, size=_UNKNOWN), size=_UNKNOWN)
    assert stripped(live + b"\x00\x00" + SECRET, media.WEBM) == live  # ends with its last whole block
    assert refusal(_HEAD + _ebml(_TAGS, SECRET), media.WEBM) is stripping.ForeignBytes  # no segment


@pytest.mark.parametrize(
    "content",
    [
        _ebml(0x1A45DFA3, _HEAD[12:], size=_UNKNOWN),
        _HEAD + b"\x00" * 20,
        _file(),
        _file(_ebml(_CLUSTER, _BLOCK)),
        _file(_ebml(_TRACKS, _TRACK), _ebml(_TAGS, SECRET, size=_UNKNOWN)),
        _file(_ebml(_TRACKS, _ebml(0xAE, b"", size=_UNKNOWN))),
        _file(_ebml(_TRACKS, _ebml(0xAE, SECRET, size=b"\x90"))),
        _file(_ebml(_TRACKS, _TRACK))[:-3],
        _file(_ebml(_TRACKS, _TRACK), _ebml(_TAGS, size=b"\x01\xff" + bytes(6))),
        _file(_ebml(_TRACKS, _TRACK), b"\x08\x08\x08\x08"),
        _file(_ebml(_TRACKS, _TRACK + _TRACK)),
        _file(_ebml(_CLUSTER, _BLOCK), _ebml(_TRACKS, _TRACK)),
        _file(_ebml(_TRACKS, _TRACK), b"\x12\x54\xc3\x67\x00" + bytes(8)),
        _file(_ebml(_TRACKS, _TRACK), _ebml(_CLUSTER, _ebml(0xA0, _BLOCK, size=_UNKNOWN), size=_UNKNOWN)),
    ],
)
def test_a_broken_structure_is_refused(content: bytes) -> None:
    assert refusal(content, media.WEBM) is stripping.Malformed
