"""Shared parts of the actions of visitors on a profile: their limits, and the path back."""

from __future__ import annotations

import logging

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import User
from infrastructure import limits
from infrastructure.limits import Limit, LimitsUnavailable

MAX_BACK = 200  # characters of a path of ours
GONE = "This comment has been deleted."
_TROUBLE = "This does not work at the moment. Try again in a minute."

logger = logging.getLogger(__name__)


class TooOften(Exception):
    """The limit of the action is used up, or (no `seconds_left`) cannot be counted."""

    def __init__(self, sentence: str, seconds_left: int = 0) -> None:
        super().__init__(sentence)
        self.seconds_left = seconds_left
        self.status = 429 if seconds_left else 503


def count(limit: Limit, user: User) -> None:
    """Count an action of the user. Raises TooOften."""
    try:
        seconds_left = limits.hit(limit.of(user.pk))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        raise TooOften(_TROUBLE) from None
    if seconds_left:
        minutes = -(-seconds_left // 60)
        raise TooOften(f"Limit reached: {limit.amount} an hour. Try again in {minutes} min.", seconds_left)


def return_path(given: QueryDict, name: str) -> str:
    """Return the path of this profile in `back` of the form or query, else the path of the profile."""
    back = given.get("back", "").partition("#")[0]
    profile = reverse("profile_page", args=[name])
    is_ours = back == profile or back.startswith(f"{profile}/")
    if len(back) <= MAX_BACK and is_ours and url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return back
    return profile
