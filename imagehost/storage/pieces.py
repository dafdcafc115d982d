"""Content on its way out."""

from collections.abc import Iterator
from typing import Protocol

from imagehost.storage.contract import PIECE, StorageFailed


class Source(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


class Pieces(Iterator[bytes]):
    """The next `length` bytes of `source`, which is closed at the end, at an error, or by `close()`.

    A class, because a generator that nobody started closes nothing.
    """

    def __init__(self, source: Source, length: int, *, failures: tuple[type[Exception], ...]) -> None:
        """`failures`: what the source raises when it breaks off."""
        self._source = source
        self._left = length
        self._failures = failures

    def __next__(self) -> bytes:
        if not self._left:
            self.close()
            raise StopIteration
        try:
            piece = self._source.read(min(PIECE, self._left))
        except self._failures as error:
            raise self._broken(str(error)) from error
        if not piece:
            raise self._broken("it ended there")
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        self._left = 0
        self._source.close()

    def _broken(self, why: str) -> StorageFailed:
        left = self._left
        self.close()
        return StorageFailed(f"Broke off with {left} bytes to come: {why}")
