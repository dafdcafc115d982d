"""Every error of the sign-in provider with cause and fix, for the request log, the login test and the documentation.

The words come from `oidc_provider.errors`. Where one code has several causes, `said` is the beginning of the
description that distinguishes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from accounts import rate_limits
from oidc_provider import errors
from oidc_provider.errors import APP_DISABLED, CLIENT, EVERY, TOKEN, USERINFO, ErrorPage, ErrorRedirect, ProtocolError

PAGE = "Authorize, on a page"
REDIRECT = "Authorize, by redirect to the app"
_ENDPOINTS = {
    PAGE: ("authorize",),
    REDIRECT: ("authorize",),
    TOKEN: ("token",),
    CLIENT: ("token", "introspect", "revoke"),
    USERINFO: ("userinfo",),
    EVERY: ("authorize", "token", "userinfo", "introspect", "revoke"),
}
# The page of the documentation that explains the errors of a place.
_PAGES = {
    PAGE: "errors/authorize",
    REDIRECT: "errors/redirect",
    TOKEN: "errors/token",
    CLIENT: "errors/clients",
    USERINFO: "errors/userinfo",
    EVERY: "errors/userinfo",
}
_CLASSES: tuple[type[ProtocolError], ...] = (
    errors.InvalidGrant,
    errors.InvalidScope,
    errors.UnauthorizedClient,
    errors.UnsupportedGrantType,
    errors.ServerError,
    errors.InvalidClient,
    errors.InvalidRequest,
    errors.MissingToken,
    errors.InvalidToken,
    errors.InsufficientScope,
    errors.MethodNotAllowed,
    errors.TemporarilyUnavailable,
)


def anchor_of(text: str) -> str:
    """Return the anchor: `Limits and quotas` -> `limits-and-quotas`."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())


@dataclass(frozen=True)
class ErrorGuide:
    """One cause of one error. `where`: a key of _ENDPOINTS; `status`: of the answer, 302 for a redirect.

    `said`: how the description begins; empty for the only cause, or for all that the other rows leave.
    """

    code: str
    where: str
    status: int
    cause: str
    fix: str
    said: str = ""

    @property
    def page(self) -> str:
        """Return the slug of the page of the documentation that explains it."""
        return _PAGES[self.where]

    @property
    def anchor(self) -> str:
        """Return the anchor of the row on its page."""
        return anchor_of(f"{self.code} {self.where} {self.said}")


def _rows() -> Iterator[ErrorGuide]:
    disabled, its_status, _ = APP_DISABLED
    for code, causes in ErrorPage.causes.items():
        status = its_status if code == disabled else 400
        yield from (ErrorGuide(code, PAGE, status, each.cause, each.fix, each.said) for each in causes)
    for code, causes in ErrorRedirect.causes.items():
        yield from (ErrorGuide(code, REDIRECT, 302, each.cause, each.fix, each.said) for each in causes)
    for kind in _CLASSES:
        for each in kind.causes:
            yield ErrorGuide(kind.error, each.where or kind.where, kind.status, each.cause, each.fix, each.said)
    yield ErrorGuide(
        "429",
        EVERY,
        429,
        f"More than {rate_limits.PROTOCOL.amount} requests within a minute came to this endpoint from one address.",
        "Wait for the seconds in X-Retry-After. Refresh tokens when they are due, not on every page; read discovery "
        "and the key set once and keep them.",
    )


ERRORS = tuple(sorted(_rows(), key=lambda row: list(_ENDPOINTS).index(row.where)))


def explain(*, endpoint: str, code: str, description: str = "") -> ErrorGuide | None:
    """Return the row for an error that `endpoint` (authorize, token, ...) answered, or None for an unknown one."""
    rows = [row for row in ERRORS if row.code == code and endpoint in _ENDPOINTS[row.where]]
    said = [row for row in rows if row.said and description.startswith(row.said)]
    plain = [row for row in rows if not row.said]
    return next(iter([*said, *plain, *rows]), None)
