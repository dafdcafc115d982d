"""The errors of the lookups and leaderboards, in the documents' words."""

from accounts.errors import ApiError


class TypeInvalid(ApiError):
    error = "errors.lookupTypeInvalid"


class ValueInvalid(ApiError):
    error = "errors.lookupValueInvalid"


class UserNotFound(ApiError):
    """Nobody, or a banned user. Must not say "private": clients tell the two apart by that word."""

    status = 404
    error = "User not found."


class ProfilePrivate(ApiError):
    """The user turned public API access off."""

    status = 404
    error = "This profile is private."


class LimitInvalid(ApiError):
    error = "errors.leaderboardLimitInvalid"
