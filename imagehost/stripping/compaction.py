"""What stays of a file whose parts can be removed: moved forward in place, then cut."""

from typing import BinaryIO, NamedTuple

from imagehost.stripping.reading import LARGEST_READ, Source


class _Piece(NamedTuple):
    start: int
    end: int
    content: bytes | None  # in place of the file's own bytes


class Plan:
    """Collected in the order of the file while it is walked; nothing is written before `apply`."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._pieces: list[_Piece] = []

    @property
    def length(self) -> int:
        """Bytes that stay."""
        return sum(piece.end - piece.start if piece.content is None else len(piece.content) for piece in self._pieces)

    def keep(self, start: int, end: int) -> None:
        if start >= end:
            return
        if self._pieces and self._pieces[-1].content is None and self._pieces[-1].end == start:
            start = self._pieces.pop().start
        self._pieces.append(_Piece(start, end, None))

    def replace(self, start: int, end: int, content: bytes) -> None:
        """`content` in place of the bytes from `start` to `end`; never longer than they are."""
        if len(content) > end - start:
            raise AssertionError("a replacement must fit where the original was")
        if content == self._source.read(start, end - start):
            self.keep(start, end)
        else:
            self._pieces.append(_Piece(start, end, content))

    def extend(self, other: "Plan") -> None:
        """The pieces of `other`, which lie behind these."""
        for piece in other._pieces:
            if piece.content is None:
                self.keep(piece.start, piece.end)
            else:
                self._pieces.append(piece)

    def apply(self, file: BinaryIO) -> None:
        if self._pieces == [_Piece(0, self._source.size, None)]:
            return
        written = 0
        for piece in self._pieces:
            if piece.content is not None:
                file.seek(written)
                file.write(piece.content)
                written += len(piece.content)
            else:
                if piece.start != written:
                    _move(file, piece, written)
                written += piece.end - piece.start
        file.truncate(written)


def _move(file: BinaryIO, piece: _Piece, to: int) -> None:
    """`to` lies before the piece, so a chunk never covers what is still to be read."""
    for position in range(piece.start, piece.end, LARGEST_READ):
        file.seek(position)
        chunk = file.read(min(LARGEST_READ, piece.end - position))
        file.seek(to + position - piece.start)
        file.write(chunk)
