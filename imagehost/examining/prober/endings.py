"""Bytes behind a picture's data, inside of its container: finds where the decoder stops, and blanks the rest.

They are a tail like bytes behind the file's end. Runs in the confined child, on a file that is stripped.
"""

import io
import zlib
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from PIL import Image

from imagehost import media
from imagehost.examining.prober.errors import BROKEN
from imagehost.examining.stripping import tails
from imagehost.examining.stripping.gif import color_table
from imagehost.examining.stripping.jpeg import MARKER_BEHIND_SCAN
from imagehost.examining.stripping.rewriting import LARGEST_READ, Overwrites, Source
from imagehost.media import MediaType

_AT_ONCE = 1 << 16  # bytes that Pillow reads
_CAREFUL = 600  # bytes before the end that are read one by one
_SLACK = 16  # bytes: decoders read some ahead, and encoders end with some that are not read
_MOST_BYTES = 1 << 31  # of decompressed pictures of one file; what is behind them is not looked at
_MOST_PIXELS = 8_000_000  # of a picture that is decoded several times, and
_MOST_STILL = 16 << 20  # bytes of such a WebP
_MOST_FRAME_PIXELS = 200_000_000  # of all frames of a GIF
_LEAST_FRAME_PIXELS = 50_000  # that a frame counts, since each has a cost of its own
_EOI = b"\xff\xd9"
_FILL = 0xFF  # any number of these may precede a marker of a JPEG


def blank(file: BinaryIO, type_: MediaType) -> None:
    """Blank them in `file` in place. Raises stripping.ForeignBytes for another file."""
    if type_ in _FINDERS:
        source = Source(file)
        changes = Overwrites(source)
        _FINDERS[type_](source, changes)
        changes.apply(file)
        file.flush()


@dataclass(eq=False)
class _Part(io.RawIOBase):
    """A picture: `prefix`, the bytes of the file from `start` to `end`, and `suffix`.

    From `careful` on, a position in the file, one byte is read at a time.
    """

    source: Source
    start: int
    end: int
    careful: int = field(default=1 << 62, kw_only=True)
    prefix: bytes = field(default=b"", kw_only=True)
    suffix: bytes = field(default=b"", kw_only=True)
    _position = 0

    @property
    def reached(self) -> int:
        """Return the position in the file up to which it was read."""
        return self.start + self._position - len(self.prefix)

    def read(self, size: int = -1, /) -> bytes:
        size = LARGEST_READ if size < 0 else size
        at = self.reached
        if at < self.start:
            found = self.prefix[self._position :][:size]
        elif at < self.end:
            most = self.careful - at if at < self.careful else 1
            found = self.source.read(at, min(size, most, self.end - at))
        else:
            found = self.suffix[at - self.end :][:size]
        self._position += len(found)
        return found

    def seek(self, position: int, whence: int = 0, /) -> int:
        self._position = position + (self._position if whence == 1 else 0)
        return self._position

    def tell(self) -> int:
        return self._position


def _where_done(part: Callable[..., _Part], start: int, end: int, type_: MediaType) -> int | None:
    """Return the position at which a decoder has the whole picture; None where it needs more than there is up to `end`.

    `part` makes the picture, to be read byte by byte from the position `careful` on; `start`: of its data.
    """
    careful = max(end - _CAREFUL, start)
    first = part(careful=careful)
    if not _is_decoded(first, type_):
        return None
    if first.reached > careful:
        return first.reached
    second = part(careful=max(first.reached - _AT_ONCE, start))
    return second.reached if _is_decoded(second, type_) else None


def _is_decoded(part: _Part, type_: MediaType) -> bool:
    try:
        with Image.open(part, formats=[type_.pillow]) as image:  # type: ignore[arg-type]  # all that Pillow needs
            image.draft(image.mode, (1, 1))  # of a JPEG all bits are read, and few pixels made
            image.load()
    except BROKEN:
        return False
    return True


class _Scan(NamedTuple):
    """The last scan of a JPEG. `is_whole`: it has all that there is, so that it is decoded as it comes."""

    start: int
    end: int
    is_whole: bool


def _jpeg(source: Source, changes: Overwrites) -> None:
    """Blank the rest of each picture: behind an HDR photo is its gain map."""
    start = 0
    while scan := _last_scan(source, start):
        end = scan.end
        if scan.is_whole:
            part = partial(_Part, source, start, end - _SLACK)
            stop = _where_done(part, scan.start, end - _SLACK, media.JPEG)
        else:
            part = partial(_Part, source, start, suffix=_EOI)
            stop = _where_equal(scan.start, end, part, media.JPEG)
        if stop is not None:
            tails.check(source, stop, end, slack=_SLACK)
            changes.fill(stop, end, _FILL)
            if end == source.size:
                changes.put(end - len(_EOI), _EOI)
        start = end + len(_EOI)


def _last_scan(source: Source, start: int) -> _Scan | None:
    """Return the last scan of the picture at `start`; None where there is none."""
    if source.read(start, 2) != b"\xff\xd8":
        return None
    position, components, is_sequential, scan = start + 2, 0, False, None
    while len(head := source.read(position, 10)) == 10 and head[0] == 0xFF and head[1] not in {0xD8, 0xD9}:
        end = position + 2 + int.from_bytes(head[2:4], "big")
        if 0xC0 <= head[1] <= 0xCF and head[1] not in {0xC4, 0xC8, 0xCC}:
            components, is_sequential = head[9], head[1] in {0xC0, 0xC1}
        elif head[1] == 0xDA:
            data, is_whole = end, is_sequential and head[4] == components
            found = source.search(MARKER_BEHIND_SCAN, data)
            end = source.size if found is None else found
            scan = _Scan(data, end, is_whole and scan is None)
        position = end
    return scan


def _where_equal(low: int, high: int, part: Callable[[int], BinaryIO | _Part], type_: MediaType) -> int | None:
    """Return the first end between `low` and `high` where `part` decodes equally; None where it is the last."""
    whole = _pixels(part(high), type_)
    if whole is None or high - _SLACK <= low or _pixels(part(high - _SLACK), type_) != whole:
        return None
    high -= _SLACK
    while low + 1 < high:
        middle = (low + high) // 2
        if _pixels(part(middle), type_) == whole:
            high = middle
        else:
            low = middle
    return high


def _pixels(part: BinaryIO | _Part, type_: MediaType) -> bytes | None:
    try:
        with Image.open(part, formats=[type_.pillow]) as image:  # type: ignore[arg-type]
            small = image.width * image.height <= _MOST_PIXELS and getattr(image, "n_frames", 1) == 1
            return image.tobytes() if small else None
    except BROKEN:
        return None


def _webp(source: Source, changes: Overwrites) -> None:
    """Blank the rest of a still picture."""
    position = 12
    while len(head := source.read(position, 8)) == 8:
        end = position + 8 + int.from_bytes(head[4:], "little")
        if head[:4] in {b"VP8 ", b"VP8L"} and end <= min(source.size, _MOST_STILL):
            cut = partial(_cut_webp, source, position)
            stop = _where_equal(position + 8, end, cut, media.WEBP)
            if stop is not None:
                tails.check(source, stop, end, slack=_SLACK)
                changes.fill(stop, end)
        position = end + (end - position) % 2


def _cut_webp(source: Source, chunk: int, stop: int) -> BinaryIO:
    """Return the picture whose data ends at `stop`."""
    before = b"".join(source.read(at, min(LARGEST_READ, stop - at)) for at in range(0, stop, LARGEST_READ))
    padding = bytes((stop - chunk) % 2)
    size = (stop - chunk - 8).to_bytes(4, "little")
    content = before[: chunk + 4] + size + before[chunk + 8 :] + padding
    return io.BytesIO(b"RIFF" + (len(content) - 8).to_bytes(4, "little") + content[8:])


def _rest_of(inflate: "zlib._Decompress", piece: bytes, left: int) -> tuple[int, int]:
    """Return (bytes of `piece` behind the end of the stream, bytes decompressed), of at most `left`."""
    if inflate.eof:
        return len(piece), 0
    made = 0
    while piece and made < left:
        made += len(inflate.decompress(piece, min(LARGEST_READ, left - made)))
        piece = inflate.unconsumed_tail
    return len(inflate.unused_data), made


def _png(source: Source, changes: Overwrites) -> None:
    """Blank the rest of each picture: a chunk with one gets zeros there, and its checksum.

    The compressed picture, or that of a frame, is in consecutive chunks.
    """
    position, stream, left = 8, zlib.decompressobj(), _MOST_BYTES
    while len(head := source.read(position, 8)) == 8 and head[4:] != b"IEND":
        length, kind = int.from_bytes(head[:4], "big"), head[4:]
        start, end = position + 8, min(position + 8 + length, source.size)
        if kind == b"fcTL":  # before each frame
            stream = zlib.decompressobj()
        elif kind in _FIRST:
            stop = start + _FIRST[kind]
            for at in range(stop, end, LARGEST_READ):
                piece = source.read(at, min(LARGEST_READ, end - at))
                try:
                    rest, made = _rest_of(stream, piece, left)
                except zlib.error:  # damaged: what can be seen of it ends here
                    return
                left -= made
                stop = at + len(piece) - rest
                if rest:
                    break
            if stop < end and stream.eof:
                _blank_chunk(source, changes, start - 4, stop, end)
        position = start + length + 4


_FIRST = {b"IDAT": 0, b"fdAT": 4}  # bytes of a chunk before its piece of the stream


def _blank_chunk(source: Source, changes: Overwrites, kind: int, stop: int, end: int) -> None:
    """Blank a chunk from `stop` on, and write its checksum. `kind`: the position of the chunk's type."""
    tails.check(source, stop, end)
    changes.fill(stop, end)
    checksum = 0
    for position in range(kind, stop, LARGEST_READ):
        checksum = zlib.crc32(source.read(position, min(LARGEST_READ, stop - position)), checksum)
    for position in range(stop, end, LARGEST_READ):
        checksum = zlib.crc32(bytes(min(LARGEST_READ, end - position)), checksum)
    changes.put(end, checksum.to_bytes(4, "big"))


def _gif(source: Source, changes: Overwrites) -> None:
    head = source.exactly(0, 13)
    position, left = 13 + color_table(head[10]), _MOST_FRAME_PIXELS
    colors = source.read(10, position - 10)
    while (kind := source.read(position, 1)) in {b",", b"!"}:
        data = position + 2
        if kind == b",":
            frame = source.read(position, 10).ljust(10, b"\0")
            data = position + 11 + color_table(frame[9])
        blocks = _blocks(source, data)
        if kind == b",":
            left -= max(
                int.from_bytes(frame[5:7], "little") * int.from_bytes(frame[7:9], "little"), _LEAST_FRAME_PIXELS
            )
            if left >= 0:
                before = head[:6] + frame[5:9] + colors + b"," + bytes(4) + frame[5:]
                _blank_blocks(source, changes, before, position + 10, blocks)
        position = blocks[-1] + 1


def _blocks(source: Source, position: int) -> list[int]:
    """Return the positions of data blocks, and of the empty one behind them or the end of the file."""
    found = [position]
    while length := source.read(position, 1).ljust(1, b"\0")[0]:
        position += length + 1
        found.append(min(position, source.size))
    return found


def _blank_blocks(source: Source, changes: Overwrites, prefix: bytes, start: int, blocks: list[int]) -> None:
    """Blank the blocks behind the one with which a frame is whole, from `start` on and behind `prefix`."""
    end = blocks[-1]
    stop = _where_done(partial(_Part, source, start, end, prefix=prefix), blocks[0], end, media.GIF)
    if stop is None:
        return
    first = bisect_left(blocks, stop)
    tails.check_marks(source, blocks[max(first - 1, 0)], end)
    rest = list(pairwise(blocks[first:]))
    if sum(after - block - 1 for block, after in rest) > _SLACK:
        tails.check(source, blocks[first] + 1, end)
        for block, after in rest:
            changes.fill(block + 1, after)


_FINDERS: dict[MediaType, Callable[[Source, Overwrites], None]] = {
    media.JPEG: _jpeg,
    media.PNG: _png,
    media.WEBP: _webp,
    media.GIF: _gif,
}
