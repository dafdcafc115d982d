"""Every error of the endpoints under /api/ but the protocol's: cause and cure. The words are the code's."""

from __future__ import annotations

import json
from dataclasses import dataclass

from accounts import errors, plans
from accounts.errors import ApiError
from imagehost import errors as imagehost
from lookup import errors as lookup
from presence import errors as presence

FREE_MAXIMUM = plans.ALLOWANCES[plans.Plan.FREE].max_file_size


@dataclass(frozen=True)
class ErrorRow:
    """`where`: a name of TITLES. `error`: one of them, as it is raised. `status`: 0 for the error's own."""

    where: str
    error: ApiError
    cause: str
    cure: str
    status: int = 0

    @property
    def answered(self) -> int:
        return self.status or self.error.status

    @property
    def body(self) -> str:
        return json.dumps(self.error.body(), separators=(",", ":"))


TITLES = {
    "any": "Every endpoint",
    "key": "Keys, current form",
    "earlier_key": "Keys, earlier forms",
    "lookup_user": "Lookup",
    "lookup_earlier": "Lookup, earlier form",
    "leaderboard": "Leaderboards",
    "presence": "Presence",
    "avatar": "Chat picture",
    "imagehost_key": "Keys, image host",
    "upload": "Upload",
    "gallery": "Gallery and lists of files",
    "folders": "Folders",
}

_WAIT = "Wait for the seconds of `Retry-After`, and ask less often: a window lasts 60 seconds from its first request."
_MAKE_KEY = "Look the key up in your dashboard. Copy it whole, without spaces or line breaks."
_ASK_PERMISSION = (
    "Look in your dashboard: use a key that is not revoked, and that has the permission which the endpoint names. You "
    "can ask for a permission there."
)

ANY = (
    ErrorRow(
        "any",
        errors.Forbidden(),
        "The request reached the service without passing its edge proxy.",
        "Call the public address of the service, never a server behind it.",
    ),
    ErrorRow("any", errors.NotFound(), "No endpoint has this path.", "Compare the path with these pages, slashes too."),
    ErrorRow(
        "any",
        errors.MethodNotAllowed([]),
        "The endpoint exists, with other methods.",
        "Use a method that the answer's header `Allow` names.",
    ),
    ErrorRow(
        "any",
        errors.AddressRateLimited(amount=60, seconds_left=1, resets_at=0),
        "More than 60 requests in a minute from one address, whatever they asked for under `/api/`.",
        f"{_WAIT} `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` tell the state.",
    ),
    ErrorRow(
        "any",
        errors.Unavailable(),
        "A part of the service does not answer. Nothing was done.",
        "Send the same request again after `Retry-After`.",
    ),
)

_MISSING_CAUSE = "The request brings no key.", "Send the key as the page of the endpoint says."
_NO_HEADER = (errors.MissingApiKey(), *_MISSING_CAUSE)
_NO_ACCOUNT_KEY = (errors.MissingAccountKey(), *_MISSING_CAUSE)
_KEY_CAUSES: tuple[tuple[ApiError, str, str], ...] = (
    (errors.InvalidApiKey(), "The key is malformed, or nobody's.", _MAKE_KEY),
    (errors.KeyNotFound(), "The key was revoked, its owner is banned, or it lacks the permission.", _ASK_PERMISSION),
    (
        errors.KeyExpired(),
        "The key's end has passed; of a key that was replaced, the hours that it worked on.",
        "Use the key that replaced it. Otherwise let it end later, on its page in your dashboard, or make a new one.",
    ),
    (
        errors.UsageExceeded(),
        "The key's quota of requests is used up.",
        "Wait for the refill that the key's page shows, or use another key.",
    ),
    (
        errors.KeyDisabled(),
        "You or staff have disabled the key.",
        "Enable it again on its page in your dashboard. If staff disabled it, only they can.",
    ),
)
_KEY_LIMIT = (
    errors.KeyRateLimited(seconds_left=1),
    "More than 30 requests in a minute with one key; more than 60 where its owner has premium.",
    _WAIT,
)

KEYS = (
    *(ErrorRow("key", error, cause, cure) for error, cause, cure in (_NO_HEADER, *_KEY_CAUSES, _KEY_LIMIT)),
    *(
        ErrorRow("earlier_key", error, cause, cure, status=404)
        for error, cause, cure in (_NO_ACCOUNT_KEY, *_KEY_CAUSES)
    ),
    ErrorRow("earlier_key", *_KEY_LIMIT),
    *(
        ErrorRow("imagehost_key", imagehost.Unauthorized(error.error), cause, cure)
        for error, cause, cure in (_NO_HEADER, _NO_ACCOUNT_KEY, *_KEY_CAUSES)
    ),
    ErrorRow("imagehost_key", *_KEY_LIMIT),
)

_PRIVATE = "The user exists and has turned public API access off."
_PRIVATE_CURE = "Nothing: show the user as private, and do not try another identifier. All of them answer the same."
_MISSING = "Nobody has this name, uid or id, or no user linked this chat account; a banned user, too."
_MISSING_CURE = "Check the value, and whether it is of the kind that the request names."

LOOKUPS = (
    ErrorRow(
        "lookup_user",
        lookup.TypeInvalid(),
        "`type` is missing, or none of `username`, `uid`, `id` and `chat`.",
        "Send one of the four, in small letters.",
    ),
    ErrorRow(
        "lookup_user",
        lookup.ValueInvalid(),
        "`value` is missing, longer than 64 characters, or no whole number for `type=uid`.",
        "Send 1 to 64 characters; a uid in plain digits, without sign or spaces.",
    ),
    ErrorRow("lookup_user", lookup.UserNotFound(), _MISSING, _MISSING_CURE),
    ErrorRow("lookup_user", lookup.ProfilePrivate(), _PRIVATE, _PRIVATE_CURE),
    ErrorRow("lookup_earlier", lookup.UserNotFound(), _MISSING, _MISSING_CURE),
    ErrorRow("lookup_earlier", lookup.ProfilePrivate(), _PRIVATE, _PRIVATE_CURE),
    ErrorRow(
        "leaderboard", lookup.LimitInvalid(), "`limit` is no whole number from 1 to 100.", "Leave it out, or mend it."
    ),
    ErrorRow(
        "avatar",
        lookup.UserNotFound(),
        "Nobody has this id, the user has no chat picture, or is private.",
        "Use the address from `user.avatarUrl` or `profile.avatar.url`, which is there while there is a picture.",
    ),
)

PRESENCE = (
    ErrorRow(
        "presence",
        presence.ChatIdInvalid(),
        "The id in the path is not 17 to 19 digits.",
        "Send the id of a chat account, not a uid of this service. The lookup tells it as `user.chatId`.",
    ),
    ErrorRow(
        "presence",
        presence.NotMember(),
        "The account exists, and has not joined the service's chat server.",
        "Ask the person to join. Only members are visible.",
    ),
    ErrorRow(
        "presence",
        lookup.ProfilePrivate(),
        "The user who linked the account has turned public API access off.",
        "Nothing: show the presence as private. All lookups of this user answer the same.",
    ),
    ErrorRow("presence", presence.ChatNotFound(), "No chat account has this id.", "Check the id."),
    ErrorRow(
        "presence",
        presence.PresenceUnavailable(),
        "The service hears nothing from the chat platform, so nobody can know the presence.",
        "Wait for the seconds of `Retry-After`. Do not show the person as offline.",
    ),
)

IMAGEHOST = (
    ErrorRow(
        "upload",
        imagehost.NoFile(),
        "The request has no part `file`, or is no `multipart/form-data`.",
        "Send the file as a part named `file`, and let your library write the `Content-Type` with its boundary.",
    ),
    ErrorRow(
        "upload",
        imagehost.InvalidMime(),
        "The content is none of the eight types. The file's name and the type that you send decide nothing.",
        "Convert the file. SVG, HTML and archives are refused, and so is a file that hides one type in another.",
    ),
    ErrorRow(
        "upload",
        imagehost.QuotaExceeded(),
        "The file does not fit into what is left of your storage.",
        "Delete files, or take a larger plan.",
    ),
    ErrorRow(
        "upload",
        imagehost.FileTooLarge(FREE_MAXIMUM),
        "The file is larger than your plan allows. The text names the maximum in bytes.",
        "Make the file smaller, or take a larger plan.",
    ),
    ErrorRow(
        "upload",
        imagehost.UploadFailed(),
        "The storage did not take the file. Nothing is stored, and nothing is booked.",
        "Send the same request again.",
    ),
    ErrorRow(
        "upload",
        imagehost.UploadsUnavailable(),
        "The database or the limits do not answer. Nothing is stored.",
        "Send the same request again after the seconds in `Retry-After`.",
    ),
    ErrorRow(
        "upload",
        imagehost.Busy(),
        "The service receives as many large files as it may. Nothing of this one was read.",
        "Send the same request again after the seconds in `Retry-After`, and fewer files at the same time.",
    ),
    ErrorRow("gallery", imagehost.InvalidLimit(), "`limit` is no whole number from 1 to 100.", "Mend it or leave it."),
    ErrorRow("gallery", imagehost.InvalidOffset(), "`offset` is no whole number, or below 0.", "Mend it or leave it."),
    ErrorRow(
        "folders",
        imagehost.InvalidBody(),
        "The body is no JSON object, or a field in it breaks a rule; the text says which.",
        "Send `Content-Type: application/json` and the fields of the table.",
    ),
    ErrorRow(
        "folders",
        imagehost.FolderExists(),
        "You have a folder of this name.",
        "Choose another name, or use the folder that there is.",
    ),
    ErrorRow(
        "folders",
        imagehost.FolderNotFound(),
        "No folder of yours has this id.",
        "List your folders and take the `id` from there, not the name.",
    ),
)

ERRORS: tuple[ErrorRow, ...] = (*ANY, *KEYS, *LOOKUPS, *PRESENCE, *IMAGEHOST)
