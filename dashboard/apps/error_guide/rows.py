"""What one row of the guide says."""

from __future__ import annotations

from dataclasses import dataclass

PAGE = "Authorize, on a page"
REDIRECT = "Authorize, by redirect to the app"
TOKEN = "Token"  # noqa: S105 - an endpoint's name
CLIENT = "Token, introspect, revoke"
USERINFO = "User info"
EVERY = "Every endpoint"


@dataclass(frozen=True)
class ErrorGuide:
    """One cause of one error. `where`: one of the constants above; `status`: of the answer, 302 for a redirect.

    `said`: how the description begins; empty for the only cause, or for whatever the other rows leave.
    """

    code: str
    where: str
    status: int
    cause: str
    cure: str
    said: str = ""

    @property
    def anchor(self) -> str:
        """For links to the row on a page that shows all of them."""
        words = f"{self.code} {self.where} {self.said}".lower()
        return "-".join("".join(letter if letter.isalnum() else " " for letter in words).split())
