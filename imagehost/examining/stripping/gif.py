"""GIF (89a specification): removes comments, texts and application blocks; keeps frames, delays and the loop."""

from typing import BinaryIO

from imagehost.examining.stripping import icc, tails
from imagehost.examining.stripping.rewriting import Malformed, Plan, Source, TooManyParts

_IMAGE, _EXTENSION, _TRAILER = 0x2C, 0x21, 0x3B
_GRAPHIC_CONTROL, _APPLICATION = 0xF9, 0xFF
_LOOPS = {b"NETSCAPE2.0", b"ANIMEXTS1.0"}
_ICC = b"ICCRGBG1012"


def strip(file: BinaryIO) -> None:
    source = Source(file)
    head = source.exactly(0, 13)
    if head[:6] not in {b"GIF87a", b"GIF89a"}:
        raise Malformed("does not start as a GIF")
    start = 13 + color_table(head[10])
    walk = _Walk(source, start=start)
    walk.whole()
    plan = Plan(source)
    plan.keep(0, 6)
    plan.replace(6, 10, head[6:10] if any(head[6:8]) and any(head[8:10]) else walk.first_size)
    plan.keep(10, min(start, source.size))
    plan.extend(walk.plan)
    plan.apply(file)


def color_table(flags: int) -> int:
    """Return how many bytes the table of colors has."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


class _Walk:
    def __init__(self, source: Source, *, start: int) -> None:
        self.source = source
        self.start = start
        self.plan = Plan(source)
        self.imaged = False
        self.first_size = bytes(4)  # of the first image: browsers use it for a screen of size 0
        self.blocks_left = (1 << 16) + source.size // 16  # encoders fill blocks to 255 bytes

    def whole(self) -> None:
        position: int | None = self.start
        while position is not None and position < self.source.size:
            self.source.count_part()
            position = self._block(position)
        if not self.imaged:
            raise Malformed("has no image")

    def _block(self, start: int) -> int | None:
        """Handle a block; return the position of the next one, None at the end of the GIF or of a truncated file."""
        kind = self.source.read(start, 1)[0]
        if kind == _IMAGE:
            return self._image(start)
        if kind == _EXTENSION:
            return self._extension(start)
        if kind == _TRAILER:
            self.plan.keep(start, start + 1)
            tails.check(self.source, start + 1)
            return None
        if kind == 0:  # some encoders end a block twice, and decoders skip it
            return start + 1
        if not self.imaged:
            raise Malformed(f"a block of no kind at byte {start}")
        self.plan.replace(start, start + 1, bytes([_TRAILER]))  # browsers show the frames before it
        tails.check(self.source, start)
        return None

    def _image(self, start: int) -> int | None:
        head = self.source.read(start, 10)
        data = start + 11 + (color_table(head[9]) if len(head) == 10 else 0)
        if data > self.source.size and not self.imaged:
            raise Malformed("the first image is cut off in its header")
        if not self.imaged:
            self.imaged, self.first_size = True, head[5:9]
        end = self._behind_blocks(data)
        self.plan.keep(start, end or self.source.size)
        return end

    def _extension(self, start: int) -> int | None:
        end = self._behind_blocks(start + 2)
        if end is None:
            return None
        label = self.source.read(start + 1, 1)[0]
        first = self.source.read(start + 2, 1)[0]
        body = self.source.read(start + 3, first)
        if label == _GRAPHIC_CONTROL and first == 4:
            self.plan.replace(start, end, b"\x21\xf9\x04" + body + b"\x00")
        elif label == _APPLICATION and body in _LOOPS:
            loop = self.source.read(start + 14, 4)
            if loop[:2] == b"\x03\x01":
                self.plan.replace(start, end, b"\x21\xff\x0b" + body + loop + b"\x00")
        elif label == _APPLICATION and body == _ICC:
            self._profile(start, end)
        return end

    def _profile(self, start: int, end: int) -> None:
        """Clean a color profile, in the blocks in which it lies behind the extension's name."""
        blocks = self.source.whole(start + 14, end - 1, most=icc.LARGEST)
        content, at = bytearray(), 0
        while at < len(blocks):
            content += blocks[at + 1 : at + 1 + blocks[at]]
            at += 1 + blocks[at]
        profile = icc.cleaned(bytes(content))
        if profile is None:
            return
        new, at = bytearray(self.source.exactly(start, 14)), 0
        while at < len(profile):
            size = blocks[len(new) - 14]
            new += bytes([size]) + profile[at : at + size]
            at += size
        self.plan.replace(start, end, bytes(new) + b"\x00")

    def _behind_blocks(self, position: int) -> int | None:
        """Return the position after data blocks and the empty block that ends them; None in a truncated file."""
        while position < self.source.size:
            window, offset = self.source.window(position)
            index, length = offset, len(window)
            while index < length:
                block = window[index]
                index += block + 1
                self.blocks_left -= 1
                if not block:
                    return position + index - offset
            if self.blocks_left < 0:
                raise TooManyParts("has more data blocks than any honest file")
            position += index - offset
        return None
