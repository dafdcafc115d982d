"""Every error that the sign-in provider answers: what causes it, and what mends it. For the log, Try it, and the docs.

Where one code has several causes, `said` is how the description begins that tells them apart.
"""

from __future__ import annotations

from dashboard.apps.error_guide.authorize import BY_REDIRECT, ON_PAGES
from dashboard.apps.error_guide.calls import AT_USERINFO, EVERYWHERE, FOR_CLIENTS
from dashboard.apps.error_guide.rows import CLIENT, EVERY, PAGE, REDIRECT, TOKEN, USERINFO, ErrorGuide
from dashboard.apps.error_guide.token import AT_TOKEN

__all__ = ["ERRORS", "ErrorGuide", "explain"]

_ENDPOINTS = {
    PAGE: ("authorize",),
    REDIRECT: ("authorize",),
    TOKEN: ("token",),
    CLIENT: ("token", "introspect", "revoke"),
    USERINFO: ("userinfo",),
    EVERY: ("authorize", "token", "userinfo", "introspect", "revoke"),
}


ERRORS: tuple[ErrorGuide, ...] = (*ON_PAGES, *BY_REDIRECT, *AT_TOKEN, *FOR_CLIENTS, *AT_USERINFO, *EVERYWHERE)


def explain(*, endpoint: str, code: str, description: str = "") -> ErrorGuide | None:
    """The row for an error that `endpoint` (authorize, token, ...) answered; None for one that is none of ours."""
    rows = [row for row in ERRORS if row.code == code and endpoint in _ENDPOINTS[row.where]]
    said = [row for row in rows if row.said and description.startswith(row.said)]
    plain = [row for row in rows if not row.said]
    return next(iter([*said, *plain, *rows]), None)
