"""The errors of each endpoint under /api/, except the protocol. Cause and fix come from the error classes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from accounts import errors as key_errors
from accounts import plans, rate_limits
from dashboard.client_apps import error_guide
from imagehost import errors as imagehost
from infrastructure.requests import errors
from infrastructure.requests.errors import ApiError
from lookup import errors as lookup
from presence import errors as presence

TITLES = {
    "any": "Every endpoint",
    "key": "Keys, current form",
    "earlier_key": "Keys, earlier forms",
    "lookup_user": "Lookup",
    "lookup_users": "Lookup of several users",
    "lookup_earlier": "Lookup, earlier form",
    "leaderboard": "Leaderboards",
    "presence": "Presence",
    "presences": "Presence of several members",
    "presence_of_many": "Presence of many members",
    "avatar": "Chat picture",
    "imagehost_key": "Keys, image host",
    "upload": "Upload",
    "gallery": "Gallery and lists of files",
    "folders": "Folders",
}
# The pages of the guide, below /docs/errors, with the places that each lists.
PAGES = {
    "keys": ("any", "key", "earlier_key", "imagehost_key"),
    "lookup": (
        *("lookup_user", "lookup_users", "lookup_earlier", "leaderboard"),
        *("presence", "presences", "presence_of_many", "avatar"),
    ),
    "image-host": ("upload", "gallery", "folders"),
}


@dataclass(frozen=True)
class ErrorRow:
    """`where`: a name of TITLES. `error`: an instance, as it is raised."""

    where: str
    error: ApiError
    cause: str
    fix: str

    @property
    def page(self) -> str:
        """Return the slug of the page of the guide that lists it."""
        return next(f"errors/{name}" for name, places in PAGES.items() if self.where in places)

    @property
    def body(self) -> str:
        return json.dumps(self.error.body(), separators=(",", ":"))


def anchor_of(row: ErrorRow, heading: str = "") -> str:
    """Return the id of the row in a table below `heading`; that of the guide without one."""
    return error_guide.anchor_of(f"{heading or TITLES[row.where]} {row.error.status} {row.error.error}")


_KEY_ERRORS = (
    key_errors.InvalidApiKey(),
    key_errors.KeyNotFound(),
    key_errors.KeyExpired(),
    key_errors.UsageExceeded(),
    key_errors.KeyDisabled(),
)
_KEY_LIMIT = key_errors.KeyRateLimited(seconds_left=1)
_BY_PLACE: dict[str, tuple[ApiError, ...]] = {
    "any": (
        errors.Forbidden(),
        errors.NotFound(),
        errors.MethodNotAllowed([]),
        errors.AddressRateLimited(amount=rate_limits.API_ADDRESS.amount, seconds_left=1, resets_at=0),
        errors.Unavailable(),
    ),
    "key": (key_errors.MissingApiKey(), *_KEY_ERRORS, _KEY_LIMIT),
    "earlier_key": (*(error.with_status(404) for error in (key_errors.MissingAccountKey(), *_KEY_ERRORS)), _KEY_LIMIT),
    "lookup_user": (lookup.TypeInvalid(), lookup.ValueInvalid(), lookup.UserNotFound(), lookup.ProfilePrivate()),
    "lookup_users": (
        lookup.BatchInvalid(),
        lookup.TypeInvalid(),
        lookup.ValuesInvalid(),
        lookup.ValueInvalid(),
        lookup.BatchTooLarge(),
    ),
    "lookup_earlier": (lookup.UserNotFound(), lookup.ProfilePrivate()),
    "leaderboard": (lookup.LimitInvalid(),),
    "avatar": (lookup.UserNotFound(),),
    "presence": (
        presence.ChatIdInvalid(),
        presence.NotMember(),
        lookup.ProfilePrivate(),
        presence.ChatNotFound(),
        presence.PresenceUnavailable(),
    ),
    "presences": (presence.ChatIdsInvalid(), presence.PresenceUnavailable()),
    "presence_of_many": (
        presence.ChatIdsInvalid(),
        presence.StreamTokenInvalid(),
        presence.OriginNotNamed(),
        presence.PresenceUnavailable(),
    ),
    "upload": (
        imagehost.NoFile(),
        imagehost.InvalidMime(),
        imagehost.QuotaExceeded(),
        imagehost.CostlyUploads(seconds_left=1),
        imagehost.FileTooLarge(plans.ALLOWANCES[plans.Plan.FREE].max_file_size),
        imagehost.UploadFailed(),
        imagehost.UploadsUnavailable(),
        imagehost.Busy(),
    ),
    "gallery": (imagehost.InvalidLimit(), imagehost.InvalidOffset()),
    "folders": (imagehost.InvalidBody(), imagehost.FolderExists(), imagehost.FolderNotFound()),
}
_AMOUNTS = {
    "api": rate_limits.API_ADDRESS.amount,
    "key": rate_limits.API_KEY.amount,
    "premium_key": rate_limits.API_PREMIUM_KEY.amount,
}
# Where an endpoint answers an error for another reason than the class says.
_OTHER_CAUSES: dict[tuple[str, type[ApiError]], tuple[str, str]] = {
    ("avatar", lookup.UserNotFound): (
        "No user has this id, or the user has no chat picture, or is private.",
        "Use the address from `user.avatarUrl` or `profile.avatar.url`, which is there while there is a picture.",
    ),
    ("lookup_users", lookup.ValueInvalid): (
        "One of `values` is empty, longer than 64 characters, or not a whole number for a `type` of `uid`.",
        "Leave it out or correct it. No user was looked up, and the request counts as one.",
    ),
    ("presences", presence.ChatIdsInvalid): (
        "`ids` is missing or repeated, or is not 1 to 50 ids of 17 to 19 digits with commas between them.",
        "Ask for more members by several requests, and leave out spaces and a comma at the end.",
    ),
    ("presences", presence.PresenceUnavailable): (
        "The connection to the chat platform is down, so nobody's presence is known.",
        "Wait for the seconds of `Retry-After`. Do not show anyone as offline.",
    ),
    ("presence", lookup.ProfilePrivate): (
        "The user who linked the account has turned public API access off, or staff have hidden the profile.",
        "Show the presence as private. All lookups of this user answer the same.",
    ),
}


def _rows(where: str, found: Iterable[ApiError]) -> Iterator[ErrorRow]:
    for error in found:
        cause, fix = _OTHER_CAUSES.get((where, type(error)), (error.cause, error.fix))
        yield ErrorRow(where, error, cause.format(**_AMOUNTS), fix)


ERRORS = (
    *(row for where, found in _BY_PLACE.items() for row in _rows(where, found)),
    # The image host answers the sentences of the key check under one code of its own.
    *(
        ErrorRow("imagehost_key", imagehost.Unauthorized(error.error), error.cause, error.fix)
        for error in (key_errors.MissingApiKey(), key_errors.MissingAccountKey(), *_KEY_ERRORS)
    ),
    *_rows("imagehost_key", [_KEY_LIMIT]),
)
