"""What a call raises: an answer that is an error, no answer at all, or a wait that would take too long."""

from __future__ import annotations


class HearthError(Exception):
    """The base of every error of this library."""


class AnswerError(HearthError):
    """The service answered with an error. A program decides by `status` and `code`; `error` is the service's text.

    `code` is None where the service gives none. `miss`: why a presence is not there. `retry_after`: in seconds.
    """

    def __init__(
        self,
        status: int,
        error: str,
        *,
        code: str | None = None,
        miss: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(f"{status} {code or error}")
        self.status, self.error, self.code, self.miss, self.retry_after = status, error, code, miss, retry_after


class NoAnswerError(HearthError):
    """The service could not be reached, did not answer in time, or broke off."""


class WaitTooLongError(HearthError):
    """A limit is used up and opens again in `retry_after` seconds, later than the client's `patience`."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"The next request is allowed in {retry_after} seconds.")
        self.retry_after = retry_after
