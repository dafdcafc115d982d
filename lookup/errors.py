"""The errors of the lookups and leaderboards (docs/spec/lookup.md)."""

from infrastructure.requests.errors import ApiError


class TypeInvalid(ApiError):
    error = "errors.lookupTypeInvalid"
    cause = "`type` is missing, or none of `username`, `uid`, `id` and `chat`."
    fix = "Send one of the four, in small letters."


class ValueInvalid(ApiError):
    error = "errors.lookupValueInvalid"
    cause = "`value` is missing, longer than 64 characters, or not a whole number for `type=uid`."
    fix = "Send 1 to 64 characters; a uid in plain digits, without sign or spaces."


class UserNotFound(ApiError):
    """The text must not contain "private": clients tell the two errors apart by that word."""

    status = 404
    error = "User not found."
    cause = "No user has this name, uid or id, or linked this chat account, or the user is banned."
    fix = "Check the value, and whether it is of the kind that the request names."


class ProfilePrivate(ApiError):
    status = 404
    error = "This profile is private."
    cause = "The user exists and has turned public API access off, or staff have hidden the profile."
    fix = "Show the user as private, and do not try another identifier. All of them answer the same."


class LimitInvalid(ApiError):
    error = "errors.leaderboardLimitInvalid"
    cause = "`limit` is not a whole number from 1 to 100."
    fix = "Leave it out, or correct it."
