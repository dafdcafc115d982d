"""MP4, MOV and AVIF: private boxes become empty space, in place, and the file stays one that decoders open."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import pieces, real_images, real_videos
from tests.imagehost.stripped import SECRET, film, metadata, pictures, pictures_and_sound, refusal, stripped

_box = pieces.box
_PLAIN = stripped(real_videos.recorded(real_videos.MP4), media.MP4)
_TAGS = {
    "title": SECRET.decode(), "comment": SECRET.decode(), "artist": SECRET.decode(), "description": SECRET.decode(),
    "location": "+48.8577+002.2950/", "creation_time": "2026-01-02T03:04:05Z", "genre": SECRET.decode(),
}  # fmt: skip


def _inside(content: bytes, path: list[bytes], added: bytes) -> bytes:
    """`added` at the end of the first box of that path, all sizes around it adjusted."""
    if not path:
        return content + added
    start, end = pieces.box_of(content, path[0])
    return content[:start] + _box(path[0], _inside(content[start + 8 : end], path[1:], added)) + content[end:]


def _tagged(muxer: str, **options: str) -> bytes:
    return real_videos.recorded(
        real_videos.Recipe(muxer, "libx264", tune={"preset": "ultrafast"}, metadata=_TAGS, options=options)
    )


@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        (media.MP4, _tagged("mp4")),
        (media.MP4, _tagged("mp4", movflags="frag_keyframe+empty_moov")),
        (media.MP4, _tagged("mp4", movflags="hybrid_fragmented")),
        (media.MOV, _tagged("mov", movflags="use_metadata_tags")),
    ],
    ids=["mp4", "mp4 fragments", "mp4 with its fragments in the data", "mov keys"],
)
def test_tags_places_and_times_go_and_the_film_stays(media_type: media.MediaType, content: bytes) -> None:
    after = stripped(content, media_type)
    assert SECRET in content
    assert SECRET not in after
    assert b"48.8577" not in after
    assert b"VideoHandler" not in after
    assert film(after) == film(content)
    assert metadata(after) <= {"major_brand", "minor_version", "compatible_brands", "language", "vendor_id", "encoder"}
    assert len(after) == len(content)
    assert stripped(after, media_type) == after


_PRIVATE = {
    "user data of the file": ([], _box(b"udta", _box(b"\xa9xyz", SECRET))),
    "metadata of the file": ([], _box(b"meta", bytes(4), SECRET)),
    "xmp": ([], _box(b"uuid", bytes.fromhex("be7acfcb97a942e89c71999491e3afac"), SECRET)),
    "unknown at the top": ([], _box(b"note", SECRET)),
    "empty space": ([], _box(b"free", SECRET) + _box(b"skip", SECRET) + _box(b"wide", SECRET)),
    "what cameras and players add": (
        [],
        b"".join(
            _box(kind, SECRET)
            for kind in b"meco emsg prft pnot PICT pict junk thum sefd _htc frea mcvr mpvd gps0 gsen".split()
        ),
    ),
    "long box": ([], struct.pack(">I4sQ", 1, b"free", 16 + len(SECRET)) + SECRET),
    "user data": ([b"moov"], _box(b"udta", _box(b"loci", SECRET))),
    "keys": ([b"moov"], _box(b"meta", _box(b"hdlr", bytes(24)), _box(b"ilst", SECRET))),
    "empty space inside": ([b"moov"], _box(b"free", SECRET)),
    "unknown": ([b"moov"], _box(b"gps ", SECRET)),
    "unknown of a track": ([b"moov", b"trak"], _box(b"evil", SECRET)),
    "user data of a track": ([b"moov", b"trak"], _box(b"udta", _box(b"name", SECRET))),
    "references to other tracks": ([b"moov", b"trak"], _box(b"tref", _box(b"chap", SECRET))),
    "unknown of the media": ([b"moov", b"trak", b"mdia"], _box(b"uuid", SECRET)),
    "unknown of the samples": ([b"moov", b"trak", b"mdia", b"minf", b"stbl"], _box(b"uuid", SECRET)),
    "path of another file": ([b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"], _box(b"url ", bytes(4), SECRET)),
    "name of a handler": ([b"moov", b"trak", b"mdia", b"hdlr"], SECRET),
    "a box longer than its parent": ([b"moov"], _box(b"udta", SECRET, size=100)),
    "a box shorter than its header": ([b"moov"], b"\x00\x00\x00\x05" + SECRET),
    "quicktime's end": ([b"moov"], bytes(4) + SECRET),
}


@pytest.mark.parametrize("name", _PRIVATE)
def test_private_boxes_become_empty_space(name: str) -> None:
    content = _inside(_PLAIN, *_PRIVATE[name])
    after = stripped(content, media.MP4)
    assert SECRET not in after
    assert len(after) == len(content)
    assert film(after) == film(_PLAIN)
    assert stripped(after, media.MP4) == after


@pytest.mark.parametrize("path", [[b"moof"], [b"moof", b"traf"]])
def test_private_boxes_of_fragments_become_empty_space(path: list[bytes]) -> None:
    fragments = stripped(_tagged("mp4", movflags="frag_keyframe+empty_moov+default_base_moof"), media.MP4)
    private = _box(b"uuid", SECRET)
    after = stripped(_inside(fragments, path, private), media.MP4)
    start, end = pieces.box_of(after, b"moof")
    assert after[start:end] == _inside(fragments, path, _box(b"free", bytes(len(SECRET))))[start:end]


@pytest.mark.parametrize("data", [b"\0\0\0\x10moov" + bytes(8), b"<script>", SECRET, b"\x01"])
def test_bytes_of_the_data_that_are_of_no_sample_become_zeros(data: bytes) -> None:
    assert stripped(_PLAIN + _box(b"mdat", data), media.MP4) == _PLAIN + _box(b"mdat", bytes(len(data)))


def _times(content: bytes, kind: bytes) -> bytes:
    start = content.index(kind) + 8
    return content[start : start + 8]


def test_the_time_of_the_recording_goes() -> None:
    content = _tagged("mp4")
    after = stripped(content, media.MP4)
    for kind in (b"mvhd", b"tkhd", b"mdhd"):
        assert _times(content, kind) != bytes(8)
        assert _times(after, kind) == bytes(8)


def _long_movie_header(content: bytes) -> bytes:
    """Its version 1, with times of 64 bits."""
    start, end = pieces.box_of(content, b"moov")
    old_start, old_end = pieces.box_of(content[start + 8 : end], b"mvhd")
    old = content[start + 8 + old_start : start + 8 + old_end]
    scale, duration = struct.unpack_from(">II", old, 20)
    new = _box(b"mvhd", struct.pack(">IQQIQ", 1 << 24, 1 << 40 | 7, 1 << 40 | 9, scale, duration), old[28:])
    inside = content[start + 8 : start + 8 + old_start] + new + content[start + 8 + old_end : end]
    return content[:start] + _box(b"moov", inside) + content[end:]


def test_a_long_time_of_the_recording_goes() -> None:
    content = _long_movie_header(_PLAIN)
    after = stripped(content, media.MP4)
    start = after.index(b"mvhd") + 8
    assert after[start : start + 16] == bytes(16)
    assert after[:start] == content[:start]
    assert after[start + 16 :] == content[start + 16 :]
    assert film(after) == film(_PLAIN)


def _recorder(handler: bytes, sample: int, tables: list[bytes]) -> bytes:
    """A track of a camera's positions; `tables` beside the sizes: two samples of SECRET."""
    sizes = _box(b"stsz", struct.pack(">III", 0, sample, 2), b"" if sample else struct.pack(">2I", *[len(SECRET)] * 2))
    stbl = _box(b"stbl", _box(b"stsd", bytes(8)), sizes, *tables)
    handling = _box(b"hdlr", bytes(8), handler, bytes(12), b"GPS of " + SECRET)
    return _box(
        b"trak", _box(b"tkhd", bytes(84)), _box(b"mdia", _box(b"mdhd", bytes(24)), handling, _box(b"minf", stbl))
    )


def _recording(handler: bytes, sample: int, *, wide: bool, first: int | None = None) -> bytes:
    """Two chunks of one mdat behind the film, with bytes of no sample between them; or from `first` on."""
    runs = _box(b"stsc", struct.pack(">2I3I", 0, 1, 1, 1, 1))

    def film_and_track(start: int) -> bytes:
        kind, form = (b"co64", ">2I2Q") if wide else (b"stco", ">2I2I")
        offsets = _box(kind, struct.pack(form, 0, 2, start, start + len(SECRET) + 4))
        return _inside(_PLAIN, [b"moov"], _recorder(handler, sample, [runs, offsets]))

    start = len(film_and_track(0)) + 8 if first is None else first
    return film_and_track(start) + _box(b"mdat", SECRET + b"film" + SECRET)


@pytest.mark.parametrize(
    ("handler", "sample", "wide"),
    [
        (b"meta", 0, False),
        (b"meta", 0, True),
        (b"meta", len(SECRET), True),
        *((handler, len(SECRET), False) for handler in b"camm text sbtl tmcd hint data".split()),
    ],
)
def test_tracks_of_positions_and_texts_go_with_their_samples(handler: bytes, sample: int, wide: bool) -> None:
    content = _recording(handler, sample, wide=wide)
    after = stripped(content, media.MP4)
    assert SECRET not in after
    assert after.endswith(_box(b"mdat", bytes(2 * len(SECRET) + 4)))
    assert film(after) == film(_PLAIN)
    assert stripped(after, media.MP4) == after


def test_more_samples_than_fit_into_one_read_are_summed_up() -> None:
    count = 70_000
    sizes = _box(b"stsz", struct.pack(">III", 0, 0, count), struct.pack(">I", 1) * count)
    runs = _box(b"stsc", struct.pack(">2I6I", 0, 2, 1, count, 1, 2, 9, 1))

    def film_and_track(start: int) -> bytes:
        offsets = _box(b"stco", struct.pack(">2I3I", 0, 3, start, start, start))
        stbl = _box(b"stbl", sizes, runs, offsets)
        handling = _box(b"hdlr", bytes(8), b"soun", bytes(12))
        return _inside(_PLAIN, [b"moov"], _box(b"trak", _box(b"mdia", handling, _box(b"minf", stbl))))

    content = film_and_track(len(film_and_track(0)) + 8) + _box(b"mdat", b"x" * count, b"rest")
    assert stripped(content, media.MP4) == content[:-4] + bytes(4)


_RAW = ["pcm_s16le", "pcm_s16be", "pcm_u8", "pcm_s24le", "pcm_s32be", "pcm_f32le", "pcm_f64be", "pcm_alaw", "pcm_mulaw"]


@pytest.mark.parametrize("sound", _RAW)
def test_behind_the_last_sound_nothing_stays(sound: str) -> None:
    recipe = real_videos.Recipe("mov", "libx264", sound=sound, tune={"preset": "ultrafast"})
    content = stripped(real_videos.recorded(recipe), media.MOV)
    assert pieces.box_of(content, b"mdat") < pieces.box_of(content, b"moov")
    after = stripped(_inside(content, [b"mdat"], SECRET * 99), media.MOV)
    assert after == _inside(content, [b"mdat"], bytes(len(SECRET * 99)))
    assert pictures_and_sound(after) == pictures_and_sound(content)


def _raw_sound(entry: bytes, data: bytes) -> bytes:
    """A track of four samples in one chunk, each of them of the size 1, and the data that has them."""
    described = _box(b"stsd", struct.pack(">II", 0, 1), entry)
    sizes = _box(b"stsz", struct.pack(">III", 0, 1, 4))
    runs = _box(b"stsc", struct.pack(">2I3I", 0, 1, 1, 4, 1))
    handling = _box(b"hdlr", bytes(8), b"soun", bytes(12))

    def film_and_track(start: int) -> bytes:
        stbl = _box(b"stbl", described, sizes, runs, _box(b"stco", struct.pack(">3I", 0, 1, start)))
        return _inside(_PLAIN, [b"moov"], _box(b"trak", _box(b"mdia", handling, _box(b"minf", stbl))))

    return film_and_track(len(film_and_track(0)) + 8) + _box(b"mdat", data)


_SHORT_ENTRY = struct.pack(">8xHHIHHHHI", 0, 0, 0, 2, 16, 0, 0, 0)


@pytest.mark.parametrize(
    ("entry", "length"),
    [
        (_box(b"twos", _SHORT_ENTRY), 16),
        (_box(b"in24", _SHORT_ENTRY), 24),
        (_box(b"lpcm", struct.pack(">8xHHIHHHHI4I", 1, 0, 0, 2, 16, 0, 0, 0, 1, 3, 6, 2)), 24),
        (_box(b"lpcm", struct.pack(">8xHHIHHHHIIdIIIIII", 2, 0, 0, 3, 16, 0, 0, 0, 72, 48e3, 2, 0, 24, 0, 6, 1)), 24),
        (_box(b"ima4", _SHORT_ENTRY), 40),
        (_box(b"twos", _SHORT_ENTRY[:12]), 40),
        (b"", 40),
    ],
    ids=["version 0", "bits by the format", "version 1", "version 2", "compressed", "broken", "none"],
)
def test_raw_sound_ends_after_its_samples_or_where_that_is_unknown_at_the_next_chunk(entry: bytes, length: int) -> None:
    assert stripped(_raw_sound(entry, b"x" * 40), media.MOV).endswith(b"x" * length + bytes(40 - length))


def test_a_track_of_positions_in_fragments_goes_without_its_samples() -> None:
    track = _box(
        b"trak", _box(b"mdia", _box(b"hdlr", bytes(8), b"meta", bytes(12), SECRET), _box(b"minf", _box(b"stbl")))
    )
    assert stripped(_inside(_PLAIN, [b"moov"], track), media.MP4) == _inside(
        _PLAIN, [b"moov"], _box(b"free", bytes(len(track) - 8))
    )


def test_a_last_mdat_without_a_size_or_cut_off_stays() -> None:
    start, end = pieces.box_of(_PLAIN, b"moov")
    fast = _PLAIN[:start] + _PLAIN[start:end] + bytes(4) + b"mdat" + bytes(100)
    assert stripped(fast, media.MP4) == fast
    cut = _PLAIN + struct.pack(">I4s", 5000, b"mdat") + bytes(100)
    assert stripped(cut, media.MP4) == cut


@pytest.mark.parametrize(
    "rest",
    [
        _box(b"free", size=500),
        _box(b"moof", size=500) + SECRET,
        _box(b"free", size=7),
        struct.pack(">I4sQ", 1, b"free", 15),
        b"\x00\x00\x00\x01free",
    ],
)
def test_behind_the_movie_what_is_no_whole_box_is_the_end(rest: bytes) -> None:
    assert stripped(_PLAIN + rest, media.MP4) == _PLAIN


def test_a_box_without_a_size_is_the_rest_of_the_film() -> None:
    after = stripped(_PLAIN + bytes(4) + b"note" + SECRET, media.MP4)
    assert after == _PLAIN + bytes(4) + b"free" + bytes(len(SECRET))


def test_a_list_of_brands_that_is_none_is_foreign() -> None:
    assert refusal(_box(b"ftyp", b"isom", bytes(2000)) + _PLAIN, media.MP4) is stripping.ForeignBytes


_TRACK = [b"moov", b"trak"]


@pytest.mark.parametrize(
    "content",
    [
        pieces.ftyp(b"isom") + _box(b"mdat", bytes(50)),
        pieces.ftyp(b"isom") + _box(b"moov", bytes(8)),
        _PLAIN[:-1],
        _box(b"free", size=7) + _PLAIN,
        _box(b"free", size=1 << 30) + _PLAIN,
        _inside(_PLAIN, [b"moov"], _box(b"cmov", SECRET)),
        _inside(_PLAIN, [b"moov"], _box(b"mvhd", bytes(6))),
        _inside(_PLAIN, [b"moov"], _box(b"trak")),
        _inside(_PLAIN, [b"moov"], _box(b"trak", _box(b"mdia"))),
        _inside(
            _PLAIN,
            [b"moov"],
            _recorder(
                b"meta", 0, [_box(b"stsc", struct.pack(">II", 0, 9)), _box(b"stco", struct.pack(">3I", 0, 1, 0))]
            ),
        ),
        _inside(_PLAIN, [b"moov"], _recorder(b"meta", 0, [_box(b"stsc", bytes(8)), _box(b"stco", b"\xff" * 8)])),
    ],
)
def test_a_broken_structure_is_refused(content: bytes) -> None:
    assert refusal(content, media.MP4) is stripping.Malformed


# --- AVIF ---

_EMPTY_EXIF = bytes(4) + b"II*\x00\x08" + bytes(9)
_AVIF = real_images.encoded(media.AVIF, real_images.picture(), speed=10)


def test_exif_and_xmp_are_blanked_in_place() -> None:
    exif = real_images.phone_exif()
    exif[0x010F] = SECRET.decode()
    options = {"exif": exif, "xmp": b"<x:xmpmeta>" + SECRET, "icc_profile": real_images.color_profile()}
    content = real_images.encoded(media.AVIF, real_images.picture("RGBA"), speed=10, **options)
    after = stripped(content, media.AVIF)
    assert content.count(SECRET) == 2
    assert SECRET not in after
    assert b"Exif" in after
    assert len(after) == len(content)
    assert pictures(after) == pictures(content)
    assert pictures(after)["icc_profile"] == real_images.color_profile()
    with Image.open(io.BytesIO(after)) as image:
        assert dict(image.getexif()) == {}
        assert image.info["xmp"].strip() == b""
    assert stripped(after, media.AVIF) == after


# A file made by hand: the items lie in mdat or in idat, their places are given by each version of the table.


def _item_entry(item: int, kind: bytes, name: bytes = b"", *, version: int = 2) -> bytes:
    identity = item.to_bytes(4 if version == 3 else 2, "big")
    return _box(b"infe", bytes([version, 0, 0, 0]), identity, bytes(2), kind, name, b"\x00")


def _locations(version: int, method: int, places: dict[int, list[tuple[int, int]]], base: int) -> bytes:
    """Offsets, lengths and bases of four bytes each."""
    wide = ">I" if version == 2 else ">H"
    items = b"".join(
        struct.pack(wide, item)
        + (struct.pack(">H", method) if version else b"")
        + struct.pack(">HIH", 0, base, len(extents))
        + b"".join(struct.pack(">II", start - base, length) for start, length in extents)
        for item, extents in places.items()
    )
    return _box(b"iloc", bytes([version, 0, 0, 0, 0x44, 0x40]), struct.pack(wide, len(places)), items)


def _by_hand(
    version: int = 0,
    method: int = 0,
    data: bytes = b"",
    kinds: tuple[bytes, ...] = (b"av01", b"Exif", b"mime", b"uri ", b"evil"),
    places: dict[int, list[tuple[int, int]]] | None = None,
    base: int = 0,
    extra: bytes = b"",
) -> bytes:
    """`places` count from the start of the data, which is the mdat's or the idat's."""
    entries = [_item_entry(number, kind, version=3 if version == 2 else 2) for number, kind in enumerate(kinds, 1)]
    names = _box(b"iinf", bytes(4), struct.pack(">H", len(entries)), *entries)
    handling = _box(b"hdlr", bytes(8), b"pict", bytes(12), b"name" + SECRET)
    places = {1: [(0, 4)]} if places is None else places

    def head(start: int) -> bytes:
        moved = {item: [(start + at, length) for at, length in extents] for item, extents in places.items()}
        inside = _box(b"idat", data) if method == 1 else b""
        parts = [handling, _locations(version, method, moved, base), names, inside, extra]
        return pieces.ftyp(b"avif", b"avif") + _box(b"meta", bytes(4), *parts)

    if method == 1:
        return head(0)
    return head(len(head(1000)) + 8) + _box(b"mdat", data)


@pytest.mark.parametrize(
    ("version", "method", "base"), [(0, 0, 0), (0, 0, 2), (1, 0, 2), (2, 0, 2), (1, 1, 0), (2, 1, 0)]
)
def test_private_items_are_found_wherever_they_lie(version: int, method: int, base: int) -> None:
    data = b"...." + b"E" * 30 + b"X" * 20 + b"U" * 5 + b"V" * 5
    places = {1: [(0, 4)], 2: [(4, 10), (14, 20)], 3: [(34, 20)], 4: [(54, 5)], 5: [(59, 5)]}
    after = stripped(_by_hand(version, method, data, places=places, base=base), media.AVIF)
    blank = b"...." + _EMPTY_EXIF + bytes(12) + b" " * 20 + bytes(10)
    assert after == _by_hand(version, method, blank, places=places, base=base).replace(
        SECRET, bytes(len(SECRET))
    ).replace(b"name" + bytes(len(SECRET)), bytes(4 + len(SECRET)))
    assert stripped(after, media.AVIF) == after


def test_an_exif_that_is_too_short_for_a_whole_tiff_is_blanked_all_the_same() -> None:
    after = stripped(_by_hand(data=b"....EEEEEEEEEE", places={1: [(0, 4)], 2: [(4, 10)]}), media.AVIF)
    assert after.endswith(_box(b"mdat", b"....", _EMPTY_EXIF[:10]))


@pytest.mark.parametrize(
    "extra",
    [
        _box(b"free", SECRET),
        _box(b"uuid", SECRET),
        _box(b"xml ", SECRET),
        *(_box(b"iprp", _box(b"ipco", _box(kind, SECRET))) for kind in (b"udes", b"altt", b"crtt", b"mdft", b"uuid")),
    ],
)
def test_boxes_that_describe_the_picture_go(extra: bytes) -> None:
    assert SECRET not in stripped(_by_hand(data=b"....", extra=extra), media.AVIF)


def _pixels(width: int, height: int) -> bytes:
    return _box(b"iprp", _box(b"ipco", _box(b"ispe", bytes(4), struct.pack(">II", width, height))))


def test_a_picture_of_as_many_pixels_as_are_allowed_stays() -> None:
    assert _pixels(10_100, 10_000) in stripped(_by_hand(data=b"....", extra=_pixels(10_100, 10_000)), media.AVIF)


def test_a_sequence_without_items_stays() -> None:
    handling = _box(b"hdlr", bytes(8), b"pict", bytes(12), SECRET)
    after = stripped(pieces.ftyp(b"avis") + _box(b"meta", bytes(4), handling), media.AVIF)
    assert after == pieces.ftyp(b"avis") + _box(b"meta", bytes(4), handling).replace(SECRET, bytes(len(SECRET)))


def test_boxes_behind_the_picture_become_empty_space() -> None:
    assert stripped(_AVIF + _box(b"udta", SECRET), media.AVIF) == _AVIF + _box(b"free", bytes(len(SECRET)))


@pytest.mark.parametrize(
    "content",
    [
        pieces.ftyp(b"avif", b"avif"),
        _by_hand(3, data=b"...."),
        _by_hand(1, 2, data=b"....", places={2: [(0, 4)]}),
        _by_hand(data=b"....", places={2: [(0, 0)]}),
        _by_hand(data=b"....", places={2: [(0, 5)]}),
        _by_hand(data=b"....", places={2: [(-40, 4)]}),
        _by_hand(data=b"....", extra=_box(b"iinf", bytes(6))),
        _by_hand(data=b"....", extra=_pixels(10_101, 10_000)),
        _by_hand(data=b"....", extra=_pixels(10_000, 0)),
        _by_hand(data=b"....").replace(b"\x44\x40\x00\x01", b"\x44\x40\x00\x09"),
    ],
)
def test_a_broken_structure_of_an_avif_is_refused(content: bytes) -> None:
    assert refusal(content, media.AVIF) is stripping.Malformed
