"""WebM (RFC 8794, RFC 9559): unlisted elements become Void in place, so no offset in the file changes.

Tracks that are neither picture, sound nor subtitles become Void too, with their blocks and their places in Cues.
"""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from imagehost.examining.stripping import tails
from imagehost.examining.stripping.rewriting import ForeignBytes, Malformed, Overwrites, Source

_PARTS = 1_000_000  # every block counts
_EBML, _SEGMENT, _SEEK_HEAD, _INFO, _TRACKS, _CLUSTER, _CUES = (
    0x1A45DFA3, 0x18538067, 0x114D9B74, 0x1549A966, 0x1654AE6B, 0x1F43B675, 0x1C53BB6B,
)  # fmt: skip
_KEPT = {_SEEK_HEAD, _INFO, _TRACKS, _CLUSTER, _CUES}
_SEEK, _SEEK_ID, _SEEK_POSITION, _TRACK = 0x4DBB, 0x53AB, 0x53AC, 0xAE
_VOID = 0xEC
_LONGEST = 1 << 48  # bytes; a longer Void could not be written
_VERSIONS_AND_TYPE = {0x4286, 0x42F7, 0x42F2, 0x42F3, 0x4282, 0x4287, 0x4285}
_SCALE_AND_DURATION = {0x2AD7B1, 0x4489}
_WRITERS = {0x4D80, 0x5741}  # MuxingApp, WritingApp: required, may be empty
# All of a track but names, addresses and unknown elements.
_OF_TRACK = {
    0xD7, 0x73C5, 0x83, 0xB9, 0x88, 0x55AA, 0x55AB, 0x55AC, 0x55AD, 0x55AE, 0x55AF, 0x9C, 0x6DE7, 0x6DF8, 0x23E383,
    0x234E7A, 0x23314F, 0x55EE, 0x41E4, 0x22B59C, 0x22B59D, 0x86, 0x63A2, 0x56AA, 0x56BB, 0xAA, 0x6FAB, 0xE0, 0xE1,
    0xE2, 0x6D80,
}  # fmt: skip
_NUMBER, _TYPE, _SHOWN = 0xD7, 0x83, {1, 2, 17}  # of a track: picture, sound, subtitles
_SIMPLE_BLOCK, _BLOCK_GROUP, _BLOCK = 0xA3, 0xA0, 0xA1
_OF_CLUSTER = {0xE7, 0xA7, 0xAB, _SIMPLE_BLOCK, _BLOCK_GROUP}
_OF_GROUP = {_BLOCK, 0x75A1, 0x9B, 0xFA, 0xFB, 0x75A2}
_CUE_POINT, _CUE_TIME, _CUE_POSITIONS, _CUE_TRACK = 0xBB, 0xB3, 0xB7, 0xF7
_OF_SEGMENT = 0x10000000  # identities of four bytes; inside of a cluster they have fewer


class _Element(NamedTuple):
    identity: int
    start: int
    body: int
    end: int
    unsized: bool  # until the next element of the level above


def strip(file: BinaryIO) -> None:
    source = Source(file, parts=_PARTS)
    walk = _Walk(source)
    end = walk.whole()
    tails.check(source, end)
    walk.blank.apply(file)
    if end < source.size:
        file.truncate(end)


class _Walk:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.blank = Overwrites(source)
        self.kept: set[int] = set()  # numbers of tracks
        self.removed: set[int] = set()

    def whole(self) -> int:
        """Return the end of the segment."""
        head = _element(self.source, 0, self.source.size)
        if head.identity != _EBML or head.unsized:
            raise Malformed("does not start as EBML")
        self._only(head, _VERSIONS_AND_TYPE)
        start = head.end
        while (segment := _element(self.source, start, self.source.size, is_last=True)).identity == _VOID:
            self._void(segment)
            start = segment.end
        if segment.identity != _SEGMENT:
            raise ForeignBytes(f"no segment at byte {start}")
        return self._segment(segment.body, min(segment.end, self.source.size))

    def _segment(self, start: int, end: int) -> int:
        """Return the segment's end. As in players, an invalid element after the first cluster ends it too."""
        seen: set[int] = set()
        while start < end:
            if start + 2 > end or self.source.after_padding(start) >= end:
                self.blank.fill(start, end)
                break
            try:
                element = _element(self.source, start, end, is_last=end == self.source.size)
                following = self._part(element, end)
            except Malformed:
                if end == self.source.size and seen >= {_TRACKS, _CLUSTER}:
                    return start
                raise
            seen.add(element.identity)
            start = following
        if _TRACKS not in seen:
            raise Malformed("has no tracks")
        return end

    def _part(self, element: _Element, end: int) -> int:
        """Handle a part of the segment; return the position of the next one."""
        if element.identity == _CLUSTER:
            return self._cluster(element, end if element.unsized else min(element.end, self.source.size))
        if element.identity in {_EBML, _SEGMENT}:
            raise Malformed(f"another file at byte {element.start}")
        if element.unsized:
            raise Malformed(f"an element without a size at byte {element.start}")
        if element.identity not in _KEPT:
            self._void(element)
        elif element.end <= self.source.size:
            self._description(element)
        elif element.identity == _CUES:
            self._void(element)
        else:
            raise Malformed(f"ends in the element at byte {element.start}")
        return element.end

    def _description(self, element: _Element) -> None:
        if element.identity == _INFO:
            self._info(element)
        elif element.identity == _TRACKS:
            for track in self._only(element, {_TRACK}):
                self._track(track)
        elif element.identity == _CUES:
            for point in self._only(element, {_CUE_POINT}):
                for positions in self._only(point, {_CUE_TIME, _CUE_POSITIONS}):
                    if positions.identity == _CUE_POSITIONS and self._number(positions, _CUE_TRACK) not in self.kept:
                        self._void(positions)
        elif element.identity == _SEEK_HEAD:
            for seek in self._only(element, {_SEEK}):
                self._seek(seek)

    def _track(self, track: _Element) -> None:
        """Void a track that is not shown. Blocks name it by its number, which is in use once."""
        number, is_shown = self._number(track, _NUMBER), self._number(track, _TYPE) in _SHOWN
        if number in self.kept | self.removed:
            raise Malformed(f"two tracks of the number {number}")
        if is_shown:
            self.kept.add(number)
            self._only(track, _OF_TRACK)
        else:
            self.removed.add(number)
            self._void(track)

    def _number(self, parent: _Element, identity: int) -> int:
        """Return the number in the child `identity`; 0 without one, which is not valid in any."""
        for element in _children(self.source, parent):
            if element.identity == identity:
                return self.source.number(element.body, min(element.end - element.body, 8))
        return 0

    def _cluster(self, cluster: _Element, end: int) -> int:
        """Handle the blocks; return where the next part starts. A live cluster ends with its last whole element.

        As in players, an invalid element ends a cluster: what is behind it is blanked.
        """
        if not self.kept:
            raise Malformed("pictures before tracks")
        start = cluster.body
        while start + 2 <= end:
            try:
                element = _element(self.source, start, end, is_last=end == self.source.size)
            except Malformed:
                break
            if cluster.unsized and element.identity >= _OF_SEGMENT:
                break
            if element.unsized:
                raise Malformed(f"an element without a size at byte {start}")
            if element.identity == _BLOCK_GROUP:
                self._group(element)
            elif element.identity not in _OF_CLUSTER or (
                element.identity == _SIMPLE_BLOCK and self._track_of(element) not in self.kept
            ):
                self._void(element)
            start = element.end
        if cluster.unsized:
            return start
        self.blank.fill(start, end)
        return cluster.end

    def _group(self, group: _Element) -> None:
        """Void a group without a block of a kept track. Where the file ends in it, what is no element is blanked."""
        parts: list[_Element] = []
        behind = group.body
        try:
            for part in _children(self.source, group):
                parts.append(part)
                behind = part.end
        except Malformed:
            if group.end <= self.source.size:
                raise
            self.blank.fill(behind, self.source.size)
        tracks = {self._track_of(part) for part in parts if part.identity == _BLOCK}
        if not tracks or tracks - self.kept:
            self._void(group)
            return
        for part in parts:
            if part.identity not in _OF_GROUP:
                self._void(part)

    def _track_of(self, block: _Element) -> int:
        """Return the number of the track of a block, at its start; 0 if that is cut off."""
        head = self.source.read(block.body, min(8, block.end - block.body))
        width = _width(head[0]) if head else 9
        return int.from_bytes(head[:width], "big") & ((1 << 7 * width) - 1) if width <= len(head) else 0

    def _info(self, info: _Element) -> None:
        for element in self._only(info, _SCALE_AND_DURATION | _WRITERS):
            if element.identity in _WRITERS:
                self.blank.fill(element.body, element.end)

    def _seek(self, seek: _Element) -> None:
        """Void a pointer to an element that becomes void."""
        targets = [
            self.source.read(element.body, min(4, element.end - element.body))
            for element in _children(self.source, seek)
            if element.identity == _SEEK_ID
        ]
        if all(int.from_bytes(target, "big") in _KEPT for target in targets):
            self._only(seek, {_SEEK_ID, _SEEK_POSITION})
        else:
            self._void(seek)

    def _only(self, parent: _Element, kept: set[int]) -> list[_Element]:
        """Void the children that are not `kept`, also checksums; return the rest."""
        found = list(_children(self.source, parent))
        for element in found:
            if element.identity not in kept:
                self._void(element)
        return [element for element in found if element.identity in kept]

    def _void(self, element: _Element) -> None:
        """Write a Void of equal size: one byte of ID, then a length that fills the rest of the header."""
        if element.identity == _VOID:
            self.blank.fill(element.body, element.end)
            return
        width = min(8, element.body - element.start - 1)
        body = element.start + 1 + width
        self.blank.put(element.start, bytes([_VOID]) + ((1 << 7 * width) | (element.end - body)).to_bytes(width, "big"))
        self.blank.fill(body, element.end)


def _children(source: Source, parent: _Element) -> Iterator[_Element]:
    start = parent.body
    while start < parent.end:
        element = _element(source, start, parent.end)
        if element.unsized:
            raise Malformed(f"an element without a size at byte {start}")
        yield element
        start = element.end


def _element(source: Source, start: int, limit: int, *, is_last: bool = False) -> _Element:
    """Return the element at `start`, which must end by `limit`; with `is_last`, as in a truncated file, its header."""
    source.count_part()
    head = source.read(start, 12)  # the longest header there is
    id_length = _width(head[0]) if head else 9
    if id_length > 4:
        raise Malformed(f"no element at byte {start}")
    size_length = _width(head[id_length]) if len(head) > id_length else 9
    body = id_length + size_length
    if size_length > 8 or len(head) < body:
        raise Malformed(f"no size at byte {start}")
    most = (1 << 7 * size_length) - 1
    size = int.from_bytes(head[id_length:body], "big") & most
    end = limit if size == most else start + body + size
    if start + body > limit or (end > limit and not is_last) or (size != most and size > _LONGEST):
        raise Malformed(f"the element at byte {start} is longer than its parent")
    return _Element(int.from_bytes(head[:id_length], "big"), start, start + body, end, size == most)


def _width(first: int) -> int:
    """Return the bytes of a number whose first byte is `first`; 9 where that is invalid."""
    return 9 - first.bit_length()
